"""Ask for each context without a word on emotions (Emo Pillars 3.4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import clean_contexts_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTS, EXAMPLES
from etl.lakehouse.tables.llm import CLEAN_CONTEXTS as SAID


def pending(contexts: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    return clean_contexts_asked(contexts, examples, run.settings.emo_pillars)


@stage(
    reads=(CONTEXTS, EXAMPLES),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.clean_contexts",),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_clean_contexts(
    requests: DataFrame, contexts: DataFrame, examples: DataFrame, run: StageRun
) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_clean_contexts.main()
