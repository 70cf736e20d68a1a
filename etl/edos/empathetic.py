"""Read EmpatheticDialogues with its labels, to compare EDOS with (EDOS 4, Figures 2 and 3)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

COLUMNS = ("Dialog_ID", "Type", "Actor", "Label")
TURNS = "dialogue_id string, turn int, speaker string, label string"
DROPPED = "unit string, id string, reason string, detail string, units bigint"


@dataclass(frozen=True)
class EmpatheticTurns:
    """Utterances read from the released annotations.

    Attributes:
        turns: (dialogue_id, turn from 0, speaker, label).
        dropped: ledger rows of utterances whose label is outside the taxonomy.
        rows_in: number of utterances, without situations.
    """

    turns: list[tuple[str, int, str, str]] = field(default_factory=list)
    dropped: list[tuple[str, str, str, str, int]] = field(default_factory=list)

    @property
    def rows_in(self) -> int:
        return len(self.turns) + len(self.dropped)


def labelled_utterances(rows: Iterable[Mapping[str, str]], labels: Sequence[str]) -> EmpatheticTurns:
    """Return the utterances of EmpatheticDialogues in order, with the labels of Welivita and Pu (2020).

    The situation that opens a conversation is a description, not a turn. The paper compares utterances.

    Args:
        rows: the released CSV's Dialog_ID, Type (situation or utterance), Actor, Label; a conversation's rows in order.
        labels: the taxonomy. Labels are compared in lower case.
    """
    found, known = EmpatheticTurns(), set(labels)
    numbers: Counter[str] = Counter()
    for row in rows:
        if row["Type"].strip().lower() != "utterance":
            continue
        dialogue_id, label = row["Dialog_ID"].strip(), row["Label"].strip().lower()
        turn = numbers[dialogue_id]
        numbers[dialogue_id] += 1
        if label in known:
            found.turns.append((dialogue_id, turn, row["Actor"].strip().lower(), label))
        else:
            detail = label[:200] or "no label"
            found.dropped.append(("utterance", f"{dialogue_id}/{turn}", "unknown_label", detail, 1))
    return found
