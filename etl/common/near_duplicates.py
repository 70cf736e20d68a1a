"""Duplicate dialogues: equal ones across films, nearly equal ones within a film (EDOS 1: duplicates removed).

Only ids, hashes and shingle hashes are shuffled, never texts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StructType

from etl.common.columns import computed_once
from etl.common.texts import normalised
from udfs.minhash import band_adder


@dataclass(frozen=True)
class NearDuplicates:
    """How near-duplicates are found. The paper gives no method; these are ours.

    Attributes:
        jaccard: least share of common shingles of two near-duplicates.
        shingle_words: words in a shingle; a text with fewer words counts by exact match only.
        bands: bands of the MinHash signature; a pair that agrees on one band is looked at.
        rows: minima a band: with 16 bands of 4 a pair at Jaccard 0.8 is missed once in 5,000.
        bucket_limit: each member of a band's bucket is compared with so many smallest ids of it, so that
            a bucket of n costs n times this, not n squared.
    """

    jaccard: float = 0.8
    shingle_words: int = 3
    bands: int = 16
    rows: int = 4
    bucket_limit: int = 100


def text_key(texts: Column) -> Column:
    """A binary sha-256 of a dialogue's turns without case and punctuation: equal for equal dialogues.

    Turns that hold neither letters nor digits count by their text.
    """
    key = F.transform(texts, lambda text: F.coalesce(F.nullif(normalised(text), F.lit("")), text))
    return F.unhex(F.sha2(F.array_join(key, "\n"), 256))


def dialogue_words(texts: Column) -> Column:
    """The normalised words of all turns, in order, as array<string>."""
    return F.filter(F.split(normalised(F.array_join(texts, " ")), " "), lambda word: word != "")


def shingles(words: Column, size: int) -> Column:
    """The distinct runs of ``size`` words as sorted 64-bit hashes; empty for a shorter text.

    ``words`` should be a column of the frame, not an expression: it is read once for each run.
    """
    none = F.array().cast("array<bigint>")
    runs = F.transform(
        F.sequence(F.lit(1), F.size(words) - size + 1),
        lambda start: F.xxhash64(F.array_join(F.slice(words, start, F.lit(size)), " ")),
    )
    return F.when(F.size(words) >= size, F.array_sort(F.array_distinct(runs))).otherwise(none)


def jaccard(left: Column, right: Column) -> Column:
    """Common members of two sets over all their members, rounded to 4 decimals; null for two empty sets."""
    together = F.size(F.array_union(left, right))
    return F.when(together > 0, F.round(F.size(F.array_intersect(left, right)) / together, 4))


def minhash_bands(shingled: DataFrame, near: NearDuplicates) -> DataFrame:
    """The MinHash signature by band, one hash of ``rows`` seeded minima for each band.

    Args:
        shingled: block, id, shingles array<bigint>.

    Returns:
        block, id, bands array<bigint>; without the texts that have no shingle.
    """
    schema = StructType([shingled.schema[name] for name in ("block", "id")]).add("bands", ArrayType(LongType()))
    return shingled.select("block", "id", "shingles").mapInArrow(band_adder(near.bands, near.rows), schema)


def candidate_pairs(shingled: DataFrame, near: NearDuplicates) -> DataFrame:
    """Pairs of one block that agree on a band of their MinHash signatures.

    Args:
        shingled: block, id, shingles array<bigint>.

    Returns:
        earlier, later (ids, earlier < later), each pair once.
    """
    bands = minhash_bands(shingled, near).select("block", "id", F.posexplode("bands").alias("band", "key"))
    buckets = bands.groupBy("block", "band", "key").agg(F.sort_array(F.collect_list("id")).alias("ids"))
    members = buckets.filter(F.size("ids") > 1).select(
        F.slice("ids", 1, near.bucket_limit).alias("first"), F.explode("ids").alias("later")
    )
    earlier = F.filter("first", lambda other: other < F.col("later"))
    return members.select(F.explode(earlier).alias("earlier"), "later").distinct()


def near_duplicate_pairs(shingled: DataFrame, near: NearDuplicates) -> DataFrame:
    """Pairs of one block whose shingles have at least the Jaccard similarity asked for.

    Candidates come from banded MinHash; each is verified by the exact Jaccard of its shingles (compared by
    64-bit hashes).

    Args:
        shingled: block (the film), id, shingles array<bigint>.

    Returns:
        earlier, later, jaccard: earlier < later as strings.
    """
    sets = shingled.select("id", "shingles")
    pairs = candidate_pairs(shingled, near)
    left = sets.select(F.col("id").alias("earlier"), F.col("shingles").alias("left"))
    right = sets.select(F.col("id").alias("later"), F.col("shingles").alias("right"))
    scored = pairs.join(left, "earlier").join(right, "later")
    return scored.select("earlier", "later", jaccard(F.col("left"), F.col("right")).alias("jaccard")).filter(
        F.col("jaccard") >= near.jaccard
    )


def first_copies(keyed: DataFrame) -> DataFrame:
    """Adds to each dialogue the smallest dialogue_id with the same text: of all films, and of its own film.

    Args:
        keyed: dialogue_id, movie_id, text_key (more columns are kept).

    Returns:
        keyed with first_copy and first_copy_in_film.
    """
    smallest = F.min("dialogue_id")
    return keyed.withColumn("first_copy_in_film", smallest.over(Window.partitionBy("text_key", "movie_id"))).withColumn(
        "first_copy", smallest.over(Window.partitionBy("text_key"))
    )


def duplicates(
    dialogues: DataFrame,
    exact: bool,
    near: NearDuplicates | None,
    hold: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Which dialogues say what an earlier one says; earlier means the smaller dialogue_id as a string.

    - ``duplicate``: the same text (turn by turn, without case and punctuation) as an earlier dialogue of any film.
    - ``near_duplicate``: the same text as, or shingles like, an earlier dialogue of the same film, from whichever
      upload. Of a chain a~b~c with a and c apart, a alone is kept: a kept dialogue has no earlier near-duplicate.

    Args:
        dialogues: dialogue_id, movie_id, texts array<string>.
        exact: look for the same text across films.
        near: how to look for near-duplicates within a film; None for not at all.
        hold: called on the ids and hashes, which are read several times; the caller may persist them.

    Returns:
        dialogue_id, reason, detail (the kept copy's id, and the Jaccard): one row for each duplicate.
    """
    texts = F.col("texts")
    keyed = computed_once(dialogues, text_key=text_key(texts), words=dialogue_words(texts))
    size = near.shingle_words if near else 1
    hashed = computed_once(keyed, shingles=shingles(F.col("words"), size)).drop("texts", "words")
    hashed = hold(hashed)
    copies = hold(first_copies(hashed.drop("shingles")).drop("text_key"))
    found = copies.select(
        "dialogue_id",
        F.when(F.lit(exact) & (F.col("first_copy") < F.col("dialogue_id")), F.col("first_copy")).alias("exact_copy"),
        F.when(
            F.lit(near is not None) & (F.col("first_copy_in_film") < F.col("dialogue_id")),
            F.struct(F.col("first_copy_in_film").alias("id"), F.lit(1.0).alias("jaccard")),
        ).alias("film_copy"),
    )
    if near is not None:
        firsts = copies.filter(F.col("first_copy_in_film") == F.col("dialogue_id")).select("dialogue_id")
        shingled = hashed.join(firsts, "dialogue_id").select(
            F.col("movie_id").alias("block"), F.col("dialogue_id").alias("id"), "shingles"
        )
        near_copies = (
            near_duplicate_pairs(hold(shingled), near)
            .groupBy(F.col("later").alias("dialogue_id"))
            .agg(F.min(F.struct(F.col("earlier").alias("id"), "jaccard")).alias("near_copy"))
        )
        found = found.join(near_copies, "dialogue_id", "left").withColumn(
            "film_copy", F.coalesce("film_copy", "near_copy")
        )
    return found.filter(F.col("exact_copy").isNotNull() | F.col("film_copy").isNotNull()).select(
        "dialogue_id",
        F.when(F.col("exact_copy").isNotNull(), "duplicate").otherwise("near_duplicate").alias("reason"),
        F.when(F.col("exact_copy").isNotNull(), F.concat(F.lit("same text as "), "exact_copy"))
        .otherwise(
            F.concat(
                F.lit("like "),
                F.col("film_copy")["id"],
                F.lit(", Jaccard "),
                F.format_number(F.col("film_copy")["jaccard"], 4),
            )
        )
        .alias("detail"),
    )
