"""Read the cleaned contexts out of the answers (Emo Pillars 3.4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import clean_contexts_read
from etl.emo_pillars.steps import clean_contexts_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CLEAN_CONTEXTS, CONTEXTS, EXAMPLES
from etl.lakehouse.tables.llm import CLEAN_CONTEXTS as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(CONTEXTS, EXAMPLES, SAID),
    writes=CLEAN_CONTEXTS,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.clean_contexts",),
    units=Units("contexts"),
    on_request=True,
)
def emo_pillars_clean_contexts(contexts: DataFrame, examples: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = clean_contexts_asked(contexts, examples, run.settings.emo_pillars)
    return clean_contexts_read(with_answers(asked, said, run.models["generator"].identity))


if __name__ == "__main__":
    emo_pillars_clean_contexts.main()
