"""Train, validation and test splits: by near-duplicate group for released labels, by film for ingested dialogues."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import with_columns_once
from etl.common.near_duplicates import NearDuplicates, dialogue_words, near_duplicate_pairs, shingles, text_key
from etl.common.text_comparison import normalised

SPLITS = ("train", "validation", "test")
RELEASED_NEAR = NearDuplicates(jaccard=0.6, bands=20, rows=3)
"""Near-duplicate parameters for labelled dialogues, so that near-duplicates share a split."""

MAX_LINKS = 2_000_000
"""Most near-duplicate links that the driver collects; about 200 bytes each."""


def content_share(*keys: Column, salt: str = "") -> Column:
    """Return a number in [0, 1) from the first 52 bits of the SHA-256 of the salt and the keys."""
    digest = F.sha2(F.concat_ws("\u0001", F.lit(salt), *keys), 256)
    return F.conv(F.substring(digest, 1, 13), 16, 10).cast("double") / F.lit(float(16**13))


def split_by_film(
    rows: DataFrame, *, test_share: float = 0.1, validation_share: float = 0.1, film: str = "movie_id"
) -> DataFrame:
    """Add column split: test, validation or train, by the hash of the film's id. The shares are shares of films."""
    share = content_share(F.col(film), salt="film")
    return rows.withColumn(
        "split",
        F.when(share < test_share, "test").when(share < test_share + validation_share, "validation").otherwise("train"),
    )


