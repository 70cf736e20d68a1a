"""Describe, audit, report on and export the finished data set (EDOS 4)."""

from pyspark.sql import DataFrame

from etl.annotation.form_files import write_batch
from etl.common.labelled_files import local_rows
from etl.edos.audit import audit_tasks
from etl.edos.empathetic import COLUMNS, TURNS, labelled_utterances
from etl.pipeline import RowAccounting, StageRun, manual_stage, stage, under
from etl.tables.edos import DIALOGUES, EMPATHETIC_TURNS, WEAK_LABELS
from etl.tables.edos_annotation import AUDIT_FILES, AUDIT_TASKS
from etl.tables.outcome import LocalRows, Outcome
from etl.tables.subtitles import CLEAN_DIALOGUES, GAPS

ANNOTATION = "edos.annotation"
TALKS = "edos.empathetic_dialogues"


@stage(reads=(DIALOGUES,), writes=None, options=("edos.taxonomy",))
def describe_dataset(dialogues: DataFrame, run: StageRun) -> None:
    """Show the results: the paper's Tables 3 and 9, accounts, examples, and next steps."""
    from etl.publishing.describe import describe

    describe(run)


@manual_stage(
    reads=(DIALOGUES, WEAK_LABELS),
    writes=AUDIT_TASKS,
    settings=(*under("edos.audit", "bands", "per_stratum", "items_per_hit"), "edos.annotation.seed"),
    units=RowAccounting("turns", "sum(size(turns))"),
)
def prepare_audit(dialogues: DataFrame, weak_labels: DataFrame, run: StageRun) -> Outcome:
    """Sample finished turns by label and confidence, for people to relabel: the audit (ours)."""
    audit = run.settings.edos.audit
    seed = run.settings.edos.annotation.seed
    return audit_tasks(
        dialogues, weak_labels, bands=audit.bands, per_stratum=audit.per_stratum, per_hit=audit.items_per_hit, seed=seed
    )


@manual_stage(
    reads=(AUDIT_TASKS,),
    writes=AUDIT_FILES,
    settings=("edos.audit.workers", "edos.taxonomy", *under(ANNOTATION, "folder", "post_to", "reward", "countries")),
    units=RowAccounting("items", rows_out="coalesce(max(items), 0)"),
)
def export_audit(tasks: DataFrame, run: StageRun) -> Outcome:
    """Write the audit's HITs as files: the annotation page and a key (ours)."""
    return write_batch(tasks, "audit", run.settings.edos.audit.workers, run)


@manual_stage(writes=EMPATHETIC_TURNS, settings=("edos.taxonomy",), inputs=(TALKS,), units="utterances")
def read_empathetic_dialogues(run: StageRun) -> Outcome:
    """Read EmpatheticDialogues with its labels, for comparison (EDOS 4); no rows if no file is set."""
    path = run.settings.edos.empathetic_dialogues
    read = local_rows([path], COLUMNS, TALKS, "utterance") if path else LocalRows()
    return labelled_utterances(read.rows, run.settings.edos.taxonomy.names).plus(read).to_outcome(run.spark, TURNS)


@manual_stage(
    reads=(DIALOGUES, EMPATHETIC_TURNS, GAPS),
    writes=None,
    settings=("edos.report",),
    shows="a page under `edos.report.folder`",
    options=("lakehouse", "mlflow", "subtitles", "edos"),
)
def report_dataset(dialogues: DataFrame, empathetic: DataFrame, gaps: DataFrame, run: StageRun) -> None:
    """Report on the finished data set: one HTML page with labels, flow, silences, examples, limits (EDOS 4)."""
    from etl.publishing.reports import write_edos_report

    write_edos_report(run)


@manual_stage(
    reads=(DIALOGUES, CLEAN_DIALOGUES),
    writes=None,
    settings=("publishing",),
    shows="files under `publishing.folder`",
    options=("lakehouse", "mlflow", "subtitles", "edos"),
)
def export_dataset(dialogues: DataFrame, clean: DataFrame, run: StageRun) -> None:
    """Export the data set: Parquet and JSON Lines split by film, with a card, and texts or references to OPUS."""
    from etl.publishing.dataset_export import publish

    publish(run)
