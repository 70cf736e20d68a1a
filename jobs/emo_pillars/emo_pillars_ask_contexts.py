"""Ask what led to each utterance that was drawn (Emo Pillars 3.4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import contexts_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EXAMPLES, PLOTS
from etl.lakehouse.tables.llm import CONTEXTS as SAID


def pending(examples: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    return contexts_asked(examples, plots, run.settings.emo_pillars)


@stage(
    reads=(EXAMPLES, PLOTS),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.contexts",),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_contexts(requests: DataFrame, examples: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_contexts.main()
