"""The report on a finished EDOS as one HTML page: its contents, its making and its limitations (EDOS 4)."""

from typing import TYPE_CHECKING

from etl.edos.findings import EdosFindings, gather
from etl.edos.report_labels import by_turn, flow, labels
from etl.edos.report_making import dropped, funnel, silences, sizes
from etl.edos.report_models import generators, thresholds, weighting
from etl.edos.report_trust import accepted, classes, confidence, dialogues, limits, people
from etl.edos.settings import EdosSettings, ReportSettings
from etl.pipeline.stage_run import StageRun
from etl.publishing import pages
from etl.publishing.ledgers import made
from etl.publishing.pages import percent
from etl.publishing.reports import write_report
from etl.subtitles.settings import SubtitleSettings

if TYPE_CHECKING:
    from markupsafe import Markup


def report(findings: EdosFindings, examples: int = 12) -> str:
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
        ("weighting", "Weighting of newer turns", weighting(findings)),
        ("thresholds", "Thresholds of similarity", thresholds(findings)),
        ("generators", "Response generators", generators(findings)),
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
        "The method is that of EDOS (Welivita, Xie and Pu, 2021), whose figures are shown beside ours. "
        f"{findings.promise}"
    )
    about = f"{findings.dialogues:,} dialogues labelled with emotions and intents: sizes, labels, flow, limits"
    heading = "EDOS: emotional dialogues from film subtitles"
    title = f"EDOS: a report on the data set, preset {findings.edos.preset}"
    return pages.report(title, about, heading, lead, tiles(findings), sections)


def tiles(findings: EdosFindings) -> "Markup":
    """Return the key numbers."""
    facts = [
        ("preset", findings.edos.preset, "edos.preset"),
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


def write_edos_report(run: StageRun, settings: ReportSettings, subtitles: SubtitleSettings, edos: EdosSettings) -> str:
    """Write ``edos.html``, or ``edos-NAME.html`` of a set, log it if it has changed, and return its path."""
    findings = gather(run.spark, run.tracking, subtitles, edos)
    figures: dict[str, float] = {"dialogues": findings.dialogues, "turns": findings.turns, "films": findings.films}
    if findings.divergence is not None:
        figures["kl_to_empathetic_dialogues"] = findings.divergence
    own = run.lakehouse.set
    name = f"edos-{own}" if own else "edos"
    html = report(findings)
    return write_report(run, f"{name}.html", html, settings.folder, findings, figures)
