"""The conversations as others get them: the schema of ESConv, so that its readers can read them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.splits import split_by_film


def published_rows(
    conversations: DataFrame, queries: DataFrame, *, test_share: float, validation_share: float
) -> DataFrame:
    """One row a conversation: ``dialog`` of ``speaker`` and ``content``, ``emotion_type``, ``situation`` as in ESConv.

    Conversations from one query are in one split. The seeker's first utterance is the query: there is no description of
    the situation apart, nor a problem type, so ``situation`` and ``problem_type`` are null.

    Args:
        conversations: ``augesc.conversations``.
        queries: ``augesc.queries``; a query that is not there any more gives no emotion.
        test_share, validation_share: of the queries.

    Returns:
        dialogue_id, split, emotion_type, problem_type, situation, source, query_id, sample, model, dialog.
    """
    emotions = queries.select("query_id", F.col("emotion").alias("emotion_type"))
    rows = conversations.join(emotions, "query_id", "left")
    split = split_by_film(rows, test_share=test_share, validation_share=validation_share, film="query_id")
    dialog = F.transform(
        "turns", lambda turn: F.struct(turn["role"].alias("speaker"), turn["text"].alias("content"))
    )  # fmt: skip
    none = F.lit(None).cast("string")
    return split.select(
        F.col("conversation_id").alias("dialogue_id"), "split", "emotion_type", none.alias("problem_type"),
        none.alias("situation"), "source", "query_id", "sample", "model", dialog.alias("dialog"),
    )  # fmt: skip
