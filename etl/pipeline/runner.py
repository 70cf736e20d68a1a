"""Run a stage: whole, in incremental batches, or a training; ledgers are committed first, the main table last."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError, LossError
from conf.redaction import without_user_info
from etl.pipeline.aggregates import collected
from etl.pipeline.incremental import BatchPlan, plan_batches
from etl.pipeline.ledger import Balance, Ledger
from etl.pipeline.lineage import StageEvent
from etl.pipeline.locations import model_places
from etl.pipeline.outcome import DROPPED_DDL, LocalOutcome, Outcome, Trained, with_version
from etl.pipeline.planner import PipelineContext, StagePlan, event_of
from etl.pipeline.progress import Progress
from etl.pipeline.rows_among import rows_added
from etl.pipeline.spark_api import cached, is_frame, task_seconds
from etl.pipeline.stage_run import Compute, StageRun, Tracking
from etl.pipeline.stages import Incremental, Model, Stage, Units
from etl.pipeline.tables import Table
from etl.pipeline.tables.ops import WORK_VERSION

NOTHING_DELETED = (
    "nothing was deleted from the lakehouse {}: restore them and run again, or, if they are meant to go, "
    "`python -m jobs run --accept-loss` with the options of this command"
)


class StageError(RuntimeError):
    """An error that a stage's result is wrong: exit status 1."""


def run_stage(context: PipelineContext, stage: Stage, plan: StagePlan, progress: Progress) -> StageEvent:
    """Run one stage to its end and record it; returns the event that goes into ``ops.stage_runs``.

    Raises:
        InputError: its input or settings are bad.
        StageError: rows were lost or doubled, or a model failed on too many.
    """
    before = task_seconds(context.spark)
    runner = _Runner(context, stage, plan, progress)
    if stage.writes is not None and context.log.last(stage.name, "done") is not None:
        # Without it a stage whose new run is killed would still count as done.
        context.log.add(replace(runner.event, event="began", detail=plan.why))
    try:
        done = runner.run()
    finally:
        context.spark.catalog.clearCache()
    if before is not None and (after := task_seconds(context.spark)) is not None:
        done = replace(done, task_seconds=round(after - before, 2))
    if stage.writes is not None:
        context.log.add(done)
        context.units_dropped[stage.name] = done.rows_dropped or 0
    return done


def stage_run_of(
    context: PipelineContext, stage: Stage, plan: StagePlan, say: Callable[[str], None] = print
) -> StageRun:
    """Return the run of a stage as its functions see it."""
    settings = context.settings
    (folder, store) = model_places(settings)
    return StageRun(
        plan.models,
        context.spark,
        folder,
        Compute.of(settings, context.spark),
        Tracking(settings.lakehouse, settings.mlflow),
        stage.name,
        say,
        plan.inputs,
        store,
    )


