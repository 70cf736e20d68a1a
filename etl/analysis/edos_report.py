"""The report on a finished EDOS as one HTML page: what it is, how it came about, where its limits are (EDOS 4)."""

from etl.analysis import pages
from etl.analysis.findings import Findings
from etl.analysis.pages import percent
from etl.analysis.report_labels import flow, labels
from etl.analysis.report_making import funnel, left_out, made, silences, sizes
from etl.analysis.report_trust import confidence, dialogues, limits, people


def report(findings: Findings, examples: int = 2, flow_labels: int = 9) -> str:
    """The whole page.

    Args:
        findings: what was counted.
        examples: dialogues shown for each quarter of the confidence scale.
        flow_labels: labels with a node of their own in the flow.
    """
    sections = [
        ("limits", "Before you use it", limits(findings)),
        ("steps", "From files to dialogues", funnel(findings)),
        ("labels", "Which emotions and intents", labels(findings)),
        ("flow", "What follows what", flow(findings, flow_labels)),
        ("confidence", "How sure the classifier is", confidence(findings)),
        ("examples", "Dialogues with their labels", dialogues(findings, examples)),
        ("people", "What people say", people(findings)),
        ("silences", "Where one dialogue ends", silences(findings)),
        ("size", "Size, beside other sets", sizes(findings)),
        ("left-out", "What was left out", left_out(findings)),
        ("made", "How it was made", made(findings)),
    ]
    lead = (
        f"{findings.dialogues:,} short dialogues from {findings.films:,} films. Each of their {findings.turns:,} turns "
        f"bears one of {findings.taxonomy.in_words()}, given by a classifier with its confidence. "
        " Made by the method of EDOS (Welivita, Xie and Pu, 2021), whose figures stand beside ours."
    )
    about = f"{findings.dialogues:,} dialogues labelled with emotions and intents: sizes, labels, flow, limits"
    heading = "EDOS: emotional dialogues from film subtitles"
    return pages.report("EDOS: a report on the data set", about, heading, lead, tiles(findings), sections)


def tiles(findings: Findings) -> str:
    """The few numbers to remember."""
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
        facts.append(("turns under 50% confidence", percent(findings.unsure_share), "paper: not said"))
    return pages.tiles(facts)
