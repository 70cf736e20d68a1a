"""Histories with their replies, split so that nothing held out is learnt from (EDOS 5)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import computed_once
from etl.common.near_duplicates import NearDuplicates, dialogue_words, near_duplicate_pairs, shingles
from etl.common.splits import RELEASED_NEAR, content_share
from etl.common.texts import normalised
from etl.tables.outcome import Outcome

FEWEST_TOKENS = 2
"""A turn of a history has one token and one that ends it, at least."""


def reply_examples(
    talks: DataFrame,
    *,
    test_share: float,
    validation_share: float,
    shared_words: int,
    near_jaccard: float | None,
    max_tokens: int,
) -> Outcome:
    """Each turn of a talk but its first, as a reply to the turns before it.

    A film or a conversation is in one split, whichever source its talks are of. What is nearly the same in a more
    held-out split (test before validation before training) leaves the other: dialogues that are alike, replies
    of some length, and short replies to the same turn.

    Args:
        talks: rows of ``etl.replies.conversations.CONVERSATIONS``.
        test_share, validation_share: of films and conversations, by the hash of their id.
        shared_words: a reply of so many words counts as the same whatever it replies to.
        near_jaccard: how alike two dialogues are near-duplicates; None: not looked for.
        max_tokens: of a history: more turns than that can hold are left out of it.

    Returns:
        Outcome of ``replies.examples``; its units are replies.
    """
    placed = _split(talks, test_share, validation_share)
    pairs = _pairs(placed, max_tokens // FEWEST_TOKENS)
    checked = _near_held_out(pairs, placed, near_jaccard).withColumn("rank", _rank())
    same = F.when(F.size(F.split("said", " ")) >= shared_words, F.col("said")).otherwise(
        F.concat_ws("\n", normalised(F.try_element_at("context", F.lit(-1))), "said")
    )
    most = F.max("rank").over(Window.partitionBy("same"))
    # What cannot be read has no words in common with anything.
    keyed = checked.withColumn("same", F.when(F.col("said") == "", F.col("example_id")).otherwise(same))
    rows = keyed.withColumn("most", most).cache()
    reason = (
        F.when(F.trim("reply") == "", "no_text")
        .when(F.size("context") == 0, "no_history")
        .when(F.col("near").isNotNull(), "near_held_out")
        .when(F.col("most") > F.col("rank"), "reply_is_held_out")
    )
    dropped = rows.withColumn("reason", reason).where(F.col("reason").isNotNull())
    return Outcome(
        rows.where(reason.isNull()),
        dropped.select(
            F.lit("reply").alias("unit"), F.col("example_id").alias("id"), "reason",
            F.coalesce("near", F.substring("reply", 1, 200)).alias("detail"), F.lit(1).cast("bigint").alias("units"),
        ),
        rows_in=pairs.count(),
    )  # fmt: skip


def _split(talks: DataFrame, test_share: float, validation_share: float) -> DataFrame:
    """Adds split. A film's is that of the published data set, whose shares are the same by default."""
    film = F.when(F.col("whole").startswith("film "), F.substring("whole", 6, 1_000))
    share = F.when(film.isNotNull(), content_share(film, salt="film")).otherwise(
        content_share(F.col("whole"), salt="talk")
    )
    placed = F.when(F.col("share") < test_share, "test").when(
        F.col("share") < test_share + validation_share, "validation"
    )
    return talks.withColumn("share", share).withColumn("split", placed.otherwise("train")).drop("share")


def _pairs(placed: DataFrame, most_turns: int) -> DataFrame:
    """example_id, talk, source, split, context, reply, intent, said (the reply without case and punctuation)."""
    texts = F.col("turns")["text"]
    place = F.explode(F.sequence(F.lit(1), F.size("turns") - 1)).alias("turn")
    several = placed.where(F.size("turns") > 1).select("source", "dialogue_id", "split", "turns", place)
    turn = F.col("turn")
    before = F.slice(texts, F.greatest(turn - most_turns + 1, F.lit(1)), F.least(turn, F.lit(most_turns)))
    return computed_once(
        several.select(
            F.concat_ws("/", "source", "dialogue_id", turn.cast("string")).alias("example_id"),
            _talk(), "source", "split", F.filter(before, lambda text: F.trim(text) != "").alias("context"),
            F.get(texts, turn).alias("reply"), F.get(F.col("turns")["label"], turn).alias("intent"),
        ),
        said=normalised(F.col("reply")),
    )  # fmt: skip


def _near_held_out(pairs: DataFrame, placed: DataFrame, near_jaccard: float | None) -> DataFrame:
    """Adds near: the talk of a more held-out split that the pair's talk is nearly the same as."""
    if near_jaccard is None:
        return pairs.withColumn("near", F.lit(None).cast("string"))
    near = NearDuplicates(jaccard=near_jaccard, bands=RELEASED_NEAR.bands, rows=RELEASED_NEAR.rows)
    words = computed_once(
        placed.select(_talk(), "split", "turns"), words=dialogue_words(F.col("turns")["text"])
    ).select("talk", "split", "words")
    shingled = computed_once(
        words.select(F.lit("all").alias("block"), F.col("talk").alias("id"), "words"),
        shingles=shingles(F.col("words"), near.shingle_words),
    ).drop("words")
    found = near_duplicate_pairs(shingled, near)
    either = found.select(F.col("earlier").alias("talk"), F.col("later").alias("other")).unionByName(
        found.select(F.col("later").alias("talk"), F.col("earlier").alias("other"))
    )
    ranks = words.select("talk", _rank().alias("rank"))
    theirs = ranks.select(F.col("talk").alias("other"), F.col("rank").alias("other_rank"))
    more = either.join(ranks, "talk").join(theirs, "other").where(F.col("other_rank") > F.col("rank"))
    return pairs.join(more.groupBy("talk").agg(F.min("other").alias("near")), "talk", "left")


def _talk() -> Column:
    return F.concat_ws("/", "source", "dialogue_id").alias("talk")


def _rank() -> Column:
    """How far a split is held out."""
    return F.when(F.col("split") == "test", 2).when(F.col("split") == "validation", 1).otherwise(0)
