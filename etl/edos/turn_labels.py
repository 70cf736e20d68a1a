"""Select distinct histories for a model, and join models' answers with the turns."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.hashes import history_hash, text_hash
from etl.edos.labelled_rows import unit_id
from etl.pipeline.outcome import Outcome, dropped_columns


def weak_labels_of_turns(dialogues: DataFrame, scores: DataFrame, model: str) -> Outcome:
    """Give each turn the top label of its text (EDOS 3.1).

    Args:
        dialogues: dialogue_id, turns with text.
        scores: ``edos.weak_scores``.
        model: identity of the weak labeler. Rows of other models are ignored.

    Returns:
        Outcome of ``edos.weak_labels``, one row per turn. Turns on which the model failed are dropped.
    """
    turns = dialogues.select("dialogue_id", F.posexplode(F.col("turns")["text"]).alias("turn", "text"))
    turns = turns.select("dialogue_id", "turn", text_hash(F.col("text")).alias("text_hash"))
    answered = turns.join(scores.where(F.col("model") == model), "text_hash")
    rows = answered.where(F.col("error").isNull()).select(
        "dialogue_id",
        "turn",
        "text_hash",
        "model",
        F.get("top3", F.lit(0))["label"].alias("label"),
        F.get("top3", F.lit(0))["confidence"].alias("confidence"),
        "top3",
    )
    failed = answered.where(F.col("error").isNotNull())
    return Outcome(rows, failed.select(*dropped_columns("turn", unit_id(), "model_failed", 1, F.col("error"))))


def _histories(initial: DataFrame) -> DataFrame:
    """Return (dialogue_id, movie_id, turn, text, history). The history includes the turn itself."""
    return initial.select("dialogue_id", "movie_id", "turns", F.posexplode("turns").alias("turn", "text")).select(
        "dialogue_id", "movie_id", "turn", "text", F.slice("turns", F.lit(1), F.col("turn") + 1).alias("history")
    )


def distinct_histories(initial: DataFrame) -> DataFrame:
    """Return the distinct (history_hash, turns) of all turns with their history."""
    histories = _histories(initial).select(history_hash(F.col("history")).alias("history_hash"), "history")
    return histories.dropDuplicates(["history_hash"]).withColumnRenamed("history", "turns")


def labelled_dialogues(initial: DataFrame, scores: DataFrame, thresholds: DataFrame, model: str) -> Outcome:
    """Return the finished EDOS rows: every turn with label and confidence (EDOS 3.3), and whether it is accepted.

    Args:
        initial: ``edos.initial``.
        scores: ``edos.dialogue_scores``.
        thresholds: ``edos.label_thresholds``. Labels without a threshold are not accepted.
        model: identity of the dialogue classifier. Rows of other models are ignored.

    Returns:
        Outcome of ``edos.dialogues``. Dialogues with a turn on which the model failed are dropped.
    """
    turns = _histories(initial).select(
        "dialogue_id", "movie_id", "turn", "text", history_hash(F.col("history")).alias("history_hash")
    )
    answered = turns.join(scores.where(F.col("model") == model).drop("model"), "history_hash")
    least = thresholds.where(F.col("model") == model).select("label", "threshold")
    answered = answered.join(F.broadcast(least), "label", "left")
    accepted = F.coalesce(F.col("confidence") >= F.col("threshold"), F.lit(False)).alias("accepted")
    turn = F.struct("turn", "text", "label", "confidence", accepted)
    dialogues = answered.groupBy("dialogue_id", "movie_id").agg(
        F.sort_array(F.collect_list(turn)).alias("turns"), F.min("error").alias("error")
    )
    rows = dialogues.where(F.col("error").isNull()).select(
        "dialogue_id",
        "movie_id",
        F.lit(model).alias("model"),
        F.transform(
            "turns",
            lambda t: F.struct(t["text"].alias("text"), t["label"].alias("label"), t["confidence"].alias("confidence")),
        ).alias("turns"),
        F.col("turns")["accepted"].alias("accepted"),
    )
    failed = dialogues.where(F.col("error").isNotNull())
    return Outcome(rows, failed.select(*dropped_columns("dialogue", "dialogue_id", "model_failed", 1, F.col("error"))))
