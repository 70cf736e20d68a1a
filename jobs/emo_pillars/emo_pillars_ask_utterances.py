"""Ask what each character could say, with eight emotions and twice with none (Emo Pillars 3.2)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import utterances_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import ACTORS, PLOTS
from etl.lakehouse.tables.llm import UTTERANCES as SAID


def pending(actors: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    return utterances_asked(actors, plots, run.settings.emo_pillars)


@stage(
    reads=(ACTORS, PLOTS),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.utterances", "emo_pillars.emotional", "emo_pillars.neutral"),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_utterances(requests: DataFrame, actors: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_utterances.main()
