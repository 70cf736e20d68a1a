"""Sections of the report on how the set came about: steps, silences, sizes, ledgers, versions (EDOS 3.1, Figure 5)."""

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from etl.analysis import pages
from etl.analysis.findings import Findings, Rows
from etl.analysis.pages import percent
from etl.analysis.pictures import Bar, bars, histogram

STAGES_OF_STEPS = {
    2: ("ingest_subtitles",), 3: ("choose_uploads",), 4: ("segment_dialogues",), 5: ("clean_dialogues",),
    6: ("select_emotional",), 7: ("annotate_dialogues",),
}  # fmt: skip
"""Which stage's ledger tells what was left out before a step of ``analysis.edos_funnel``."""


def funnel(findings: Findings) -> str:
    """How many units each step left, and why the others went."""
    rows = [row for row in findings.rows("edos_funnel") if row["place"] <= 7]
    if not rows:
        return ""
    most = {unit: max(row["units"] for row in rows if row["unit"] == unit) for unit in ("files", "dialogues")}
    body = ""
    for row in rows:
        share = row["units"] / most[row["unit"]] if most[row["unit"]] else 0.0
        style = "intent" if row["unit"] == "files" else "emotion"
        paper = f"{row['paper']:,}" if row["paper"] is not None else "–"
        body += (
            f'<tr><th scope="row">{escape(row["step"])}{_reasons(findings, row["place"])}</th>'
            f"<td>{bars([Bar(share, style, pages.shown(row['units']))], 14)}</td>"
            f'<td class="n">{row["units"]:,}</td><td class="n">{paper}</td></tr>'
        )
    head = '<tr><th scope="col">left after the step</th><td></td><th scope="col" class="n">here</th>' + (
        '<th scope="col" class="n">paper</th></tr>'
    )
    key = pages.key([("intent", "files"), ("emotion", "dialogues")])
    return (
        pages.paragraph(
            "Under each step: the commonest reasons for which the step left something out, and how often. The paper's "
            "3.7 million files are of all languages; it gives no count of English ones."
        )
        + key
        + '<table class="chart"><colgroup><col class="step"/><col/><col class="count"/><col class="count"/></colgroup>'
        + f"<thead>{head}</thead><tbody>{body}</tbody></table>"
    )


def _reasons(findings: Findings, step: int) -> str:
    stages = STAGES_OF_STEPS.get(step, ())
    rows = [row for row in findings.rows("dropped_by_reason") if row["stage"] in stages]
    rows.sort(key=lambda row: (-row["rows"], row["unit"], row["reason"]))
    shown = "".join(f"<li>{escape(_loss(row))}</li>" for row in rows[:4])
    return f'<ul class="reasons">{shown}</ul>' if shown else ""


def _loss(row: Mapping[str, Any]) -> str:
    """A line of the ledger in words."""
    return f"−{row['rows']:,} {_plural(row['unit'], row['rows'])}: {row['reason'].replace('_', ' ')}"


def _plural(unit: str, number: int) -> str:
    return unit if number == 1 or unit.endswith("s") else f"{unit}s"


def silences(findings: Findings) -> str:
    """EDOS Figure 5: the gaps between sentences, with the line that parts dialogues."""
    rows = findings.rows("edos_gaps")
    gaps = [row for row in rows if row["kind"] == "gap"]
    if not gaps:
        return ""
    last = max(row["from_seconds"] for row in gaps)
    most = max(row["pairs"] for row in gaps)
    ceiling = math.ceil(math.log10(most + 1))
    width = min(
        (row["to_seconds"] - row["from_seconds"] for row in gaps if row["to_seconds"] is not None), default=0.25
    )
    slots = round(last / width) + 1
    counts = {round(row["from_seconds"] / width): row for row in gaps}
    limit = findings.silence_seconds
    columns = []
    for slot in range(slots):
        pairs = counts[slot]["pairs"] if slot in counts else 0
        upper = f"{(slot + 1) * width:g} s" if slot < slots - 1 else "more"
        style = "emotion" if slot * width < limit else "neutral"
        columns.append(Bar(math.log10(pairs + 1) / ceiling, style, f"{slot * width:g} s to {upper}: {pairs:,}"))
    span = slots * width
    ticks = [(second / span, f"{second} s") for second in range(0, int(last) + 1, 1 if last <= 5 else 2)]
    levels = [(power / ceiling, f"{10**power:,}") for power in range(1, ceiling + 1)]
    picture = histogram(
        columns, ticks, [(limit / span, f"{limit:g} s")], levels, "Silences between sentences by length"
    )
    under, over = _share_under(gaps, 3.0), _share_under(gaps, limit)
    words = (
        f"{percent(under)} of the silences are shorter than 3 s and {percent(1 - over)} are {limit:g} s or longer: at "
        "those a dialogue is cut. The paper chose 5 s where its histogram drops."
    )
    other = {row["kind"]: row["pairs"] for row in rows if row["kind"] != "gap"}
    rest = (
        f"Number of pairs of neighbouring sentences by silence, on a scale of powers of ten; the last column is all of "
        f"{last:g} s and more. Not drawn: {other.get('same_block', 0):,} pairs within one subtitle block, "
        f"{other.get('overlap', 0):,} that overlap, {other.get('no_time', 0):,} without a time."
    )
    return pages.paragraph(words) + f"<figure>{picture}<figcaption>{escape(rest)}</figcaption></figure>"


def _share_under(gaps: Rows, seconds: float) -> float:
    return max(
        (row["share_up_to_here"] for row in gaps if row["to_seconds"] and row["to_seconds"] <= seconds), default=0.0
    )


def sizes(findings: Findings) -> str:
    """EDOS Tables 3 and 2."""
    own = [(row["criterion"], row["value"], row["paper"]) for row in findings.rows("edos_table_3")]
    others = findings.rows("edos_table_2")
    if not own:
        return ""
    named = [
        (row["dataset"], row["labels"], row["dialogues"], row["utterances"], row["publicly_available"])
        for row in others
    ]
    note = (
        "As the paper's Tables 3 and 2 have them. Its Table 2 gives EDOS 3,488,300 utterances, its Tables 3 and 9 "
        "2,829,426."
    )
    return (
        pages.table(("size", "here", "paper"), own)
        + ("<h3>Beside other sets</h3>" if named else "")
        + (pages.table(("data set", "labels", "dialogues", "utterances", "open"), named) if named else "")
        + pages.paragraph(note, "quiet")
    )


def left_out(findings: Findings) -> str:
    """The ledgers, summed."""
    rows = findings.rows("dropped_by_reason")
    if not rows:
        return ""
    table = pages.table(
        ("stage", "what", "reason", "rows", "units"),
        [(row["stage"], row["unit"], row["reason"].replace("_", " "), row["rows"], row["units"]) for row in rows],
    )
    how = "Nothing disappears: what a stage left out is a row of ops.dropped, with its evidence."
    return pages.paragraph(how) + pages.details(f"All {len(rows)} reasons", table)


def made(findings: Findings) -> str:
    """Versions, models and settings."""
    return pages.table(("what", "which"), findings.made_with.items()) if findings.made_with else ""
