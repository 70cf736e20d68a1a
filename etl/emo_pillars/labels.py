"""Map the emotions that a model names to the taxonomy's labels (Emo Pillars 4)."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from conf.taxonomy import goemotions_labels, goemotions_mapping
from etl.emo_pillars.answers import Parsed, Rejected
from etl.emo_pillars.soft_labels import parse_soft_labels
from etl.emo_pillars.utterances import parse_utterances

UNKNOWN = "unknown_label"
"""The reason of a label without a close match in the taxonomy."""

Names = Mapping[str, str | None]


class LabelledUtterance(NamedTuple):
    raw_label: str
    utterance: str
    reasoning: str | None
    label: str
    was_mapped: bool


class MappedLabel(NamedTuple):
    raw_label: str
    level: float
    reasoning: str | None
    label: str
    was_mapped: bool


def known_names() -> Names:
    """Return the taxonomy's labels and the names mapped to them, each with its label."""
    return goemotions_mapping() | {label: label for label in goemotions_labels()}


def label_of(raw: str, names: Names) -> str | None:
    """Return the label of a named emotion; None if it is unknown (Emo Pillars 4)."""
    return names.get(raw.strip().lower())


def labelled_utterances(answer: str, template: str, cut_off: bool, names: Names) -> Parsed:
    """Parse an answer's utterances, and reject those of unknown emotions (Emo Pillars 3.2, 4)."""
    found = parse_utterances(answer, template, cut_off, names)
    return _known(found, LabelledUtterance, lambda one: f"{one.raw_label}: {one.utterance}", names)


def labels_with_levels(answer: str, template: str, top: int, names: Names) -> Parsed:
    """Parse an answer's soft labels, and reject unknown emotions (Emo Pillars 3.3, 4)."""
    found = parse_soft_labels(answer, template, top)
    return _known(found, MappedLabel, lambda one: f"{one.raw_label} {one.level}", names)


def _known(found: Parsed, kind: type, text: Callable[[Any], str], names: Names) -> Parsed:
    kept = []
    rejected = list(found.rejected)
    for one in found.items:
        label = label_of(one.raw_label, names)
        if label is None:
            rejected.append(Rejected(UNKNOWN, text(one)))
        else:
            kept.append(kind(*one, label, label != one.raw_label))
    return Parsed(kept, rejected)
