"""Parse the labelled sets that models are transferred to: GoEmotions, ISEAR and EmoContext (Emo Pillars 5)."""

import re
from collections.abc import Iterable, Mapping, Sequence

from conf.errors import InputError
from etl.common.hashes import content_place
from etl.common.line_files import cells_of
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

_LINE_BREAK = re.compile(r"(?:(?<!\s)\s++)?á(?:\||(?=\s|$))\s*+")
_NO_REPORT = re.compile(
    r"(?:no (?:re?sponse|reponse|description|answer)\b|(?:none|nothing|blank|not applicable)\W*$|do(?:es)?(?:n't| not) "
    r"(?:apply|know\W*$|remember)|can ?not (?:remember|recall|think)|never (?:felt|experienced)|"
    r"i (?:have|had) (?:never|not) (?:felt|experienced)|i do(?:n't| not) remember|"
    r"(?:the )?same (?:as|event|situation)\b|as (?:for|in) (?:joy|fear|anger|sadness|disgust|shame|guilt)\W*$)",
    re.IGNORECASE,
)


def isear_reports(lines: Iterable[str | None], folds: int) -> LocalOutcome:
    """Parse ISEAR's reports, rows of their table, from lines of its CSV with ``|`` between cells (Emo Pillars 5.1.3).

    Reports such as "[ No response.]" are dropped. A hash of the text chooses the fold, so that equal texts are in one
    fold (ours).

    Args:
        lines: lines of the file. The header has the columns Field1 (the emotion) and SIT (the report).

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
        for number, cells, line in cells_of(lines, ("id", "turn1", "turn2", "turn3", "label")):
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


def emocontext_context(turns: Sequence[str]) -> str:
    """Return the first two turns as one context, in the form of the paper's Table 8."""
    return " ".join(f"{speaker}: {turn}" for speaker, turn in zip(("User", "Agent"), turns, strict=True))


def emocontext_truth(emotion: str) -> tuple[str, ...]:
    """Return the labels of a dialogue's emotion. Others are neutral until a model relabels them."""
    return (EMOCONTEXT_LABELS.get(emotion, "neutral"),)
