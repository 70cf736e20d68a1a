"""Emotions as a model names them, and the taxonomy's labels they count as (Emo Pillars 4)."""

from collections.abc import Mapping
from typing import NamedTuple

from conf.taxonomy import goemotions_labels, goemotions_mapping
from etl.emo_pillars.answers import Parsed, Rejected
from etl.emo_pillars.soft_labels import parse_soft_labels
from etl.emo_pillars.utterances import parse_utterances

UNKNOWN = "unknown_label"
"""Why a label is left out that has no close match in the taxonomy."""


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
    """The taxonomy's labels and the names that are mapped into it, each with the label that it counts as."""
    return goemotions_mapping() | {label: label for label in goemotions_labels()}


def label_of(raw: str, names: Names) -> str | None:
    """The label that a named emotion counts as; None: it is left out, and counted (Emo Pillars 4)."""
    return names.get(raw.strip().lower())


def labelled_utterances(answer: str, template: str, cut_off: bool, names: Names) -> Parsed:
    """An answer's utterances whose emotion is in the taxonomy, or is mapped into it (Emo Pillars 3.2, 4)."""
    found = parse_utterances(answer, template, cut_off)
    return _known(found, LabelledUtterance, lambda one: f"{one.raw_label}: {one.utterance}", names)


def labels_with_levels(answer: str, template: str, top: int, names: Names) -> Parsed:
    """An answer's soft labels that are in the taxonomy, or mapped into it (Emo Pillars 3.3, 4)."""
    found = parse_soft_labels(answer, template, top)
    return _known(found, MappedLabel, lambda one: f"{one.raw_label} {one.level}", names)


def _known(found: Parsed, kind: type, text: object, names: Names) -> Parsed:
    kept, rejected = [], list(found.rejected)
    for one in found.items:
        label = label_of(one.raw_label, names)
        if label is None:
            rejected.append(Rejected(UNKNOWN, text(one)))  # type: ignore[operator]
        else:
            kept.append(kind(*one, label, label != one.raw_label))
    return Parsed(kept, rejected)
