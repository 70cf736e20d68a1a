"""A stage is a value: what it reads, what it writes, and one function (see ``jobs/``)."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from conf.resources import digests, reading_only
from conf.settings import LakehouseSettings, MlflowSettings, Settings
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.tables import Table


@dataclass(frozen=True)
class Model:
    """A model that a stage trains or asks: the key under ``models`` that holds its URI."""

    name: str


@dataclass(frozen=True)
class Sliced:
    """How a stage that reads files or asks a model grows: only keys it has not seen, slice by slice.

    Attributes:
        key: the column that tells one unit of work from another.
        cost: SQL expression summed over the pending units; what a slice bounds.
        cost_per_minute: how much of it one core does in a minute, for planning.
        prepare: from the stage's inputs and its ``StageRun`` to one row for each unit, which then stands in the
            first input's place; the first input as it is when None.
        cache: answers of a model, kept for good under (key, model); otherwise units that are gone from
            the input leave the table too, and a changed setting rebuilds it.
        plans: ``prepare`` makes the units itself, each under a key of all that its rows depend on. Then the
            function gets a slice's units before the inputs, not in the first one's place, and other settings
            or models mean other units: nothing is rebuilt.
    """

    key: str
    cost: str = "count(*)"
    cost_per_minute: float = 100_000
    prepare: Callable[..., DataFrame] | None = None
    cache: bool = False
    plans: bool = False


@dataclass(frozen=True)
class Units:
    """What a stage accounts in: in = out + dropped + quarantined.

    Attributes:
        name: the unit's name in the plural.
        rows_in: SQL aggregate over the first input (after ``prepare``).
        rows_out: SQL aggregate over the stage's table.
    """

    name: str = "rows"
    rows_in: str = "count(*)"
    rows_out: str = "count(*)"


@dataclass(frozen=True)
class ByKind:
    """Settings of which only some count: those of the kind that is chosen.

    Attributes:
        setting: that chooses the kind.
        keys: the settings of each kind.
    """

    setting: str
    keys: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Compute:
    """How models are asked here; none of it changes an answer.

    Attributes:
        threads: of a worker's model.
        batch_size: texts that a model reads at once.
        partitions: tasks that work at once.
    """

    threads: int
    batch_size: int
    partitions: int


@dataclass(frozen=True)
class Tracking:
    """Where MLflow keeps runs and models, for the functions of ``etl.lakehouse.registry``."""

    lakehouse: LakehouseSettings
    mlflow: MlflowSettings


@dataclass(frozen=True)
class StageRun:
    """What a stage's function is given beside its inputs.

    Attributes:
        settings: the settings that the stage declares, as ``settings.section.key``.
        models: resolved models by name, each with ``path`` and ``identity``.
        spark: the session.
        folder: a folder for models, local or shared by driver and executors.
        all_settings: the whole settings, for the trainings of ``etl.lakehouse.trainings`` alone.
        inputs: the versions of the tables it reads, by name.
    """

    settings: Any
    models: Mapping[str, Any]
    spark: SparkSession
    folder: str
    all_settings: Settings
    say: Callable[[str], None] = print
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def compute(self) -> Compute:
        """How models are asked here."""
        models = self.all_settings.models
        return Compute(models.threads, models.batch_size, self.spark.sparkContext.defaultParallelism)

    @property
    def tracking(self) -> Tracking:
        """Where runs are tracked and models registered."""
        return Tracking(self.all_settings.lakehouse, self.all_settings.mlflow)

    @property
    def lakehouse(self) -> LakehouseSettings:
        """Where the tables are."""
        return self.all_settings.lakehouse

    def asks(self, name: str) -> bool:
        """Whether there is such a model: ``models.<name>: null`` leaves it out."""
        from udfs.models.loader import NO_MODEL

        return bool(self.models[name].identity != NO_MODEL)

    def where_asked(self, name: str, rows: DataFrame) -> DataFrame:
        """`rows`; none of them where there is no such model."""
        return rows if self.asks(name) else rows.limit(0)

    def asking(self, name: str) -> dict[str, Any]:
        """How executors ask a model: the keyword arguments that the functions of ``udfs.predict`` take."""
        model = self.models[name]
        return {"model_path": str(model.path), "identity": model.identity, **vars(self.compute)}


@dataclass(frozen=True)
class Stage:
    """A declared stage; see :func:`stage` for its fields.

    Attributes:
        module: where it is declared, as ``jobs.subtitles.ingest``, whatever path it was loaded from.
        about: its function's docstring.
    """

    name: str
    function: Callable[..., Any]
    module: str
    reads: tuple[Table, ...]
    writes: Table | Model | None
    asks: tuple[Model, ...]
    settings: tuple[str, ...]
    inputs: tuple[str, ...]
    version: int
    sliced: Sliced | None
    units: Units
    fingerprint: Callable[[Settings], Any] | None = None
    shows: str = "the screen"
    on_request: bool = False
    when: str | None = None
    about: str = field(default="", compare=False)
    resources: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    by_kind: ByKind | None = None

    def declared(self, settings: Settings) -> tuple[str, ...]:
        """The settings that count under the settings in force."""
        kind = () if self.by_kind is None else self.by_kind.keys[setting(settings, self.by_kind.setting)]
        return (*self.settings, *kind)

    def settings_hash(self, settings: Settings) -> str:
        """Hash of the settings that this stage declares, of the outside files it reads, and of the package's."""
        declared = {key: setting(settings, key) for key in self.declared(settings)}
        outside = {key: fingerprint_of(setting(settings, key)) for key in self.inputs}
        if self.fingerprint is not None:
            outside["fingerprint"] = self.fingerprint(settings)
        packaged = [digests(self.resources)] if self.resources else []
        text = json.dumps([declared, outside, *packaged], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def visible(self, settings: Settings) -> SimpleNamespace:
        """Return only what the stage declares: a setting read but not declared would not be in its hash."""
        seen = SimpleNamespace()
        kinds = () if self.by_kind is None else chain.from_iterable(self.by_kind.keys.values())
        for key in (*self.settings, *kinds, *self.inputs, *self.options):
            *sections, last = key.split(".")
            place = seen
            for section in sections:
                if not hasattr(place, section):
                    setattr(place, section, SimpleNamespace())
                place = getattr(place, section)
            setattr(place, last, setting(settings, key))
        return seen

    @property
    def group(self) -> str:
        """The data set that it belongs to: the folder of its module."""
        return self.module.split(".")[-2] if "." in self.module else ""

    @property
    def title(self) -> str:
        """The first line of its description."""
        return self.about.partition("\n")[0].strip()


REGISTRY: dict[str, Stage] = {}


def stage(
    *,
    reads: tuple[Table, ...] = (),
    writes: Table | Model | None,
    asks: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
    inputs: tuple[str, ...] = (),
    version: int = 1,
    sliced: Sliced | None = None,
    units: Units | str = "rows",
    fingerprint: Callable[[Settings], Any] | None = None,
    shows: str = "the screen",
    on_request: bool = False,
    when: str | None = None,
    resources: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    by_kind: ByKind | None = None,
) -> Callable[[Callable[..., Outcome | DataFrame | Any]], Stage]:
    """Declare a stage. Its function takes the inputs in order and a ``StageRun``; its docstring describes the stage.

    Args:
        reads: input tables.
        writes: its table, or the model it trains; None for a stage that only shows.
        asks: models it uses, each the key under ``models`` that holds its URI.
        settings: ``section.key`` of every setting that changes what it writes.
        inputs: settings that name outside files, whose content counts.
        version: raise it when the same input must give other rows.
        sliced: for stages that take only what they have not seen.
        units: what it accounts in; a name alone where that is rows in and rows out.
        fingerprint: identity of an outside source too large to hash.
        shows: where a stage that writes no table puts what it makes, for the README.
        on_request: for what people ask for (an export, a comparison that takes hours): it runs only when it
            is named, or a named stage needs it.
        when: a setting; while it is false and the stage never ran, it does not run and its table reads as empty.
        resources: files under ``conf`` that it uses, patterns allowed: word lists, taxonomies, prompts. Their content
            counts as settings do, and its function can read no others.
        options: settings that it sees and that change how it works, never what it writes.
        by_kind: settings that count beside ``settings`` while their kind is chosen.
    """

    def declare(function: Callable[..., Any]) -> Stage:
        name, module = function.__name__, module_name(function)
        known = REGISTRY.get(name)
        if known is not None and known.module == module:
            return known  # the same module, loaded again by another path
        if known is not None:
            raise ValueError(f"stage {name} is declared in {known.module} and again in {module}")
        counted = Units(units) if isinstance(units, str) else units
        cut, about = sliced, inspect.getdoc(function) or ""
        if writes is not None:  # what only shows runs each time, whatever it reads
            function = _reading_only(function, name, resources)
            if sliced is not None and sliced.prepare is not None:
                cut = replace(sliced, prepare=_reading_only(sliced.prepare, name, resources))
        REGISTRY[name] = Stage(
            name, function, module, reads, writes, tuple(map(Model, asks)), settings, inputs, version, cut,
            counted, fingerprint, shows, on_request, when, about, resources, options, by_kind,
        )  # fmt: skip
        return REGISTRY[name]

    return declare


manual_stage = partial(stage, on_request=True)
"""Declare a stage for what people ask for, as :func:`stage` does."""


def _reading_only(function: Callable[..., Any], name: str, resources: tuple[str, ...]) -> Callable[..., Any]:
    @wraps(function)
    def guarded(*inputs: Any) -> Any:
        with reading_only(name, resources):
            return function(*inputs)

    return guarded


def module_name(function: Callable[..., Any]) -> str:
    """The name under which a function's module is imported, also where it was loaded as a script.

    The tree, an installed wheel and a zip of ``--py-files`` give one name, whatever the path.
    """
    name = function.__module__
    if "." in name:
        return name
    parts = Path(inspect.unwrap(function).__code__.co_filename).with_suffix("").parts
    if "jobs" in parts:
        return ".".join(parts[len(parts) - 1 - parts[::-1].index("jobs") :])
    return name


def under(section: str, *names: str) -> tuple[str, ...]:
    """The keys of several settings of one section, as ``section.name``."""
    return tuple(f"{section}.{name}" for name in names)


def setting(settings: Any, key: str) -> Any:
    """The value at ``section.key``."""
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def fingerprint_of(value: Any) -> Any:
    """Content hashes of the files under a path or list of paths (labelled sets: small, read whole)."""
    from etl.lakehouse.files.outside import file_digests

    paths = [value] if isinstance(value, str) else list(value or ())
    return [file_digests(path) for path in paths]


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)
