"""``python -m jobs withdraw``: films and files that no table may have rows from."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings
from etl.cli.running import in_session, run_stages
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lease import leased
from etl.pipeline.planner import PipelineContext, feeds
from etl.pipeline.runner import stage_run_of
from etl.pipeline.stages import Stage
from etl.pipeline.tables import Table
from etl.subtitles.tables import MANIFEST, WITHDRAWN

KEYS = {"film": "movie_id", "file": "source_path"}
"""The column of the manifest that names a film or a file."""
_LINEAGE = {"command": "withdraw"}


def withdraw(
    settings: Settings, stages: Sequence[Stage], named: Mapping[str, Sequence[str]], reason: str, undo: bool
) -> int:
    """Record the films and files, and run all stages again that have rows of them; returns the exit status.

    Texts that no row asks for any more go from the tables of answers too.

    Args:
        named: ids by their kind, ``film`` or ``file``.
        reason: why; it stands in ``ops.dropped``.

    Raises:
        InputError: nothing is named.
        RunError: a stage failed; the record stays, and the same command goes on.
    """
    if not any(named.values()):
        raise InputError("name what to withdraw: --film ID (a movie_id) or --file PATH (a source_path)")

    return in_session(
        settings, lambda spark, running: withdraw_with(spark, settings, stages, named, (reason, undo), running)
    )


def withdraw_with(
    spark: SparkSession,
    settings: Settings,
    stages: Sequence[Stage],
    named: Mapping[str, Sequence[str]],
    how: tuple[str, bool],
    running: list[str],
) -> None:
    """Withdraw in a session; see `withdraw`, whose reason and undo are ``how``, and `run_stages`."""
    lakehouse = Lakehouse(spark, settings.lakehouse)
    (reason, undo) = how
    with leased(settings, "withdraw"):
        for kind, ids in named.items():
            _record(lakehouse, kind, ids, reason, undo)
    before = listed(lakehouse, named)
    made = affected(PipelineContext(spark, settings), stages)
    run_stages(spark, settings, made, running, before=None if undo else forget_unasked)
    files = listed(lakehouse, named) if undo else before
    names = ", ".join(f"{kind} {one}" for kind, ids in named.items() for one in ids)
    print(_outcome_line(names, files, undo))
    others = [one for one in lakehouse.sets() if one != settings.lakehouse.set]
    if others or settings.lakehouse.set:
        left = ", ".join([*others, *(["the one without a name"] if settings.lakehouse.set else [])])
        print(f"other sets change when you run them again with their settings: {left}")


def _outcome_line(names: str, files: int, undo: bool) -> str:
    if undo:
        return f"no longer withdrawn: {names}; {files:,} files are listed again"
    if not files:
        return (
            f"withdrawn: {names}; no listed file has this id, so nothing changed: check it against movie_id and "
            "source_path of subtitles.manifest (--undo takes the withdrawal back)"
        )
    rest = "models, exports and old versions of tables may still hold text of them (docs/reliability.md)"
    return f"withdrawn: {names}; {files:,} file{'s' * (files > 1)} left out from now on; {rest}"


def _record(lakehouse: Lakehouse, kind: str, ids: Sequence[str], reason: str, undo: bool) -> None:
    if not ids:
        return
    own = lakehouse.spark.createDataFrame([(kind, one, reason) for one in dict.fromkeys(ids)], WITHDRAWN.schema)
    if undo:
        lakehouse.delete_keys(WITHDRAWN, own.select("id"), "id", _LINEAGE, f"kept.kind = '{kind}'")
        return
    new = own.join(lakehouse.read(WITHDRAWN).select("kind", "id"), ["kind", "id"], "left_anti")
    if not new.isEmpty():
        lakehouse.append(WITHDRAWN, new, _LINEAGE)


def listed(lakehouse: Lakehouse, named: Mapping[str, Iterable[str]]) -> int:
    """Return how many files of the manifest are named."""
    conditions = (F.col(KEYS[kind]).isin(*ids) for kind, ids in named.items() if ids)
    found = F.lit(False)
    for condition in conditions:
        found = found | condition
    return lakehouse.read(MANIFEST).where(found).count()


def affected(context: PipelineContext, stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages that have run and write what follows from the manifest, in order."""
    reached: list[Stage] = []
    for stage in stages:
        if stage.writes == MANIFEST or any(feeds(one, stage) for one in reached):
            reached.append(stage)
    return [one for one in reached if one.writes is not None and context.of(one).log.last(one.name, "done") is not None]


def forget_unasked(context: PipelineContext, stage: Stage) -> None:
    """Delete a model's answers that no row of the stage's inputs asks for, whatever the model."""
    incremental = stage.incremental
    table = stage.writes
    if incremental is None or not incremental.units.kept or not isinstance(table, Table):
        return
    frames = [context.lakehouse.read(one) for one in stage.reads]
    run = stage_run_of(context, stage, context.plan(stage))
    asked = stage.units_of_work(frames, context.settings, run).select(incremental.key)
    rows = context.lakehouse.read(table).select(incremental.key).distinct()
    unasked = rows.join(asked, incremental.key, "left_anti").persist()
    if not unasked.isEmpty():
        context.lakehouse.delete_keys(table, unasked, incremental.key, _LINEAGE)
    unasked.unpersist()
