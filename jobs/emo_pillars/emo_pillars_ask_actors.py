"""Ask who takes part in each plot (Emo Pillars 3.1)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import actors_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import PLOTS
from etl.lakehouse.tables.llm import ACTORS as SAID


def pending(plots: DataFrame, run: StageRun) -> DataFrame:
    return actors_asked(plots, run.settings.emo_pillars)


@stage(
    reads=(PLOTS,),
    writes=SAID,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.actors",),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_actors(requests: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run)


if __name__ == "__main__":
    emo_pillars_ask_actors.main()
