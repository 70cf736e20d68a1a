"""Record dropped units in ``ops.dropped`` and inputs that cannot be read in the quarantine of their stage."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.pipeline.aggregates import Aggregates
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import StageEvent
from etl.pipeline.outcome import with_version, with_work_key
from etl.pipeline.tables import Table
from etl.pipeline.tables.ops import DROPPED, WORK_VERSION


@dataclass(frozen=True)
class Balance:
    """A stage's counts of input, output, dropped and quarantined units."""

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
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "rows_dropped": self.dropped,
            "rows_quarantined": self.quarantined,
        }


class Ledger:
    """The ledgers of one stage: its rows of ``ops.dropped`` and of its quarantine.

    Args:
        quarantine: the table of the inputs that it could not read, whose first key column is the unit's; or None.
    """

    def __init__(self, lakehouse: Lakehouse, stage: str, quarantine: Table | None = None) -> None:
        self._lakehouse = lakehouse
        self._of_stage = f"stage = '{stage}'"
        self._stage = stage
        self._quarantine = quarantine
        self._tables = (DROPPED,) if quarantine is None else (DROPPED, quarantine)

    def add(
        self, run: StageEvent, number: int, once: str, dropped: DataFrame | None, quarantined: DataFrame | None
    ) -> None:
        """Append one batch's rows, before the commit of the main table makes them valid."""
        keyed = None if dropped is None else with_work_key(dropped)
        for table, rows in zip(self._tables, (keyed, quarantined), strict=False):
            if rows is not None:
                self._lakehouse.append(table, _stamped(rows, run, number), run.lineage(number), once, skip_empty=True)

    def replace(self, run: StageEvent, dropped: DataFrame) -> None:
        """Replace the stage's rows by this run's."""
        rows = _stamped(with_work_key(dropped), run, 0)
        self._lakehouse.replace(DROPPED, rows, run.lineage(0), self._of_stage)

    def clear(self, run: StageEvent) -> None:
        """Delete the stage's rows before it is rebuilt."""
        for table in self._tables:
            self._lakehouse.delete(table, self._of_stage, run.lineage(0))

    def clear_orphans(self, abandoned: StageEvent, counted: set[int]) -> None:
        """Delete the rows of an abandoned run in batches whose main commit is missing."""
        for table in self._tables:
            rest = f" AND slice NOT IN ({', '.join(map(str, sorted(counted)))})" if counted else ""
            of_run = f"{self._of_stage} AND run_id = '{abandoned.run_id}'"
            self._lakehouse.delete(table, of_run + rest, abandoned.lineage(0))

    def units(self) -> DataFrame:
        """Return key and version of dropped or quarantined units, and whether each row is of the whole unit (``done``).

        A unit has several rows where parts of it were dropped.
        """
        dropped = self._lakehouse.read(DROPPED).where(self._of_stage)
        whole = F.coalesce(F.col("id") == F.col("work_key"), F.lit(False))
        known = dropped.select("work_key", WORK_VERSION, whole.alias("done"))
        if self._quarantine is not None:
            unread = self._lakehouse.read(self._quarantine).where(self._of_stage)
            known = known.union(unread.select(self._quarantine.key[0], WORK_VERSION, F.lit(True)))
        return known

    def forget(self, run: StageEvent, units: DataFrame) -> None:
        """Delete the rows of units (one column, distinct) that are gone or will be processed again."""
        of_stage = f"kept.{self._of_stage}"
        for table in self._tables:
            if self._lakehouse.total(table, ("stage", self._stage), None) == 0:  # a merge takes a second to find that
                continue
            key = "work_key" if table is DROPPED else table.key[0]
            self._lakehouse.delete_keys(table, units, key, run.lineage(0), of_stage)

    def aggregates(self) -> Aggregates:
        """Return the units that the stage dropped and the inputs that it quarantined: numbers in a small run."""
        unread = 0 if self._quarantine is None else self._total(self._quarantine, None)
        return {"dropped": self._total(DROPPED, "units"), "quarantined": unread}

    def _total(self, table: Table, units: str | None) -> tuple[DataFrame, list[Column]] | int:
        if (known := self._lakehouse.total(table, ("stage", self._stage), units)) is not None:
            return known
        return self._lakehouse.read(table).where(self._of_stage), [F.sum(units) if units else F.count("*")]


def _stamped(rows: DataFrame, run: StageEvent, number: int) -> DataFrame:
    own = {"stage": F.lit(run.stage), "run_id": F.lit(run.run_id), "slice": F.lit(number)}
    return with_version(rows).withColumns(own)
