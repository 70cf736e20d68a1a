"""Map the emotions that a model names to the taxonomy's labels (Emo Pillars 4)."""

from collections.abc import Callable, Mapping
from typing import Any

from etl.emo_pillars.answers import Parsed, Rejected

UNKNOWN = "unknown_label"
"""The reason of a label without a close match in the taxonomy."""

Names = Mapping[str, str | None]


def label_of(raw: str, names: Names) -> str | None:
    """Return the label of a named emotion; None if it is unknown (Emo Pillars 4)."""
    return names.get(raw.strip().lower())


def known_only(found: Parsed, kind: type, text: Callable[[Any], str], names: Names) -> Parsed:
    """Add its label to each item, and reject those of unknown emotions (Emo Pillars 4).

    Args:
        found: items with ``raw_label``.
        kind: type of the items with label and ``was_mapped`` at the end.
        text: of an item, for the ledger.
        names: known names of emotions.
    """
    kept = []
    rejected = list(found.rejected)
    for one in found.items:
        label = label_of(one.raw_label, names)
        if label is None:
            rejected.append(Rejected(UNKNOWN, text(one)))
        else:
            kept.append(kind(*one, label, label != one.raw_label))
    return Parsed(kept, rejected)
