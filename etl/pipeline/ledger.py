"""Nothing disappears: left-out units go to ``ops.dropped``, unreadable files to ``subtitles.quarantine``."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline.aggregates import Aggregates
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import StageEvent
from etl.tables.ops import DROPPED, QUARANTINE


@dataclass(frozen=True)
class Balance:
    """A stage's account: it holds when everything that came in is somewhere."""

    rows_in: int
    rows_out: int
    dropped: int
    quarantined: int

    @property
    def holds(self) -> bool:
        """Whether in = out + dropped + quarantined."""
        return self.rows_in == self.rows_out + self.dropped + self.quarantined

    @property
    def columns(self) -> dict[str, int]:
        """The account as columns of ``ops.stage_runs``."""
        return {
            "rows_in": self.rows_in, "rows_out": self.rows_out, "rows_dropped": self.dropped,
            "rows_quarantined": self.quarantined,
        }  # fmt: skip


class Ledger:
    """The ledgers of one lakehouse."""

    def __init__(self, lakehouse: Lakehouse) -> None:
        self._lakehouse = lakehouse

    def add(
        self, run: StageEvent, number: int, once: str, dropped: DataFrame | None, quarantined: DataFrame | None
    ) -> None:
        """Add one slice's rows; before the slice's main commit, which makes them count."""
        if dropped is not None and not dropped.isEmpty():
            self._lakehouse.append(DROPPED, _ledger_rows(dropped, run, number), run.lineage(number), once)
        if quarantined is not None and not quarantined.isEmpty():
            self._lakehouse.append(QUARANTINE, _stamped(quarantined, run, number), run.lineage(number), once)

    def replace(self, run: StageEvent, dropped: DataFrame) -> None:
        """Put this run's rows in the place of the stage's earlier ones."""
        rows = _ledger_rows(dropped, run, 0)
        self._lakehouse.replace(DROPPED, rows, run.lineage(0), f"stage = '{run.stage}'")

    def clear(self, run: StageEvent) -> None:
        """Forget what earlier runs of the stage left out, before it is rebuilt."""
        for table in (DROPPED, QUARANTINE):
            self._lakehouse.delete(table, f"stage = '{run.stage}'", run.lineage(0))

    def clear_orphans(self, abandoned: StageEvent, counted: set[int]) -> None:
        """Remove rows of a run that was given up, from slices whose main commit never came."""
        for table in (DROPPED, QUARANTINE):
            rest = f" AND slice NOT IN ({', '.join(map(str, sorted(counted)))})" if counted else ""
            self._lakehouse.delete(
                table,
                f"stage = '{abandoned.stage}' AND run_id = '{abandoned.run_id}'{rest}",
                abandoned.lineage(0),
            )

    def keys(self, stage: str, *, whole: bool) -> DataFrame:
        """(work_key) of every piece that a sliced stage has left out: whole, or also those in part."""
        dropped = self._lakehouse.read(DROPPED).where(F.col("stage") == stage)
        dropped = (dropped.where(F.col("id") == F.col("work_key")) if whole else dropped).select("work_key")
        unread = self._lakehouse.read(QUARANTINE).where(F.col("stage") == stage)
        return dropped.union(unread.select(F.col("source_path").alias("work_key"))).distinct()

    def forget(self, run: StageEvent, pieces: DataFrame) -> None:
        """Remove what was noted of pieces (one column, distinct) that are gone, or will be worked on again."""
        of_stage = f"kept.stage = '{run.stage}'"
        self._lakehouse.delete_keys(DROPPED, pieces, "work_key", run.lineage(0), of_stage)
        self._lakehouse.delete_keys(QUARANTINE, pieces, "source_path", run.lineage(0), of_stage)

    def aggregates(self, stage: str) -> Aggregates:
        """Return what counts the units that a stage dropped, and the files that it quarantined."""
        of_stage = F.col("stage") == stage
        return {
            "dropped": (self._lakehouse.read(DROPPED).where(of_stage), [F.sum("units")]),
            "quarantined": (self._lakehouse.read(QUARANTINE).where(of_stage), [F.count("*")]),
        }


def _ledger_rows(dropped: DataFrame, run: StageEvent, number: int) -> DataFrame:
    if "work_key" not in dropped.columns:
        dropped = dropped.withColumn("work_key", F.col("id"))
    return _stamped(dropped, run, number)


def _stamped(rows: DataFrame, run: StageEvent, number: int) -> DataFrame:
    return rows.withColumns({"stage": F.lit(run.stage), "run_id": F.lit(run.run_id), "slice": F.lit(number)})
