"""Self-labelling: use the most confident answers of a first classifier as labels (EDOS 3.3)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.edos.choosing import PLACES, rounded_confidence
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, split_kept_dropped, without_known_texts
from etl.edos.similar import released_as
from etl.edos.training_rows import crowd_rows
from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached


def confident(scored: DataFrame, least: float | None, per_class: int | None) -> DataFrame:
    """Add a fault to rows that are not confident enough, by either rule or both.

    The paper uses confidences over 0.9 (3.3). The released self-labels are the 100 most confident of each class, with
    confidences from 0.64; without a number, easy classes would outnumber the others.

    Args:
        scored: dialogue_id, turn, label, score double (4 decimals), fault. Rows with a fault are not counted.
        least: least confidence; None for any.
        per_class: number of rows kept per class, ties by id; None for all.
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
    """Label the remaining dialogues by the first classifier's confident answers (EDOS 3.3).

    Args:
        pool: rows of ``pool_of``.
        scores: ``edos.self_label_scores``.
        model: identity of the self-labeler. Rows of other models are ignored.
        seeds: ``edos.seeds``, which are labelled already.
        similar: ``edos.similar_dialogues``, which are labelled already.
        released: ``edos.released_dialogues``, whose self-labelled rows are added.
        least, per_class: see ``confident``.

    Returns:
        Outcome of ``edos.self_labelled``. The input is the pool's dialogues and the released rows.
    """
    answers = scores.where(F.col("model") == model).select("history_hash", "label", "confidence", "error")
    ours = pool.join(answers, "history_hash").select(
        "dialogue_id",
        "turn",
        "turns",
        "label",
        F.lit("self").alias("origin"),
        (rounded_confidence(F.col("confidence")) / F.lit(PLACES)).alias("score"),
        F.lit(None).cast("string").alias("matched_id"),
        F.lit("pool").alias("source"),
        F.when(F.col("error").isNotNull(), fault("model_failed", F.col("error"))).alias(FAULT),
    )
    known = crowd_rows(seeds).unionByName(similar.select(*COLUMNS))
    candidates = ours.unionByName(released_as(released, "self").withColumn(FAULT, F.expr(NO_FAULT)))
    fresh = without_known_texts(candidates, known.withColumn(FAULT, F.expr(NO_FAULT)))
    chosen = confident(fresh.where("source = 'pool'"), least, per_class)
    rows = cached(chosen.unionByName(fresh.where("source = 'released'")))
    outcome = split_kept_dropped(rows, "dialogue")
    given = pool.count() + released.where("origin = 'self'").count()
    return Outcome(outcome.rows, outcome.dropped, rows_in=given)
