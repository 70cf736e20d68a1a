"""Adverbs that the language model takes out to hide an emotion, and the emotions they go with (Emo Pillars G)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import computed_once, left_out
from etl.tables.outcome import Outcome
from udfs.words import lower_words


def adverb_markers(
    contextual: DataFrame, not_adverbs: Sequence[str], *, removed: float, share: float, least: int
) -> Outcome:
    """Markers with their emotions (Emo Pillars G, Table 9).

    A word's frequency in rewritten utterances is taken from that in original ones; it is a marker where at least
    ``removed`` of it is gone. It belongs to the emotions that it stands beside more often than they stand anywhere, and
    at least ``share`` of the time. Adverbs are told by their ending -ly, without a list of other words (ours: the paper
    does not say how it tells them; soon, never and the like are missed).

    Args:
        contextual: ``emo_pillars.contextual_examples``.
        not_adverbs: words in -ly that are none.
        removed, share: see above.
        least: a word that is rarer in original utterances is no marker (ours).

    Returns:
        Outcome of ``emo_pillars.markers``; the unit is an adverb of original utterances, dropped as ``mostly_kept``,
        ``rare`` or ``of_no_emotion``.
    """
    texts = F.array("utterance", "rewritten")
    said = computed_once(
        contextual.select(F.col("labels")["label"].alias("labels"), texts.alias("texts")),
        words=lower_words(F.col("texts")),
    ).select("labels", F.col("words")[0].alias("original"), F.col("words")[1].alias("rewritten"))
    original = _adverbs(said.select("labels", F.explode("original").alias("word")), not_adverbs)
    rewritten = _adverbs(said.select(F.explode("rewritten").alias("word")), not_adverbs)
    counts = original.groupBy("word").agg(F.count("*").alias("occurrences"))
    left = rewritten.groupBy("word").agg(F.count("*").alias("left_in"))
    gone = counts.join(left, "word", "left").fillna(0, ["left_in"])
    gone = gone.withColumn("removed_share", F.round(1 - F.col("left_in") / F.col("occurrences"), 4))
    reason = F.when(F.col("removed_share") < removed, "mostly_kept").when(F.col("occurrences") < least, "rare")
    judged = gone.withColumn("reason", reason).cache()
    markers = judged.where(F.col("reason").isNull()).drop("reason")
    beside = original.select("word", F.explode("labels").alias("label"))
    each = beside.join(F.broadcast(markers.select("word")), "word").groupBy("word", "label").agg(
        F.count("*").alias("with_label")
    )  # fmt: skip
    each = each.withColumn("share", F.col("with_label") / F.sum("with_label").over(Window.partitionBy("word")))
    labels = said.select(F.explode("labels").alias("label")).groupBy("label").agg(F.count("*").alias("number"))
    at_large = labels.withColumn("label_share", F.col("number") / F.sum("number").over(Window.partitionBy(F.lit(0))))
    goes_with = (F.col("share") > F.col("label_share")) & (F.col("share") >= share)
    found = each.join(F.broadcast(at_large.drop("number")), "label").withColumn("goes_with", goes_with).cache()
    belongs = found.groupBy("word").agg(F.max("goes_with").alias("goes_with"))
    homeless = markers.join(belongs, "word", "left").where(~F.coalesce("goes_with", F.lit(False)))
    dropped = judged.where(F.col("reason").isNotNull()).select(*left_out("adverb", "word", F.col("reason")))
    dropped = dropped.unionByName(homeless.select(*left_out("adverb", "word", F.lit("of_no_emotion"))))
    rows = found.where("goes_with").join(markers, "word").select(
        "word", "label", "occurrences", "left_in", "removed_share", "with_label",
        F.round("share", 4).alias("share"), F.round("label_share", 4).alias("label_share"),
    )  # fmt: skip
    return Outcome(rows, dropped, rows_in=original.select("word").distinct().count())


def _adverbs(words: DataFrame, not_adverbs: Sequence[str]) -> DataFrame:
    return words.where(F.col("word").rlike(r"^\p{L}{3,}ly$") & ~F.col("word").isin(*not_adverbs))
