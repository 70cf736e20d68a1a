"""Write the questionnaire on conversations as a page, with the key to its answers (AugESC 6.2, Figure 6)."""

from pyspark.sql import DataFrame

from etl.augesc.rating_form import RATING_FORM
from etl.lakehouse.files.hit_batches import write_form
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import RATING_FILES, RATING_TASKS


@stage(
    reads=(RATING_TASKS,),
    writes=RATING_FILES,
    settings=("augesc.evaluation.ratings.folder", "augesc.evaluation.ratings.post_to"),
    units=Units("items", rows_out="coalesce(max(items), 0)"),
    on_request=True,
)
def augesc_export_ratings(tasks: DataFrame, run: StageRun) -> DataFrame:
    return write_form(tasks, RATING_FORM, run.settings.augesc.evaluation.ratings, run)


if __name__ == "__main__":
    augesc_export_ratings.main()
