"""Train, validation and test: by near-duplicate group for released labels, by film for what is ingested."""

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import computed_once
from etl.common.near_duplicates import NearDuplicates, dialogue_words, near_duplicate_pairs, shingles, text_key
from etl.common.texts import normalised

RELEASED_NEAR = NearDuplicates(jaccard=0.6, bands=20, rows=3)
"""What counts as nearly the same among labelled dialogues, so that none straddles a split."""

MAX_LINKS = 2_000_000
"""Links between near-duplicates that the driver takes at most; some 200 bytes each."""


def content_share(*keys: Column, salt: str = "") -> Column:
    """A number in [0, 1) that depends on the keys' content alone: the start of their sha-256."""
    digest = F.sha2(F.concat_ws("\u0001", F.lit(salt), *keys), 256)
    return F.conv(F.substring(digest, 1, 13), 16, 10).cast("double") / F.lit(float(16**13))


def split_by_film(
    rows: DataFrame, *, test_share: float = 0.1, validation_share: float = 0.1, film: str = "movie_id"
) -> DataFrame:
    """Adds split: whole films go to test, validation or train by the hash of their id.

    Args:
        rows: any rows with the film's column.
        test_share, validation_share: shares of films.
    """
    share = content_share(F.col(film), salt="film")
    return rows.withColumn(
        "split",
        F.when(share < test_share, "test").when(share < test_share + validation_share, "validation").otherwise("train"),
    )


def connected(links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Each linked id to the smallest id it is connected with."""
    root: dict[str, str] = {}

    def find(member: str) -> str:
        path = []
        while (above := root.setdefault(member, member)) != member:
            path.append(member)
            member = above
        for below in path:
            root[below] = member
        return member

    for left, right in links:
        first, second = sorted((find(left), find(right)))
        root[second] = first
    return {member: find(member) for member in root}


def linking_keys(items: DataFrame, last_turn_words: int) -> DataFrame:
    """(id, key): rows with a key in common are one dialogue, one text, or end in the same turn.

    Args:
        items: id, dialogue_id, turns.
        last_turn_words: a shorter last turn ("thank you") links nothing.
    """
    last = normalised(F.element_at("turns", -1))
    keys = F.array(
        F.concat(F.lit("dialogue "), "dialogue_id"),
        F.concat(F.lit("text "), F.hex(text_key(F.col("turns")))),
        F.when(F.size(F.split(last, " ")) >= last_turn_words, F.concat(F.lit("last "), F.sha2(last, 256))),
    )
    return items.select("id", F.explode(F.array_compact(keys)).alias("key"))


def shingled_items(items: DataFrame, near: NearDuplicates) -> DataFrame:
    """(block, id, shingles) of the items' words, all in one block."""
    words = computed_once(items.select("id", "turns"), words=dialogue_words(F.col("turns")))
    return computed_once(
        words.select(F.lit("all").alias("block"), "id", "words"),
        shingles=shingles(F.col("words"), near.shingle_words),
    ).drop("words")


def near_duplicate_groups(
    items: DataFrame, near: NearDuplicates, last_turn_words: int = 3, max_links: int = MAX_LINKS
) -> DataFrame:
    """Adds group: the smallest id of the rows that are, directly or by a chain, near-duplicates.

    Two rows are linked when they are cuts of one dialogue, have the same text, end in the same turn (of at
    least ``last_turn_words`` words: the label is that turn's), or have similar shingles.

    Args:
        items: id, dialogue_id, turns array<string> (small data: the links are collected on the driver).
        near: how similarity is measured.
        last_turn_words: a shorter last turn ("thank you") links nothing.
        max_links: the most links the driver takes.

    Raises:
        InputError: more links than that.
    """
    keys = linking_keys(items, last_turn_words)
    smallest = F.min("id").over(Window.partitionBy("key"))
    same = keys.select("id", smallest.alias("first")).filter(F.col("id") != F.col("first")).distinct()
    alike = near_duplicate_pairs(shingled_items(items, near), near).select("later", "earlier")
    links = same.unionByName(alike.toDF("id", "first")).limit(max_links + 1).collect()
    if len(links) > max_links:
        raise InputError(
            f"near-duplicate groups: more than {max_links} links; raise the Jaccard threshold or last_turn_words"
        )
    groups = connected((row["id"], row["first"]) for row in links)
    spark = items.sparkSession
    mapping = spark.createDataFrame(sorted(groups.items()), "id string, `group` string")
    return items.join(F.broadcast(mapping), "id", "left").withColumn("group", F.coalesce("group", "id"))
