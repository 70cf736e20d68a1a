"""Duplicate dialogues across films and near-duplicates within a film (EDOS 1: duplicates removed).

Only ids and hashes are shuffled, never texts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StructType

from etl.common.columns import with_columns_once
from etl.common.text_comparison import normalised
from udfs.minhash import band_adder


@dataclass(frozen=True)
class NearDuplicates:
    """Parameters of the near-duplicate search. The paper gives no method, so all are ours.

    Attributes:
        jaccard: minimum Jaccard similarity of two near-duplicates' shingles.
        shingle_words: words per shingle; a text with fewer words is compared by exact match only.
        bands: bands of the MinHash signature; pairs that agree on a band become candidates.
        rows: minima per band; 16 bands of 4 miss a pair of Jaccard 0.8 once in 5,000.
        bucket_limit: number of smallest ids in a band's bucket that each member is compared with. It bounds the
            cost of a bucket of n members by n times this number.
    """

    jaccard: float = 0.8
    shingle_words: int = 3
    bands: int = 16
    rows: int = 4
    bucket_limit: int = 100


def text_key(texts: Column) -> Column:
    """Return the binary SHA-256 of a dialogue's normalised turns; a turn without letters and digits counts as is."""
    key = F.transform(texts, lambda text: F.coalesce(F.nullif(normalised(text), F.lit("")), text))
    return F.unhex(F.sha2(F.array_join(key, "\n"), 256))


def dialogue_words(texts: Column) -> Column:
    """Return the normalised words of all turns in order, as array<string>."""
    return F.filter(F.split(normalised(F.array_join(texts, " ")), " "), lambda word: word != "")


def shingles(words: Column, size: int) -> Column:
    """Return the sorted 64-bit hashes of the distinct runs of ``size`` words; empty for a shorter text.

    ``words`` should be a column of the frame, not an expression, because it is read once per run.
    """
    runs = F.transform(
        F.sequence(F.lit(1), F.size(words) - size + 1),
        lambda start: F.xxhash64(F.array_join(F.slice(words, start, F.lit(size)), " ")),
    )
    some = F.array_sort(F.array_distinct(runs))
    return F.when(F.size(words) >= size, some).otherwise(F.array().cast("array<bigint>"))


def jaccard(left: Column, right: Column) -> Column:
    """Return the Jaccard similarity of two sets, rounded to 4 decimals; null for two empty sets."""
    union = F.size(F.array_union(left, right))
    return F.when(union > 0, F.round(F.size(F.array_intersect(left, right)) / union, 4))


def minhash_bands(shingled: DataFrame, near: NearDuplicates) -> DataFrame:
    """Return (block, id, bands array<bigint>): one hash of ``rows`` seeded minima per band.

    Texts without shingles are dropped.

    Args:
        shingled: block, id, shingles array<bigint>.
    """
    schema = StructType([shingled.schema[name] for name in ("block", "id")]).add("bands", ArrayType(LongType()))
    return shingled.select("block", "id", "shingles").mapInArrow(band_adder(near.bands, near.rows), schema)


def shared_buckets(shingled: DataFrame, near: NearDuplicates) -> DataFrame:
    """Return (block, band, key, ids): the sorted ids of each two or more texts that agree on a band.

    Args:
        shingled: block, id, shingles array<bigint>.
    """
    bands = minhash_bands(shingled, near).select("block", "id", F.posexplode("bands").alias("band", "key"))
    buckets = bands.groupBy("block", "band", "key").agg(F.sort_array(F.collect_list("id")).alias("ids"))
    return buckets.filter(F.size("ids") > 1)


def candidate_pairs(shingled: DataFrame, near: NearDuplicates, buckets: DataFrame | None = None) -> DataFrame:
    """Return the distinct pairs (earlier, later) of ids in one block whose MinHash signatures agree on a band.

    Args:
        shingled: block, id, shingles array<bigint>.
        buckets: its ``shared_buckets``, if they are known.
    """
    members = (shared_buckets(shingled, near) if buckets is None else buckets).select(
        F.slice("ids", 1, near.bucket_limit).alias("first"), F.explode("ids").alias("later")
    )
    earlier = F.filter("first", lambda other: other < F.col("later"))
    return members.select(F.explode(earlier).alias("earlier"), "later").distinct()


