"""Sections of EDOS's report on its making: steps, silences, sizes, ledgers (EDOS 3.1, Figure 5)."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from etl.edos.findings import EdosFindings
from etl.edos.reasons import REASONS
from etl.publishing import ledgers, pages
from etl.publishing.findings import Rows
from etl.publishing.ledgers import in_words
from etl.publishing.pages import joined, part, percent
from etl.publishing.pictures import Bar, bars, histogram

if TYPE_CHECKING:
    from markupsafe import Markup

STAGES_OF_STEPS = {
    2: ("ingest_subtitles",),
    3: ("choose_uploads",),
    4: ("segment_dialogues",),
    5: ("filter_dialogues", "clean_dialogues"),
    6: ("select_emotional",),
    7: ("annotate_dialogues",),
}
"""Stages whose ledgers have the rows dropped before a step of ``analysis.edos_funnel``."""

CLEANED = 5
"""The step after cleaning."""
BLOCKS = "share_of_blocks_up_to_here"
ROOM = 3
"""Empty columns at the right of the histogram of silences, where its axis has its numbers."""


def funnel(findings: EdosFindings) -> "Markup | str":
    """Return the number of units after each step, and the reasons for dropped ones."""
    found = sorted(findings.rows("edos_funnel"), key=lambda row: row["place"])
    rows = [row for row in found if row["place"] <= 7]
    if not rows:
        return ""
    most = {unit: max(row["units"] for row in rows if row["unit"] == unit) for unit in ("files", "dialogues")}
    lines = []
    for row in rows:
        share = row["units"] / most[row["unit"]] if most[row["unit"]] else 0.0
        bar = Bar(share, "intent" if row["unit"] == "files" else "emotion", pages.shown(row["units"]))
        numbers = [pages.shown(row["units"]), pages.shown(row["paper"])]
        name = part(pages.PARTS, "step", row["step"], [*_unread(findings, row), *_reasons(findings, row["place"])])
        lines.append((name, bars([bar], 14), numbers))
    text = (
        "Below each step are the most frequent reasons for dropped units. The paper's 3.7 million files include all "
        "languages; it gives no number of English files."
    )
    key = pages.key([("intent", "files"), ("emotion", "dialogues")])
    chart = pages.chart(("left after the step", "here", "paper"), lines, ("step", "count"))
    return joined([pages.paragraph(text), key, chart])


def _reasons(findings: EdosFindings, step: int) -> list[str]:
    """Return the most frequent reasons for units dropped before a step; of cleaning, the rules that cost most."""
    if step == CLEANED and (costs := findings.rows("cleaning_cost")):
        return [_cost(row) for row in costs[:4]]
    stages = STAGES_OF_STEPS.get(step, ())
    rows = [row for row in findings.rows("dropped_by_reason") if row["stage"] in stages]
    rows.sort(key=lambda row: (-row["rows"], row["unit"], row["reason"]))
    return [_loss(row) for row in rows[:4]]


def _cost(row: Mapping[str, Any]) -> str:
    """Return a cleaning rule's own turns, and those that went with them."""
    whole = row["turns"] + row["turns_after"] + row["turns_of_dialogues"]
    parts = [f"{row['turns']:,} its own", f"{row['turns_after']:,} after them"]
    parts += [f"{row['turns_of_dialogues']:,} with whole dialogues"] if row["turns_of_dialogues"] else []
    return f"−{whole:,} turn{'s' * (whole != 1)}: {in_words(row['rule'], REASONS)} ({', '.join(parts)})"


def _unread(findings: EdosFindings, row: Mapping[str, Any]) -> list[str]:
    """Return, for the step of reading, how many files were quarantined: those that are neither read nor dropped."""
    if row["place"] != 2:
        return []
    ledger = findings.rows("dropped_by_reason")
    dropped = sum(one["units"] for one in ledger if one["stage"] in STAGES_OF_STEPS[2])
    missing = findings.count(1) - row["units"] - dropped
    return [_loss({"rows": missing, "unit": "file", "reason": "quarantined"})] if missing > 0 else []


def _loss(row: Mapping[str, Any]) -> str:
    """Return a row of the ledger as text."""
    plural = "" if row["rows"] == 1 or row["unit"].endswith("s") else "s"
    return f"−{row['rows']:,} {row['unit']}{plural}: {in_words(row['reason'], REASONS)}"


