"""Distinct texts and histories for the models, and their answers back on the turns."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash
from etl.tables.outcome import Outcome


def distinct_texts(dialogues: DataFrame) -> DataFrame:
    """(text_hash, text): each turn text once, however many dialogues have it."""
    texts = dialogues.select(F.explode(F.col("turns")["text"]).alias("text"))
    return texts.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def weak_labels_of_turns(dialogues: DataFrame, scores: DataFrame, model: str) -> Outcome:
    """Each turn with its text's top label (EDOS 3.1).

    Args:
        dialogues: dialogue_id, turns with text.
        scores: ``edos.weak_scores``; only this model's rows count.
        model: identity of the weak labeler.

    Returns:
        Outcome of ``edos.weak_labels``, one row a turn; turns that the model failed on go to the ledger.
    """
    turns = dialogues.select("dialogue_id", F.posexplode(F.col("turns")["text"]).alias("turn", "text"))
    turns = turns.select("dialogue_id", "turn", text_hash(F.col("text")).alias("text_hash"))
    answered = turns.join(scores.where(F.col("model") == model), "text_hash")
    rows = answered.where(F.col("error").isNull()).select(
        "dialogue_id", "turn", "text_hash", "model",
        F.get("top3", F.lit(0))["label"].alias("label"),
        F.get("top3", F.lit(0))["confidence"].alias("confidence"),
        "top3",
    )  # fmt: skip
    dropped = answered.where(F.col("error").isNotNull()).select(
        F.lit("turn").alias("unit"),
        F.concat_ws("/", "dialogue_id", F.col("turn").cast("string")).alias("id"),
        F.lit("model_failed").alias("reason"),
        F.col("error").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(rows, dropped)


def _histories(initial: DataFrame) -> DataFrame:
    """(dialogue_id, movie_id, turn, text, history): each turn with the dialogue up to and with it."""
    return initial.select(
        "dialogue_id", "movie_id", "turns", F.posexplode("turns").alias("turn", "text")
    ).select(
        "dialogue_id", "movie_id", "turn", "text", F.slice("turns", F.lit(1), F.col("turn") + 1).alias("history")
    )  # fmt: skip


def distinct_histories(initial: DataFrame) -> DataFrame:
    """(history_hash, turns): each turn with its history once."""
    histories = _histories(initial).select(history_hash(F.col("history")).alias("history_hash"), "history")
    return histories.dropDuplicates(["history_hash"]).withColumnRenamed("history", "turns")


def labelled_dialogues(initial: DataFrame, scores: DataFrame, model: str) -> Outcome:
    """The finished EDOS rows: every turn with label and confidence (EDOS 3.3).

    Args:
        initial: ``edos.initial``.
        scores: ``edos.dialogue_scores``; only this model's rows count.
        model: identity of the dialogue classifier.

    Returns:
        Outcome of ``edos.dialogues``; a dialogue with a turn that the model failed on goes to the ledger.
    """
    turns = _histories(initial).select(
        "dialogue_id", "movie_id", "turn", "text", history_hash(F.col("history")).alias("history_hash")
    )
    answered = turns.join(scores.where(F.col("model") == model).drop("model"), "history_hash")
    turn = F.struct("turn", "text", "label", "confidence")
    dialogues = answered.groupBy("dialogue_id", "movie_id").agg(
        F.sort_array(F.collect_list(turn)).alias("turns"), F.min("error").alias("error")
    )
    rows = dialogues.where(F.col("error").isNull()).select(
        "dialogue_id",
        "movie_id",
        F.lit(model).alias("model"),
        F.transform("turns", lambda t: F.struct(t["text"].alias("text"), t["label"].alias("label"),
                                                t["confidence"].alias("confidence"))).alias("turns"),
    )  # fmt: skip
    dropped = dialogues.where(F.col("error").isNotNull()).select(
        F.lit("dialogue").alias("unit"),
        F.col("dialogue_id").alias("id"),
        F.lit("model_failed").alias("reason"),
        F.col("error").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )
    return Outcome(rows, dropped)
