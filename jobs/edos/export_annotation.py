"""Write the crowd's HITs as files: the annotation page, a platform's table, the key to the answers (EDOS B)."""

from pyspark.sql import DataFrame

from etl.lakehouse.files.hit_batches import write_batch
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.edos import ANNOTATION_FILES, ANNOTATION_TASKS


@stage(
    reads=(ANNOTATION_TASKS,),
    writes=ANNOTATION_FILES,
    settings=(
        "edos.annotation.folder", "edos.annotation.post_to", "edos.annotation.reward", "edos.annotation.workers",
        "edos.annotation.countries",
    ),
    units=Units("items", rows_out="coalesce(max(items), 0)"),
    on_request=True,
)  # fmt: skip
def export_annotation(tasks: DataFrame, run: StageRun) -> DataFrame:
    return write_batch(tasks, "crowd", run.settings.edos.annotation.workers, run)


if __name__ == "__main__":
    export_annotation.main()
