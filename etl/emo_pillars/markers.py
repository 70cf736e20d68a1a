"""Find adverbs that the language model removes to hide an emotion, and their emotions (Emo Pillars G)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from etl.common.columns import with_columns_once
from etl.pipeline.outcome import DROPPED_DDL, Outcome, dropped_columns
from udfs.words import lower_words


def adverb_markers(
    contextual: DataFrame, not_adverbs: Sequence[str], *, removed: float, share: float, least: int
) -> Outcome:
    """Return markers with their emotions (Emo Pillars G, Table 9).

    A marker is an adverb of original utterances of which rewriting removes at least the share ``removed``. A marker
    belongs to an emotion if at least the share ``share`` of its occurrences are with the emotion, and the emotion's
    share among the marker's labels is higher than among all labels. Adverbs are words that end in -ly, except listed
    ones. This rule is ours, as the paper gives none, and misses words such as soon and never.

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
    spoken = with_columns_once(
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
    each = (
        beside.join(F.broadcast(markers), "word")
        .groupBy(*markers.columns, "label")
        .agg(F.count("*").alias("with_label"))
    )
    each = each.withColumn("share", F.col("with_label") / F.sum("with_label").over(Window.partitionBy("word")))
    labels = spoken.select(F.explode("labels").alias("label")).groupBy("label").agg(F.count("*").alias("number"))
    overall = labels.withColumn("label_share", F.col("number") / F.sum("number").over(Window.partitionBy(F.lit(0))))
    belongs = (F.col("share") > F.col("label_share")) & (F.col("with_label") / F.col("occurrences") >= share)
    found = each.join(F.broadcast(overall.drop("number")), "label").withColumn("belongs", belongs).cache()
    with_emotion = found.groupBy("word").agg(F.max("belongs").alias("belongs"))
    without = markers.join(with_emotion, "word", "left").where(~F.coalesce("belongs", F.lit(False)))
    dropped = judged.where(F.col("reason").isNotNull()).select(*dropped_columns("adverb", "word", F.col("reason")))
    dropped = dropped.unionByName(without.select(*dropped_columns("adverb", "word", "of_no_emotion")))
    rows = found.where("belongs").select(
        "word",
        "label",
        "occurrences",
        "left_in",
        "removed_share",
        "with_label",
        F.round("share", 4).alias("share"),
        F.round("label_share", 4).alias("label_share"),
    )
    return Outcome(rows, dropped, rows_in=original.select("word").distinct().count())


def _adverbs(words: DataFrame, not_adverbs: Sequence[str]) -> DataFrame:
    return words.where(F.col("word").rlike(r"^\p{L}{3,}ly$") & ~F.col("word").isin(*not_adverbs))


GROUPED = "size(array_distinct(flatten(collect_set(emotions))))"
"""SQL aggregate of the emotions in groups, over ``emo_pillars.marker_groups``."""


def marker_groups(markers: DataFrame, schema: StructType, least: float, seed: int) -> Outcome:
    """Return the rows of ``grouped_markers``. The unit is the emotion, dropped as ``of_no_group``.

    Args:
        markers: ``emo_pillars.markers``.
        schema: of ``emo_pillars.marker_groups``.
        least, seed: see ``grouped_markers``.
    """
    rows = markers.select("word", "label", "share").collect()
    found = grouped_markers([(row.word, row.label, row.share) for row in rows], least, seed)
    alone = {row.label for row in rows} - {emotion for row in found for emotion in row.emotions}
    dropped = [("emotion", emotion, "of_no_group", "", 1) for emotion in sorted(alone)]
    spark = markers.sparkSession
    return Outcome(spark.createDataFrame(found, schema), spark.createDataFrame(dropped, DROPPED_DDL))


class GroupedMarker(NamedTuple):
    """A row of ``emo_pillars.marker_groups``."""

    place: int
    emotions: list[str]
    word: str
    shared_by: list[str]
    ratio: float


def grouped_markers(markers: Iterable[tuple[str, str, float]], least: float, seed: int) -> list[GroupedMarker]:
    """Group emotions that share many markers, and return the markers of each group (Emo Pillars G, Table 9).

    The overlap of two emotions is the Jaccard index of their markers. Groups are communities of the graph of overlaps
    (Louvain; ours, as the paper does not name its method). An emotion without overlap is in no group.

    Args:
        markers: (word, emotion, share), where the share is the emotion's among the word's labels.

    Returns:
        The markers that at least two emotions of a group share, the largest group first. The ratio is the group's part
        of the word's shares, between 0 and 1.
    """
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    for word, emotion, share in sorted(markers):
        shares[word][emotion] = share
    found = []
    for place, group in enumerate(emotion_groups(shares, least, seed), 1):
        rows = []
        for word, its in shares.items():
            inside = [emotion for emotion in group if emotion in its]
            if len(inside) > 1:
                ratio = sum(its[emotion] for emotion in inside) / sum(its.values())
                rows.append(GroupedMarker(place, group, word, inside, round(ratio, 4)))
        found += sorted(rows, key=lambda row: (-row.ratio, row.word))
    return found


def emotion_groups(shares: Mapping[str, Mapping[str, float]], least: float, seed: int) -> list[list[str]]:
    """Return groups of emotions with overlapping markers, the largest first.

    Args:
        shares: the shares of each marker's emotions, by word.
        least, seed: see ``grouped_markers``.
    """
    import networkx

    words: dict[str, set[str]] = defaultdict(set)
    for word, its in shares.items():
        for emotion in its:
            words[emotion].add(word)
    graph = networkx.Graph()
    names = sorted(words)
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            overlap = len(words[one] & words[other]) / len(words[one] | words[other])
            if overlap >= least:
                graph.add_edge(one, other, weight=overlap)
    if not graph:
        return []
    groups = networkx.community.louvain_communities(graph, seed=seed)
    return sorted((sorted(group) for group in groups), key=lambda group: (-len(group), group))
