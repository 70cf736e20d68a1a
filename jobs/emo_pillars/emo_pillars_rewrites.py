"""Read the rewritten utterances out of the answers (Emo Pillars 3.5)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import rewrites_read
from etl.emo_pillars.steps import rewrites_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CLEAN_CONTEXTS, EXAMPLES, REWRITES
from etl.lakehouse.tables.llm import REWRITES as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(CLEAN_CONTEXTS, EXAMPLES, SAID),
    writes=REWRITES,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.rewrites",),
    units=Units("contexts"),
    on_request=True,
)
def emo_pillars_rewrites(clean_contexts: DataFrame, examples: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = rewrites_asked(clean_contexts, examples, run.settings.emo_pillars)
    return rewrites_read(with_answers(asked, said, run.models["generator"].identity))


if __name__ == "__main__":
    emo_pillars_rewrites.main()
