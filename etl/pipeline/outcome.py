"""Results of the functions of stages: rows and dropped units, or a trained model."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.pipeline.tables.model import Table
from etl.pipeline.tables.ops import WORK_VERSION

DROPPED_DDL = "unit string, id string, reason string, detail string, units bigint"


class DroppedRow(NamedTuple):
    """A row of ``Outcome.dropped``, made on the driver."""

    unit: str
    id: str
    reason: str
    detail: str
    units: int


@dataclass(frozen=True)
class Outcome:
    """A stage's rows, and the units it dropped.

    Attributes:
        dropped: dropped units as (unit, id, reason, detail, units), with (work_key) in incremental
            stages where it is not the id; None when the rule drops nothing.
        quarantined: inputs that could not be read, as rows of the stage's quarantine without its last columns.
        rows_in: units that came in; None: the stage's first input is counted.
    """

    rows: DataFrame
    dropped: DataFrame | None = None
    quarantined: DataFrame | None = None
    rows_in: int | None = None

    def versioned(self, units: DataFrame, key: str) -> "Outcome":
        """Add to rows and ledger rows the ``work_version`` of the unit that they were made from.

        Args:
            units: its key and ``work_version``.
            key: the key's column in units and rows; ``dropped`` has it as ``work_key``.
        """

        def joined(rows: DataFrame, name: str) -> DataFrame:
            return rows.join(F.broadcast(units.withColumnRenamed(key, name)), name, "left")

        dropped = self.dropped
        quarantined = self.quarantined
        dropped = None if dropped is None else joined(with_work_key(dropped), "work_key")
        quarantined = None if quarantined is None else joined(quarantined, key)
        return replace(self, rows=joined(self.rows, key), dropped=dropped, quarantined=quarantined)


def dropped_columns(
    unit: Column | str, key: Column | str, reason: Column | str, units: Column | int = 1, detail: Column | str = ""
) -> list[Column]:
    """Return the columns of an ``Outcome``'s ``dropped``.

    Args:
        unit: what a dropped row is, such as ``text``, or a column that says it.
        key: its id, or the name of the id's column.
        units: how many of the stage's units it counts as.
    """
    return [
        F.lit(unit).alias("unit"),
        (F.col(key) if isinstance(key, str) else key).alias("id"),
        F.lit(reason).alias("reason"),
        F.lit(detail).alias("detail"),
        F.lit(units).cast("bigint").alias("units"),
    ]


def with_work_key(dropped: DataFrame) -> DataFrame:
    """Return ledger rows with ``work_key``, which is the id where a stage gives no other."""
    return dropped if "work_key" in dropped.columns else dropped.withColumn("work_key", F.col("id"))


def with_version(rows: DataFrame) -> DataFrame:
    """Return rows with ``work_version``: null if they have none."""
    return rows if WORK_VERSION in rows.columns else rows.withColumn(WORK_VERSION, F.lit(None).cast("bigint"))


@dataclass(frozen=True)
class LocalOutcome:
    """An outcome whose rows were read on the driver. A stage may return it.

    Attributes:
        rows: tuples of the columns of the stage's table, in their order; or dicts of labelled files, for further work.
    """

    rows: list[Any] = field(default_factory=list)
    dropped: list[DroppedRow] = field(default_factory=list)

    @property
    def rows_in(self) -> int:
        return len(self.rows) + sum(units for *_, units in self.dropped)

    def drop(self, unit: str, row_id: str, reason: str, detail: str, units: int = 1) -> None:
        """Drop units, with the detail cut to 200 characters."""
        self.dropped.append(DroppedRow(unit, row_id, reason, detail[:200], units))

    def plus(self, unread: "LocalOutcome") -> "LocalOutcome":
        """Return these rows with what is dropped elsewhere, too."""
        return LocalOutcome(self.rows, self.dropped + unread.dropped)

    def notes(self, spark: SparkSession) -> DataFrame:
        """Return what is dropped for a stage with other units: it counts as none."""
        return spark.createDataFrame([row._replace(units=0) for row in self.dropped], DROPPED_DDL)

    def to_outcome(self, spark: SparkSession, table: Table) -> Outcome:
        """Return the outcome with frames, for a table."""
        rows = spark.createDataFrame(self.rows, table.schema)
        dropped = spark.createDataFrame(self.dropped, DROPPED_DDL)
        return Outcome(rows, dropped, rows_in=self.rows_in)


@dataclass(frozen=True)
class Trained:
    """Result of a training stage.

    Attributes:
        identity: of the model that the registry's alias names after the training.
        rows_in: labelled rows given.
        rows_out: labelled rows used, for training or held out.
        dropped: rows left out as (unit, id, reason, detail, units).
        figures: metrics of the new model on held-out rows, and ``rows``, the number of these.
    """

    identity: str
    rows_in: int
    rows_out: int
    dropped: DataFrame | None = None
    figures: dict[str, float] = field(default_factory=dict)
