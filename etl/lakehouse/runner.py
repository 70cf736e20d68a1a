"""Doing a stage's work: whole, slice by slice, or a training; ledgers first, the main table last."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.lakehouse.figures import collected
from etl.lakehouse.ledger import Balance
from etl.lakehouse.lineage import StageEvent, package_version
from etl.lakehouse.outcome import Outcome, Trained
from etl.lakehouse.pipeline import Need, Workplace
from etl.lakehouse.progress import Progress
from etl.lakehouse.slices import SlicePlan, plan_slices
from etl.lakehouse.stage import Model, Sliced, Stage, StageRun
from etl.lakehouse.tables import Table


class StageError(RuntimeError):
    """A stage's result does not hold: exit status 1."""


def run_stage(place: Workplace, stage: Stage, need: Need, progress: Progress) -> StageEvent:
    """Run one stage to its end and record it.

    Raises:
        InputError: its input or settings are bad.
        StageError: rows were lost or doubled, or a model failed on too many.
    """
    started = StageEvent(
        stage=stage.name, run_id=need.run_id, event="started", started=datetime.now(UTC), seconds=0.0,
        slices=1, unit=stage.units.name, rows_in=None, rows_out=None, rows_dropped=None,
        rows_quarantined=None, input_versions=need.inputs, settings_hash=need.settings_hash,
        stage_version=stage.version, models={name: model.identity for name, model in need.models.items()},
        output_version=None, package_version=package_version(),
    )  # fmt: skip
    run = StageRun(
        stage.visible(place.settings),
        need.models,
        place.spark,
        place.model_folder,
        place.settings,
        progress.say,
        need.inputs,
    )
    frames = [place.lakehouse.read(table) for table in stage.reads]
    try:
        if stage.writes is None:
            stage.function(*frames, run)
            done = started.done()
        elif isinstance(stage.writes, Model):
            for line in _hardware(place, stage.writes):
                progress.say_once(line)
            done = _train(place, stage, frames, run, started)
        elif stage.sliced is not None:
            done = _slice_by_slice(place, stage, stage.sliced, stage.writes, frames, run, started, need, progress)
        else:
            done = _whole(place, stage, stage.writes, frames, run, started)
    finally:
        place.spark.catalog.clearCache()
    if stage.writes is not None:
        place.log.add(done)
    return done


def _whole(
    place: Workplace, stage: Stage, table: Table, frames: list[DataFrame], run: StageRun, event: StageEvent
) -> StageEvent:
    outcome = _outcome(stage.function(*frames, run))
    if outcome.dropped is not None:
        place.ledger.replace(event, outcome.dropped)
    place.lakehouse.replace(table, outcome.rows, event.lineage(0))
    counted: int | DataFrame = outcome.rows_in if outcome.rows_in is not None else frames[0] if frames else 0
    rows = place.lakehouse.read(table)
    balance = _balance(place, stage, table, counted, rows)
    return _closed(place, stage, table, event, _of_this_run(place, event, outcome.dropped, balance))


def _train(place: Workplace, stage: Stage, frames: list[DataFrame], run: StageRun, event: StageEvent) -> StageEvent:
    trained = stage.function(*frames, run)
    if not isinstance(trained, Trained):
        raise TypeError(f"{stage.name} trains a model and must return Trained")
    if trained.dropped is not None:
        place.ledger.replace(event, trained.dropped)
    (dropped,) = collected(place.ledger.figures(stage.name))["dropped"]
    balance = _of_this_run(place, event, trained.dropped, Balance(trained.rows_in, trained.rows_out, dropped, 0))
    _check(stage, balance)
    return event.done(
        rows_in=balance.rows_in, rows_out=balance.rows_out, rows_dropped=balance.dropped, rows_quarantined=0,
        output_version=trained.identity,
    )  # fmt: skip


def _of_this_run(place: Workplace, event: StageEvent, dropped: DataFrame | None, balance: Balance) -> Balance:
    """The account without what an earlier rule or a stopped run had left out, where this run drops nothing."""
    if dropped is not None or not (balance.dropped or balance.quarantined):
        return balance
    place.ledger.clear(event)
    return replace(balance, dropped=0, quarantined=0)


