"""Ask a language model, where one is named, what each large topic is about (Emo Pillars H)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.steps import topic_names_asked
from etl.lakehouse.asking import answered, asks_for
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import TOPICS
from etl.lakehouse.tables.llm import TOPIC_NAMES as SAID


def pending(topics: DataFrame, run: StageRun) -> DataFrame:
    return run.where_asked("topic_namer", topic_names_asked(topics, run.settings.emo_pillars))


@stage(
    reads=(TOPICS,),
    writes=SAID,
    asks=(Model("topic_namer"),),
    settings=("emo_pillars.analysis.large_topic", "emo_pillars.steps.topic_names"),
    sliced=asks_for(pending),
    units=Units("prompts"),
    on_request=True,
)
def emo_pillars_ask_topic_names(requests: DataFrame, topics: DataFrame, run: StageRun) -> DataFrame:
    return answered(requests, run, "topic_namer")


if __name__ == "__main__":
    emo_pillars_ask_topic_names.main()
