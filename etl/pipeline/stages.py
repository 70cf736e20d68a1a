"""Stages as values: inputs, output, settings and one function (see ``jobs/``)."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, Required, TypedDict, Unpack

from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.places import local_path
from conf.redaction import redacted
from conf.resources import digests, reading_only
from conf.section import Counts, Section, counted_values, setting_fields
from conf.settings import MODELS_OF_SETS, Settings
from etl.pipeline.model_loader import ResolvedModel
from etl.pipeline.outside_files import file_digests, is_absent, not_there, paths_of
from etl.pipeline.signatures import Received, Receiver, is_added_default, receiver_of, setting
from etl.pipeline.stage_run import StageRun
from etl.pipeline.tables import Table, is_of_sets
from etl.pipeline.tables.ops import WORK_VERSION


class Model(str):
    """A model that a stage trains or uses: the key under ``models`` that holds its URI."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)


class Units(Enum):
    """The condition under which an incremental stage keeps a unit's rows.

    Attributes:
        KEYED: while its key is in the input and settings and models are the same. Others rebuild the table.
        VERSIONED: while its ``work_version`` is the same, too: ``prepare`` adds it, a hash of all that a unit's rows
            depend on, and the table keeps it. Units of one version are always worked on together.
        PLANNED: while ``prepare`` makes it: its key is a hash of all that its rows depend on, so that other settings
            or models make other units and nothing is rebuilt. The function gets a batch's units before all inputs.
        ANSWERED: always: the table keeps a model's answers under (key, model), also of units that are gone.
        ASKED: always, as ANSWERED, of units made as in PLANNED.
    """

    KEYED = "keyed"
    VERSIONED = "versioned"
    PLANNED = "planned"
    ANSWERED = "answered"
    ASKED = "asked"

    @property
    def planned(self) -> bool:
        """Whether a unit's key is a hash of all that its rows depend on."""
        return self in (Units.PLANNED, Units.ASKED)

    @property
    def kept(self) -> bool:
        """Whether rows are kept for every model, and after their unit is gone."""
        return self in (Units.ANSWERED, Units.ASKED)


@dataclass(frozen=True)
class Incremental:
    """Incremental processing of a stage that reads files or calls a model: only new keys, in batches.

    Attributes:
        key: the column that identifies a unit of work.
        cost: SQL aggregate over the pending units that bounds a batch.
        cost_per_minute: the cost that one core processes in a minute, for planning.
        prepare: a function from the stage's inputs to one row for each unit, which replaces the first input; it
            receives settings and the run as the stage's own function does. None takes the first input unchanged.
        units: when a unit's rows are still right.
        unanswered: SQL condition of rows that stand for units which an absent model did not answer. They are
            deleted after their batch and the stage stops, so that the next run works on their units.
        failed: SQL condition of rows with an error that another attempt may cure. They are kept until the next run,
            which deletes them and works on their units again.
        row_by_row: whether each row of the first input makes its units by itself, whatever the other rows are. Where
            that input has only gained rows since the last run, the units of those alone are looked at.
        beside: whether the function gets a batch's units before all inputs, as in PLANNED; otherwise they replace the
            first input.
        together: a column of ``prepare``; units of one value are in one batch. None: each is by itself.
        rate: what one core processes in a minute with these models, in place of ``cost_per_minute``.
        name: the units' plural name; None: that of the stage's account.
    """

    key: str
    cost: str = "count(*)"
    cost_per_minute: float = 100_000
    prepare: Callable[..., DataFrame] | Receiver | None = None
    units: Units = Units.KEYED
    unanswered: str | None = None
    failed: str | None = None
    row_by_row: bool = False
    beside: bool = False
    together: str | None = None
    rate: Callable[[Mapping[str, ResolvedModel]], float] | None = None
    name: str | None = None

    def a_minute(self, models: Mapping[str, ResolvedModel]) -> float:
        """Return the cost that one core processes in a minute."""
        return self.cost_per_minute if self.rate is None else self.rate(models)

    @property
    def gets_all(self) -> bool:
        """Whether the function gets a batch's units before all inputs; otherwise they replace the first input."""
        return self.beside or self.units.planned

    @property
    def unit(self) -> list[str]:
        """The columns that tell whether a unit is done."""
        return [self.key, WORK_VERSION] if self.units is Units.VERSIONED else [self.key]


