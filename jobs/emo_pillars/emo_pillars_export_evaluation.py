"""Write the questionnaire on labels as a page, with the key to its answers (Emo Pillars I.1)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.label_form import LABEL_FORM
from etl.lakehouse.files.hit_batches import write_form
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import EVALUATION_FILES, EVALUATION_TASKS


@stage(
    reads=(EVALUATION_TASKS,),
    writes=EVALUATION_FILES,
    settings=("emo_pillars.evaluation.folder", "emo_pillars.evaluation.post_to"),
    units=Units("items", rows_out="coalesce(max(items), 0)"),
    on_request=True,
)
def emo_pillars_export_evaluation(tasks: DataFrame, run: StageRun) -> DataFrame:
    return write_form(tasks, LABEL_FORM, run.settings.emo_pillars.evaluation, run)


if __name__ == "__main__":
    emo_pillars_export_evaluation.main()
