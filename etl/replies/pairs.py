"""Make pairs of histories and replies, split without near-duplicates between the splits (EDOS 5)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.common.near_duplicates import NearDuplicates, near_duplicate_pairs
from etl.common.splits import RELEASED_NEAR, content_share, shingled_items
from etl.common.text_comparison import normalised
from etl.pipeline.outcome import Outcome, dropped_columns

FEWEST_TOKENS = 2
"""Least number of tokens of a turn: one token and one that ends the turn."""


def reply_examples(
    talks: DataFrame,
    *,
    test_share: float,
    validation_share: float,
    shared_words: int,
    near_jaccard: float | None,
    max_tokens: int,
) -> Outcome:
    """Return each turn of a conversation, except the first, as a reply to the turns before it.

    A film or conversation is in one split, for all sources. An example is dropped if a split with more precedence
    (test before validation before training) has a similar dialogue, an equal long reply, or an equal short reply to
    the same turn.

    Args:
        talks: rows of ``etl.replies.conversations.CONVERSATIONS``.
        test_share, validation_share: shares of films and conversations, by the hash of their id.
        shared_words: least number of words of a reply that is compared without its previous turn.
        near_jaccard: least Jaccard similarity of near-duplicate dialogues; None to keep them.
        max_tokens: greatest number of tokens of a history, which limits its turns.

    Returns:
        Outcome of ``replies.examples``. The unit is the reply.
    """
    placed = _split(talks, test_share, validation_share)
    pairs = _pairs(placed, max_tokens // FEWEST_TOKENS)
    checked = _near_held_out(pairs, placed, near_jaccard).withColumn("rank", _rank())
    same = F.when(F.size(F.split("words", " ")) >= shared_words, F.col("words")).otherwise(
        F.concat_ws("\n", normalised(F.try_element_at("context", F.lit(-1))), "words")
    )
    most = F.max("rank").over(Window.partitionBy("same"))
    # Replies without words are never equal.
    keyed = checked.withColumn("same", F.when(F.col("words") == "", F.col("example_id")).otherwise(same))
    rows = keyed.withColumn("most", most).cache()
    reason = (
        F.when(F.trim("reply") == "", "no_text")
        .when(F.size("context") == 0, "no_history")
        .when(F.col("near").isNotNull(), "near_held_out")
        .when(F.col("most") > F.col("rank"), "reply_is_held_out")
    )
    columns = dropped_columns("reply", "example_id", reason, 1, F.coalesce("near", F.substring("reply", 1, 200)))
    dropped = rows.where(reason.isNotNull()).select(*columns)
    return Outcome(rows.where(reason.isNull()), dropped, rows_in=pairs.count())


def _split(talks: DataFrame, test_share: float, validation_share: float) -> DataFrame:
    """Add split. A film's split is that of the published data set if the shares are equal, as by default."""
    film = F.when(F.col("origin").startswith("film "), F.substring("origin", 6, 1_000))
    share = F.when(film.isNotNull(), content_share(film, salt="film")).otherwise(
        content_share(F.col("origin"), salt="talk")
    )
    placed = (
        F.when(F.col("origin").isNull(), "train")
        .when(F.col("share") < test_share, "test")
        .when(F.col("share") < test_share + validation_share, "validation")
    )
    return talks.withColumn("share", share).withColumn("split", placed.otherwise("train")).drop("share")


def _pairs(placed: DataFrame, most_turns: int) -> DataFrame:
    """Return example_id, talk, source, split, context, reply, intent, words (the normalised reply)."""
    texts = F.col("turns")["text"]
    place = F.explode(F.sequence(F.lit(1), F.size("turns") - 1)).alias("turn")
    several = placed.where(F.size("turns") > 1).select("source", "dialogue_id", "split", "turns", place)
    turn = F.col("turn")
    before = F.slice(texts, F.greatest(turn - most_turns + 1, F.lit(1)), F.least(turn, F.lit(most_turns)))
    return with_columns_once(
        several.select(
            F.concat_ws("/", "source", "dialogue_id", turn.cast("string")).alias("example_id"),
            _talk().alias("talk"),
            "source",
            "split",
            F.filter(before, lambda text: F.trim(text) != "").alias("context"),
            F.get(texts, turn).alias("reply"),
            F.get(F.col("turns")["label"], turn).alias("intent"),
        ),
        words=normalised(F.col("reply")),
    )


def _near_held_out(pairs: DataFrame, placed: DataFrame, near_jaccard: float | None) -> DataFrame:
    """Add near: a near-duplicate of the pair's talk in a split with more precedence."""
    if near_jaccard is None:
        return pairs.withColumn("near", F.lit(None).cast("string"))
    near = NearDuplicates(jaccard=near_jaccard, bands=RELEASED_NEAR.bands, rows=RELEASED_NEAR.rows)
    items = placed.select(_talk().alias("id"), F.col("turns")["text"].alias("turns"))
    found = near_duplicate_pairs(shingled_items(items, near), near)
    either = found.select(F.col("earlier").alias("talk"), F.col("later").alias("other")).unionByName(
        found.select(F.col("later").alias("talk"), F.col("earlier").alias("other"))
    )
    ranks = placed.select(_talk().alias("talk"), _rank().alias("rank"))
    theirs = ranks.select(F.col("talk").alias("other"), F.col("rank").alias("other_rank"))
    more = either.join(ranks, "talk").join(theirs, "other").where(F.col("other_rank") > F.col("rank"))
    return pairs.join(more.groupBy("talk").agg(F.min("other").alias("near")), "talk", "left")


def _talk() -> Column:
    return F.concat_ws("/", "source", "dialogue_id")


def _rank() -> Column:
    """Return the precedence of a split."""
    return F.when(F.col("split") == "test", 2).when(F.col("split") == "validation", 1).otherwise(0)
