"""The figures of AugESC's report: Figures 3, 4 and 5, and the distributions under Table 2."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from etl.publishing import pages
from etl.publishing.findings import Rows
from etl.publishing.pages import joined
from etl.publishing.pictures import Bar, bars

if TYPE_CHECKING:
    from markupsafe import Markup

STYLES = {"ed": "one", "reddit": "two", "esconv": "three", "failed_esconv": "four", "total": "four"}
SET_NAMES = {
    "ed": "AugESC-ED",
    "reddit": "AugESC-Reddit",
    "esconv": "ESConv",
    "failed_esconv": "FailedESConv",
    "total": "AugESC, both",
}
METHODS = {"augmenter": "tuned model", "untuned": "untuned model", "role_models": "two role models"}
MARKED = 3
"""A z-score above it is highly significant (AugESC 5.3)."""


def lengths(rows: Rows) -> "Markup | str":
    """Return AugESC Figure 3 as a table: the mean tokens of an utterance by the length of its query, in tens."""
    if not rows:
        return ""
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        key = (row["method"], row["source"], int(row["query_tokens"]) // 10 * 10)
        found.setdefault(key, []).append(float(row["mean_utterance_tokens"]))
    lines = [
        (METHODS.get(method, method), source, f"{first} to {first + 9}", len(means), sum(means) / len(means))
        for (method, source, first), means in sorted(found.items())
    ]
    text = (
        "Of generated texts before any filtering. In the paper longer queries lead to longer utterances, and no query "
        "has more than 60 tokens."
    )
    titles = ("written by", "queries of", "tokens of the query", "texts", "tokens of an utterance")
    return pages.paragraph(text) + pages.table(titles, lines)


def typical_words(rows: Rows) -> "Markup | str":
    """Return AugESC Figure 4: the ten most typical words of each set, by role, with the paper's."""
    most = max((row["z"] for row in rows if row["word"] is not None), default=None)
    if most is None:
        return ""
    parts = [
        pages.paragraph(
            "Log-odds of a word in one set against all others, with a prior, as a z-score. A word with a z-score above "
            "3 is significantly typical. The last columns are the paper's words: of the pandemic in ESConv, of daily "
            "life in ED, and of mental health in Reddit."
        )
    ]
    for role in ("seeker", "supporter"):
        charts = []
        for name in ("esconv", "ed", "reddit"):
            said = [row for row in rows if (row["data_set"], row["role"]) == (name, role) and row["word"] is not None]
            words = [
                (
                    row["word"],
                    bars([Bar(row["z"] / (most or 1.0), _style(row["z"], name), row["word"])], 8),
                    [f"{row['z']:.0f}", row["paper_word"] or "–", pages.shown(row["paper_z"])],
                )
                for row in said
            ]
            if words:
                chart = pages.chart(("word", "z", "paper's word", "z"), words)
                charts.append(pages.heading(f"{SET_NAMES[name]}, {role}s") + chart)
        parts.append(pages.beside(charts))
    return joined(parts)


def _style(z: float, name: str) -> str:
    return STYLES[name] if z > MARKED else "neutral"


def bigrams(rows: Rows) -> "Markup | str":
    """Return AugESC Figure 5 as a table: the number of different bigrams by number of conversations."""
    if not rows:
        return ""
    every = [(SET_NAMES.get(row["data_set"], row["data_set"]), row["sessions"], row["unique_bigrams"]) for row in rows]
    return pages.table(("set", "conversations", "different bigrams"), every)


def distributions(rows: Rows) -> "Markup | str":
    """Return the distributions below AugESC Table 2: utterances a conversation, and lengths of utterances."""
    parts = []
    for measure, title, most, step in (
        ("utterances_per_session", "utterances of a role in a conversation", 50, 1),
        ("utterance_length", "tokens of an utterance", 100, 5),
    ):
        found: dict[str, list[float]] = {}
        for role, name in product(("seeker", "supporter"), ("esconv", "ed", "reddit")):
            chosen = [row for row in rows if (row["measure"], row["data_set"], row["role"]) == (measure, name, role)]
            if chosen:
                found[f"{SET_NAMES[name]}, {role}s"] = _shares(chosen, most, step)
        if found:
            parts += [pages.heading(title.capitalize()), _as_table(title, _ranges(most, step), found)]
    return pages.details("Distributions", joined(parts)) if parts else ""


def _ranges(most: int, step: int) -> list[str]:
    """Return the names of the ranges from 0 to ``most``; the last holds all values from there on."""
    ranges = [str(first) if step == 1 else f"{first} to {first + step - 1}" for first in range(0, most, step)]
    return [*ranges, f"{most} and more"]


def _shares(rows: Rows, most: int, step: int) -> list[float]:
    """Return the share of the values within each of `_ranges`."""
    shares = [0.0] * (most // step + 1)
    for row in rows:
        shares[min(int(row["from_value"]) // step, len(shares) - 1)] += row["share"]
    return shares


def _as_table(title: str, ranges: Sequence[str], found: Mapping[str, Sequence[float]]) -> "Markup":
    """Return the shares by range in percent, without ranges that no set has."""
    lines = [
        (name, *(round(100 * share, 1) for share in shares))
        for name, *shares in zip(ranges, *found.values(), strict=True)
        if any(shares)
    ]
    return pages.table((title, *(f"{name}, %" for name in found)), lines)
