"""The reports on the finished data sets, and their MLflow runs."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from conf.augesc_settings import FilterSettings
from conf.edos_settings import EdosSettings, ReportSettings
from conf.subtitle_settings import SubtitleSettings
from etl.analysis import augesc_report, edos_report, emo_pillars_report
from etl.analysis.findings import WRITTEN_BY, Findings
from etl.analysis.views import sql_views
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing.dataset_findings import findings_of, gather, in_plain_words
from etl.tables import Table, augesc, emo_pillars
from etl.training.registry import model_store

AUGESC_VIEWS = tuple(name.removeprefix("analysis.") for name in sql_views() if name.startswith("analysis.augesc_"))
EMO_PILLARS_VIEWS = tuple(
    f"emo_pillars_{name}"
    for name in (
        "scale",
        "labels",
        "coverage",
        "similarity",
        "table_12",
        "topics",
        "named_topics",
        "topic_sizes",
        "topic_emotions",
        "changes",
        "markers",
        "marker_overlap",
        "human_evaluation",
    )
)


def write_edos_report(run: StageRun, settings: ReportSettings, subtitles: SubtitleSettings, edos: EdosSettings) -> str:
    """Write ``edos.html``, or ``edos-NAME.html`` of a set, log it if it has changed, and return its path."""
    findings = gather(run.spark, run.tracking, subtitles, edos)
    figures: dict[str, float] = {"dialogues": findings.dialogues, "turns": findings.turns, "films": findings.films}
    if findings.divergence is not None:
        figures["kl_to_empathetic_dialogues"] = findings.divergence
    own = run.lakehouse.set
    name = f"edos-{own}" if own else "edos"
    html = edos_report.report(findings)
    return _write(run, f"{name}.html", html, settings.folder, findings, figures)


def write_augesc_report(run: StageRun, folder: str | None, filters: FilterSettings) -> str:
    """Write ``augesc.html``, log it with metrics as an MLflow run if it has changed, and return its path."""
    limits = filters.model_dump(mode="json", exclude={"seeker", "supporter"})
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    rules = {
        WRITTEN_BY: _models(lakehouse.read(augesc.CONVERSATIONS).select("model")),
        "requirements": ", ".join(f"{name} {in_plain_words(value)}" for name, value in limits.items()),
    }
    tables = (augesc.SESSIONS, augesc.MEASURED_TEXTS, augesc.CONVERSATIONS)
    findings = _findings(run, "augesc_", AUGESC_VIEWS, tables, rules)
    figures = {
        f"{measure}_{data_set}": value
        for data_set in ("ed", "reddit", "total")
        for measure in ("sessions", "session_length", "unique_words")
        if (value := augesc_report.figure(findings, data_set, "both", measure)) is not None
    }
    return _write(run, "augesc.html", augesc_report.report(findings), folder, findings, figures)


def write_emo_pillars_report(run: StageRun, folder: str | None) -> str:
    """Write ``emo_pillars.html``, log it with metrics as an MLflow run if it has changed, and return its path."""
    tables = (emo_pillars.PLOTS, emo_pillars.EXAMPLES, emo_pillars.CONTEXTUAL_EXAMPLES)
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    written_by = _models(lakehouse.read(emo_pillars.UTTERANCES).select("request.model"))
    findings = _findings(run, "emo_pillars_", EMO_PILLARS_VIEWS, tables, {WRITTEN_BY: written_by})
    figures = {
        f"similarity_{row['kind'].replace(' ', '_').replace(',', '')}": float(row["mean"])
        for row in findings.rows("emo_pillars_similarity")
        if row["mean"] is not None
    }
    return _write(run, "emo_pillars.html", emo_pillars_report.report(findings), folder, findings, figures)


def _models(column: DataFrame) -> str:
    """Return the different models of a column."""
    return ", ".join(sorted(str(row.model) for row in column.distinct().collect() if row.model is not None))


def _findings(
    run: StageRun, stages: str, views: Sequence[str], tables: Sequence[Table], made_with: Mapping[str, str]
) -> Findings:
    """Return the findings of a data set, with the ledgers of the stages whose names have this prefix."""
    findings = findings_of(run.spark, run.lakehouse, (*views, "dropped_by_reason"), tables, made_with)
    dropped = [row for row in findings.rows("dropped_by_reason") if row["stage"].startswith(stages)]
    return replace(findings, views={**findings.views, "dropped_by_reason": dropped})


def _write(
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
