"""Find adverbs that the language model removes to hide an emotion, and their emotions (Emo Pillars G)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import computed_once, left_out
from etl.tables.outcome import Outcome
from udfs.words import lower_words


def adverb_markers(
    contextual: DataFrame, not_adverbs: Sequence[str], *, removed: float, share: float, least: int
) -> Outcome:
    """Return markers with their emotions (Emo Pillars G, Table 9).

    A marker is an adverb of original utterances of which rewriting removes at least the share ``removed``. A marker
    belongs to an emotion if the emotion's share among the marker's labels is at least ``share`` and higher than among
    all labels. Adverbs are words that end in -ly, except listed ones. This rule is ours, as the paper gives none, and
    misses words such as soon and never.

    Args:
        contextual: ``emo_pillars.contextual_examples``.
        not_adverbs: words in -ly that are not adverbs.
        removed, share: see above.
        least: least number of occurrences in original utterances (ours).

    Returns:
        Outcome of ``emo_pillars.markers``. The unit is the adverb, dropped as ``mostly_kept``, ``rare`` or
        ``of_no_emotion``.
    """
    texts = F.array("utterance", "rewritten")
    spoken = computed_once(
        contextual.select(F.col("labels")["label"].alias("labels"), texts.alias("texts")),
        words=lower_words(F.col("texts")),
    ).select("labels", F.col("words")[0].alias("original"), F.col("words")[1].alias("rewritten"))
    original = _adverbs(spoken.select("labels", F.explode("original").alias("word")), not_adverbs)
    rewritten = _adverbs(spoken.select(F.explode("rewritten").alias("word")), not_adverbs)
    before = original.groupBy("word").agg(F.count("*").alias("occurrences"))
    after = rewritten.groupBy("word").agg(F.count("*").alias("left_in"))
    counts = before.join(after, "word", "left").fillna(0, ["left_in"])
    counts = counts.withColumn("removed_share", F.round(1 - F.col("left_in") / F.col("occurrences"), 4))
    reason = F.when(F.col("removed_share") < removed, "mostly_kept").when(F.col("occurrences") < least, "rare")
    judged = counts.withColumn("reason", reason).cache()
    markers = judged.where(F.col("reason").isNull()).drop("reason")
    beside = original.select("word", F.explode("labels").alias("label"))
    each = beside.join(F.broadcast(markers.select("word")), "word").groupBy("word", "label").agg(
        F.count("*").alias("with_label")
    )  # fmt: skip
    each = each.withColumn("share", F.col("with_label") / F.sum("with_label").over(Window.partitionBy("word")))
    labels = spoken.select(F.explode("labels").alias("label")).groupBy("label").agg(F.count("*").alias("number"))
    overall = labels.withColumn("label_share", F.col("number") / F.sum("number").over(Window.partitionBy(F.lit(0))))
    belongs = (F.col("share") > F.col("label_share")) & (F.col("share") >= share)
    found = each.join(F.broadcast(overall.drop("number")), "label").withColumn("belongs", belongs).cache()
    with_emotion = found.groupBy("word").agg(F.max("belongs").alias("belongs"))
    without = markers.join(with_emotion, "word", "left").where(~F.coalesce("belongs", F.lit(False)))
    dropped = judged.where(F.col("reason").isNotNull()).select(*left_out("adverb", "word", F.col("reason")))
    dropped = dropped.unionByName(without.select(*left_out("adverb", "word", "of_no_emotion")))
    rows = found.where("belongs").join(markers, "word").select(
        "word", "label", "occurrences", "left_in", "removed_share", "with_label",
        F.round("share", 4).alias("share"), F.round("label_share", 4).alias("label_share"),
    )  # fmt: skip
    return Outcome(rows, dropped, rows_in=original.select("word").distinct().count())


def _adverbs(words: DataFrame, not_adverbs: Sequence[str]) -> DataFrame:
    return words.where(F.col("word").rlike(r"^\p{L}{3,}ly$") & ~F.col("word").isin(*not_adverbs))
