"""Writing the report on the finished data set, and logging it to MLflow when it says something new."""

import csv
import io

from etl.analysis.edos_report import report
from etl.analysis.findings import Findings
from etl.lakehouse.dataset_findings import gather
from etl.lakehouse.folders import Folders
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun

FILE = "edos.html"


def write_report(run: StageRun) -> str:
    """Write ``edos.html`` and log it with its numbers as an MLflow run; nothing where it is as it was.

    Returns:
        Where it lies.
    """
    settings = run.settings.edos.report
    findings = gather(run.spark, run.all_settings)
    html = report(findings, settings.examples, settings.flow_labels)
    folder = settings.folder or f"{run.all_settings.lakehouse.root.rstrip('/')}/reports"
    path = f"{folder.rstrip('/')}/{FILE}"
    new = Folders(run.spark).write_text(path, html)
    if new:
        _log(run, findings, html)
    run.say(f"report {'written' if new else 'as it was'}: {path}")
    return path


def _log(run: StageRun, findings: Findings, html: str) -> None:
    from udfs.models.tracking import tracked_run

    figures: dict[str, float] = {"dialogues": findings.dialogues, "turns": findings.turns, "films": findings.films}
    if findings.divergence is not None:
        figures["kl_to_empathetic_dialogues"] = findings.divergence
    tags = {name: value[:500] for name, value in findings.made_with.items() if name.startswith("version")}
    tags = {name.replace(" ", "_"): value for name, value in tags.items()}
    with tracked_run(model_store(run.all_settings), "edos-report", {}, tags) as tracked:
        tracked.log_metrics(figures)
        tracked.client.log_text(tracked.run_id, html, FILE)
        for view, rows in findings.views.items():
            if rows:
                text = io.StringIO()
                writer = csv.DictWriter(text, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
                tracked.client.log_text(tracked.run_id, text.getvalue(), f"tables/{view}.csv")
