"""Score how near each utterance is to what was said before it: topic shifts (AugESC 6.4)."""

from pyspark.sql import DataFrame

from etl.augesc.faults import beside_others, looked_at, with_vectors
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS
from etl.lakehouse.tables.augesc_faults import TOPIC_SCORES, UTTERANCE_EMBEDDINGS


@stage(
    reads=(MEASURED_TEXTS, UTTERANCE_EMBEDDINGS),
    writes=TOPIC_SCORES,
    asks=(Model("sentence_encoder"),),
    settings=("augesc.faults.sampled", "augesc.faults.least_tokens"),
    units=Units("utterances"),
    on_request=True,
)
def augesc_score_topics(measured: DataFrame, embeddings: DataFrame, run: StageRun) -> Outcome:
    from udfs.conversation_vectors import topic_scores

    wanted = run.settings.augesc.faults
    texts = looked_at(measured, wanted.sampled)
    conversations = beside_others(with_vectors(texts, embeddings, run.models["sentence_encoder"].identity))
    rows = topic_scores(conversations, wanted.least_tokens).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    augesc_score_topics.main()
