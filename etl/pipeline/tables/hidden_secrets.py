"""Hide secrets in the columns of tables."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.redaction import HIDDEN, PATTERNS, SUSPECT, USER_INFO

MESSAGES = ("error", "detail")
ADDRESSES = ("source", "source_path")
"""The columns of all tables that hold messages and evidence, and where rows come from."""


def without_secrets(rows: DataFrame) -> DataFrame:
    """Hide keys and tokens in the columns of ``MESSAGES``, and the user-info of addresses in those of ``ADDRESSES``."""
    kinds = {**dict.fromkeys(MESSAGES, (SUSPECT, PATTERNS)), **dict.fromkeys(ADDRESSES, ("://", USER_INFO))}
    texts = {name for name, kind in rows.dtypes if kind == "string"}
    hidden = {
        name: F.when(F.col(name).rlike(suspect), redacted_text(F.col(name), patterns)).otherwise(F.col(name))
        for name, (suspect, patterns) in kinds.items()
        if name in texts
    }
    # Spark Connect refuses an empty dictionary.
    return rows.withColumns(hidden) if hidden else rows


def redacted_text(text: Column, patterns: Sequence[tuple[str, int]] = PATTERNS) -> Column:
    """Return a text without the secrets that patterns of ``conf.redaction`` match."""
    for pattern, kept in patterns:
        text = F.regexp_replace(text, pattern, f"${kept}{HIDDEN}" if kept else HIDDEN)
    return text