def _hardware(place: Workplace, model: Model) -> list[str]:
    """What a training will compute on, for one whose settings leave it to the hardware."""
    training: Any = getattr(place.settings.training, model.name, None)
    if not hasattr(training, "precision"):
        return []
    from udfs.devices import hardware_lines

    return hardware_lines(training.precision, training.device)


def _slice_by_slice(
    place: Workplace,
    stage: Stage,
    sliced: Sliced,
    table: Table,
    frames: list[DataFrame],
    run: StageRun,
    event: StageEvent,
    need: Need,
    progress: Progress,
) -> StageEvent:
    lakehouse, ledger = place.lakehouse, place.ledger
    unfinished = place.log.unfinished(stage.name)
    resuming = unfinished is not None and unfinished.run_id == need.run_id
    if unfinished is not None and not resuming:
        counted = {commit["slice"] for commit in lakehouse.commits(table, unfinished.run_id)}
        ledger.clear_orphans(unfinished, counted)
    if need.rebuild and not resuming:
        lakehouse.delete(table, "true", event.lineage(0))
        ledger.clear(event)
    new = not lakehouse.exists(table) and place.log.last(stage.name, "started") is None
    lakehouse.ensure(table)
    prepared = sliced.prepare(*frames, run) if sliced.prepare else frames[0]
    pending = prepared
    if resuming or not (need.rebuild or new):
        if not sliced.cache:
            _retract(place, stage, sliced, table, prepared, event)
        done_keys = _answered(place, table, need).select(sliced.key)
        if not sliced.cache:
            done_keys = done_keys.union(ledger.keys(stage.name, whole=True))
        pending = prepared.join(done_keys.distinct(), sliced.key, "left_anti")
        if not sliced.cache and not resuming:
            _forget_stale(place, stage, sliced, pending, event)
    plan = plan_slices(
        pending, sliced, place.settings.pipeline.slice_minutes, place.spark.sparkContext.defaultParallelism,
        unfinished.slices if unfinished is not None and resuming else None,
    )  # fmt: skip
    event = StageEvent(**{**vars(event), "slices": plan.slices})
    if plan.pending and not resuming:
        place.log.add(event)
    for number in progress.slices(plan, stage.units.name):
        _one_slice(place, stage, sliced, table, frames, pending, plan, number, run, event)
    return _closed_slices(place, stage, sliced, table, prepared, event, need)


def _one_slice(
    place: Workplace, stage: Stage, sliced: Sliced, table: Table, frames: list[DataFrame],
    pending: DataFrame, plan: SlicePlan, number: int, run: StageRun, event: StageEvent,
) -> None:  # fmt: skip
    piece = pending.where(plan.number_of(sliced.key) == number) if plan.slices > 1 else pending
    outcome = _outcome(stage.function(piece, *(frames if sliced.plans else frames[1:]), run))
    once = f"{stage.name}/{event.run_id}/{number}of{plan.slices}"
    place.ledger.add(event, number, once, outcome.dropped, outcome.quarantined)
    place.lakehouse.append(table, outcome.rows, event.lineage(number), once)
    place.spark.catalog.clearCache()


def _retract(
    place: Workplace, stage: Stage, sliced: Sliced, table: Table, prepared: DataFrame, event: StageEvent
) -> None:
    """Units that are gone from the input leave the table and the ledgers, as if never read."""
    noted = place.ledger.keys(stage.name, whole=False)
    known = place.lakehouse.read(table).select(sliced.key).union(noted).distinct()
    gone = known.join(prepared.select(sliced.key), sliced.key, "left_anti").where(F.col(sliced.key).isNotNull())
    if gone.isEmpty():
        return
    gone = gone.persist()
    place.ledger.forget(event, gone)
    place.lakehouse.delete_keys(table, gone, sliced.key, event.lineage(0))


