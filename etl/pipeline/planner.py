"""Order the stages, select those to run, and decide which of them have work to do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.removed_settings import MOVED_DEFAULTS, NOT_COVERED
from conf.section import Counts
from conf.settings import Settings, without
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import StageEvent, StageLog, package_version, run_id_of
from etl.pipeline.locations import model_at
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.spark_api import cores
from etl.pipeline.stages import FILES_OF, REGISTRY, Model, Stage, recorded, setting
from etl.pipeline.tables import Table
from etl.pipeline.tables.ops import DROPPED

NAMED = 2
"""Settings that a reason names at most."""
OFF = "off"
"""Identity of an input table that no stage makes under these settings."""
ASKED_AGAIN = "asked for again"
"""Why a stage runs with ``--again``."""


def in_order(stages: Iterable[Stage], groups: Sequence[str] = ()) -> list[Stage]:
    """Return stages in topological order.

    Args:
        groups: data sets in the order in which their independent stages run; within one, by name.

    Raises:
        ValueError: stages read each other's tables in a circle.
    """
    rank = {group: place for place, group in enumerate(groups)}
    waiting = {stage.name: stage for stage in stages}
    ordered: list[Stage] = []
    while waiting:
        unmade = {_name(stage.writes) for stage in waiting.values() if stage.writes is not None}
        ready = [
            stage
            for stage in waiting.values()
            if not unmade & {*(table.name for table in stage.reads), *map(_name, stage.models)}
        ]
        if not ready:
            raise ValueError(f"stages read each other's tables in a circle: {', '.join(sorted(waiting))}")
        # Depth first: what the newest table makes possible comes before unrelated stages.
        made = [_name(stage.writes) for stage in reversed(ordered)]
        ready.sort(key=lambda stage: (_newest_input(stage, made), rank.get(stage.group, len(rank)), stage.name))
        ordered.append(ready[0])
        del waiting[ready[0].name]
    return ordered


def _newest_input(stage: Stage, made: list[str]) -> int:
    inputs = {*(table.name for table in stage.reads), *map(_name, stage.models)}
    return min((made.index(name) for name in inputs if name in made), default=len(made))


def _name(resource: Any) -> str:
    return f"model {resource.name}" if isinstance(resource, Model) else getattr(resource, "name", "")


def chosen(
    stages: list[Stage], *, to: str | None = None, start: str | None = None, only: str | None = None
) -> list[Stage]:
    """Return the stages that ``--to``, ``--from`` and ``--only`` select, in order.

    Manual stages are left out unless they are named, or a stage named in ``--to`` needs them.

    Args:
        to: one or several names, separated by commas: these stages and all that they need.
        start: this stage and all that follows from it.
        only: this stage alone.

    Raises:
        InputError: a stage that is not known.
    """
    by_name = {stage.name: stage for stage in stages}
    ends = [name.strip() for name in to.split(",")] if to is not None else []
    for name in (*ends, start, only):
        if name is not None and name not in by_name:
            like = get_close_matches(name, by_name, n=1)
            meant = f"did you mean {like[0]}? " if like else ""
            raise InputError(f"stage {name!r} is not known: {meant}`python -m jobs plan` lists them")
    if only is not None:
        return [by_name[only]]
    wanted = {stage.name for stage in stages if not stage.manual or stage.name == start}
    if ends:
        wanted = set().union(*(_reach(by_name[name], stages, forward=False) for name in ends))
    if start is not None:
        wanted &= _reach(by_name[start], stages, forward=True)
    return [stage for stage in stages if stage.name in wanted]


def in_sets(stages: Iterable[Stage]) -> list[Stage]:
    """Return those of the stages that a set runs for itself, and those that these cannot do without, in order.

    Raises:
        InputError: no set has any of them.
    """
    stages = list(stages)
    own = [stage for stage in stages if stage.of_sets]
    if not own:
        names = ", ".join(stage.name for stage in stages)
        raise InputError(f"{names}: all sets share what these stages make: leave out lakehouse.set")
    needed = {stage.name for stage in own}
    for stage in reversed(stages):
        if any(feeds(stage, other) and stage.writes not in other.optional for other in stages if other.name in needed):
            needed.add(stage.name)
    return [stage for stage in stages if stage.name in needed]


def _reach(origin: Stage, stages: list[Stage], *, forward: bool) -> set[str]:
    reached = {origin.name}
    for stage in stages if forward else reversed(stages):
        for other in stages:
            first, second = (other, stage) if forward else (stage, other)
            if other.name in reached and feeds(first, second):
                reached.add(stage.name)
    return reached


def feeds(first: Stage, second: Stage) -> bool:
    """Return whether ``second`` reads the table or uses the model that ``first`` writes."""
    inputs = {*(table.name for table in second.reads), *map(_name, second.models)}
    return first.writes is not None and _name(first.writes) in inputs


def given_model(stage: Stage, settings: Settings) -> str | None:
    """Return the URI that replaces a stage's training (``none`` for null); None if it trains."""
    if not isinstance(stage.writes, Model):
        return None
    uri = setting(settings, f"models.{stage.writes.name}") or NO_MODEL
    name = setting(settings, f"training.{stage.writes.name}.name")
    return None if uri == f"models:/{name}@champion" else str(uri)


