"""Tables of the framework: stage runs, dropped rows."""

from etl.pipeline.tables.model import Table

WORK_VERSION = "work_version"
"""The column with the hash of all that a unit of work was made from, in versioned stages."""

DROPPED = Table(
    "ops.dropped",
    "One turn, dialogue or file that a stage left out, with its reason and the evidence.",
    """
    stage string, unit string COMMENT 'file, dialogue, turn, ...', id string, reason string,
    detail string COMMENT 'the evidence: the text, the value, the other copy\\'s id',
    units bigint COMMENT 'how many of the stage\\'s accounting units this row stands for',
    work_key string COMMENT 'the file or text it was found in, for stages that work piece by piece',
    work_version bigint,
    run_id string, slice int
    """,
    ("stage", "unit", "id"),
    partitioned_by=("stage",),
    empty_if_absent=True,
)

STAGE_RUNS = Table(
    "ops.stage_runs",
    "One event of a stage's run: it began, its batches started, it was done, it failed, or it was refused.",
    """
    stage string, run_id string, event string COMMENT 'began, started (its batches), done, failed or refused',
    started timestamp,
    seconds double, slices int, unit string,
    rows_in bigint, rows_out bigint, rows_dropped bigint, rows_quarantined bigint,
    input_versions map<string, string>, settings_hash string, stage_version int,
    models map<string, string>, output_version string, package_version string,
    task_seconds double,
    detail string COMMENT 'why a run began, or the one line of a run that failed or was refused',
    settings map<string, string> COMMENT 'what counted: settings by key, files that they name; digests of long values',
    figures map<string, double> COMMENT 'of a training: metrics of the new model on held-out rows, and rows: how many'
    """,
    ("stage", "run_id", "event", "started"),
    {"event_is_one_of_five": "event IN ('began', 'started', 'done', 'failed', 'refused')"},
)

OF_SETS = ("ops", "analysis")
"""Schemas of which each set has its own: its ledgers, and its views."""
