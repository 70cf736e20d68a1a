"""People's own labelled sets that models are tried on: GoEmotions, ISEAR and EmoContext (Emo Pillars 5)."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conf.errors import InputError
from conf.taxonomy import goemotions_labels

DROPPED = "unit string, id string, reason string, detail string, units bigint"
GOEMOTIONS = "text_id string, text string, labels array<string>, part string, split string"
ISEAR = "report_id string, text string, emotion string, label string, fold int"
EMOCONTEXT = "dialogue_id string, turns array<string>, emotion string, part string, split string"

ISEAR_LABELS = {
    "anger": "anger", "disgust": "disgust", "fear": "fear", "sadness": "sadness", "joy": "joy",
    "shame": "embarrassment", "guilt": "remorse",
}  # fmt: skip
"""Emo Pillars 5.1.3: the seven emotions, and the label that each counts as."""
EMOCONTEXT_LABELS = {"happy": "joy", "sad": "sadness", "angry": "anger"}
"""Emo Pillars 5.2.2: the emotions and their labels; ours, for the paper names no map."""
OTHERS = "others"
MOST_DETAIL = 200

_LINE_BREAK = re.compile(r"\s*á(?:\||(?=\s|$))\s*")
_NO_REPORT = re.compile(
    r"(?:no (?:re?sponse|reponse|description|answer)\b|(?:none|nothing|blank|not applicable)\W*$|do(?:es)?(?:n't| not) "
    r"(?:apply|know\W*$|remember)|can ?not (?:remember|recall|think)|never (?:felt|experienced)|"
    r"i (?:have|had) (?:never|not) (?:felt|experienced)|i do(?:n't| not) remember|"
    r"(?:the )?same (?:as|event|situation)\b|as (?:for|in) (?:joy|fear|anger|sadness|disgust|shame|guilt)\W*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Labelled:
    """Rows read from a set, and ledger rows of those that are none."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: list[tuple[str, str, str, str, int]] = field(default_factory=list)

    @property
    def rows_in(self) -> int:
        return len(self.rows) + len(self.dropped)

    def drop(self, unit: str, place: str, reason: str, detail: str) -> None:
        self.dropped.append((unit, place, reason, detail[:MOST_DETAIL], 1))


def goemotions_comments(parts: Mapping[str, Iterable[str]], validation_share: float) -> Labelled:
    """Comments of GoEmotions' files: text, label ids with commas, the comment's id, tabs between (Emo Pillars 5.1.2).

    The original splits are kept. Where there is no test part, dev is what is measured on, and a share of the training
    comments chooses the threshold, by their text's hash (ours).

    Args:
        parts: lines of ``train``, ``dev`` and ``test``, as far as they are there.
        validation_share: of the training comments.
    """
    found, names = Labelled(), goemotions_labels()
    seen: set[str] = set()
    for part, lines in parts.items():
        for number, line in enumerate(lines, 1):
            cells, place = line.rstrip("\r\n").split("\t"), f"{part}:{number}"
            if len(cells) != 3 or not cells[0].strip() or not cells[2].strip():
                found.drop("comment", place, "not_a_comment", line)
            elif (ids := _label_ids(cells[1], len(names))) is None:
                found.drop("comment", place, "unknown_label", line)
            elif cells[2].strip() in seen:
                found.drop("comment", place, "repeated_id", line)
            else:
                text_id, text = cells[2].strip(), cells[0].strip()
                seen.add(text_id)
                split = _split_of(part, "test" in parts, content_place(text) < validation_share)
                found.rows.append((text_id, text, [names[one] for one in ids], part, split))
    return found


