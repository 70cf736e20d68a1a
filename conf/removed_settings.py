"""Settings of earlier versions that are gone, each with the default that it had and what to use instead.

The loader refuses such a key and says what to use. A run that was made with the default has no work again for its
sake: `etl.pipeline.planner.same_settings` ignores it.
"""

from typing import Any, NamedTuple


class Removed(NamedTuple):
    """A setting that is gone.

    Attributes:
        default: its default, as the settings had it: 1.0 for a fraction that was written as 1.
        instead: what to use instead, or why it went; it ends the sentence "setting KEY is gone: ...".
    """

    default: Any
    instead: str


REMOVED: dict[str, Removed] = {
    "training.*.average_decay": Removed(0.0, "weights are not averaged: it had brought nothing"),
    "training.*.members": Removed(
        1, "one model answers: take a larger encoder, such as models.encoder=hf:roberta-large"
    ),
    "training.*.thresholds": Removed("shared", "one threshold for all labels, as Emo Pillars D has it"),
    "training.*.train_rows": Removed(None, "all rows are learned from: take subtitles.sample for a trial"),
    "training.*.typed": Removed(False, "emo_pillars_transfer_emocontext compares with and without token types"),
    "training.emotion_student.crowd_teacher_share": Removed(0.0, "labelled rows are learned by their labels"),
    "training.emotion_student.teacher_share": Removed(0.0, "labelled rows are learned by their labels"),
    "training.weak_student.teacher_share": Removed(0.5, "label and teacher's answer count alike"),
}
"""By ``section.key``; ``*`` stands for one name. A key itself goes before one with ``*``."""


def removed(key: str) -> Removed | None:
    """Return what is known of a setting that is gone; None of any other key."""
    if key in REMOVED:
        return REMOVED[key]
    parts = key.split(".")
    for pattern, found in REMOVED.items():
        names = pattern.split(".")
        if len(names) == len(parts) and all(name in ("*", part) for name, part in zip(names, parts, strict=True)):
            return found
    return None