def silences(findings: EdosFindings) -> "Markup | str":
    """Return EDOS Figure 5: the histogram of gaps between sentences, with the limit that ends a dialogue."""
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
    columns += [Bar(0.0, "neutral", "")] * ROOM
    span = (slots + ROOM) * width
    ticks = [(second / span, f"{second} s") for second in range(0, int(last) + 1, 1 if last <= 5 else 2)]
    levels = [(power / ceiling, f"{10**power:,}") for power in range(1, ceiling + 1)]
    picture = histogram(
        columns,
        ticks,
        [(limit / span, f"{limit:g} s")],
        levels,
        "Silences between sentences by length",
        "length of the silence",
        "pairs of sentences",
    )
    text = (
        f"{percent(_share_under(gaps, 3.0))} of the silences are shorter than 3 s and "
        f"{percent(1 - _share_under(gaps, limit))} are {limit:g} s or longer, where a dialogue ends. Between subtitle "
        f"blocks, as in the paper's figure, {percent(_share_under(gaps, 3.0, BLOCKS))} are shorter than 3 s and "
        f"{percent(_share_under(gaps, 5.0, BLOCKS))} than 5 s. The paper chose 5 s, because its histogram drops there."
    )
    other = {row["kind"]: row["pairs"] for row in rows if row["kind"] != "gap"}
    caption = (
        f"Number of pairs of adjacent sentences by silence, on a logarithmic scale; the last column is {last:g} s and "
        f"more. Not shown: {other.get('same_block', 0):,} pairs within one subtitle block, "
        f"{other.get('overlap', 0):,} that overlap, {other.get('no_time', 0):,} without a time."
    )
    titles = {
        "from_seconds": "from, s",
        "to_seconds": "to, s",
        "pairs": "pairs",
        "share_up_to_here": "share up to here",
        BLOCKS: "between blocks",
    }
    table = pages.details("The chart as a table", pages.records(gaps, titles))
    return pages.paragraph(text) + pages.figure(picture, caption=caption) + table


def _share_under(gaps: Rows, seconds: float, column: str = "share_up_to_here") -> float:
    shorter = (row[column] or 0.0 for row in gaps if row["to_seconds"] and row["to_seconds"] <= seconds)
    return max(shorter, default=0.0)


def sizes(findings: EdosFindings) -> "Markup | str":
    """Return EDOS Tables 3 and 2."""
    rows = findings.rows("edos_table_3")
    others = findings.rows("edos_table_2")
    if not rows:
        return ""
    titles = {
        "dataset": "data set",
        "labels": "labels",
        "dialogues": "dialogues",
        "utterances": "utterances",
        "publicly_available": "open",
    }
    compared = [pages.heading("Compared with other sets"), pages.records(others, titles)] if others else []
    note = "Table 2 of the paper has 3,488,300 utterances of EDOS, its Tables 3 and 9 have 2,829,426."
    return joined([pages.compared(rows, "criterion", "size"), *compared, pages.paragraph(note, "quiet")])


def dropped(findings: EdosFindings) -> "Markup | str":
    """Return the ledgers, summed by reason, and what each cleaning rule costs."""
    return ledgers.dropped(findings, REASONS, _cleaning_cost(findings))


def _cleaning_cost(findings: EdosFindings) -> "Markup | str":
    """Return what each cleaning rule removes: turns, and whole dialogues (EDOS 3.1)."""
    rows = [{**row, "rule": in_words(row["rule"], REASONS)} for row in findings.rows("cleaning_cost")]
    if not rows:
        return ""
    text = (
        "What each cleaning rule costs: the turns that it removes, the turns that go with them because they follow, "
        "and the dialogues that it drops as a whole, with their turns."
    )
    titles = {
        "rule": "rule",
        "turns": "turns",
        "turns_after": "turns after them",
        "dialogues": "in dialogues",
        "dialogues_dropped": "whole dialogues",
        "turns_of_dialogues": "their turns",
    }
    return joined(
        [pages.heading("Cost of the cleaning rules"), pages.records(rows, titles), pages.paragraph(text, "quiet")]
    )
