"""A printed summary of a finished run: accounts, tables, examples and further commands."""

import textwrap

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import Taxonomy
from etl.common.spelling import detokenised_text
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing.screen_tables import aligned
from etl.publishing.views import all_views, named_in

ACCOUNTS = (
    "SELECT stage, unit, rows_in AS `in`, rows_out AS `out`, rows_dropped AS dropped, rows_quarantined AS quarantined "
    "FROM (SELECT *, row_number() OVER (PARTITION BY stage ORDER BY started DESC) AS age FROM ops.stage_runs "
    "WHERE event = 'done' AND rows_in IS NOT NULL) WHERE age = 1 ORDER BY started"
)
LABELS_SHOWN = 12
SHOWN = {
    "Dropped: what each stage left out, and why": (
        "SELECT stage, unit, reason, rows FROM analysis.dropped_by_reason ORDER BY rows DESC, stage, reason"
    ),
    "Size (Table 3 of the EDOS paper)": (
        "SELECT criterion, value AS `here`, paper AS `in the paper` FROM analysis.edos_table_3 ORDER BY place"
    ),
    f"The {LABELS_SHOWN} most frequent labels, in percent of turns (Table 9 of the EDOS paper)": (
        "WITH whole AS (SELECT turns, paper_turns FROM analysis.edos_table_9 WHERE place = 99) "
        "SELECT label, counted.turns, round(try_divide(100D * counted.turns, whole.turns), 1) AS `% here`, "
        "round(try_divide(100D * counted.paper_turns, whole.paper_turns), 1) AS `% in the paper` "
        "FROM analysis.edos_table_9 AS counted CROSS JOIN whole WHERE counted.place < 98 "
        f"ORDER BY counted.turns DESC, counted.place LIMIT {LABELS_SHOWN}"
    ),
}
EXAMPLES = 5
INDENT = "  "
DEMO_ROOT = "demo/lakehouse"
WIDTH = 80
"""Characters of a line on the smallest terminal."""


def describe(run: StageRun, taxonomy: Taxonomy, preset: str) -> None:
    """Print accounts by stage, Tables 3 and 9 with shares, example dialogues, and what to try next."""
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    lakehouse.register(*named_in([ACCOUNTS, "edos.dialogues", *SHOWN.values()], all_views(taxonomy)))
    spark = run.spark
    _title("Rows by stage: in = out + dropped + quarantined")
    _table(spark.sql(lakehouse.named(ACCOUNTS)))
    for title, query in SHOWN.items():
        _title(f"{title}, preset {preset}" if "EDOS" in title else title)
        _table(spark.sql(lakehouse.named(query)))
    _title(f"Dialogues from the finished data set, preset {preset}")
    for dialogue in _examples(spark.table(lakehouse.named("edos.dialogues"))):
        print(f"  {dialogue.dialogue_id} (film {dialogue.movie_id})")
        for turn in dialogue.turns:
            said = textwrap.shorten(detokenised_text(turn.text), WIDTH - 24, placeholder=" ...")
            print(f"    {turn.label:>13s} {turn.confidence:.2f}  {said}")
        print()
    _title("What to try next")
    _print(next_steps(run.lakehouse.root))


def next_steps(root: str) -> list[str]:
    """Return lines of what to do with finished tables: the command, and what it shows.

    Args:
        root: of the lakehouse; the demo's has a short option of its own.
    """
    which = "--demo" if root == DEMO_ROOT else "--config ..."
    make = "" if root == DEMO_ROOT else f" ROOT={root}"
    steps = [
        (f"python -m jobs run --to report_dataset {which}", f"a page with figures: {root}/reports/edos.html"),
        (f"python -m jobs read {which}", "dialogues as a person reads them"),
        (f"make sql{make}", "SQL, for example SELECT * FROM edos.turns LIMIT 5;"),
        (f"make mlflow{make}", "compare the trainings in a browser"),
        ("notebooks/first_look.ipynb", "a notebook on these tables; five more beside it"),
    ]
    return [line for command, shows in steps for line in (command, f"{INDENT}{shows}")]


def _examples(dialogues: DataFrame) -> list:
    """Return dialogues of several turns, chosen by a hash, with different labels of their first turns."""
    several = dialogues.where(F.size("turns").between(2, 5))
    opening = several.withColumn("opening", F.get("turns", F.lit(0))["label"])
    chosen = opening.groupBy("opening").agg(
        F.min_by(F.struct("dialogue_id", "movie_id", "turns"), F.xxhash64("dialogue_id")).alias("one")
    )
    rows = chosen.where(F.col("opening") != "questioning").orderBy(F.xxhash64("opening")).limit(EXAMPLES)
    return [row.one for row in rows.collect()]


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _table(frame: DataFrame) -> None:
    rows = [["-" if value is None else value for value in row] for row in frame.collect()]
    _print(aligned(frame.columns, rows, WIDTH - len(INDENT)) if rows else ["nothing"])


def _print(lines: list[str]) -> None:
    print("\n".join(f"{INDENT}{line}" for line in lines))
