"""The report on a finished EDOS as one HTML page: its contents, its making and its limitations (EDOS 4)."""

from typing import TYPE_CHECKING

from etl.analysis import pages
from etl.analysis.findings import Findings
from etl.analysis.pages import percent
from etl.analysis.report_labels import by_turn, flow, labels
from etl.analysis.report_making import dropped, funnel, made, silences, sizes
from etl.analysis.report_trust import accepted, classes, confidence, dialogues, limits, people

if TYPE_CHECKING:
    from markupsafe import Markup


def report(findings: Findings, examples: int = 12) -> str:
    """Return the page.

    Args:
        findings: views of EDOS and facts of the run.
        examples: number of dialogues for each quarter of the confidence scale.
    """
    sections = [
        ("limits", "Before you use it", limits(findings)),
        ("steps", "From files to dialogues", funnel(findings)),
        ("labels", "Emotions and intents", labels(findings)),
        ("flow", "Consecutive labels", flow(findings)),
        ("by-turn", "Emotions along a dialogue", by_turn(findings)),
        ("classes", "The classifier by label", classes(findings)),
        ("confidence", "Confidence of the classifier", confidence(findings)),
        ("accepted", "Labels that are accepted", accepted(findings)),
        ("silences", "Silences between dialogues", silences(findings)),
        ("examples", "Dialogues with their labels", dialogues(findings, examples)),
        ("people", "Labels by people", people(findings)),
        ("size", "Size, compared with other sets", sizes(findings)),
        ("left-out", "Dropped rows", dropped(findings)),
        ("made", "Versions and settings", made(findings)),
    ]
    lead = (
        f"{findings.dialogues:,} short dialogues from {findings.films:,} films. Each of their {findings.turns:,} turns "
        f"has one of {findings.taxonomy.in_words()}, given by a classifier with its confidence. "
        "The method is that of EDOS (Welivita, Xie and Pu, 2021), whose figures are shown beside ours."
    )
    about = f"{findings.dialogues:,} dialogues labelled with emotions and intents: sizes, labels, flow, limits"
    heading = "EDOS: emotional dialogues from film subtitles"
    return pages.report("EDOS: a report on the data set", about, heading, lead, tiles(findings), sections)


def tiles(findings: Findings) -> "Markup":
    """Return the key numbers."""
    facts = [
        ("dialogues", f"{findings.dialogues:,}", "paper 1,000,000"),
        ("turns", f"{findings.turns:,}", "paper 2,829,426"),
    ]
    if findings.dialogues:
        facts.append(("turns a dialogue", f"{findings.turns / findings.dialogues:.2f}", "paper 2.83"))
    if "macro_f1" in findings.classifier:
        facts.append(("classifier, macro-F1", f"{100 * findings.classifier['macro_f1']:.1f}", "paper 63.86"))
    if findings.divergence is not None:
        facts.append(("KL divergence", f"{findings.divergence:.3f}", "nats, against ED; paper 0.2447"))
    if findings.unsure_share is not None:
        facts.append(("turns under 50% confidence", percent(findings.unsure_share), "not in the paper"))
    return pages.tiles(facts)
