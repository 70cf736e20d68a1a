"""Texts as they are compared and searched: normalised words, patterns of whole words."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F


def normalised(text: Column) -> Column:
    """Lower-case letters and digits, words parted by one space: how texts are compared for being the same."""
    return F.trim(F.regexp_replace(F.lower(text), r"[^\p{L}\p{Nd}]+", " "))


def word_pattern(entries: Sequence[str]) -> str:
    """A Java pattern that finds any entry as whole words in any case; a final ``*`` stands for any ending."""
    parts = (rf"\Q{entry[:-1]}\E\p{{L}}*" if entry.endswith("*") else rf"\Q{entry}\E" for entry in sorted(entries))
    return rf"(?iu)(?<![\p{{L}}\p{{Nd}}])(?:{'|'.join(parts)})(?![\p{{L}}\p{{Nd}}])"
