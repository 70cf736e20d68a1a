"""Read the contexts out of the answers (Emo Pillars 3.4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import contexts_read
from etl.emo_pillars.steps import contexts_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTS, EXAMPLES, PLOTS
from etl.lakehouse.tables.llm import CONTEXTS as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(EXAMPLES, PLOTS, SAID),
    writes=CONTEXTS,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.contexts",),
    units=Units("examples", rows_in="count_if(goes_on)"),
    on_request=True,
)
def emo_pillars_contexts(examples: DataFrame, plots: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = contexts_asked(examples, plots, run.settings.emo_pillars)
    return contexts_read(with_answers(asked, said, run.models["generator"].identity))


if __name__ == "__main__":
    emo_pillars_contexts.main()
