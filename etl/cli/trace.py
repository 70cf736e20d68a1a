"""``python -m jobs trace``: where a dialogue comes from, what was decided about it, and what depends on it."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings
from etl.analysis.views import all_views, named_in
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_session
from etl.publishing.screen_tables import aligned, terminal_width
from etl.tables.ops import STAGE_RUNS
from etl.tables.subtitles import DIALOGUES

HEADS = ("step", "no.", "decision", "detail", "stage", "run", "model")
VIEW = "analysis.dialogue_trace"
CUT = 70
"""Rows up to this place are of the raw dialogue, also for the parts that are cut out of it."""
DEPENDS = 200
"""Rows of this place and later depend on the dialogue."""


def trace(settings: Settings, dialogue_id: str) -> int:
    """Print the rows of ``analysis.dialogue_trace`` for one dialogue; return the exit status.

    Raises:
        InputError: no table has the dialogue, or there are no tables.
    """
    spark = spark_session(settings, "edos-lakehouse trace")
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        if not lakehouse.exists(STAGE_RUNS):
            raise InputError(f"no run of a stage is in {settings.lakehouse.root}: name its lakehouse.root or catalog")
        lakehouse.register(*named_in([VIEW], all_views(settings.edos.taxonomy)))
        found = traced(lakehouse, dialogue_id).collect()
    finally:
        close_session(spark, settings)
    if not found:
        raise InputError(f"no table has the dialogue {dialogue_id}: `read` and `sql` show ids")
    print("\n".join(lines(found)))
    return 0


def traced(lakehouse: Lakehouse, dialogue_id: str) -> DataFrame:
    """Return a dialogue's rows of ``analysis.dialogue_trace``, in order.

    Those of a part that was cut out of a longer dialogue begin with the way of the raw one.
    """
    own = F.col("dialogue_id") == dialogue_id
    rows = lakehouse.spark.table(lakehouse.named(VIEW))
    raw = _raw_dialogue(lakehouse.read(DIALOGUES), dialogue_id)
    if raw is None:
        rows = rows.where(own)
    else:  # with the path, only the files of its rows are read
        way = (F.col("dialogue_id") == raw["dialogue_id"]) & (F.col("place") <= CUT)
        path = F.col("source_path")
        rows = rows.where((own | way) & ((path == raw["source_path"]) | path.isNull()))
    return rows.orderBy("place", "number", "decision", "detail")


def _raw_dialogue(raw: DataFrame, dialogue_id: str) -> Any:
    """Return dialogue_id and source_path of a raw dialogue by its own id, or by the id of a part: its first turn's."""
    found = raw.where(F.col("dialogue_id") == dialogue_id).select("dialogue_id", "source_path").first()
    subtitle_id, _, sentence = dialogue_id.rpartition("-")
    if found is not None or not sentence.isdecimal():
        return found
    opens = F.exists("turns", lambda turn: turn["sentence_first"].cast("string") == sentence)
    return raw.where((F.col("subtitle_id") == subtitle_id) & opens).select("dialogue_id", "source_path").first()


def lines(found: Sequence[Any]) -> list[str]:
    """Return the printed lines: the way of the dialogue, and what depends on it."""
    parts = [("the way of the dialogue", [row for row in found if row["place"] < DEPENDS])]
    parts.append(("what depends on it", [row for row in found if row["place"] >= DEPENDS]))
    printed: list[str] = []
    for title, rows in parts:
        cells = [_cells(row) for row in rows]
        table = aligned(HEADS, cells, terminal_width()) if cells else ["nothing"]
        printed += [f"{title}:", *table, ""]
    return printed[:-1]


def _cells(row: Any) -> tuple[str, ...]:
    version = f" v{row['stage_version']}" if row["stage_version"] is not None else ""
    model = row["model"] or ", ".join(f"{name} {identity}" for name, identity in sorted((row["models"] or {}).items()))
    number = "" if row["number"] is None else str(row["number"])
    return (
        row["step"],
        number,
        row["decision"] or "",
        row["detail"] or "",
        f"{row['stage']}{version}",
        row["run_id"] or "",
        model,
    )