def isear_reports(lines: Iterable[str], folds: int) -> Labelled:
    """ISEAR's reports from the lines of its CSV, ``|`` between the cells (Emo Pillars 5.1.3).

    Reports such as "[ No response.]" go. Of equal texts all are in one fold, which the text's hash chooses (ours).

    Args:
        lines: the first is the head, which names the columns Field1 (the emotion) and SIT (the report).
        folds: how many there are.

    Raises:
        InputError: the head names no such columns.
    """
    found, rows = Labelled(), iter(lines)
    names = next(rows, "").lstrip("\ufeff").rstrip("\r\n").split("|")
    if not {"Field1", "SIT"} <= set(names):
        raise InputError("emo_pillars.isear: its head names no columns Field1 and SIT, with | between")
    emotion_at, text_at = names.index("Field1"), names.index("SIT")
    after = len(names) - text_at - 1
    for number, line in enumerate(rows, 2):
        cells, place = line.rstrip("\r\n").split("|"), f"line {number}"
        if not line.strip():
            continue
        if len(cells) < len(names):
            found.drop("report", place, "too_few_cells", line)
            continue
        # A bar within the report makes more cells of it.
        text, emotion = report_text("|".join(cells[text_at : len(cells) - after])), cells[emotion_at].strip().lower()
        if emotion not in ISEAR_LABELS:
            found.drop("report", place, "unknown_emotion", f"{emotion}: {text}")
        elif not text or _NO_REPORT.match(text.strip("[ ]")):
            found.drop("report", place, "no_report", text)
        else:
            fold = int(content_place(text) * folds)
            found.rows.append((f"{number:05d}", text, emotion, ISEAR_LABELS[emotion], fold))
    return found


def report_text(cell: str) -> str:
    """A report as it was written: a lone á stands for a line's end, quotes within are escaped."""
    text = _LINE_BREAK.sub(" ", cell)
    if text.endswith('"') and '\\"' in text:
        text = text[:-1]
    return " ".join(text.replace('\\"', '"').replace("\\", '"').split())


def emocontext_dialogues(
    parts: Mapping[str, Iterable[str]], validation_share: float, held_out_share: float
) -> Labelled:
    """EmoContext's dialogues of three turns, the last with an emotion (Emo Pillars 5.2.2).

    Where there is no dev part, a share of the training dialogues is held out; another share chooses the threshold. Both
    by the hash of what is said, so that a dialogue that is there twice is on one side (ours).

    Args:
        parts: lines of ``train`` and ``dev``, each with a head: id, turn1, turn2, turn3, label, tabs between.
        validation_share, held_out_share: of the training dialogues.
    """
    found = Labelled()
    for part, lines in parts.items():
        for number, line in enumerate(lines, 1):
            cells = line.rstrip("\r\n").split("\t")
            if number == 1 and cells[-1].strip().lower() == "label":
                continue
            turns, emotion = [cell.strip() for cell in cells[1:-1]], cells[-1].strip().lower()
            if len(cells) != 5 or not all(turns):
                found.drop("dialogue", f"{part}:{number}", "not_three_turns", line)
            elif emotion not in EMOCONTEXT_LABELS and emotion != OTHERS:
                found.drop("dialogue", f"{part}:{number}", "unknown_emotion", line)
            else:
                share, split = content_place("\n".join(turns).lower()), "test"
                if part == "train":
                    held_out = 0.0 if "dev" in parts else held_out_share
                    split = _by_share(share, held_out, validation_share)
                found.rows.append((f"{part}-{number:06d}", turns, emotion, part, split))
    return found


def _by_share(share: float, held_out: float, validation: float) -> str:
    if share < held_out:
        return "test"
    return "validation" if share < held_out + validation else "train"


def _split_of(part: str, has_test: bool, drawn: bool) -> str:
    if part == "train":
        return "validation" if drawn and not has_test else "train"
    return "validation" if part == "dev" and has_test else "test"


def _label_ids(cell: str, classes: int) -> list[int] | None:
    """Label ids with commas between; None where one is none."""
    found = [one.strip() for one in cell.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 4 and int(one) < classes for one in found):
        return None
    return sorted({int(one) for one in found})


def content_place(text: str) -> float:
    """A place in 0..1 from the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def emocontext_context(turns: Sequence[str]) -> str:
    """The two turns before the last as one context; the paper names no form, but shows them so (Table 8)."""
    return " ".join(f"{speaker}: {turn}" for speaker, turn in zip(("User", "Agent"), turns, strict=True))


def emocontext_truth(emotion: str) -> tuple[str, ...]:
    """The labels that a dialogue's emotion counts as; others are neutral until a model relabels them."""
    return (EMOCONTEXT_LABELS.get(emotion, "neutral"),)
