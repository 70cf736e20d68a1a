"""Near-duplicates in the whole corpus: remakes, trailers, recaps, quotations, wrongly filed uploads (ours).

The method of a search within a film, with one block for all films: banded MinHash finds candidates, the exact Jaccard
similarity decides, and of each connected group the first dialogue by id stays. Only ids and hashes are shuffled.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.common.near_duplicates import NearDuplicates, dialogue_words, near_duplicate_pairs, shared_buckets, shingles
from etl.pipeline.outcome import dropped_columns
from udfs.components import component_adder

REASON = "near_duplicate_in_corpus"
OVERSIZED_BUCKET = "crowded_band"
_GROUPS = "dialogue_id string, first string, size bigint"


def similar_pairs(
    dialogues: DataFrame, near: NearDuplicates, persist: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> tuple[DataFrame, DataFrame]:
    """Return (earlier, later, jaccard) of similar dialogues of any films, and the ``shared_buckets`` behind them.

    Args:
        dialogues: dialogue_id, texts array<string>. Dialogues of fewer words than a shingle are not compared.
        near: parameters of the search.
        persist: called on the frames that are read several times.
    """
    worded = with_columns_once(dialogues.select("dialogue_id", "texts"), words=dialogue_words(F.col("texts"))).drop(
        "texts"
    )
    hashed = with_columns_once(worded, shingles=shingles(F.col("words"), near.shingle_words)).drop("words")
    shingled = persist(hashed.select(F.lit("").alias("block"), F.col("dialogue_id").alias("id"), "shingles"))
    buckets = persist(shared_buckets(shingled, near))
    return near_duplicate_pairs(shingled, near, buckets), buckets


def groups_of(pairs: DataFrame) -> DataFrame:
    """Return (dialogue_id, first, size) of the connected groups of pairs (earlier, later), by one task.

    ``first`` is the group's smallest dialogue_id.
    """
    return pairs.select("earlier", "later").repartition(1).mapInArrow(component_adder("dialogue_id", "first"), _GROUPS)


def corpus_duplicates(
    dialogues: DataFrame, near: NearDuplicates, persist: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> tuple[DataFrame, DataFrame]:
    """Find the dialogues that are like an earlier one of any film, directly or through others.

    Args:
        dialogues, near, persist: see ``similar_pairs``.

    Returns:
        (dialogue_id, reason, detail) of the dialogues that are not the first of their group; and ledger rows of
        oversized buckets, those of more than ``near.bucket_limit`` dialogues, which count no units: each of their
        dialogues is compared with the bucket's first ones only.
    """
    pairs, buckets = similar_pairs(dialogues, near, persist)
    pairs = persist(pairs)
    nearest = pairs.groupBy(F.col("later").alias("dialogue_id")).agg(F.max("jaccard").alias("jaccard"))
    later = groups_of(pairs).filter(F.col("dialogue_id") != F.col("first")).join(nearest, "dialogue_id", "left")
    alike = F.format_number("jaccard", 4)
    detail = F.concat(
        F.lit("in the group of "),
        "first",
        F.lit(", "),
        F.col("size").cast("string"),
        F.lit(" dialogues"),
        F.coalesce(F.concat(F.lit("; highest Jaccard to an earlier one "), alike), F.lit("; like a later one only")),
    )
    members = F.size("ids")
    oversized = buckets.filter(members > near.bucket_limit)
    name = F.concat_ws("/", F.col("band").cast("string"), F.hex("key"))
    bounded = F.concat(members.cast("string"), F.lit(f" dialogues, each compared with the first {near.bucket_limit}"))
    return (
        later.select("dialogue_id", F.lit(REASON).alias("reason"), detail.alias("detail")),
        oversized.select(*dropped_columns("band", name, OVERSIZED_BUCKET, 0, bounded)),
    )
