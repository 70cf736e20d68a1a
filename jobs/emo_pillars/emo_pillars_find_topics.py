"""Find topics among the utterances of one emotion: communities of their similarity graph (Emo Pillars 7, H)."""

import numpy as np
from pyspark.sql import DataFrame

from etl.emo_pillars.samples import topic_utterances, with_vector
from etl.emo_pillars.topics import topics_of
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import TEXT_EMBEDDINGS, TOPICS

SETTINGS = ("topic_emotion", "topic_utterances", "topic_similarity", "seed")


@stage(
    reads=(EXAMPLES, TEXT_EMBEDDINGS),
    writes=TOPICS,
    asks=(Model("analysis_encoder"),),
    settings=tuple(f"emo_pillars.analysis.{name}" for name in SETTINGS),
    units=Units("topics"),
    on_request=True,
)
def emo_pillars_find_topics(examples: DataFrame, embeddings: DataFrame, run: StageRun) -> Outcome:
    wanted, model = run.settings.emo_pillars.analysis, run.models["analysis_encoder"].identity
    texts = topic_utterances(examples, wanted.topic_emotion, wanted.topic_utterances)
    rows = with_vector(texts, embeddings, model).orderBy("utterance_id").collect()
    vectors = np.array([row.vector for row in rows], dtype=np.float32)
    found = topics_of(
        wanted.topic_emotion, [row.text for row in rows], vectors, wanted.topic_similarity, wanted.seed
    )  # fmt: skip
    return Outcome(run.spark.createDataFrame(found, TOPICS.schema), rows_in=len(found))


if __name__ == "__main__":
    emo_pillars_find_topics.main()
