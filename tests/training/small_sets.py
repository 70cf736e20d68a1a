"""Labelled sets that are small enough to train on in a test."""

from pathlib import Path

LABELS = ("sad", "glad", "neutral", "afraid")


TRAIN = [
    (["i lost my dog .", "that is so sad ."], 0),
    (["he cried alone .", "very sad ."], 0),
    (["i cry at night ."], 0),
    (["what joy !"], 1),
    (["are you happy ?", "yes , so glad !"], 1),
    (["great game !", "we are so happy !"], 1),
    (["it is a home ."], 2),
    (["he went home .", "it is work ."], 2),
    (["dark night .", "i am afraid of the ghost ."], 3),
    (["a ghost !"], 3),
]


VALID = [
    (["so sad , i cry ."], 0),
    (["i am glad !"], 1),
    (["it is a home ."], 2),
    (["afraid , a dark ghost ."], 3),
]


SENTENCES = [f"a plain sentence , number {number}" for number in range(60)]
TO_CHOOSE_BY = [f"one to choose by , number {number}" for number in range(8)]
HELD_OUT_TEXTS = [f"one held out , number {number}" for number in range(6)]
ALL_THREE = {
    "train": [*SENTENCES, TO_CHOOSE_BY[0], HELD_OUT_TEXTS[0]],
    "valid": [*TO_CHOOSE_BY, HELD_OUT_TEXTS[1]],
    "test": HELD_OUT_TEXTS,
}
"""Sentences of the weak labeler by file; two of them are in two files."""


def write_files(folder: Path, parts: dict[str, list[str]]) -> Path:
    """Write `classifier_...` files and return their folder."""
    folder.mkdir(exist_ok=True)
    for part, texts in parts.items():
        lines = [f"{number % 41} <SEP> {text}\n" for number, text in enumerate(texts)]
        (folder / f"classifier_{part}.txt").write_text("".join(lines), "utf-8")
    return folder
