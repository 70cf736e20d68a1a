"""Read the characters out of the answers, one a line (Emo Pillars 3.1)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import actors_read
from etl.emo_pillars.steps import actors_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import ACTORS, PLOTS
from etl.lakehouse.tables.llm import ACTORS as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(PLOTS, SAID),
    writes=ACTORS,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.actors",),
    units=Units("plots", rows_out="count(DISTINCT plot_id)"),
    on_request=True,
)
def emo_pillars_actors(plots: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = actors_asked(plots, run.settings.emo_pillars)
    return actors_read(with_answers(asked, said, run.models["generator"].identity))


if __name__ == "__main__":
    emo_pillars_actors.main()
