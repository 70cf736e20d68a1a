"""Hide secrets in the columns of tables."""

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.redaction import HIDDEN, PATTERNS, SUSPECT, USER_INFO

MESSAGES = ("error", "detail")
ADDRESSES = ("source", "source_path")
"""The columns of all tables that hold messages and evidence, and where rows come from."""
_CONTROLS: Final = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
_SEEN: Final = "".join(map(chr, (*range(0x2400, 0x2420), 0x2421, *[0xFFFD] * 32)))
"""Control characters, which a quoted text may have, and the signs that stand for them in messages."""


def without_secrets(rows: DataFrame) -> DataFrame:
    """Hide keys and tokens in the columns of ``MESSAGES``, and the user-info of addresses in those of ``ADDRESSES``.

    Control characters of messages are replaced by signs that are seen: a line's end by U+240A.
    """
    kinds = {**dict.fromkeys(MESSAGES, (SUSPECT, PATTERNS)), **dict.fromkeys(ADDRESSES, ("://", USER_INFO))}
    texts = {name for name, kind in rows.dtypes if kind == "string"}
    hidden = {
        name: F.when(F.col(name).rlike(suspect), redacted_text(F.col(name), patterns)).otherwise(F.col(name))
        for name, (suspect, patterns) in kinds.items()
        if name in texts
    }
    hidden |= {name: F.translate(hidden[name], _CONTROLS, _SEEN) for name in MESSAGES if name in hidden}
    # Spark Connect refuses an empty dictionary.
    return rows.withColumns(hidden) if hidden else rows


def redacted_text(text: Column, patterns: Sequence[tuple[str, int]] = PATTERNS) -> Column:
    """Return a text without the secrets that patterns of ``conf.redaction`` match."""
    for pattern, kept in patterns:
        text = F.regexp_replace(text, pattern, f"${kept}{HIDDEN}" if kept else HIDDEN)
    return text
