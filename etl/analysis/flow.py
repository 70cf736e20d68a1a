"""The flow of emotions and intents over the first turns (EDOS 4, Figure 3)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from etl.analysis.pictures import Link, Node

OTHERS = {"emotion": "other emotions", "intent": "other intents", "neutral": "neutral"}


def frequent_labels(rows: Iterable[Mapping[str, Any]], most: int) -> list[str]:
    """Return the most frequent labels, ties sorted by name, from one corpus's rows of ``analysis.edos_flow``."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row["label"]] += row["dialogues"]
    return sorted(counts, key=lambda label: (-counts[label], label))[:most]


def grouped_flow(
    rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str], shown: Collection[str]
) -> tuple[list[list[Node]], list[Link]]:
    """Return nodes and links of a Sankey diagram; labels that are not shown are grouped by kind.

    Args:
        rows: of ``analysis.edos_flow``, of one corpus: position (from 1), label, to_label (null at the end), dialogues.
        kinds: label to emotion, intent or neutral.
        shown: labels that are not grouped.

    Returns:
        Columns of nodes, in the same order with emotions above intents; links with summed values.
    """

    def key(label: str | None) -> str:
        if label is None:
            return ""
        return label if label in shown else OTHERS[kinds.get(label, "emotion")]

    sums: Counter[tuple[int, str, str]] = Counter()
    seen: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        position, source, target = row["position"] - 1, key(row["label"]), key(row["to_label"])
        sums[position, source, target] += row["dialogues"]
        seen[position][source] += row["dialogues"]
        if target:
            seen[position + 1][target] += row["dialogues"]
    totals = sum(seen.values(), Counter[str]())
    order = {"emotion": 0, "neutral": 1, "intent": 2}
    groups = {group: kind for kind, group in OTHERS.items()}

    def kind(name: str) -> str:
        return groups.get(name) or kinds.get(name, "emotion")

    names = sorted(totals, key=lambda name: (order[kind(name)], name in groups, -totals[name], name))
    columns = [[Node(name, name, kind(name)) for name in names if name in seen[place]] for place in sorted(seen)]
    links = [Link(position, source, target, value) for (position, source, target), value in sorted(sums.items())]
    return columns, links
