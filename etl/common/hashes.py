"""Content keys of texts and histories."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def text_hash(text: Column) -> Column:
    """Sha256 of a text's UTF-8, as hex; null for null."""
    return F.sha2(text, 256)


def distinct_texts(rows: DataFrame, texts: Column | str) -> DataFrame:
    """Return the distinct (text_hash, text) of a column of arrays of texts."""
    found = rows.select(F.explode(texts).alias("text"))
    return found.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def history_hash(turns: Column) -> Column:
    """Sha256 of an array of turns, as hex, no two arrays alike: each turn's own hash is hashed, nulls as '-'.

    Hashes have one length, so no text can imitate the border between two turns.
    """
    return F.sha2(F.concat_ws("", F.transform(turns, lambda turn: F.coalesce(F.sha2(turn, 256), F.lit("-")))), 256)


def content_order(*keys: Column, seed: int, of: str) -> Column:
    """A sort key that depends on the keys' content and the seed alone."""
    return F.sha2(F.concat_ws("\u0001", F.lit(f"{seed} {of}"), *keys), 256)


def shuffled(values: Column, *keys: Column, seed: int, of: str) -> Column:
    """An array in an order that depends on the keys' content and the seed alone."""
    keyed = F.transform(
        values, lambda v: F.struct(content_order(*keys, v, seed=seed, of=of).alias("order"), v.alias("value"))
    )
    return F.transform(F.array_sort(keyed), lambda pair: pair["value"])
