"""Make the context-full data set: each utterance original and rewritten, with its context (Emo Pillars 4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.examples import contextual_examples
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CLEAN_CONTEXTS, CONTEXTUAL_EXAMPLES, EXAMPLES, REWRITES


@stage(
    reads=(REWRITES, CLEAN_CONTEXTS, EXAMPLES),
    writes=CONTEXTUAL_EXAMPLES,
    units=Units("examples"),
    on_request=True,
)
def emo_pillars_contextual_examples(
    rewrites: DataFrame, clean_contexts: DataFrame, examples: DataFrame, run: StageRun
) -> DataFrame:
    return contextual_examples(rewrites, clean_contexts, examples)


if __name__ == "__main__":
    emo_pillars_contextual_examples.main()
