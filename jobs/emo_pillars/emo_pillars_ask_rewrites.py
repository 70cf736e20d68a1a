"""Ask for each utterance in words that need its context (Emo Pillars 3.5)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import rewrites_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CLEAN_CONTEXTS, EXAMPLES
from etl.lakehouse.tables.llm import REWRITES as SAID


def pending(clean_contexts: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    return rewrites_asked(clean_contexts, examples, run.settings.emo_pillars)


@stage(
    reads=(CLEAN_CONTEXTS, EXAMPLES),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.rewrites",),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_rewrites(
    requests: DataFrame, clean_contexts: DataFrame, examples: DataFrame, run: StageRun
) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_rewrites.main()
