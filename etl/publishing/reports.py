"""Write the report on a finished data set, and log it in MLflow."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from etl.pipeline.folders import Folders
from etl.pipeline.stage_run import StageRun
from etl.pipeline.tables import Table
from etl.publishing.dataset_findings import findings_of
from etl.publishing.findings import Findings
from etl.training.registry import model_store


def models_in(column: DataFrame) -> str:
    """Return the different models of a column."""
    return ", ".join(sorted(str(row.model) for row in column.distinct().collect() if row.model is not None))


def findings_with_ledgers(
    run: StageRun, stages: str, views: Sequence[str], tables: Sequence[Table], made_with: Mapping[str, str]
) -> Findings:
    """Return the findings of a data set, with the ledgers of the stages whose names have this prefix."""
    findings = findings_of(run.spark, run.lakehouse, (*views, "dropped_by_reason"), tables, made_with)
    dropped = [row for row in findings.rows("dropped_by_reason") if row["stage"].startswith(stages)]
    return replace(findings, views={**findings.views, "dropped_by_reason": dropped})


def write_report(
    run: StageRun, file: str, html: str, folder: str | None, findings: Findings, figures: Mapping[str, float]
) -> str:
    """Write a report, and log it with metrics and tables as an MLflow run if it has changed.

    Args:
        folder: None for ``<lakehouse.root>/reports``.

    Returns:
        The file's path.
    """
    reports = (folder or f"{run.lakehouse.root.rstrip('/')}/reports").rstrip("/")
    path = f"{reports}/{file}"
    changed = Folders(run.spark).write_text(path, html)
    if changed:
        _log(run, file, html, findings, figures)
    run.say(f"report {'written' if changed else 'unchanged'}: {path}")
    return path


def _log(run: StageRun, file: str, html: str, findings: Findings, figures: Mapping[str, float]) -> None:
    from etl.training.tracking import tracked_run

    versions = {name: value for name, value in findings.made_with.items() if name.startswith("version")}
    tags = {name.replace(" ", "_"): value[:500] for name, value in versions.items()}
    name = f"{file.removesuffix('.html').replace('_', '-')}-report"
    with tracked_run(model_store(run.tracking), name, {}, {**tags, "kind": "report"}) as tracked:
        tracked.log_metrics(dict(figures))
        tracked.client.log_text(tracked.run_id, html, file)
        for view, rows in findings.views.items():
            if rows:
                text = io.StringIO()
                writer = csv.DictWriter(text, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
                tracked.client.log_text(tracked.run_id, text.getvalue(), f"tables/{view}.csv")
