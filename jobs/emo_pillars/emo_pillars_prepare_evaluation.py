"""Draw the examples whose labels people check, with options as the paper builds them (Emo Pillars I.1)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.label_form import chosen_examples, label_tasks
from etl.emo_pillars.samples import evaluated
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTUAL_EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import EVALUATION_TASKS

SETTINGS = (
    "examples", "items_per_hit", "neutral_alone", "neutral_beside", "ranked_share", "rewritten_share", "seed",
)  # fmt: skip


@stage(
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=EVALUATION_TASKS,
    settings=tuple(f"emo_pillars.evaluation.{name}" for name in SETTINGS),
    units=Units("items"),
    on_request=True,
)
def emo_pillars_prepare_evaluation(contextual: DataFrame, run: StageRun) -> Outcome:
    wanted = run.settings.emo_pillars.evaluation
    rows = evaluated(contextual.where(F.col("split") == "train"), wanted.examples, wanted.seed)
    examples = chosen_examples(
        (row.asDict(recursive=True) for row in rows.orderBy("nth", "utterance_id").collect()),
        examples=wanted.examples, alone=wanted.neutral_alone, beside=wanted.neutral_beside,
    )  # fmt: skip
    tasks = label_tasks(
        examples, per_hit=wanted.items_per_hit, ranked_share=wanted.ranked_share,
        rewritten_share=wanted.rewritten_share, seed=wanted.seed,
    )  # fmt: skip
    return Outcome(run.spark.createDataFrame(tasks, EVALUATION_TASKS.schema), rows_in=len(tasks))


if __name__ == "__main__":
    emo_pillars_prepare_evaluation.main()