class _Runner:
    """One run of one stage."""

    def __init__(self, context: PipelineContext, stage: Stage, plan: StagePlan, progress: Progress) -> None:
        self.context = context
        self.stage = stage
        self.plan = plan
        self.progress = progress
        self.lakehouse = context.lakehouse
        self.ledger = Ledger(context.lakehouse, stage.name, stage.quarantine)
        self.event = event_of(stage, plan, "started", settings=plan.covered)
        self.stage_run = stage_run_of(context, stage, plan, progress.say)
        self.frames = [context.lakehouse.read(table) for table in stage.reads]
        by_row = stage.incremental is not None and stage.incremental.row_by_row
        self.before = context.run_before(stage, plan) if by_row else None

    def run(self) -> StageEvent:
        """Run the stage in the way that its declaration asks for; returns the event of its end."""
        writes = self.stage.writes
        incremental = self.stage.incremental
        if self.stage.quarantine is not None:  # queries on it hold where nothing is quarantined, too
            self.lakehouse.ensure(self.stage.quarantine)
        if writes is None:
            self._called(self.frames)
            return self.event.done()
        if isinstance(writes, Model):
            return self._train(writes)
        return self._at_once(writes) if incremental is None else self._incremental(writes, incremental)

    def _called(self, frames: Sequence[DataFrame]) -> Any:
        return self.stage.call(frames, self.context.settings, self.stage_run)

    def _outcome(self, table: Table, frames: Sequence[DataFrame]) -> Outcome:
        """Return what the stage makes of its input tables for its own."""
        result = self._called(frames)
        if isinstance(result, Outcome):
            return result
        if isinstance(result, LocalOutcome):
            return result.to_outcome(self.context.spark, table)
        if is_frame(result):
            return Outcome(result)
        raise TypeError(f"a stage must return a DataFrame or an Outcome, not {type(result).__name__}")

    def _at_once(self, table: Table) -> StageEvent:
        outcome = self._outcome(table, self.frames)
        self._refuse_unguarded(table, outcome)
        if outcome.dropped is not None:
            self.ledger.replace(self.event, outcome.dropped)
        self.lakehouse.replace(table, outcome.rows, self.event.lineage(0))
        first: int | DataFrame = self.frames[0] if self.frames else 0
        counted = first if outcome.rows_in is None else outcome.rows_in
        balance = self._balance(table, counted, self.lakehouse.read(table))
        return self._done(table, self._of_this_run(outcome.dropped, balance))

    def _refuse_unguarded(self, table: Table, outcome: Outcome) -> None:
        """Raise a LossError where the stage's loss guard says that rows may not replace those of the table."""
        loss_guard = self.stage.loss_guard
        if loss_guard is None or self.context.settings.pipeline.accept_loss or not self.lakehouse.exists(table):
            return
        dropped = outcome.dropped
        if dropped is None:
            dropped = self.context.spark.createDataFrame([], DROPPED_DDL)
        why = loss_guard.call(
            (self.lakehouse.read(table), outcome.rows, dropped), self.context.settings, self.stage_run
        )
        if why is not None:
            where = self.context.settings.lakehouse
            place = where.catalog or without_user_info(where.root)
            raise LossError(f"{self.stage.name}: {why}; {NOTHING_DELETED.format(place)}")

    def _train(self, model: Model) -> StageEvent:
        for line in self._hardware(model):
            self.progress.say_once(line)
        trained = self._called(self.frames)
        if not isinstance(trained, Trained):
            raise TypeError(f"{self.stage.name} trains a model and must return Trained")
        if trained.dropped is not None:
            self.ledger.replace(self.event, trained.dropped)
        (dropped,) = collected(self.ledger.aggregates())["dropped"]
        balance = self._of_this_run(trained.dropped, Balance(trained.rows_in, trained.rows_out, dropped, 0))
        self._check(balance)
        figures = {name: float(value) for name, value in trained.figures.items()}
        return self.event.done(**balance.columns, output_version=trained.identity, figures=figures)

    def _hardware(self, model: Model) -> list[str]:
        """Return what a training will compute on, where its settings leave that to the hardware."""
        training: Any = getattr(self.context.settings.training, model.name, None)
        if not hasattr(training, "precision"):
            return []
        from udfs.devices import hardware_lines

        return hardware_lines(training.precision, training.device)

    def _of_this_run(self, dropped: DataFrame | None, balance: Balance) -> Balance:
        """If this run drops nothing, clear the ledger rows that an earlier run left."""
        if dropped is not None or not (balance.dropped or balance.quarantined):
            return balance
        self.ledger.clear(self.event)
        return replace(balance, dropped=0, quarantined=0)

    def _incremental(self, table: Table, incremental: Incremental) -> StageEvent:
        unfinished = self.context.log.unfinished(self.stage.name)
        resuming = unfinished is not None and unfinished.run_id == self.plan.run_id
        if unfinished is not None and not resuming:
            counted = {commit["slice"] for commit in self.lakehouse.commits(table, unfinished.run_id)}
            self.ledger.clear_orphans(unfinished, counted)
        before = None if resuming else self.before
        added = None if before is None else self._rows_added(incremental, before)
        frames = self.frames if added is None else [added, *self.frames[1:]]
        prepared = self.stage.units_of_work(frames, self.context.settings, self.stage_run)
        # Kept units are left out: these are texts, of which each query reads the present ones.
        once = self.context.small or not incremental.units.kept
        prepared = cached(prepared) if once and added is None else prepared
        if self.plan.rebuild and not resuming:
            self.lakehouse.delete(table, "true", self.event.lineage(0))
            self.ledger.clear(self.event)
        new = not self.lakehouse.exists(table) and self.context.log.last(self.stage.name, "started") is None
        self.lakehouse.ensure(table)
        for again in filter(None, (incremental.unanswered, incremental.failed)):
            self.lakehouse.delete(table, again, self.event.lineage(0))
        pending = prepared
        came: int | DataFrame = prepared
        if added is not None and before is not None:
            done = self._known(table, incremental.unit).where("done")
            pending = cached(prepared.join(done, incremental.unit, "left_anti"))
            (units,) = collected({"new": (pending, [F.expr(self.stage.units.rows_in)])})["new"]
            came = (before.rows_in or 0) + units
        elif resuming or not (self.plan.rebuild or new):
            pending = self._pending(table, incremental, prepared, resuming)
        minutes = self.context.settings.pipeline.slice_minutes
        cores = self.context.cores
        known = unfinished.slices if unfinished is not None and resuming else None
        batches = plan_batches(pending, incremental, minutes * cores, known, incremental.a_minute(self.plan.models))
        self.event = replace(self.event, slices=batches.count)
        if batches.work and not resuming:
            self.context.log.add(self.event)
        unit = incremental.name or self.stage.units.name
        if not (resuming or self.plan.rebuild) and self.context.log.last(self.stage.name, "done") is not None:
            self.progress.tell_new(batches, unit)
        for number in self.progress.batches(batches, unit):
            self._batch(table, incremental, pending, batches, number)
        rows = self._done_rows(table)
        if "model" in table.key and incremental.units.kept:
            rows = rows.join(prepared.select(incremental.key), incremental.key, "left_semi")
        all_rows = "model" not in table.key
        balance = self._balance(table, came, rows, all_rows)
        if balance.rows_in and (balance.quarantined or not balance.rows_out):
            self._refuse_unusable(prepared, table)
        return self._done(table, balance)

    def _refuse_unusable(self, units: DataFrame, table: Table) -> None:
        """Raise an InputError where the stage's input guard says that the run may not go on."""
        guard, quarantine = self.stage.input_guard, self.stage.quarantine
        if guard is None or quarantine is None:
            return
        frames = (units, self.lakehouse.read(table), self.lakehouse.read(quarantine))
        why = guard.call(frames, self.context.settings, self.stage_run)
        if why is not None:
            raise InputError(why)

    def _rows_added(self, incremental: Incremental, before: StageEvent) -> DataFrame | None:
        """Return the rows that the first input has gained since an earlier run; None where all rows are looked at."""
        (first, *others) = self.stage.reads
        same = all(before.input_versions.get(table.name) == self.plan.inputs[table.name] for table in others)
        if not incremental.row_by_row or not same or self.context.small:
            return None
        then = self.lakehouse.read_version(first, before.input_versions.get(first.name))
        return None if then is None else rows_added(self.frames[0], then)

    def _pending(self, table: Table, incremental: Incremental, prepared: DataFrame, resuming: bool) -> DataFrame:
        """Return units not yet in the table nor fully in a ledger; delete rows of vanished and changed ones."""
        key = incremental.key
        if incremental.units.kept:
            return prepared.join(self._done_rows(table).select(key).distinct(), key, "left_anti")
        unit = incremental.unit
        versioned = incremental.units is Units.VERSIONED
        known = cached(self._known(table, unit))
        gone = self._forget(table, key, known.join(prepared.select(unit), unit, "left_anti"))
        known = known if gone is None else known.join(gone, key, "left_anti")
        pending = prepared.join(known.where("done"), unit, "left_anti")
        if versioned:
            pending = prepared.join(pending.select(WORK_VERSION).distinct(), WORK_VERSION, "left_semi")
        pending = cached(pending)
        if not resuming:
            # Units whose rows somebody deleted are worked on again: the rest of their rows would be there twice.
            stale = known.join(pending.select(key), key, "left_semi")
            self._forget(table if versioned else None, key, stale)
        return pending

    def _known(self, table: Table, unit: list[str]) -> DataFrame:
        """Return the units of the table and of the ledgers, each once, and whether it is ``done``: wholly in them."""
        rows = with_version(self.lakehouse.read(table)).select(*unit, self._counts_as_done(table).alias("done"))
        recorded = self.ledger.units().withColumnRenamed("work_key", unit[0]).select(*unit, "done")
        return rows.union(recorded).groupBy(unit).agg(F.max("done").alias("done"))

    def _forget(self, table: Table | None, key: str, units: DataFrame) -> DataFrame | None:
        """Delete the rows of units that are gone, or will be worked on again, from the ledgers and the table.

        Returns:
            their keys; None where there are none.
        """
        gone = cached(units.select(key).where(F.col(key).isNotNull()).distinct())
        if gone.isEmpty():
            return None
        self.ledger.forget(self.event, gone)
        if table is not None:
            self.lakehouse.delete_keys(table, gone, key, self.event.lineage(0))
        return gone

    def _batch(
        self, table: Table, incremental: Incremental, pending: DataFrame, batches: BatchPlan, number: int
    ) -> None:
        units = pending.where(batches.number_of(incremental) == number) if batches.count > 1 else pending
        versioned = incremental.units is Units.VERSIONED
        units = cached(units) if versioned and not self.context.small else units  # joined to all results
        others = self.frames if incremental.gets_all else self.frames[1:]
        outcome = self._outcome(table, (units, *others))
        if versioned:
            outcome = outcome.versioned(units.select(incremental.unit), incremental.key)
        once = f"{self.stage.name}/{self.event.run_id}/{number}of{batches.count}"
        if incremental.unanswered is not None:  # a batch without all its answers is appended to again
            once = f"{once}/{len(self.lakehouse.commits(table, self.event.run_id))}"
        self.ledger.add(self.event, number, once, outcome.dropped, outcome.quarantined)
        self.lakehouse.append(table, outcome.rows, self.event.lineage(number), once)
        if number != max(batches.work):
            self.context.spark.catalog.clearCache()
        if incremental.unanswered is None:
            return
        left = self.lakehouse.read(table).where(incremental.unanswered).limit(1).collect()
        if left:
            self.lakehouse.delete(table, incremental.unanswered, self.event.lineage(number))
            raise StageError(f"{self.stage.name}: {left[0].error}; other answers are kept: run again to continue")

    def _done_rows(self, table: Table) -> DataFrame:
        """Return the rows that count as done."""
        return self.lakehouse.read(table).where(self._counts_as_done(table))

    def _counts_as_done(self, table: Table) -> Column:
        """Return the condition of rows that count as done: all, or a cache's rows from the model in use."""
        if "model" not in table.key:
            return F.lit(True)
        (model,) = self.plan.models.values()
        return F.col("model") == model.identity

    def _balance(self, table: Table, rows_in: int | DataFrame, rows_out: DataFrame, all_rows: bool = True) -> Balance:
        """Count input, output and ledgers, and check the table's key and a model's errors, in one query.

        Args:
            rows_in: a number, or a frame to count in.
            all_rows: whether ``rows_out`` are all of its rows.

        Raises:
            StageError: two rows have one key, or a model failed on too many.
        """
        units = self.stage.units
        everything = rows_out if all_rows else self.lakehouse.read(table)
        aggregates = {"key": (everything, _keys(table)), **self.ledger.aggregates()}
        aggregates["out"] = (rows_out, [F.expr(units.rows_out)])
        if is_frame(rows_in):
            aggregates["in"] = (rows_in, [F.expr(units.rows_in)])
        if not all_rows and "error" in rows_out.columns:
            aggregates["errors"] = (rows_out, [F.count("*"), F.count("error")])
        found = collected(aggregates)
        self._check_errors(rows_out, *found.get("errors", (0, 0)))
        rows, keys = found["key"]
        if rows != keys:
            raise StageError(f"{table.name} has {rows - keys:,} rows too many for its key {', '.join(table.key)}")
        came = rows_in if isinstance(rows_in, int) else found["in"][0]
        return Balance(came, found["out"][0], found["dropped"][0], found["quarantined"][0])

    def _done(self, table: Table, balance: Balance) -> StageEvent:
        self._check(balance)
        version = self.context.output_identity(self.stage, balance.quarantined)
        return self.event.done(**balance.columns, output_version=version)

    def _check(self, balance: Balance) -> None:
        if not balance.holds:
            raise StageError(
                f"{self.stage.name} does not add up: {balance.rows_in:,} {self.stage.units.name} in, "
                f"{balance.rows_out:,} out, {balance.dropped:,} dropped, {balance.quarantined:,} quarantined"
            )

    def _check_errors(self, answered: DataFrame, count: int, errors: int) -> None:
        allowed = self.context.settings.pipeline.max_error_share
        if errors > allowed * count:
            (row,) = answered.agg(F.min("error")).collect()
            raise StageError(
                f"{self.stage.name}: the model failed on {errors:,} of {count:,} rows, more than "
                f"pipeline.max_error_share={allowed} allows; the first error: {row[0]}"
            )


def _keys(table: Table) -> list[Column]:
    """Return the aggregates that count rows of a table, and their keys."""
    key = [F.coalesce(F.col(column).cast("string"), F.lit("\0")) for column in table.key]
    return [F.count("*"), F.count_distinct(*key)]
