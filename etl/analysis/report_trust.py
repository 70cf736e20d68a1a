"""Sections of the report on how far to trust it: limits, confidence, examples, what people say (EDOS 3.2, Table 6)."""

from collections.abc import Mapping
from html import escape
from typing import Any

from etl.analysis import pages
from etl.analysis.findings import UNSURE, Findings, Rows
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars, histogram

MORE_VIEWS = (
    ("edos_table_5", "The classifier on held-out turns"),
    ("edos_origins", "Where the training labels come from"),
    ("edos_audit", "The finished labels, checked by people"),
)
"""Views that are shown as they are, where they are there."""
MOST_ROWS = 12


def limits(findings: Findings) -> str:
    """What a researcher must know before using the labels."""
    f1 = findings.classifier.get("macro_f1")
    right = (
        f" On turns that people labelled and it never saw, its macro-F1 is {100 * f1:.1f} and its accuracy "
        f"{100 * findings.classifier.get('accuracy', 0):.1f} of 100 (paper: 63.86 and 65.00)."
        if f1 is not None
        else " No figures of it on held-out turns are at hand here."
    )
    unsure = findings.unsure_share
    weak = "" if unsure is None else f" {percent(unsure)} of the turns have a confidence under 50%: filter by it."
    return (
        '<div class="limits">'
        + pages.items(
            [
                "The labels are a model's, not people's." + right + weak,
                "Nobody knows who speaks. Where a turn begins is inferred from dashes, speaker names and a "
                f"classifier; a silence of more than {findings.silence_seconds:g} s ends a dialogue.",
                "A dialogue is in the set because a first, weaker classifier found one of its turns clearly emotional. "
                "Label shares describe this choice, not how often people or films show an emotion.",
                "It is film talk: written, acted, often cut off at a turn that cleaning removed, and in places crude.",
                "The texts belong to others: they come from OpenSubtitles through OPUS. Share labels with references "
                "in place of texts unless you have cleared the rights.",
            ]
        )
        + "</div>"
    )


def confidence(findings: Findings) -> str:
    """The turns by the probability that the classifier gives its label."""
    rows = findings.rows("edos_confidence")
    if not rows:
        return ""
    by_band = {round(row["from_confidence"] * 10): row for row in rows}
    highest = max(row["share"] for row in rows)
    columns = []
    for band in range(10):
        row = by_band.get(band)
        share, turns = (row["share"], row["turns"]) if row else (0.0, 0)
        style = "neutral" if (band + 1) / 10 <= UNSURE else "emotion"
        columns.append(
            Bar(share / highest, style, f"{band / 10:.1f} to {(band + 1) / 10:.1f}: {turns:,} ({percent(share)})")
        )
    ticks = [(place / 10, f"{place / 10:.1f}") for place in range(0, 11, 2)]
    picture = histogram(columns, ticks, [], [(1.0, percent(highest))], "Turns by the classifier's confidence", 200)
    sure = sum(row["share"] for row in rows if row["from_confidence"] >= 0.9)
    words = (
        f"{percent(sure)} of the turns have a confidence of 0.9 or more, {percent(findings.unsure_share)} less than "
        f"0.5. With {len(findings.taxonomy.labels)} classes a low confidence need not be wrong: the paper's own "
        "example holds a right label at 0.01."
    )
    return (
        pages.paragraph(words)
        + f"<figure>{picture}<figcaption>Share of the turns by confidence, in tenths.</figcaption></figure>"
    )


def dialogues(findings: Findings, most: int) -> str:
    """EDOS Table 6: dialogues with labels and confidences, from unsure to sure."""
    rows = [row for row in findings.rows("edos_examples") if row["place"] <= most]
    found: dict[tuple[float, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["lowest_confidence_from"], row["dialogue_id"]), []).append(row)
    kinds, parts = findings.taxonomy.kinds, []
    for quarter in sorted({quarter for quarter, _ in found}):
        cards = ""
        for (own, dialogue_id), turns in found.items():
            if own == quarter:
                said = "".join(
                    f'<li><div class="label">{_sureness(turn, kinds)}<span><b>{escape(turn["label"] or "–")}</b> '
                    f"{turn['confidence']:.2f}</span></div><q>{escape(turn['text'] or '')}</q></li>"
                    for turn in turns
                )
                cards += f'<article class="dialogue"><ol>{said}</ol><p class="from">{escape(dialogue_id)}</p></article>'
        parts.append(
            f"<h3>Least sure turn between {quarter:.2f} and {quarter + 0.25:.2f}</h3>"
            f'<div class="dialogues">{cards}</div>'
        )
    if not parts:
        return ""
    how = "Drawn by the hash of their ids, not by hand; dialogues marked profane are not shown."
    return pages.paragraph(how, "quiet") + "".join(parts)


def _sureness(turn: Mapping[str, Any], kinds: Mapping[str, str]) -> str:
    return bars([Bar(turn["confidence"], kinds.get(turn["label"], "neutral"), f"{turn['confidence']:.2f}")], 8)


def people(findings: Findings) -> str:
    """EDOS Table 4, where the training labels come from, and the audit where there is one."""
    parts = []
    crowd = findings.rows("edos_table_4")
    if any(row["value"] for row in crowd):
        parts.append(pages.paragraph("Turns with their history were labelled by three workers; two must agree."))
        parts.append(
            pages.table(("the crowd", "here", "paper"), [(r["criterion"], r["value"], r["paper"]) for r in crowd])
        )
    parts += [generic(findings, view, title) for view, title in MORE_VIEWS]
    if not findings.rows("edos_audit"):
        parts.append(pages.paragraph("No sample of the finished labels has been checked by people yet."))
    return "".join(parts)


def generic(findings: Findings, view: str, title: str) -> str:
    """A view as a table; a long one opens when asked for, what it says of all rows together stands outside."""
    rows = findings.rows(view)
    if not rows:
        return ""
    names = [name for name in rows[0] if name not in ("place", "batch_id")]
    head = [name.replace("_", " ") for name in names]

    def made(chosen: Rows) -> str:
        return pages.table(head, [[row[name] for name in names] for row in chosen])

    overall = [row for row in rows if row.get("grouped_by") in ("all", "band")]
    if len(rows) <= MOST_ROWS:
        return f"<h3>{escape(title)}</h3>" + made(rows)
    return f"<h3>{escape(title)}</h3>" + (made(overall) if overall else "") + pages.details(
        f"All {len(rows)} rows", made(rows)
    )  # fmt: skip
