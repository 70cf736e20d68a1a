"""Keys and sort orders that depend on content alone."""

import hashlib

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def text_hash(text: Column) -> Column:
    """Return the hex SHA-256 of a text's UTF-8 bytes; null for null."""
    return F.sha2(text, 256)


def distinct_texts(rows: DataFrame, texts: Column | str) -> DataFrame:
    """Return the distinct (text_hash, text) of a column of arrays of texts."""
    found = rows.select(F.explode(texts).alias("text"))
    return found.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def history_hash(turns: Column) -> Column:
    """Return the hex SHA-256 of an array of turns: the hash of the turns' hashes, with '-' for a null turn.

    Hashes have a fixed length, so different arrays give different keys.
    """
    return F.sha2(F.concat_ws("", F.transform(turns, lambda turn: F.coalesce(F.sha2(turn, 256), F.lit("-")))), 256)


def content_order(*keys: Column, seed: int, of: str) -> Column:
    """Return a sort key that depends only on the keys, the seed and the purpose ``of``."""
    return F.sha2(F.concat_ws("\u0001", F.lit(f"{seed} {of}"), *keys), 256)


def shuffled(values: Column, *keys: Column, seed: int, of: str) -> Column:
    """Return the array in an order that depends only on its values, the keys, the seed and the purpose ``of``."""
    keyed = F.transform(
        values, lambda v: F.struct(content_order(*keys, v, seed=seed, of=of).alias("order"), v.alias("value"))
    )
    return F.transform(F.array_sort(keyed), lambda pair: pair["value"])


def text_share(text: str) -> float:
    """Return a number in 0..1 from a hash of a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def content_place(text: str) -> float:
    """Return a number in [0, 1) that depends only on the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
