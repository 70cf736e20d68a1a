"""Normalisation of texts for comparison, and patterns for word search."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F


def normalised(text: Column) -> Column:
    """Return a text's letters, with their combining marks, and digits in lower case, one space between words."""
    return F.trim(F.regexp_replace(F.lower(text), r"[^\p{L}\p{M}\p{Nd}]+", " "))


def word_pattern(entries: Sequence[str]) -> str:
    """Return a Java pattern that matches any entry as whole words in any case; a final ``*`` matches any ending."""
    parts = (rf"\Q{entry[:-1]}\E\p{{L}}*" if entry.endswith("*") else rf"\Q{entry}\E" for entry in sorted(entries))
    return rf"(?iu)(?<![\p{{L}}\p{{Nd}}])(?:{'|'.join(parts)})(?![\p{{L}}\p{{Nd}}])"
