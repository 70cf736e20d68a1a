"""Read the utterances and their emotions out of the answers (Emo Pillars 3.2)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import utterances_read
from etl.emo_pillars.steps import utterances_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import ACTORS, PLOTS, UTTERANCES
from etl.lakehouse.tables.llm import UTTERANCES as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(ACTORS, PLOTS, SAID),
    writes=UTTERANCES,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.utterances", "emo_pillars.emotional", "emo_pillars.neutral"),
    units=Units("actors", rows_out="count(DISTINCT actor_id)"),
    on_request=True,
)
def emo_pillars_utterances(actors: DataFrame, plots: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = utterances_asked(actors, plots, run.settings.emo_pillars)
    return utterances_read(with_answers(asked, said, run.models["generator"].identity))


if __name__ == "__main__":
    emo_pillars_utterances.main()
