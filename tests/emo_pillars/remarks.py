"""Remarks of models and texts that resemble them, written apart from the parsers' patterns.

Patterns are tuned on one half and measured on the other. Both are drawn by the lines' hashes.
"""

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent / "remark_texts"
KINDS = ("refusals", "said", "openings", "begun", "unchanged", "told", "closings", "paragraphs")
"""Each kind of remark is followed by texts that resemble it but are part of a story or of what somebody says."""


def remarks(kind: str) -> list[str]:
    """Return all lines of a kind."""
    return (FOLDER / f"{kind}.txt").read_text("utf-8").splitlines()


def half(kind: str, *, held_out: bool) -> list[str]:
    """Return the lines of a kind that tune the patterns, or those that measure them."""
    return [line for line in remarks(kind) if (hashlib.sha256(line.encode()).digest()[0] % 2 == 1) == held_out]
