"""Read EmpatheticDialogues with its labels, to compare EDOS with (EDOS 4, Figures 2 and 3)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from etl.pipeline.outcome import LocalOutcome

COLUMNS = ("Dialog_ID", "Type", "Actor", "Label")


def labelled_utterances(rows: Iterable[Mapping[str, str]], labels: Sequence[str]) -> LocalOutcome:
    """Return the utterances of EmpatheticDialogues with the labels of Welivita and Pu (2020).

    The situation that opens a conversation is a description, not a turn. The paper compares utterances. Those with a
    label outside the taxonomy are dropped.

    Args:
        rows: the released CSV's Dialog_ID, Type (situation or utterance), Actor, Label; a conversation's rows in order.
        labels: the taxonomy. Labels are compared in lower case.
    """
    found = LocalOutcome()
    known = set(labels)
    numbers: Counter[str] = Counter()
    for row in rows:
        if row["Type"].strip().lower() != "utterance":
            continue
        dialogue_id = row["Dialog_ID"].strip()
        label = row["Label"].strip().lower()
        turn = numbers[dialogue_id]
        numbers[dialogue_id] += 1
        if label in known:
            found.rows.append((dialogue_id, turn, row["Actor"].strip().lower(), label))
        else:
            found.drop("utterance", f"{dialogue_id}/{turn}", "unknown_label", label or "no label")
    return found
