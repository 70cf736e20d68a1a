"""EmpatheticDialogues with its labels, as the set that EDOS is compared with (EDOS 4, Figures 2 and 3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

COLUMNS = ("Dialog_ID", "Type", "Actor", "Label")
TURNS = "dialogue_id string, turn int, speaker string, label string"
DROPPED = "unit string, id string, reason string, detail string, units bigint"


@dataclass(frozen=True)
class EmpatheticTurns:
    """Utterances read from the released annotations.

    Attributes:
        turns: (dialogue_id, turn from 0, speaker, label).
        dropped: ledger rows of utterances with a label outside the taxonomy.
        rows_in: utterances; situations are none.
    """

    turns: list[tuple[str, int, str, str]] = field(default_factory=list)
    dropped: list[tuple[str, str, str, str, int]] = field(default_factory=list)

    @property
    def rows_in(self) -> int:
        return len(self.turns) + len(self.dropped)


def labelled_utterances(rows: Iterable[Mapping[str, str]], labels: Sequence[str]) -> EmpatheticTurns:
    """The utterances of EmpatheticDialogues in order, with the labels of Welivita and Pu (2020).

    The situation that opens a conversation is a description, not a turn: the paper compares utterances.

    Args:
        rows: the released CSV's Dialog_ID, Type (situation or utterance), Actor, Label; a conversation's rows in order.
        labels: the taxonomy; labels are compared in lower case.
    """
    found, known = EmpatheticTurns(), set(labels)
    for dialogue_id, turn, row in _utterances(rows):
        label = row["Label"].strip().lower()
        if label in known:
            found.turns.append((dialogue_id, turn, row["Actor"].strip().lower(), label))
        else:
            detail = label[:200] or "no label"
            found.dropped.append(("utterance", f"{dialogue_id}/{turn}", "unknown_label", detail, 1))
    return found


def _utterances(rows: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, int, Mapping[str, str]]]:
    """Each utterance with its conversation and its place there; the place counts utterances that go, too."""
    said: dict[str, int] = {}
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            dialogue_id = row["Dialog_ID"].strip()
            said[dialogue_id] = said.get(dialogue_id, -1) + 1
            yield dialogue_id, said[dialogue_id], row
