"""Ask that model for a broad category of each named topic (Emo Pillars H)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import topic_categories_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import TOPIC_NAMES
from etl.lakehouse.tables.llm import TOPIC_CATEGORIES as SAID


def pending(names: DataFrame, run: StageRun) -> DataFrame:
    return run.where_asked("topic_namer", topic_categories_asked(names, run.settings.emo_pillars))


@stage(
    reads=(TOPIC_NAMES,),
    writes=SAID,
    asks=(Model("topic_namer"),),
    settings=("emo_pillars.steps.topic_categories",),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_topic_categories(requests: DataFrame, names: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run, "topic_namer")


if __name__ == "__main__":
    emo_pillars_ask_topic_categories.main()
