"""The emotion-intent flow as a picture: which label follows which over the first turns (EDOS 4, Figure 3)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from etl.analysis.pictures import Link, Node

OTHERS = {"emotion": "other emotions", "intent": "other intents", "neutral": "neutral"}


def frequent_labels(rows: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """The labels that most turns have, most frequent first, ties by name.

    Args:
        rows: of ``analysis.edos_flow``, of one corpus.
        most: how many.
    """
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["label"]] += row["dialogues"]
    return sorted(counts, key=lambda label: (-counts[label], label))[:most]


def grouped_flow(
    rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], shown: Collection[str]
) -> tuple[list[list[Node]], list[Link]]:
    """Nodes and links of a Sankey diagram; labels that are not shown are together by kind.

    Args:
        rows: of ``analysis.edos_flow``, of one corpus: position (from 1), label, to_label (null: it ends), dialogues.
        kinds: label to emotion, intent or neutral.
        shown: labels with a node of their own.

    Returns:
        Columns of nodes, emotions above intents, in one order everywhere; links with summed values.
    """

    def key(label: str | None) -> str:
        if label is None:
            return ""
        return label if label in shown else OTHERS[kinds.get(label, "emotion")]

    sums: Counter[tuple[int, str, str]] = Counter()
    seen: list[Counter[str]] = []
    for row in rows:
        position, source, target = row["position"] - 1, key(row["label"]), key(row["to_label"])
        while len(seen) < position + 2:
            seen.append(Counter())
        sums[position, source, target] += row["dialogues"]
        seen[position][source] += row["dialogues"]
        if target:
            seen[position + 1][target] += row["dialogues"]
    totals = sum(seen, Counter[str]())
    order = {"emotion": 0, "neutral": 1, "intent": 2}

    def kind(name: str) -> str:
        return next((one for one, other in OTHERS.items() if other == name), kinds.get(name, "emotion"))

    names = sorted(totals, key=lambda name: (order[kind(name)], name in OTHERS.values(), -totals[name], name))
    columns = [[Node(name, name, kind(name)) for name in names if name in counts] for counts in seen if counts]
    links = [Link(position, source, target, value) for (position, source, target), value in sorted(sums.items())]
    return columns, links