def connected(links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a mapping from each linked id to the smallest id of its connected component."""
    root: dict[str, str] = {}

    def find(member: str) -> str:
        path = []
        while (parent := root.setdefault(member, member)) != member:
            path.append(member)
            member = parent
        root.update(dict.fromkeys(path, member))
        return member

    for left, right in links:
        first, second = sorted((find(left), find(right)))
        root[second] = first
    return {member: find(member) for member in root}


LONG_WORDS = 6
"""Words of a turn that tells films apart."""
MOST_FILMS = 20
"""A turn of more films is a phrase that many say."""
SHARED_TURNS = 5
SHARED_SHARE = 0.2
"""Long turns that two films have in common if they are one, as a number and as a share of those of the shorter film."""


def with_film_group(dialogues: DataFrame, max_links: int = MAX_LINKS) -> DataFrame:
    """Add column film_group: the smallest movie_id among the films that are one film, directly or through others.

    Uploads of a film under several names are several films by their ids, and would be in several splits. Two films are
    one if they share at least ``SHARED_TURNS`` turns of ``LONG_WORDS`` words, which are ``SHARED_SHARE`` of those that
    the one with fewer has.

    Args:
        dialogues: movie_id, turns array<struct<text>>.
        max_links: maximum number of pairs of films that the driver collects.

    Raises:
        InputError: There are more pairs.
    """
    said = dialogues.select("movie_id", F.explode(F.col("turns")["text"]).alias("text"))
    long = said.select("movie_id", normalised(F.col("text")).alias("text")).filter(
        F.size(F.split("text", " ")) >= LONG_WORDS
    )
    turns = long.select("movie_id", F.xxhash64("text").alias("key")).distinct()
    counts = turns.groupBy("movie_id").agg(F.count("*").alias("turns"))
    common = turns.groupBy("key").agg(F.sort_array(F.collect_set("movie_id")).alias("films"))
    common = common.filter((F.size("films") > 1) & (F.size("films") <= MOST_FILMS))
    each = common.select("films", F.posexplode("films").alias("at", "first"))
    later = F.slice(F.col("films"), F.col("at") + 2, F.size("films"))
    pairs = (
        each.select("first", F.explode(later).alias("second"))
        .groupBy("first", "second")
        .agg(F.count("*").alias("shared"))
    )
    sized = pairs.join(counts.toDF("first", "first_turns"), "first").join(
        counts.toDF("second", "second_turns"), "second"
    )
    enough = F.greatest(F.lit(SHARED_TURNS), SHARED_SHARE * F.least("first_turns", "second_turns"))
    links = sized.filter(F.col("shared") >= enough).select("first", "second").limit(max_links + 1).collect()
    if len(links) > max_links:
        raise InputError(f"films of several names: more than {max_links:,} pairs of films share their turns")
    groups = connected((row["first"], row["second"]) for row in links)
    rows = [(film, group) for film, group in sorted(groups.items()) if film != group]
    mapping = dialogues.sparkSession.createDataFrame(rows, "movie_id string, film_group string")
    return dialogues.join(F.broadcast(mapping), "movie_id", "left").withColumn(
        "film_group", F.coalesce("film_group", "movie_id")
    )


class Split(NamedTuple):
    """The size of a split. Films that are one count once."""

    dialogues: int
    films: int


def films_by_split(dialogues: DataFrame, *, test_share: float, validation_share: float) -> DataFrame:
    """Return movie_id, film_group and split of each film: films of one group are in one split.

    Args:
        dialogues: movie_id, turns array<struct<text>>.
        test_share, validation_share: of films.
    """
    films = with_film_group(dialogues.select("movie_id", "turns")).select("movie_id", "film_group").distinct()
    return split_by_film(films, test_share=test_share, validation_share=validation_share, film="film_group")


def split_faults(splits: Mapping[str, Split]) -> list[str]:
    """Return what is said of splits that are empty or have a single film."""
    none = [name for name in SPLITS if splits.get(name, Split(0, 0)).films == 0]
    one = [name for name in SPLITS if splits.get(name, Split(0, 0)).films == 1]
    found = []
    if none:
        found.append(f"no film is in {' and '.join(none)}: more films, or larger shares of publishing, mend it")
    if one:
        found.append(f"only one film each is in {' and '.join(one)}, and figures there are of that film alone")
    return found


def linking_keys(items: DataFrame, last_turn_words: int) -> DataFrame:
    """Return (id, key); rows that share a key have the same dialogue_id, the same text, or the same last turn.

    Args:
        items: id, dialogue_id, turns.
        last_turn_words: minimum words of a last turn that links rows; "thank you" does not.
    """
    last = normalised(F.element_at("turns", -1))
    keys = F.array(
        F.concat(F.lit("dialogue "), "dialogue_id"),
        F.concat(F.lit("text "), F.hex(text_key(F.col("turns")))),
        F.when(F.size(F.split(last, " ")) >= last_turn_words, F.concat(F.lit("last "), F.sha2(last, 256))),
    )
    return items.select("id", F.explode(F.array_compact(keys)).alias("key"))


def shingled_items(items: DataFrame, near: NearDuplicates) -> DataFrame:
    """Return (block, id, shingles) of the items' words, all in one block."""
    words = with_columns_once(items.select("id", "turns"), words=dialogue_words(F.col("turns")))
    return with_columns_once(
        words.select(F.lit("all").alias("block"), "id", "words"), shingles=shingles(F.col("words"), near.shingle_words)
    ).drop("words")


def near_duplicate_groups(
    items: DataFrame, near: NearDuplicates, last_turn_words: int = 3, max_links: int = MAX_LINKS
) -> DataFrame:
    """Add column group: the smallest id among the rows linked to a row directly or through others.

    Two rows are linked if they are cuts of one dialogue, have the same text, end in the same turn, or have similar
    shingles. A last turn counts because the label is that turn's.

    Args:
        items: id, dialogue_id, turns array<string>. The data are small: the driver collects the links.
        last_turn_words: minimum words of a last turn that links rows; "thank you" does not.
        max_links: maximum number of links that the driver collects.

    Raises:
        InputError: There are more links.
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
    mapping = items.sparkSession.createDataFrame(sorted(groups.items()), "id string, `group` string")
    return items.join(F.broadcast(mapping), "id", "left").withColumn("group", F.coalesce("group", "id"))
