"""Leave out utterances that are nearly others, of whatever plot and emotion."""

from pyspark.sql import DataFrame

from etl.emo_pillars.examples import distinct_utterances
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import DISTINCT_UTTERANCES, UTTERANCES


@stage(
    reads=(UTTERANCES,),
    writes=DISTINCT_UTTERANCES,
    settings=("emo_pillars.near_duplicate",),
    units=Units("utterances"),
    on_request=True,
)
def emo_pillars_distinct_utterances(utterances: DataFrame, run: StageRun) -> Outcome:
    return distinct_utterances(utterances, run.settings.emo_pillars.near_duplicate)


if __name__ == "__main__":
    emo_pillars_distinct_utterances.main()
