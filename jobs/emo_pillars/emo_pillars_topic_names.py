"""Read the names of topics out of the answers (Emo Pillars H)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import topic_names_read
from etl.emo_pillars.steps import topic_names_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import TOPIC_NAMES, TOPICS
from etl.lakehouse.tables.llm import TOPIC_NAMES as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(TOPICS, SAID),
    writes=TOPIC_NAMES,
    asks=(Model("topic_namer"),),
    settings=("emo_pillars.analysis.large_topic", "emo_pillars.steps.topic_names"),
    units=Units("topics"),
    on_request=True,
)
def emo_pillars_topic_names(topics: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = run.where_asked("topic_namer", topic_names_asked(topics, run.settings.emo_pillars))
    return topic_names_read(with_answers(asked, said, run.models["topic_namer"].identity))


if __name__ == "__main__":
    emo_pillars_topic_names.main()