@dataclass(frozen=True)
class RowAccounting:
    """The unit in which a stage accounts: in = out + dropped + quarantined.

    Attributes:
        rows_in: SQL aggregate over the first input (after ``prepare``).
        rows_out: SQL aggregate over the stage's table.
    """

    name: str = "rows"
    rows_in: str = "count(*)"
    rows_out: str = "count(*)"


@dataclass(frozen=True)
class FromFiles:
    """The replacement of a stage's work by files that already have its rows, where a setting names them.

    Attributes:
        key: the setting. It needs ``lakehouse.set``: a set made from such files is none of one's own films.
        function: makes the rows; it receives settings and the run as the stage's own function does, and no tables.
    """

    key: str
    function: Callable[..., Any] | Receiver
    units: RowAccounting


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A declared stage; :class:`Declaration` describes its other fields.

    Attributes:
        module: where it is declared, as ``jobs.DATASET.CHAPTER``, whatever path it was loaded from.
        prepare: the receiver of ``incremental.prepare``.
    """

    name: str
    function: Receiver
    prepare: Receiver | None = None
    module: str
    about: str = field(default="", compare=False)
    writes: Table | Model | None
    reads: tuple[Table, ...] = ()
    optional: tuple[Table, ...] = ()
    models: tuple[Model, ...] = ()
    quarantine: Table | None = None
    resources: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    version: int = 1
    incremental: Incremental | None = None
    units: RowAccounting = RowAccounting()
    fingerprint: Receiver | None = None
    loss_guard: Receiver | None = None
    input_guard: Receiver | None = None
    places: tuple[str, ...] = ()
    shows: str = "the screen"
    manual: bool = False
    enabled_if: str | None = None
    from_files: FromFiles | None = None

    @property
    def output_in_words(self) -> str:
        """Return what a stage that writes no table does; settings with the place of files are named in backticks."""
        if "`" in self.shows:
            return f"writes {self.shows.replace('`', '')}"
        return "prints what is there" if self.shows == "the screen" else f"prints {self.shows}"

    def under(self, settings: Settings) -> "Stage":
        """Return the stage as these settings make it: one that reads files in place of tables and models, or itself.

        Raises:
            InputError: there are such files, but no name for their set.
        """
        files = self.from_files
        if files is None or not setting(settings, files.key):
            return self
        if not settings.lakehouse.set:
            raise InputError(f"{files.key} makes a set of its own: give it a name, such as lakehouse.set=published")
        without: dict[str, Any] = {"reads": (), "optional": (), "models": (), "prepare": None, "incremental": None}
        return replace(self, **without, function=receiver_of(files.function), units=files.units, from_files=None)

    @property
    def received(self) -> tuple[Received, ...]:
        """The settings that its functions receive."""
        return (*self.function.received, *(() if self.prepare is None else self.prepare.received))

    def keys(self, *counts: Counts, settings: Settings | None = None) -> tuple[str, ...]:
        """Return the keys of its settings of which this counts, each once.

        Args:
            counts: VALUE, FILES or NOTHING.
            settings: those settings alone that count under these; None: all.
        """
        found = dict.fromkeys(self.counts if Counts.VALUE in counts else ())
        for one in self.received:
            if settings is None or one.condition is None or one.condition.holds(settings):
                found |= dict.fromkeys(key for key, kind in one.keys.items() if kind in counts)
        return tuple(found)

    def settings_hash(self, settings: Settings) -> str:
        """Return a hash of what counts: settings, and the content of outside files and resources."""
        return self._hashed(*self._declared(settings))

    def covered(self, settings: Settings) -> tuple[str, dict[str, str]]:
        """Return `settings_hash`, and what counts by name: each setting's value, if it is short, or a digest."""
        declared, outside = self._declared(settings)
        shown = {key: recorded(value) for key, value in _leaves(declared)}
        shown |= {self._named_source(key): recorded(value) for key, value in outside.items()}
        shown |= {f"conf/{pattern}": recorded(digests((pattern,))) for pattern in self.resources}
        return self._hashed(declared, outside), shown

    def _declared(self, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the settings whose value counts, and the digests of outside files, by key."""
        keys = self.keys(Counts.VALUE, settings=settings)
        declared = {key: setting(settings, key) for key in keys if not is_added_default(settings, key)}
        files = [key for key in self.keys(Counts.FILES, settings=settings) if not is_added_default(settings, key)]
        outside: dict[str, Any] = {
            key: [file_digests(path, key) for path in paths_of(setting(settings, key))] for key in files
        }
        if self.fingerprint is not None:
            outside["fingerprint"] = self.fingerprint.call((), settings, None)
        return declared, outside

    def _hashed(self, declared: Mapping[str, Any], outside: Mapping[str, Any]) -> str:
        packaged = [digests(self.resources)] if self.resources else []
        text = json.dumps([declared, outside, *packaged], sort_keys=True, default=_plain)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _named_source(self, key: str) -> str:
        """Return what a plan calls files outside the lakehouse: by the settings that name them."""
        return FILES_OF + (key if key != "fingerprint" else ", ".join(self.places) or "its source")

    def missing(self, settings: Settings) -> str | None:
        """Return which setting of the stage names a file, folder or model folder that is not there; None: all are."""
        named = [(key, path) for key in self.keys(Counts.FILES) for path in paths_of(setting(settings, key))]
        uris = [(f"models.{model.name}", setting(settings, f"models.{model.name}") or "") for model in self.models]
        named += [(key, uri) for key, uri in uris if uri.startswith("file:")]
        places = ((key, name, Path(local_path(name) or name)) for key, name in named)
        absent = [not_there(key, name) for key, name, path in places if not path.exists()]
        sources = [(key, source) for key in self.places for source in paths_of(setting(settings, key))]
        absent += [not_there(key, source) for key, source in sources if is_absent(source)]
        return next(iter(absent), None)

    def call(self, frames: Sequence[DataFrame], settings: Settings, run: StageRun) -> Any:
        """Return its function's result.

        Args:
            frames: its input tables; the first are the batch's units, if it is incremental.
            settings: all settings, of which the function gets those that it names.
        """
        with self._guarded():
            return self.function.call(frames, settings, run)

    def units_of_work(self, frames: Sequence[DataFrame], settings: Settings, run: StageRun) -> DataFrame:
        """Return one row for each unit of an incremental stage's work, from its input tables."""
        if self.prepare is None:
            return frames[0]
        with self._guarded():
            units: DataFrame = self.prepare.call(frames, settings, run)
        return units

    def _guarded(self) -> AbstractContextManager[None]:
        """Let its functions read the files of ``conf`` that it declares alone; what only shows runs each time."""
        return nullcontext() if self.writes is None else reading_only(self.name, self.resources)

    @property
    def of_sets(self) -> bool:
        """Whether each set of ``lakehouse.set`` runs the stage for itself; its other stages are shared."""
        if isinstance(self.writes, Model):
            return self.writes.name in MODELS_OF_SETS
        tables = self.reads if self.writes is None else (self.writes,)
        return any(is_of_sets(table.name) for table in tables)

    @property
    def group(self) -> str:
        """The folder of its module, which is its data set."""
        return self.module.split(".")[-2] if "." in self.module else ""

    @property
    def title(self) -> str:
        """The first line of its description."""
        return self.about.partition("\n")[0].strip()


LONGEST_SHOWN = 60
"""Characters of a setting's value that are recorded as they are; of a longer one a digest is."""
FILES_OF = "the files of "
"""What the name of recorded files begins with; the settings that name them follow."""
REGISTRY: dict[str, Stage] = {}
Declare = Callable[[Callable[..., Any]], Stage]


class Declaration(TypedDict, total=False):
    """The arguments of ``stage``; only ``writes`` is required.

    Attributes:
        writes: its table, or the model it trains; None for a stage that only prints or exports.
        optional: those of them that may be missing, and are empty then.
        models: the models it uses, each the key under ``models`` that holds its URI.
        quarantine: the table of the inputs that it could not read, keyed as its units of work.
        resources: files under ``conf`` that it uses, patterns allowed: word lists, taxonomies, prompts. Their content
            counts as settings do, and its function can read no others.
        counts: ``section.key`` of settings that count though its functions do not receive them: the run has them.
        version: increased when the same input must give other rows.
        incremental: for stages that process only new keys.
        units: the unit of its account; a name alone for plain rows.
        fingerprint: function of settings to the identity of an outside source that is too large to hash.
        loss_guard: function of the table's rows, those that are to replace them, and those that were left out, to why
            they may not, or None. Its settings do not count.
        input_guard: function of an incremental stage's units, its table and its quarantine to why the run may not go
            on, or None. It is called where units are in the quarantine, or none is in the table.
        places: ``section.key`` of settings that name such sources. Local ones must be there before a run begins.
        shows: the output of a stage that writes no table, for the documentation.
        manual: it runs only when it is named or a named stage needs it: exports, comparisons that take hours.
        enabled_if: a setting; while it is false, a stage that never ran is off and its table is empty.
        from_files: what it does where a setting names files with its rows.
    """

    writes: Required[Table | Model | None]
    reads: tuple[Table, ...]
    optional: tuple[Table, ...]
    models: tuple[str, ...]
    quarantine: Table
    resources: tuple[str, ...]
    counts: tuple[str, ...]
    version: int
    incremental: Incremental | None
    units: RowAccounting | str
    fingerprint: Callable[..., str]
    loss_guard: Callable[..., str | None]
    input_guard: Callable[..., str | None]
    places: tuple[str, ...]
    shows: str
    manual: bool
    enabled_if: str | None
    from_files: FromFiles


def stage(**declared: Unpack[Declaration]) -> Callable[[Callable[..., Any] | Receiver], Stage]:
    """Declare a stage by its function, whose parameters say what it receives (`etl.pipeline.signatures`).

    The function's docstring describes the stage.

    Args:
        declared: see :class:`Declaration`.

    Raises:
        ValueError: another module has declared a stage of this name.
        TypeError: a parameter names no settings.
    """

    def declare(given: Callable[..., Any] | Receiver) -> Stage:
        called = receiver_of(given)
        name = called.function.__name__
        module = module_name(called.function)
        known = REGISTRY.get(name)
        if known is not None and known.module == module:
            return known  # the same module, loaded again by another path
        if known is not None:
            raise ValueError(f"stage {name} is declared in {known.module} and again in {module}")
        fields: dict[str, Any] = {**declared, "models": tuple(map(Model, declared.get("models", ())))}
        fields["resources"] = tuple(dict.fromkeys(declared.get("resources", ())))
        if isinstance(fields.get("units"), str):
            fields["units"] = RowAccounting(fields["units"])
        incremental = declared.get("incremental")
        if incremental is not None and incremental.prepare is not None:
            fields["prepare"] = receiver_of(incremental.prepare)
        for key in {"fingerprint", "loss_guard", "input_guard"} & fields.keys():
            fields[key] = receiver_of(fields[key])
        about = inspect.getdoc(called.function) or ""
        REGISTRY[name] = Stage(name=name, function=called, module=module, about=about, **fields)
        return REGISTRY[name]

    return declare


def module_name(function: Callable[..., Any]) -> str:
    """Return the name under which a function's module is imported, also where it was loaded as a script.

    The tree, an installed wheel and a zip of ``--py-files`` give one name, whatever the path.
    """
    name = function.__module__
    if "." in name:
        return name
    parts = Path(inspect.unwrap(function).__code__.co_filename).with_suffix("").parts
    if "jobs" in parts:
        return ".".join(parts[len(parts) - 1 - parts[::-1].index("jobs") :])
    return name


def _leaves(declared: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the single settings, by key, of those that are sections too."""
    for key, value in declared.items():
        if isinstance(value, Section):
            yield from _leaves({f"{key}.{name}": getattr(value, name) for name in setting_fields(type(value))})
        else:
            yield key, value


def recorded(value: Any) -> str:
    """Return a setting's value as JSON without secrets, or a digest of one that is long."""
    text = redacted(json.dumps(value, sort_keys=True, default=_plain))
    return text if len(text) <= LONGEST_SHOWN else f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _plain(value: Any) -> Any:
    if isinstance(value, Section):
        return counted_values(value)
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)