def _forget_stale(place: Workplace, stage: Stage, sliced: Sliced, pending: DataFrame, event: StageEvent) -> None:
    """Pieces whose rows somebody deleted are worked on again: their old notes would be there twice."""
    noted = place.ledger.keys(stage.name, whole=False).withColumnRenamed("work_key", sliced.key)
    stale = noted.join(pending.select(sliced.key), sliced.key, "left_semi")
    if not stale.isEmpty():
        place.ledger.forget(event, stale.persist())


def _answered(place: Workplace, table: Table, need: Need) -> DataFrame:
    """The rows that count as done: all, or a cache's rows from the model in use."""
    rows = place.lakehouse.read(table)
    if "model" not in table.key:
        return rows
    (model,) = need.models.values()
    return rows.where(F.col("model") == model.identity)


def _closed_slices(
    place: Workplace,
    stage: Stage,
    sliced: Sliced,
    table: Table,
    prepared: DataFrame,
    event: StageEvent,
    need: Need,
) -> StageEvent:
    rows = place.lakehouse.read(table)
    if "model" in table.key:
        rows = _answered(place, table, need)
        if sliced.cache:
            rows = rows.join(prepared.select(sliced.key), sliced.key, "left_semi")
            _check_errors(place, stage, rows)
    return _closed(place, stage, table, event, _balance(place, stage, table, prepared, rows))


def _balance(place: Workplace, stage: Stage, table: Table, rows_in: int | DataFrame, rows_out: DataFrame) -> Balance:
    """Count what came in, what of it is in the table, and what the ledgers hold; check the table's key; one query.

    Args:
        rows_in: the units themselves, or a frame to count them in.
        rows_out: the rows of ``table`` that count.

    Raises:
        StageError: two rows have one key.
    """
    key = [F.coalesce(F.col(column).cast("string"), F.lit("\0")) for column in table.key]
    figures = {
        "out": (rows_out, [F.expr(stage.units.rows_out)]),
        "key": (place.lakehouse.read(table), [F.count("*"), F.count_distinct(*key)]),
        **place.ledger.figures(stage.name),
    }
    if isinstance(rows_in, DataFrame):
        figures["in"] = (rows_in, [F.expr(stage.units.rows_in)])
    found = collected(figures)
    rows, keys = found["key"]
    if rows != keys:
        raise StageError(f"{table.name} has {rows - keys:,} rows too many for its key {', '.join(table.key)}")
    came = rows_in if isinstance(rows_in, int) else found["in"][0]
    return Balance(came, found["out"][0], found["dropped"][0], found["quarantined"][0])


def _closed(place: Workplace, stage: Stage, table: Table, event: StageEvent, balance: Balance) -> StageEvent:
    _check(stage, balance)
    return event.done(
        rows_in=balance.rows_in, rows_out=balance.rows_out, rows_dropped=balance.dropped,
        rows_quarantined=balance.quarantined, output_version=place.output_identity(table, balance.quarantined),
    )  # fmt: skip


def _check(stage: Stage, balance: Balance) -> None:
    if not balance.holds:
        raise StageError(
            f"{stage.name} does not add up: {balance.rows_in:,} {stage.units.name} in, {balance.rows_out:,} out, "
            f"{balance.dropped:,} dropped, {balance.quarantined:,} quarantined"
        )


def _check_errors(place: Workplace, stage: Stage, answered: DataFrame) -> None:
    if "error" not in answered.columns:
        return
    row = answered.agg(F.count("*"), F.count("error"), F.min("error")).first()
    allowed = place.settings.pipeline.max_error_share
    if row is not None and row[1] > allowed * row[0]:
        raise StageError(
            f"{stage.name}: the model failed on {row[1]:,} of {row[0]:,} rows, more than "
            f"pipeline.max_error_share={allowed} allows; the first says: {row[2]}"
        )


def _outcome(result: object) -> Outcome:
    if isinstance(result, Outcome):
        return result
    if isinstance(result, DataFrame):
        return Outcome(result)
    raise InputError(f"a stage must return a DataFrame or an Outcome, not {type(result).__name__}")
