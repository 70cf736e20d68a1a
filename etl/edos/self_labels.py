"""Self-labelling: the most confident answers of a first classifier become labels (EDOS 3.3)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.edos.choosing import PLACES, rounded_confidence
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, first_of_same_text, split_kept_dropped
from etl.edos.similar import released_as
from etl.edos.training_rows import crowd_rows
from etl.tables.outcome import Outcome


def confident(scored: DataFrame, least: float | None, per_class: int | None) -> DataFrame:
    """Gives a fault to what is not confident enough, by either rule or both.

    The paper takes confidences over 0.9; the released self-labels are the 100 most confident of each class, with
    confidences from 0.64.

    Args:
        scored: dialogue_id, turn, label, score double (4 decimals), fault; rows with a fault are not counted.
        least: confidence; null for any.
        per_class: how many of each class, ties by id; null for all.
    """
    if least is not None:
        low = F.col(FAULT).isNull() & (rounded_confidence(F.col("score")) < round(least * PLACES))
        reason = fault("below_confidence", F.col("label"), " ", F.format_number("score", 4))
        scored = scored.withColumn(FAULT, F.when(low, reason).otherwise(F.col(FAULT)))
    if per_class is not None:
        order = Window.partitionBy("label", F.col(FAULT).isNull()).orderBy(F.col("score").desc(), "dialogue_id", "turn")
        ranked = scored.withColumn("place", F.row_number().over(order))
        late = F.col(FAULT).isNull() & (F.col("place") > per_class)
        reason = fault("below_rank", F.col("label"), " ", F.format_number("score", 4), ", rank ", F.col("place"))
        scored = ranked.withColumn(FAULT, F.when(late, reason).otherwise(F.col(FAULT))).drop("place")
    return scored


def self_labels(
    pool: DataFrame,
    scores: DataFrame,
    model: str,
    seeds: DataFrame,
    similar: DataFrame,
    released: DataFrame,
    least: float | None,
    per_class: int | None,
) -> Outcome:
    """The rest of the dialogues, labelled by the first classifier where it is confident (EDOS 3.3).

    Args:
        pool: of ``pool_of``.
        scores: ``edos.self_label_scores``; only this model's rows count.
        model: identity of the self-labeler.
        seeds: ``edos.seeds``.
        similar: ``edos.similar_dialogues``; with the seeds what is labelled already.
        released: ``edos.released_dialogues``; its self-labelled rows join ours.
        least, per_class: see ``confident``.

    Returns:
        Outcome of ``edos.self_labelled``; in = the pool's dialogues and the released rows.
    """
    answers = scores.where(F.col("model") == model).select("history_hash", "label", "confidence", "error")
    ours = pool.join(answers, "history_hash").select(
        "dialogue_id", "turn", "turns", "label", F.lit("self").alias("origin"),
        (rounded_confidence(F.col("confidence")) / F.lit(PLACES)).alias("score"),
        F.lit(None).cast("string").alias("matched_id"), F.lit("pool").alias("source"),
        F.when(F.col("error").isNotNull(), fault("model_failed", F.col("error"))).alias(FAULT),
    )  # fmt: skip
    known = crowd_rows(seeds).unionByName(similar.select(*COLUMNS))
    candidates = ours.unionByName(released_as(released, "self").withColumn(FAULT, F.expr(NO_FAULT)))
    both = candidates.withColumn("own", F.lit(True)).unionByName(
        known.withColumn(FAULT, F.expr(NO_FAULT)).withColumn("own", F.lit(False))
    )
    fresh = first_of_same_text(both).where("own").drop("own")
    chosen = confident(fresh.where("source = 'pool'"), least, per_class)
    rows = chosen.unionByName(fresh.where("source = 'released'")).persist()
    outcome = split_kept_dropped(rows, "dialogue")
    return Outcome(outcome.rows, outcome.dropped, rows_in=rows.count())
