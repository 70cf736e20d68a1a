"""Draw finished turns by label and confidence for the audit, in which people label them again (ours)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.hits import in_position, into_hits
from etl.common.hashes import content_order, shuffled
from etl.edos.readability import band_of
from etl.edos.tasks import dropped_by_class
from etl.pipeline.outcome import Outcome

OPTIONS = 3


def audit_tasks(
    dialogues: DataFrame, weak_labels: DataFrame, *, bands: tuple[float, ...], per_stratum: int, per_hit: int, seed: int
) -> Outcome:
    """Draw finished turns of each label and confidence band by content hash, and group them into HITs.

    The options are the classifier's label and the weak labeler's labels, three in total and shuffled, and Other.
    Workers cannot see which one is the classifier's. The last HIT can be short.

    Args:
        dialogues: ``edos.dialogues``.
        weak_labels: ``edos.weak_labels``, for the other options.
        bands: lower edges of the confidence bands. The lowest should be 0.
        per_stratum: turns drawn per label and band.
        per_hit: items per HIT.
        seed: seed of the draw and the order.

    Returns:
        Outcome of ``edos.audit_tasks``. The unit is the turn. Turns not drawn are counted by label and band.
    """
    turns = dialogues.select(
        "dialogue_id", F.col("turns")["text"].alias("texts"), F.posexplode("turns").alias("turn", "one")
    ).select(
        "dialogue_id",
        "turn",
        "texts",
        F.col("one")["label"].alias("label"),
        F.col("one")["confidence"].alias("confidence"),
    )
    banded = turns.withColumn("band", F.coalesce(band_of(F.col("confidence"), bands), F.lit("below")))
    stratum = Window.partitionBy("label", "band")
    order = stratum.orderBy(
        content_order(F.col("dialogue_id"), F.col("turn").cast("string"), seed=seed, of="audit"), "dialogue_id", "turn"
    )
    drawn = banded.withColumns({"place": F.row_number().over(order), "stratum_turns": F.count("*").over(stratum)})
    chosen = into_hits(drawn.where(F.col("place") <= per_stratum), per_hit, seed)
    weak = weak_labels.select("dialogue_id", "turn", F.col("top3")["label"].alias("top"))
    others = F.coalesce("top", F.array().cast("array<string>"))
    offered = F.slice(F.array_distinct(F.concat(F.array("label"), others)), 1, OPTIONS)
    tasks = chosen.join(weak, ["dialogue_id", "turn"], "left").select(
        "hit_id",
        "dialogue_id",
        "turn",
        "label",
        "confidence",
        "band",
        "stratum_turns",
        F.slice("texts", F.lit(1), F.col("turn") + 1).alias("turns"),
        shuffled(offered, F.col("hit_id"), F.col("dialogue_id"), seed=seed, of="options").alias("options"),
        F.lit(None).cast("string").alias("quiz_label"),
    )
    rest = drawn.where(F.col("place") > per_stratum).withColumn("fault", F.lit("not_drawn"))
    return Outcome(in_position(tasks, seed), dropped_by_class(rest, F.col("confidence"), "confidence"))
