"""A printed summary of a finished run: accounts, tables, examples and further commands."""

import textwrap
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import Taxonomy
from etl.analysis.views import all_views, named_in
from etl.common.spelling import detokenised_text
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.locations import tracking_uri
from etl.pipeline.stage_run import StageRun
from etl.publishing.screen_tables import aligned

ACCOUNTS = (
    "SELECT stage, unit, rows_in AS `in`, rows_out AS `out`, rows_dropped AS dropped, rows_quarantined AS quarantined "
    "FROM (SELECT *, row_number() OVER (PARTITION BY stage ORDER BY started DESC) AS age FROM ops.stage_runs "
    "WHERE event = 'done' AND rows_in IS NOT NULL) WHERE age = 1 ORDER BY started"
)
SHOWN = {
    "Dropped rows by reason": "analysis.dropped_by_reason",
    "Table 3 of the EDOS paper": "analysis.edos_table_3",
    "Table 9 of the EDOS paper": "analysis.edos_table_9",
}
EXAMPLES = 5
INDENT = "  "
FIGURES = ("accuracy", "macro_f1")
"""Of held-out rows, in the list of trainings."""
WIDTH = 80
"""Characters of a line on the smallest terminal."""


def describe(run: StageRun, taxonomy: Taxonomy) -> None:
    """Print accounts by stage, Tables 3 and 9, example dialogues, tracked runs and how to query."""
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    lakehouse.register(*named_in([ACCOUNTS, "edos.dialogues", *SHOWN.values()], all_views(taxonomy)))
    spark = run.spark
    _title("Rows by stage")
    _table(spark.sql(lakehouse.named(ACCOUNTS)))
    for title, view in SHOWN.items():
        _title(title)
        _table(spark.table(lakehouse.named(view)))
    _title("Dialogues from the finished data set")
    for dialogue in _examples(spark.table(lakehouse.named("edos.dialogues"))):
        print(f"  {dialogue.dialogue_id} (film {dialogue.movie_id})")
        for turn in dialogue.turns:
            said = textwrap.shorten(detokenised_text(turn.text), WIDTH - 24, placeholder=" ...")
            print(f"    {turn.label:>13s} {turn.confidence:.2f}  {said}")
        print()
    _title("Models")
    trained = _tracked_runs(run)
    _print(aligned(("run", "status", *FIGURES), trained, WIDTH - len(INDENT)) if trained else ["nothing was trained"])
    _title("Further commands")
    root = run.lakehouse.root
    print("  make sql      SQL over these tables, e.g. SELECT * FROM analysis.edos_table_9;")
    print("  make mlflow   compare the trainings in a browser")
    print(f"  {root}/edos/dialogues   the data set, a Delta table")


def _examples(dialogues: DataFrame) -> list:
    """Return dialogues of several turns, chosen by a hash, with different labels of their first turns."""
    several = dialogues.where(F.size("turns").between(2, 5))
    opening = several.withColumn("opening", F.get("turns", F.lit(0))["label"])
    chosen = opening.groupBy("opening").agg(
        F.min_by(F.struct("dialogue_id", "movie_id", "turns"), F.xxhash64("dialogue_id")).alias("one")
    )
    rows = chosen.where(F.col("opening") != "questioning").orderBy(F.xxhash64("opening")).limit(EXAMPLES)
    return [row.one for row in rows.collect()]


def _tracked_runs(run: StageRun) -> list[tuple[str, str, float | None, float | None]]:
    """Return name, status, accuracy and macro-F1 of the trainings, the newest first."""
    from mlflow import MlflowClient

    settings = run.tracking
    client = MlflowClient(tracking_uri(settings))
    experiment = client.get_experiment_by_name(settings.mlflow.experiment)
    found = client.search_runs([experiment.experiment_id], max_results=20) if experiment is not None else []
    return [_tracked(one) for one in found]


def _tracked(run: Any) -> tuple[str, str, float | None, float | None]:
    accuracy, macro_f1 = (run.data.metrics.get(f"held_out_{name}") for name in FIGURES)
    return run.info.run_name, run.info.status.lower(), accuracy, macro_f1


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _table(frame: DataFrame) -> None:
    rows = frame.collect()
    _print(aligned(frame.columns, rows, WIDTH - len(INDENT)) if rows else ["nothing"])


def _print(lines: list[str]) -> None:
    print("\n".join(f"{INDENT}{line}" for line in lines))
