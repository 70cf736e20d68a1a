"""Writing the report on Emo Pillars."""

from dataclasses import replace

from etl.analysis.emo_pillars_report import report
from etl.pipeline.stage_run import StageRun
from etl.publishing.dataset_findings import findings_of
from etl.publishing.dataset_report import put_report
from etl.tables.emo_pillars import CONTEXTUAL_EXAMPLES, EXAMPLES, PLOTS

FILE = "emo_pillars.html"
VIEWS = tuple(
    f"emo_pillars_{name}"
    for name in (
        "scale", "labels", "coverage", "similarity", "table_12", "topics", "named_topics", "topic_sizes",
        "topic_emotions", "changes", "markers", "marker_overlap", "human_evaluation",
    )
)  # fmt: skip


def write_emo_pillars_report(run: StageRun) -> str:
    """Write ``emo_pillars.html`` and log it with its figures as an MLflow run; nothing where it is as it was.

    Returns:
        Where it lies.
    """
    tables = (PLOTS, EXAMPLES, CONTEXTUAL_EXAMPLES)
    findings = findings_of(run.spark, run.lakehouse, (*VIEWS, "dropped_by_reason"), tables, {})
    own = [row for row in findings.rows("dropped_by_reason") if row["stage"].startswith("emo_pillars_")]
    findings = replace(findings, views={**findings.views, "dropped_by_reason": own})
    figures = {
        f"similarity_{row['kind'].replace(' ', '_').replace(',', '')}": float(row["mean"])
        for row in findings.rows("emo_pillars_similarity")
        if row["mean"] is not None
    }
    folder = run.settings.emo_pillars.analysis.report_folder
    return put_report(run, FILE, report(findings), folder, findings, figures)