def near_duplicate_pairs(shingled: DataFrame, near: NearDuplicates, buckets: DataFrame | None = None) -> DataFrame:
    """Return (earlier, later, jaccard) of the pairs in one block whose shingles are similar enough.

    Candidates come from banded MinHash. Each is verified by the exact Jaccard similarity of its shingle hashes.

    Args:
        shingled: block (the film), id, shingles array<bigint>.
        buckets: its ``shared_buckets``, if they are known.
    """
    sets = shingled.select("id", "shingles")
    pairs = candidate_pairs(shingled, near, buckets)
    left = sets.select(F.col("id").alias("earlier"), F.col("shingles").alias("left"))
    right = sets.select(F.col("id").alias("later"), F.col("shingles").alias("right"))
    scored = pairs.join(left, "earlier").join(right, "later")
    return scored.select("earlier", "later", jaccard(F.col("left"), F.col("right")).alias("jaccard")).filter(
        F.col("jaccard") >= near.jaccard
    )


def exact_copies(dialogues: DataFrame) -> DataFrame:
    """Return (dialogue_id, first_copy) of the dialogues with the same normalised turns as one with a smaller id.

    Args:
        dialogues: dialogue_id, texts array<string>.
    """
    keyed = dialogues.select("dialogue_id", text_key(F.col("texts")).alias("text_key"))
    return _first_copies(keyed, "text_key").filter(F.col("first_copy") < F.col("dialogue_id"))


def _first_copies(keyed: DataFrame, *same: str) -> DataFrame:
    first = F.min("dialogue_id").over(Window.partitionBy(*same))
    return keyed.select("dialogue_id", first.alias("first_copy"))


def duplicates(
    dialogues: DataFrame,
    exact: DataFrame | None,
    near: NearDuplicates | None,
    persist: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Return (dialogue_id, reason, detail) of the dialogues that repeat an earlier one.

    Dialogues are ordered by dialogue_id as a string. The detail names the kept copy and the Jaccard similarity.

    - ``duplicate``: the same normalised turns as an earlier dialogue of any film.
    - ``near_duplicate``: the same text as an earlier dialogue of the same film, or similar shingles, in any upload.
      In a chain a~b~c with a and c dissimilar, only a is kept: a kept dialogue has no earlier near-duplicate.

    Args:
        dialogues: dialogue_id, movie_id, texts array<string>.
        exact: ``exact_copies`` of these dialogues or of more; None: equal dialogues of different films stay.
        near: parameters of the search within a film; None to skip it.
        persist: called on the frames of ids and hashes that are read several times.
    """
    none = F.lit(None).cast("string").alias("exact_copy")
    found = dialogues.select("dialogue_id", none)
    if exact is not None:
        found = found.drop("exact_copy").join(
            exact.select("dialogue_id", F.col("first_copy").alias("exact_copy")), "dialogue_id", "left"
        )
    of_film = F.lit(None).cast("struct<id: string, jaccard: double>").alias("film_copy")
    if near is None:
        found = found.withColumn("film_copy", of_film)
    else:
        found = found.join(_film_copies(dialogues, near, persist), "dialogue_id", "left")
    exact_copy = F.col("exact_copy")
    film_copy = F.col("film_copy")
    same = F.concat(F.lit("same text as "), exact_copy)
    like = F.concat(F.lit("like "), film_copy["id"], F.lit(", Jaccard "), F.format_number(film_copy["jaccard"], 4))
    return found.filter(exact_copy.isNotNull() | film_copy.isNotNull()).select(
        "dialogue_id",
        F.when(exact_copy.isNotNull(), "duplicate").otherwise("near_duplicate").alias("reason"),
        F.when(exact_copy.isNotNull(), same).otherwise(like).alias("detail"),
    )


def _film_copies(dialogues: DataFrame, near: NearDuplicates, persist: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Return (dialogue_id, film_copy struct<id, jaccard>) of the dialogues that are like an earlier one of the film."""
    texts = F.col("texts")
    keyed = with_columns_once(dialogues, text_key=text_key(texts), words=dialogue_words(texts))
    shingled = with_columns_once(keyed, shingles=shingles(F.col("words"), near.shingle_words))
    hashed = persist(shingled.drop("texts", "words"))
    copies = persist(_first_copies(hashed.drop("shingles"), "text_key", "movie_id"))
    repeated = copies.filter(F.col("first_copy") < F.col("dialogue_id"))
    firsts = copies.filter(F.col("first_copy") == F.col("dialogue_id")).select("dialogue_id")
    compared = hashed.join(firsts, "dialogue_id", "left_semi").select(
        F.col("movie_id").alias("block"), F.col("dialogue_id").alias("id"), "shingles"
    )
    like = near_duplicate_pairs(persist(compared), near).groupBy(F.col("later").alias("dialogue_id"))
    nearest = like.agg(F.min(F.struct(F.col("earlier").alias("id"), "jaccard")).alias("film_copy"))
    same = F.struct(F.col("first_copy").alias("id"), F.lit(1.0).alias("jaccard")).alias("film_copy")
    return repeated.select("dialogue_id", same).unionByName(nearest)
