"""Write the questionnaire after talks with two bots as a page, with the key to its answers (AugESC 7.2)."""

from pyspark.sql import DataFrame

from etl.augesc.comparisons import COMPARISON_FORM
from etl.lakehouse.files.hit_batches import write_form
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import COMPARISON_FILES, COMPARISON_TASKS


@stage(
    reads=(COMPARISON_TASKS,),
    writes=COMPARISON_FILES,
    settings=("augesc.evaluation.comparisons.folder", "augesc.evaluation.comparisons.post_to"),
    units=Units("items", rows_out="coalesce(max(items), 0)"),
    on_request=True,
)
def augesc_export_comparisons(tasks: DataFrame, run: StageRun) -> DataFrame:
    return write_form(tasks, COMPARISON_FORM, run.settings.augesc.evaluation.comparisons, run)


if __name__ == "__main__":
    augesc_export_comparisons.main()
