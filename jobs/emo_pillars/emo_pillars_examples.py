"""Make the context-less data set: labels from 0.3 on, split by plot, a third drawn for contexts (Emo Pillars 4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.examples import examples
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import DISTINCT_UTTERANCES, EXAMPLES, SOFT_LABELS


@stage(
    reads=(SOFT_LABELS, DISTINCT_UTTERANCES),
    writes=EXAMPLES,
    settings=("emo_pillars.least_level", "emo_pillars.context_share"),
    units=Units("utterances", "count(DISTINCT utterance_id)"),
    on_request=True,
)
def emo_pillars_examples(soft_labels: DataFrame, utterances: DataFrame, run: StageRun) -> Outcome:
    own = run.settings.emo_pillars
    return examples(soft_labels, utterances, own.least_level, own.context_share)


if __name__ == "__main__":
    emo_pillars_examples.main()
