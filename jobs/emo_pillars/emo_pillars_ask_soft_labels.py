"""Ask which emotions each utterance expresses, and how strongly (Emo Pillars 3.3)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import soft_labels_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import DISTINCT_UTTERANCES
from etl.lakehouse.tables.llm import SOFT_LABELS as SAID


def pending(distinct_utterances: DataFrame, run: StageRun) -> DataFrame:
    return soft_labels_asked(distinct_utterances, run.settings.emo_pillars)


@stage(
    reads=(DISTINCT_UTTERANCES,),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.soft_labels", "emo_pillars.top_labels"),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_soft_labels(requests: DataFrame, distinct_utterances: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_soft_labels.main()
