"""Read the categories of topics out of the answers (Emo Pillars H)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import topic_categories_read
from etl.emo_pillars.steps import topic_categories_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import TOPIC_CATEGORIES, TOPIC_NAMES
from etl.lakehouse.tables.llm import TOPIC_CATEGORIES as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(TOPIC_NAMES, SAID),
    writes=TOPIC_CATEGORIES,
    asks=(Model("topic_namer"),),
    settings=("emo_pillars.steps.topic_categories",),
    units=Units("emotions"),
    on_request=True,
)
def emo_pillars_topic_categories(names: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = run.where_asked("topic_namer", topic_categories_asked(names, run.settings.emo_pillars))
    return topic_categories_read(with_answers(asked, said, run.models["topic_namer"].identity))


if __name__ == "__main__":
    emo_pillars_topic_categories.main()
