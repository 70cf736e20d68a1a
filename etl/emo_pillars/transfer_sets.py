"""Parse the labelled sets that models are transferred to: GoEmotions, ISEAR and EmoContext (Emo Pillars 5)."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.pipeline.outcome import LocalOutcome

ISEAR_LABELS = {
    "anger": "anger",
    "disgust": "disgust",
    "fear": "fear",
    "sadness": "sadness",
    "joy": "joy",
    "shame": "embarrassment",
    "guilt": "remorse",
}
"""The label of each of the seven emotions (Emo Pillars 5.1.3)."""
EMOCONTEXT_LABELS = {"happy": "joy", "sad": "sadness", "angry": "anger"}
"""The label of each emotion (Emo Pillars 5.2.2). Ours, as the paper gives no mapping."""
OTHERS = "others"

_LINE_BREAK = re.compile(r"\s*á(?:\||(?=\s|$))\s*")
_NO_REPORT = re.compile(
    r"(?:no (?:re?sponse|reponse|description|answer)\b|(?:none|nothing|blank|not applicable)\W*$|do(?:es)?(?:n't| not) "
    r"(?:apply|know\W*$|remember)|can ?not (?:remember|recall|think)|never (?:felt|experienced)|"
    r"i (?:have|had) (?:never|not) (?:felt|experienced)|i do(?:n't| not) remember|"
    r"(?:the )?same (?:as|event|situation)\b|as (?:for|in) (?:joy|fear|anger|sadness|disgust|shame|guilt)\W*$)",
    re.IGNORECASE,
)


def goemotions_comments(
    parts: Mapping[str, Iterable[str | None]], validation_share: float, names: Sequence[str] = ()
) -> LocalOutcome:
    """Parse GoEmotions' comments, rows of their table, from TSV lines of text, label ids and id (Emo Pillars 5.1.2).

    A first line that names ``text``, ``labels`` and ``id`` gives another order.

    The original splits are kept. Without a test part, dev becomes the test split, and a share of the training comments
    becomes the validation split, by their text's hash (ours).

    Args:
        parts: lines of ``train``, ``dev`` and optionally ``test``.
        validation_share: share of the training comments.
        names: of the labels in the order of their ids; none: as ``conf/taxonomies/goemotions.csv`` has them.
    """
    found = LocalOutcome()
    names = names or goemotions_labels()
    seen: set[str] = set()
    for part, lines in parts.items():
        for number, cells, line in _table(lines, ("text", "labels", "id")):
            place = f"{part}:{number}"
            text, labels, text_id = cells or ("", "", "")
            if not text or not text_id:
                found.drop("comment", place, "not_a_comment", line)
            elif (ids := _label_ids(labels, len(names))) is None:
                found.drop("comment", place, "unknown_label", line)
            elif text_id in seen:
                found.drop("comment", place, "repeated_id", line)
            else:
                seen.add(text_id)
                split = _split_of(part, "test" in parts, content_place(text) < validation_share)
                found.rows.append((text_id, text, [names[one] for one in ids], part, split))
    return found


def isear_reports(lines: Iterable[str | None], folds: int) -> LocalOutcome:
    """Parse ISEAR's reports, rows of their table, from lines of its CSV with ``|`` between cells (Emo Pillars 5.1.3).

    Reports such as "[ No response.]" are dropped. A hash of the text chooses the fold, so that equal texts are in one
    fold (ours).

    Args:
        lines: lines of the file. The header has the columns Field1 (the emotion) and SIT (the report).
        folds: number of folds.

    Raises:
        InputError: the header lacks a column.
    """
    found = LocalOutcome()
    rows = iter(lines)
    names = [name.strip() for name in (next(rows, "") or "").split("|")]
    if not {"Field1", "SIT"} <= set(names):
        raise InputError("emo_pillars.isear: its head names no columns Field1 and SIT, with | between")
    emotion_at = names.index("Field1")
    text_at = names.index("SIT")
    after = len(names) - text_at - 1
    for number, line in enumerate(rows, 2):
        if line is None or not line.strip():
            continue
        cells = line.rstrip("\r\n").split("|")
        place = f"line {number}"
        if len(cells) < len(names):
            found.drop("report", place, "too_few_cells", line)
            continue
        # The report itself may contain bars.
        text = report_text("|".join(cells[text_at : len(cells) - after]))
        emotion = cells[emotion_at].strip().lower()
        if emotion not in ISEAR_LABELS:
            found.drop("report", place, "unknown_emotion", f"{emotion}: {text}")
        elif not text or _NO_REPORT.match(text.strip("[ ]")):
            found.drop("report", place, "no_report", text)
        else:
            fold = int(content_place(text) * folds)
            found.rows.append((f"{number:05d}", text, emotion, ISEAR_LABELS[emotion], fold))
    return found


def report_text(cell: str) -> str:
    """Return a report as it was written. A lone á encodes a line break, and inner quotes are escaped."""
    text = _LINE_BREAK.sub(" ", cell)
    if text.endswith('"') and '\\"' in text:
        text = text[:-1]
    return " ".join(text.replace('\\"', '"').replace("\\", '"').split())


def emocontext_dialogues(
    parts: Mapping[str, Iterable[str | None]], validation_share: float, held_out_share: float
) -> LocalOutcome:
    """Parse EmoContext's dialogues, rows of their table: three turns and the last one's emotion (Emo Pillars 5.2.2).

    Without a dev part, a share of the training dialogues becomes the test split. Another share becomes the validation
    split. Both are chosen by a hash of the turns, so that equal dialogues are in one split (ours).

    Args:
        parts: TSV lines of ``train`` and optionally ``dev``: id, turn1, turn2, turn3, label, in the header's order.
        validation_share, held_out_share: shares of the training dialogues.
    """
    found = LocalOutcome()
    for part, lines in parts.items():
        for number, cells, line in _table(lines, ("id", "turn1", "turn2", "turn3", "label")):
            _, *turns, emotion = cells or ("", "", "")
            emotion = emotion.lower()
            if not all(turns):
                found.drop("dialogue", f"{part}:{number}", "not_three_turns", line)
            elif emotion not in EMOCONTEXT_LABELS and emotion != OTHERS:
                found.drop("dialogue", f"{part}:{number}", "unknown_emotion", line)
            else:
                share = content_place("\n".join(turns).lower())
                held_out = 0.0 if "dev" in parts else held_out_share
                if part != "train" or share < held_out:
                    split = "test"
                else:
                    split = "validation" if share < held_out + validation_share else "train"
                found.rows.append((f"{part}-{number:06d}", turns, emotion, part, split))
    return found


def _table(lines: Iterable[str | None], columns: Sequence[str]) -> Iterator[tuple[int, Sequence[str] | None, str]]:
    """Yield (line number, cells in the order of ``columns``, line) of a TSV without quotes.

    The cells are None in a line with another number of cells than the header, or than columns where no header is.
    """
    order = list(range(len(columns)))
    width = len(columns)
    for number, line in enumerate(lines, 1):
        if line is None:
            continue
        cells = [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
        names = [cell.lower() for cell in cells]
        if number == 1 and set(columns) <= set(names):
            order = [names.index(column) for column in columns]
            width = len(names)
            continue
        yield number, [cells[at] for at in order] if len(cells) == width else None, line


def _split_of(part: str, has_test: bool, drawn: bool) -> str:
    if part == "train":
        return "validation" if drawn and not has_test else "train"
    return "validation" if part == "dev" and has_test else "test"


def _label_ids(cell: str, classes: int) -> list[int] | None:
    """Return comma-separated label ids; None if one is invalid."""
    found = [one.strip() for one in cell.split(",")]
    if not all(one.isascii() and one.isdigit() and len(one) < 4 and int(one) < classes for one in found):
        return None
    return sorted({int(one) for one in found})


def content_place(text: str) -> float:
    """Return a number in [0, 1) that depends only on the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def emocontext_context(turns: Sequence[str]) -> str:
    """Return the first two turns as one context, in the form of the paper's Table 8."""
    return " ".join(f"{speaker}: {turn}" for speaker, turn in zip(("User", "Agent"), turns, strict=True))


def emocontext_truth(emotion: str) -> tuple[str, ...]:
    """Return the labels of a dialogue's emotion. Others are neutral until a model relabels them."""
    return (EMOCONTEXT_LABELS.get(emotion, "neutral"),)
