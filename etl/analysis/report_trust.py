"""Sections of EDOS's report on reliability: limitations, confidence, examples, checks by people (EDOS 3.2, Table 6)."""

from collections import defaultdict
from collections.abc import Mapping
from html import escape
from typing import Any

from etl.analysis import pages
from etl.analysis.findings import UNSURE, Findings, Rows
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars, histogram
from etl.common.spelling import detokenised_text

MORE_VIEWS = (
    ("edos_table_5", "The classifier on held-out turns"),
    ("edos_origins", "Where the training labels come from"),
    ("edos_audit", "The finished labels, checked by people"),
)
"""Existing views that are shown without changes."""
MOST_ROWS = 12


def limits(findings: Findings) -> str:
    """Return the limitations of the labels."""
    f1 = findings.classifier.get("macro_f1")
    quality = (
        f" On held-out turns labelled by people, its macro-F1 is {100 * f1:.1f} and its accuracy "
        f"{100 * findings.classifier.get('accuracy', 0):.1f} of 100 (paper: 63.86 and 65.00)."
        if f1 is not None
        else " Its metrics on held-out turns are not available here."
    )
    unsure = findings.unsure_share
    weak = "" if unsure is None else f" {percent(unsure)} of the turns have a confidence under 50%: filter by it."
    return pages.limits(
        (
            "The labels were given by a model and not by people." + quality + weak,
            "The speakers are unknown. The beginning of a turn is inferred from dashes, speaker names and a "
            f"classifier. A silence of more than {findings.silence_seconds:g} s ends a dialogue.",
            "Each dialogue was selected because a first, weaker classifier found one of its turns clearly emotional. "
            "The label shares describe this selection, not how often people or films show an emotion.",
            "The dialogues come from films: they are written and acted, often end at a turn that cleaning removed, and "
            "can be crude.",
            "The texts have copyright owners: they come from OpenSubtitles through OPUS. Share labels with references "
            "instead of texts unless you have cleared the rights.",
        )
    )


def confidence(findings: Findings) -> str:
    """Return the histogram of turns by the classifier's confidence."""
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
    text = (
        f"{percent(sure)} of the turns have a confidence of 0.9 or more, {percent(findings.unsure_share)} less than "
        f"0.5. With {len(findings.taxonomy.labels)} classes a label with a low confidence can be right: the paper has "
        "an example with a right label at 0.01."
    )
    caption = "<figcaption>Share of the turns by confidence, in tenths.</figcaption>"
    return f"{pages.paragraph(text)}<figure>{picture}{caption}</figure>"


def dialogues(findings: Findings, most: int) -> str:
    """Return dialogues with labels and confidences, from low to high confidence (EDOS Table 6)."""
    cards: defaultdict[float, str] = defaultdict(str)
    shown = [row for row in findings.rows("edos_examples") if row["place"] <= most]
    for quarter, dialogue_id in dict.fromkeys((row["lowest_confidence_from"], row["dialogue_id"]) for row in shown):
        turns = "".join(
            _turn(row, findings.taxonomy.kinds) for row in shown
            if (row["lowest_confidence_from"], row["dialogue_id"]) == (quarter, dialogue_id)
        )  # fmt: skip
        source = f'<p class="from">{escape(dialogue_id)}</p>'
        cards[quarter] += f'<article class="dialogue"><ol>{turns}</ol>{source}</article>'
    if not cards:
        return ""
    text = "Selected by the hash of their ids; dialogues marked profane are not shown."
    return pages.paragraph(text, "quiet") + "".join(
        f"<h3>Lowest confidence between {quarter:.2f} and {quarter + 0.25:.2f}</h3>"
        f'<div class="dialogues">{cards[quarter]}</div>'
        for quarter in sorted(cards)
    )


def _turn(row: Mapping[str, Any], kinds: Mapping[str, str]) -> str:
    confidence = f"{row['confidence']:.2f}"
    bar = bars([Bar(row["confidence"], kinds.get(row["label"], "neutral"), confidence)], 8)
    return (
        f'<li><div class="label">{bar}<span><b>{escape(row["label"] or "–")}</b> {confidence}</span></div>'
        f"<q>{escape(detokenised_text(row['text'] or ''))}</q></li>"
    )


def people(findings: Findings) -> str:
    """Return EDOS Table 4, the origins of the training labels, and the audit if there is one."""
    parts = []
    crowd = findings.rows("edos_table_4")
    if any(row["value"] for row in crowd):
        parts.append(pages.paragraph("Three workers labelled each turn with its history; two must agree."))
        parts.append(pages.compared(crowd, "criterion", "the crowd"))
    parts += [_view(findings.rows(view), title) for view, title in MORE_VIEWS]
    if not findings.rows("edos_audit"):
        parts.append(pages.paragraph("No sample of the finished labels has been checked by people yet."))
    return "".join(parts)


def _view(rows: Rows, title: str) -> str:
    """Return a view as a table; a long one is folded, below its rows for all groups together."""
    if not rows:
        return ""
    names = [name for name in rows[0] if name not in ("place", "batch_id")]
    heading, whole = f"<h3>{escape(title)}</h3>", pages.records(rows, names)
    if len(rows) <= MOST_ROWS:
        return heading + whole
    overall = [row for row in rows if row.get("grouped_by") in ("all", "band")]
    summary = pages.records(overall, names) if overall else ""
    return heading + summary + pages.details(f"All {len(rows)} rows", whole)
