"""Writing the reports on the finished data sets, and logging each to MLflow when it says something new."""

import csv
import io
from collections.abc import Mapping

from etl.analysis.edos_report import report
from etl.analysis.findings import Findings
from etl.pipeline.folders import Folders
from etl.pipeline.stage_run import StageRun
from etl.publishing.dataset_findings import gather
from etl.training.registry import model_store

FILE = "edos.html"


def write_report(run: StageRun) -> str:
    """Write ``edos.html`` and log it with its numbers as an MLflow run; nothing where it is as it was.

    Returns:
        Where it lies.
    """
    settings = run.settings.edos.report
    findings = gather(run.spark, run.settings)
    figures: dict[str, float] = {"dialogues": findings.dialogues, "turns": findings.turns, "films": findings.films}
    if findings.divergence is not None:
        figures["kl_to_empathetic_dialogues"] = findings.divergence
    html = report(findings, settings.examples, settings.flow_labels)
    return put_report(run, FILE, html, settings.folder, findings, figures)


def put_report(
    run: StageRun, file: str, html: str, folder: str | None, findings: Findings, figures: Mapping[str, float]
) -> str:
    """Write a report's page, and log it with its figures and tables as an MLflow run where it is not as it was.

    Args:
        file: its name; the run is called after it.
        html: the page.
        folder: where to; None: ``<lakehouse.root>/reports``.
        findings: what it was written from.
        figures: metrics of the run.

    Returns:
        Where it lies.
    """
    folder = folder or f"{run.lakehouse.root.rstrip('/')}/reports"
    path = f"{folder.rstrip('/')}/{file}"
    new = Folders(run.spark).write_text(path, html)
    if new:
        _log(run, file, html, findings, figures)
    run.say(f"report {'written' if new else 'as it was'}: {path}")
    return path


def _log(run: StageRun, file: str, html: str, findings: Findings, figures: Mapping[str, float]) -> None:
    from etl.training.tracking import tracked_run

    tags = {name: value[:500] for name, value in findings.made_with.items() if name.startswith("version")}
    tags = {name.replace(" ", "_"): value for name, value in tags.items()}
    name = f"{file.removesuffix('.html').replace('_', '-')}-report"
    with tracked_run(model_store(run.tracking), name, {}, tags) as tracked:
        tracked.log_metrics(dict(figures))
        tracked.client.log_text(tracked.run_id, html, file)
        for view, rows in findings.views.items():
            if rows:
                text = io.StringIO()
                writer = csv.DictWriter(text, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
                tracked.client.log_text(tracked.run_id, text.getvalue(), f"tables/{view}.csv")
