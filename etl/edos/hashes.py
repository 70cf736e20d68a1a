"""Content keys of texts and histories."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def text_hash(text: Column) -> Column:
    """Sha256 of a text's UTF-8, as hex; null for null."""
    return F.sha2(text, 256)


def history_hash(turns: Column) -> Column:
    """Sha256 of an array of turns, as hex, no two arrays alike: each turn's own hash is hashed, nulls as '-'.

    Hashes have one length, so no text can imitate the border between two turns.
    """
    return F.sha2(F.concat_ws("", F.transform(turns, lambda turn: F.coalesce(F.sha2(turn, 256), F.lit("-")))), 256)