def is_off(stage: Stage, settings: Settings) -> bool:
    """Return whether the setting that enables the stage is false or not set."""
    return stage.enabled_if is not None and not setting(settings, stage.enabled_if)


def why_off(stage: Stage, settings: Settings) -> str:
    """Return, of a stage that is off, which setting is false or not set."""
    assert stage.enabled_if is not None
    return f"{stage.enabled_if} is {'not set' if setting(settings, stage.enabled_if) is None else 'false'}"


def what_changed(before: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Return which settings, or files that they name, have another value than before; None where nothing tells it.

    Args:
        before: as ``settings`` of ``ops.stage_runs`` has them; empty for a run of an earlier version of the program.
    """
    if not before:
        return None
    names = _other_settings(before, now)
    if not names:
        return None
    changes = [_changed_setting(name, before.get(name), now.get(name)) for name in names[:NAMED]]
    others = len(names) - NAMED
    return f"{', '.join(changes)}{f' and {others} more' if others > 0 else ''} changed"


def _other_settings(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the settings, or files that they name, with another value than before, without those at a gone default."""
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    changed = [name for name in names if name in now or not _was_default(name, before[name])]
    return [name for name in changed if not _default_moved(name, before.get(name), now.get(name))]


def _default_moved(name: str, before: str | None, now: str | None) -> bool:
    """Return whether a setting had the default of an earlier version and has that of this one."""
    if name not in MOVED_DEFAULTS:
        return False
    old, new = MOVED_DEFAULTS[name]
    return before == recorded(old) and now == (None if new is NOT_COVERED else recorded(new))


def _was_default(name: str, value: str) -> bool:
    """Return whether what was recorded is the default of a setting that is gone: of one for files, that it had none."""
    found = without(name.removeprefix(FILES_OF))
    if found is None:
        return False
    return value == recorded([] if name.startswith(FILES_OF) and not found.default else found.default)


def same_settings(event: StageEvent, settings_hash: str, covered: Mapping[str, str]) -> bool:
    """Return whether a run had these settings, or others only in those that are gone since and had their default."""
    before = event.settings or {}
    return event.settings_hash == settings_hash or (bool(before) and not _other_settings(before, covered))


def _changed_setting(name: str, before: str | None, now: str | None) -> str:
    values = (before, now)
    shown = all(one is not None and not one.startswith(("sha256:", "[")) for one in values)
    return f"{name} ({before} -> {now})" if shown and not name.startswith((FILES_OF, "conf/")) else name


@dataclass(frozen=True)
class StagePlan:
    """The work of a stage: why it runs (None: it has none), and the identity of the run that does it."""

    why: str | None
    run_id: str
    inputs: dict[str, str]
    settings_hash: str
    models: dict[str, ResolvedModel]
    rebuild: bool = False
    covered: dict[str, str] = field(default_factory=dict)

    @property
    def identities(self) -> dict[str, str]:
        """The models' identities by name."""
        return {name: model.identity for name, model in self.models.items()}

    def same_rules(self, event: StageEvent, stage: Stage) -> bool:
        """Return whether a run had the same version of the stage, settings and models."""
        same = event.stage_version == stage.version and same_settings(event, self.settings_hash, self.covered)
        return same and self.same_models(event)

    def same_models(self, event: StageEvent) -> bool:
        """Return whether a run had the same models; one that the stage uses no longer is none."""
        return {name: one for name, one in event.models.items() if name in self.models} == self.identities


def event_of(stage: Stage, plan: StagePlan | None, event: str, **facts: Any) -> StageEvent:
    """Return an event of a stage's run that has counted nothing yet, with other facts of it.

    Args:
        plan: None: there is none yet.
    """
    no_counts = dict.fromkeys(("rows_in", "rows_out", "rows_dropped", "rows_quarantined", "output_version"))
    about: dict[str, Any] = {
        "stage": stage.name,
        "run_id": "" if plan is None else plan.run_id,
        "event": event,
        "started": datetime.now(UTC),
        "seconds": 0.0,
        "slices": 1,
        "unit": stage.units.name,
        "input_versions": {} if plan is None else plan.inputs,
        "settings_hash": "" if plan is None else plan.settings_hash,
        "stage_version": stage.version,
        "models": {} if plan is None else plan.identities,
        "package_version": package_version(),
    }
    return StageEvent(**about | no_counts | facts)


@dataclass(frozen=True)
class _Need:
    """Why a stage has work (None: it has none), and whether its table is emptied first."""

    why: str | None
    rebuild: bool = False


def _planned(stage: Stage) -> bool:
    return stage.incremental is not None and stage.incremental.units.planned


def _kept(stage: Stage) -> bool:
    return stage.incremental is not None and stage.incremental.units.kept


def _there(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the inputs that are there: a table that is off is as one that an earlier version did not read."""
    return {name: version for name, version in inputs.items() if version != OFF}


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names in ``now`` with another value than before, in order."""
    return sorted(name for name in now if before.get(name) != now[name])


def without_set(settings: Settings) -> Settings:
    """Return the settings of the stages that all sets of a lakehouse share."""
    return settings.model_copy(update={"lakehouse": settings.lakehouse.model_copy(update={"set": ""})})


class PipelineContext:
    """The session, tables, log and models of one lakehouse, or of one set in it (``lakehouse.set``).

    Attributes:
        small: whether the data of the run fit into the driver.
        shared: the context of the stages that no set runs for itself; without a set, this one.
    """

    def __init__(self, spark: SparkSession, settings: Settings, lakehouse: Lakehouse | None = None) -> None:
        self.spark = spark
        self.settings = settings
        self.small = bool(settings.spark.short_session)
        self.lakehouse = lakehouse or Lakehouse(spark, settings.lakehouse, small=self.small)
        self.log = StageLog(self.lakehouse)
        self.shared = self
        if settings.lakehouse.set:
            self.shared = PipelineContext(spark, without_set(settings), self.lakehouse.of_set(""))

    def of(self, stage: Stage) -> "PipelineContext":
        """Return the context that a stage runs in."""
        return self if stage.of_sets else self.shared

    @property
    def cores(self) -> int:
        """How many tasks run at once."""
        return cores(self.spark)

    @cached_property
    def units_dropped(self) -> dict[str, int]:
        """The units in ``ops.dropped`` by stage; the runner updates a stage's number after its run."""
        rows = self.lakehouse.read(DROPPED).groupBy("stage").agg(F.sum("units")).collect()
        return {row[0]: row[1] for row in rows}

    def resolve(self, model: Model) -> ResolvedModel:
        """Return the model that ``models.<name>`` names, as the lakehouse knows it; ``NO_MODEL`` if it is null.

        Raises:
            InputError: the model does not exist.
        """
        uri = setting(self.settings, f"models.{model.name}")
        if uri is None:
            return ResolvedModel(Path(), NO_MODEL)
        known = dict.fromkeys([*self.log.models(model.name), *self.shared.log.models(model.name)])
        return model_at(uri, self.settings, self.settings.models.share).known_as(list(known))

    def given_model(self, stage: Stage) -> str | None:
        """Return what :func:`given_model` does, under the run's settings."""
        return given_model(stage, self.settings)

    def plan(self, stage: Stage, again: bool = False) -> StagePlan:
        """Compare the stage's last finished run with its present inputs, settings and models.

        Args:
            again: whether it runs though nothing changed.

        Raises:
            InputError: an input table or model is not there yet.
        """
        present = self._present(stage)
        asked = again and stage.writes is not None and not self.is_off(stage)
        need = _Need(ASKED_AGAIN, rebuild=True) if asked else self._need(stage, present)
        need = self._after_a_stop(stage, present, need)
        need = self._after_foreign_changes(stage, need)
        return replace(present, why=need.why, rebuild=need.rebuild)

    def _present(self, stage: Stage) -> StagePlan:
        """Return the plan of a stage without work: its present inputs, settings and models."""
        inputs = {table.name: self._input_identity(stage, table) for table in stage.reads}
        models = {model.name: self.resolve(model) for model in stage.models}
        (settings_hash, covered) = stage.covered(self.settings)
        identities = {name: model.identity for name, model in models.items()}
        runs = len(self.log.done(stage.name))
        run_id = run_id_of(stage.name, stage.version, settings_hash, inputs, identities, runs)
        return StagePlan(None, run_id, inputs, settings_hash, models, covered=covered)

    def _input_identity(self, stage: Stage, table: Table) -> str:
        identity = self.lakehouse.identity(table)
        if identity is not None:
            return identity
        if table in stage.optional or self._nothing_writes(table):
            return OFF
        writers = [one.name for one in REGISTRY.values() if one.writes == table or one.quarantine == table]
        first = f"{' or '.join(writers)} first" if writers else "the stages before it"
        raise InputError(
            f"{stage.name} reads {table.name}, which does not exist: run {first} "
            f"(`python -m jobs run --to {stage.name}` runs all that it needs)"
        )

    def _need(self, stage: Stage, present: StagePlan) -> _Need:
        """Return the first reason for work, from the rules of a stage to its output."""
        last = self.log.last(stage.name, "done")
        if stage.writes is None:
            return _Need(stage.output_in_words)
        if last is None:
            return _Need(None if self.is_off(stage) else "first run")
        if last.stage_version != stage.version:
            return _Need("its rules changed", rebuild=True)
        if not same_settings(last, present.settings_hash, present.covered):
            files = " or the files that they name" if stage.keys(Counts.FILES) or stage.fingerprint else ""
            why = what_changed(last.settings or {}, present.covered) or f"its settings{files} changed"
            return _Need(why, rebuild=not _planned(stage))
        if not present.same_models(last):
            names = ", ".join(_changed(last.models, present.identities))
            return _Need(f"model {names} changed", rebuild=not (_planned(stage) or _kept(stage)))
        grown = self.settings.pipeline.retrain_on_growth or not isinstance(stage.writes, Model)
        read = {name: version for name, version in last.input_versions.items() if name in present.inputs}
        if _there(read) != _there(present.inputs) and grown:
            return _Need(f"{', '.join(_changed(last.input_versions, present.inputs))} changed")
        return _Need(self._output_problem(stage, last))

    def _after_a_stop(self, stage: Stage, present: StagePlan, need: _Need) -> _Need:
        """Return what is to do where the last run was stopped: it is resumed, or its rows go."""
        unfinished = self.log.unfinished(stage.name)
        if unfinished is None:
            begun = self.log.begun(stage.name)
            if begun is None or stage.writes is None:
                return need
            return _Need(need.why or "an earlier run was stopped", need.rebuild or begun.detail == ASKED_AGAIN)
        if unfinished.run_id == present.run_id:
            goes_on = need.why is not None
            return replace(need, why="goes on after the last commit of a run that was stopped") if goes_on else need
        # Rows of a run under other settings must not be mixed with this one's.
        rebuild = need.rebuild or not (present.same_rules(unfinished, stage) or _planned(stage))
        return _Need(need.why or "an earlier run was stopped", rebuild)

    def _after_foreign_changes(self, stage: Stage, need: _Need) -> _Need:
        """Return what is to do where somebody else changed the stage's rows in the ledger."""
        last = self.log.last(stage.name, "done")
        if last is None or self.log.unfinished(stage.name) is not None or not isinstance(stage.writes, Table):
            return need
        if self.units_dropped.get(stage.name, 0) == (last.rows_dropped or 0):
            return need
        mends_itself = stage.incremental is None or _planned(stage) or _kept(stage)
        why = need.why or f"its rows in {DROPPED.name} were changed by something else"
        return _Need(why, need.rebuild or not mends_itself)

    def run_before(self, stage: Stage, plan: StagePlan) -> StageEvent | None:
        """Return the stage's last finished run if nothing but its inputs has changed since; None for any other reason.

        Args:
            stage: one that writes a table.
            plan: of its next run.
        """
        last = self.log.last(stage.name, "done")
        if last is None or plan.rebuild or plan.why == ASKED_AGAIN or self.log.state(stage.name) != "done":
            return None
        if not plan.same_rules(last, stage) or self._output_problem(stage, last):
            return None
        return last if self.units_dropped.get(stage.name, 0) == (last.rows_dropped or 0) else None

    def is_off(self, stage: Stage) -> bool:
        """Return what :func:`is_off` does, under the run's settings."""
        return is_off(stage, self.settings)

    def _nothing_writes(self, table: Table) -> bool:
        return table.by_command or any(one.writes == table and self.is_off(one) for one in REGISTRY.values())

    def output_identity(self, stage: Stage, quarantined: int) -> str | None:
        """Return the identity of a stage's table, with that of its quarantine where it has rows in it."""
        assert isinstance(stage.writes, Table)
        identity = self.lakehouse.identity(stage.writes)
        if stage.quarantine is None or not quarantined:
            return identity
        return f"{identity}+{self.lakehouse.identity(stage.quarantine)}"

    def _output_problem(self, stage: Stage, last: StageEvent) -> str | None:
        if isinstance(stage.writes, Model):
            try:
                self.resolve(stage.writes)
            except InputError as error:
                return f"its model is missing: {error}"
            return None
        assert stage.writes is not None
        if self.lakehouse.identity(stage.writes) is None:
            return f"{stage.writes.name} does not exist"
        identity = self.output_identity(stage, last.rows_quarantined or 0)
        same = identity == last.output_version
        if not same:
            return f"{stage.writes.name} or its quarantine was changed by something else"
        failed = stage.incremental.failed if stage.incremental is not None else None
        if failed is None or self.lakehouse.read(stage.writes).where(failed).isEmpty():
            return None
        return f"rows of {stage.writes.name} failed, and another attempt may cure them"
