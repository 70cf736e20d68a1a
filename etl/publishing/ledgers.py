"""Sections of the reports on what a set was made with: ledgers, versions, settings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from etl.publishing import pages
from etl.publishing.findings import Findings
from etl.publishing.pages import joined

if TYPE_CHECKING:
    from markupsafe import Markup

NO_OTHERS: Mapping[str, str] = {}


def dropped(findings: Findings, reasons: Mapping[str, str] = NO_OTHERS, before: "Markup | str" = "") -> "Markup | str":
    """Return the ledgers, summed by reason.

    Args:
        findings: rows of ``analysis.dropped_by_reason``.
        reasons: words for reasons that do not say by themselves what they are.
        before: shown before the list of all reasons.
    """
    rows = [{**row, "reason": in_words(row["reason"], reasons)} for row in findings.rows("dropped_by_reason")]
    if not rows:
        return ""
    text = "Every dropped row is recorded in ops.dropped, with its details."
    titles = {"stage": "stage", "unit": "what", "reason": "reason", "rows": "rows", "units": "units"}
    summary = "The reason" if len(rows) == 1 else f"All {len(rows)} reasons"
    every = pages.details(summary, pages.records(rows, titles))
    return joined([pages.paragraph(text), before, every])


def in_words(reason: str, reasons: Mapping[str, str]) -> str:
    """Return a reason of the ledger as words."""
    return reasons.get(reason, reason.replace("_", " "))


def made(findings: Findings) -> "Markup | str":
    """Return versions, models and settings."""
    return pages.table(("what", "which"), findings.made_with.items()) if findings.made_with else ""
