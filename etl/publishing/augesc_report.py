"""Writing the report on AugESC's conversations."""

from dataclasses import replace

from etl.analysis.augesc_report import figure, report
from etl.analysis.views import sql_views
from etl.pipeline.stage_run import StageRun
from etl.publishing.dataset_findings import findings_of
from etl.publishing.dataset_report import put_report
from etl.tables.augesc import CONVERSATIONS, MEASURED_TEXTS, SESSIONS

FILE = "augesc.html"
VIEWS = tuple(name.removeprefix("analysis.") for name in sql_views() if name.startswith("analysis.augesc_"))


def write_augesc_report(run: StageRun) -> str:
    """Write ``augesc.html`` and log it with its figures as an MLflow run; nothing where it is as it was.

    Returns:
        Where it lies.
    """
    limits = run.settings.augesc.filters.model_dump(mode="json", exclude={"seeker", "supporter"})
    rules = {"requirements": ", ".join(f"{name} {value}" for name, value in limits.items())}
    tables = (SESSIONS, MEASURED_TEXTS, CONVERSATIONS)
    findings = findings_of(run.spark, run.lakehouse, (*VIEWS, "dropped_by_reason"), tables, rules)
    own = [row for row in findings.rows("dropped_by_reason") if row["stage"].startswith("augesc_")]
    findings = replace(findings, views={**findings.views, "dropped_by_reason": own})
    figures = {
        f"{measure}_{data_set}": value
        for data_set in ("ed", "reddit", "total")
        for measure in ("sessions", "session_length", "unique_words")
        if (value := figure(findings, data_set, "both", measure)) is not None
    }
    return put_report(run, FILE, report(findings), run.settings.augesc.report_folder, findings, figures)
