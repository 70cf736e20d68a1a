"""Find training candidates that are near a held-out row (EDOS 3.3: the test fifth is removed before any expansion)."""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.splits import RELEASED_NEAR, linking_keys, shingled_items
from etl.edos.labelled_rows import NO_FAULT, unit_id
from etl.edos.settings import SearchFrom

HELD_OUT = ("validation", "test")
LAST_TURN_WORDS = 3


class HeldOutRule(NamedTuple):
    """Which candidates are too near a held-out row to be trained on (ours).

    Attributes:
        threshold: least cosine.
        drop: whether near candidates are dropped; the paper drops none.
    """

    threshold: float
    splits: tuple[str, ...] = HELD_OUT
    drop: bool = True


def held_out_splits(search_from: SearchFrom) -> tuple[str, ...]:
    """Return the splits that nothing is expanded from and that no training row may be near."""
    return ("test",) if search_from == "train_and_validation" else HELD_OUT


def near_held_out(
    candidates: DataFrame,
    seeds: DataFrame,
    matches: DataFrame,
    clean_dialogues: DataFrame,
    rule: HeldOutRule,
) -> DataFrame:
    """Return the candidates that are near a held-out row, each once with its strongest evidence; none if none goes.

    A candidate is near a held-out row in any of these cases: its label came from that row; their cosine reaches the
    threshold; both have the same dialogue, text, last turn (of three words or more) or similar shingles, by the same
    rules as the groups of the split; both come from the same film.

    Args:
        candidates: dialogue_id, turn, turns, matched_id.
        seeds: ``edos.seeds``.
        matches: ``edos.similar_matches``.
        clean_dialogues: ``subtitles.clean_dialogues``, with each dialogue's film.

    Returns:
        dialogue_id, turn, near struct<reason, detail>.
    """
    if not rule.drop:
        return candidates.select("dialogue_id", "turn", F.expr(NO_FAULT).alias("near")).limit(0)
    threshold, splits, _ = rule
    held = seeds.where(F.col("split").isin(*splits)).select(unit_id().alias("held_id"), "dialogue_id", "turns", "split")
    rows = candidates.select("dialogue_id", "turn", "turns", "matched_id", unit_id().alias("id"))
    by_match = rows.join(F.broadcast(held.select("held_id", "split")), F.col("matched_id") == F.col("held_id")).select(
        "id", F.lit(0).alias("weight"), fault("held_out_match", "labelled by ", F.col("held_id")).alias("near")
    )
    close = matches.where(F.col("seed_split").isin(*splits) & (F.col("score") >= threshold))
    by_cosine = close.select(
        unit_id().alias("id"),
        F.lit(1).alias("weight"),
        fault("near_held_out", "cosine ", F.format_number("score", 4), " to ", F.col("seed_id")).alias("near"),
    )
    by_text = _similar_texts(rows, held)
    by_film = _same_films(rows, held, clean_dialogues)
    found = by_match.unionByName(by_cosine).unionByName(by_text).unionByName(by_film)
    best = found.groupBy("id").agg(F.min(F.struct("weight", "near"))["near"].alias("near"))
    # Under a name of its own: without adaptive planning Spark may not tell the two sides' ids apart.
    named = rows.select(F.col("id").alias("row"), "dialogue_id", "turn")
    joined = named.join(best, F.col("row") == F.col("id"))
    return joined.select("dialogue_id", "turn", "near").dropDuplicates(["dialogue_id", "turn"])


def _similar_texts(rows: DataFrame, held: DataFrame) -> DataFrame:
    """Return (id, weight, near) of rows that the split would have grouped with a held-out row.

    Held-out rows are few, so shingles are joined exactly. The split itself uses banded MinHash.
    """
    theirs = held.select(F.col("held_id").alias("id"), "dialogue_id", "turns")
    keys = linking_keys(theirs, LAST_TURN_WORDS).withColumnRenamed("id", "held_id")
    kind = F.split("key", " ")[0]
    same = (
        linking_keys(rows, LAST_TURN_WORDS)
        .join(F.broadcast(keys), "key")
        .select(
            "id",
            "held_id",
            F.when(kind == "last", "same last turn").otherwise(F.concat(F.lit("same "), kind)).alias("how"),
        )
    )
    wanted = _exploded(theirs).toDF("held_id", "shingle", "theirs")
    common = _exploded(rows).toDF("id", "shingle", "ours").join(F.broadcast(wanted), "shingle")
    pairs = common.groupBy("id", "held_id", "ours", "theirs").agg(F.count("*").alias("common"))
    share = F.round(F.col("common") / (F.col("ours") + F.col("theirs") - F.col("common")), 4)
    alike = (
        pairs.withColumn("share", share)
        .where(F.col("share") >= RELEASED_NEAR.jaccard)
        .select("id", "held_id", F.concat(F.lit("shingles "), F.format_number("share", 2)).alias("how"))
    )
    evidence = fault("held_out_duplicate", F.col("how"), " as ", F.col("held_id"))
    return same.unionByName(alike).select("id", F.lit(2).alias("weight"), evidence.alias("near"))


def _exploded(items: DataFrame) -> DataFrame:
    """Return (id, shingle, the item's number of shingles)."""
    shingled = shingled_items(items, RELEASED_NEAR)
    return shingled.select("id", F.explode("shingles").alias("shingle"), F.size("shingles"))


def _same_films(rows: DataFrame, held: DataFrame, clean_dialogues: DataFrame) -> DataFrame:
    """Return (id, weight, near) of rows from the film of a held-out row. Released rows have no film."""
    films = clean_dialogues.select("dialogue_id", "movie_id")
    held_films = films.join(F.broadcast(held.select("dialogue_id", "held_id")), "dialogue_id")
    held_films = held_films.groupBy("movie_id").agg(F.min("held_id").alias("held_id"))
    found = films.join(F.broadcast(held_films), "movie_id").join(rows.select("dialogue_id", "id"), "dialogue_id")
    return found.select(
        "id",
        F.lit(3).alias("weight"),
        fault("held_out_film", "film ", F.col("movie_id"), " has ", F.col("held_id")).alias("near"),
    )
