"""Write the audit's HITs as files: the annotation page, and the key to the answers (ours)."""

from pyspark.sql import DataFrame

from etl.lakehouse.files.hit_batches import write_batch
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import AUDIT_FILES, AUDIT_TASKS


@stage(
    reads=(AUDIT_TASKS,),
    writes=AUDIT_FILES,
    settings=(
        "edos.annotation.folder", "edos.annotation.post_to", "edos.annotation.reward", "edos.annotation.countries",
        "edos.audit.workers",
    ),
    units=Units("items", rows_out="coalesce(max(items), 0)"),
    on_request=True,
)  # fmt: skip
def export_audit(tasks: DataFrame, run: StageRun) -> DataFrame:
    return write_batch(tasks, "audit", run.settings.edos.audit.workers, run)


if __name__ == "__main__":
    export_audit.main()
