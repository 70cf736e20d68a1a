"""``python -m jobs maintain``: small files are joined, and what no run reads any more is deleted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from conf.maintenance_settings import MaintenanceSettings
from conf.settings import Settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, configured, spark_session
from etl.pipeline.store_lease import run_lease
from etl.pipeline.tables import TABLES, Table
from etl.pipeline.tables.model import sql_text
from etl.pipeline.tables.ops import DROPPED
from etl.publishing.screen_tables import aligned, terminal_width

RETENTION = "delta.deletedFileRetentionDuration"
MAX_FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"


@dataclass(frozen=True)
class MaintainedTable:
    """The maintenance of a table, done or planned.

    Attributes:
        files: of its present version, before.
        joined: files that OPTIMIZE puts into larger ones; before it is done, those of a table of small files.
        deleted: files of earlier versions that VACUUM deletes; Delta counts up to 1,000 of them beforehand.
        rows: of ``ops.dropped`` that belong to no stage any more.
    """

    table: str
    files: int
    joined: int
    deleted: int
    rows: int = 0


def maintain(settings: Settings, stages: Sequence[str], dry_run: bool) -> int:
    """Maintain every table that is there; print what was done, or would be, and return 0.

    Args:
        settings: ``maintenance`` says what is kept.
        stages: the names of all stages; ledger rows of others are old.
    """
    spark = spark_session(settings)
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        there = [table for table in TABLES.values() if lakehouse.exists(table)]
        with run_lease(spark, settings, print):
            done = [maintained(lakehouse, table, settings.maintenance, stages, dry_run) for table in there]
    finally:
        close_session(spark, settings)
    rows = [(one.table, one.files, one.joined, one.deleted, one.rows) for one in done]
    print("\n".join(aligned(("table", "files", "joined", "deleted", "old ledger rows"), rows, terminal_width())))
    if dry_run:
        print("nothing was changed (--dry-run)")
    return 0


def maintained(
    lakehouse: Lakehouse, table: Table, kept: MaintenanceSettings, stages: Sequence[str], dry_run: bool
) -> MaintainedTable:
    """Join a table's small files and delete the files of versions that are older than ``maintenance.keep_days``."""
    rows = _old_ledger(lakehouse, stages, dry_run) if table is DROPPED else 0
    reference = lakehouse.reference(table)
    detail = lakehouse.spark.sql(f"DESCRIBE DETAIL {reference}").select("numFiles", "sizeInBytes", "properties").first()
    assert detail is not None
    (files, size, properties) = detail
    joined = files if is_small(files, size, kept.target_megabytes << 20) else 0
    if joined and not dry_run:
        with configured(lakehouse.spark, MAX_FILE_SIZE, str(kept.target_megabytes << 20)):
            optimized = lakehouse.spark.sql(optimize(reference, table)).select("metrics.numFilesRemoved").first()
        joined = int(optimized[0]) if optimized is not None else 0
    deleted = _vacuumed(lakehouse.spark, reference, kept.keep_days, retention_days(properties), dry_run)
    return MaintainedTable(table.name, files, joined, deleted, rows)


def optimize(reference: str, table: Table) -> str:
    """Return the SQL that joins a table's small files, and puts what is read together into the same ones."""
    order = f" ZORDER BY ({', '.join(table.clustered_by)})" if table.clustered_by else ""
    return f"OPTIMIZE {reference}{order}"


def is_small(files: int, size: int, target: int) -> bool:
    """Return whether a table's files are so small on average that joining them pays."""
    return files > 1 and size / files < target / 2


def retention_days(properties: Mapping[str, str]) -> int:
    """Return for how many days a table keeps the files of earlier versions, by its property; Delta's default is 7."""
    found = re.fullmatch(r"interval (\d+) days?", properties.get(RETENTION, ""))
    return int(found[1]) if found else 7


def _old_ledger(lakehouse: Lakehouse, stages: Sequence[str], dry_run: bool) -> int:
    """Delete the ledger rows of stages that this program does not have any more; return their number."""
    where = f"stage NOT IN ({', '.join(map(sql_text, stages))})"
    rows = lakehouse.read(DROPPED).where(where).count()
    if rows and not dry_run:
        lakehouse.delete(DROPPED, where, {"stage": "maintain"})
    return rows


def _vacuumed(spark: SparkSession, reference: str, keep_days: int, own_days: int, dry_run: bool) -> int:
    """Delete files that no version of the last ``keep_days`` has; return their number.

    The table's own retention is set to the same time first, so that Delta's check of it stays on.
    """
    if not dry_run and own_days != keep_days:
        spark.sql(f"ALTER TABLE {reference} SET TBLPROPERTIES ('{RETENTION}' = 'interval {keep_days} days')")
    hours = 24 * (max(keep_days, own_days) if dry_run else keep_days)
    found = spark.sql(f"VACUUM {reference} RETAIN {hours} HOURS DRY RUN").count()
    if found and not dry_run:
        spark.sql(f"VACUUM {reference} RETAIN {hours} HOURS")
    return found
