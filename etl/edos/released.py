"""Read the released machine labels: similar, self-labelled and similar self-labelled dialogues."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import fault
from etl.common.labelled_files import columns_in, labelled_rows, usable_files
from etl.edos.labelled_rows import FAULT, split_kept_dropped
from etl.edos.votes import dialogue_turns, normalised_answer
from etl.pipeline.outcome import DROPPED_DDL, Outcome


@dataclass(frozen=True)
class ReleasedForm:
    """The columns of one kind of released file.

    Attributes:
        origin: origin of its rows.
        score: cosine or confidence.
        matched_id, matched: the dialogue whose label was copied; None for self-labelled rows.
    """

    origin: str
    score: str
    matched_id: str | None = None
    matched: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its files."""
        return (*COMMON, self.score, *filter(None, (self.matched_id, self.matched)))


FORMS = (
    ReleasedForm("similar", "cos_sim", "amt_dialog_id", "amt_dialog"),
    ReleasedForm("similar_self", "cos_sim", "high_dialog_id", "high_dialog"),
    ReleasedForm("self", "confidence"),
)
COMMON = ("os_dialog_id", "os_dialog", "emotion")
FORM_NEEDS = f"{', '.join(COMMON)}, and one of: " + "; ".join(", ".join(one.columns[len(COMMON) :]) for one in FORMS)
ROWS = (
    "origin string, dialogue_id string, turn int, turns array<string>, label string, score double, matched_id string, "
    "matched_turns array<string>"
)


def form_of(columns: Collection[str]) -> ReleasedForm | None:
    """Return the form of a file with these columns, if there is one."""
    return next((form for form in FORMS if set(form.columns) <= set(columns)), None)


def read_released(spark: SparkSession, paths: Sequence[str], setting: str) -> Outcome:
    """Read released files of any form, each by its own header, as ``ROWS``. The unit is the dialogue.

    Raises:
        InputError: a file is not there, or none has the columns of a form.
    """
    rows = spark.createDataFrame([], ROWS)
    if not paths:
        return Outcome(rows, rows_in=0)
    files = usable_files(paths, COMMON, setting)
    forms = {path: form_of(columns_in(path)) for path in files}
    unknown = [(name, "no_column", FORM_NEEDS) for name, path in files.paths.items() if forms[path] is None]
    if len(unknown) == len(files):
        raise InputError(f"{setting}: no file of similar or self-labelled dialogues; these have {FORM_NEEDS}")
    dropped = spark.createDataFrame([("file", *one, 0) for one in (*files.skipped, *unknown)], DROPPED_DDL)
    rows_in = 0
    for form in FORMS:
        own = [path for path, its in forms.items() if its == form]
        if own:
            ids = tuple(filter(None, (COMMON[0], form.matched_id)))
            read = labelled_rows(spark, own, form.columns, setting, ids=ids)
            rows = rows.unionByName(released_rows(read.rows, form))
            rows_in = rows_in + (read.rows_in or 0)
            dropped = dropped.unionByName(read.dropped) if read.dropped is not None else dropped
    return Outcome(rows, dropped, rows_in=rows_in)


def released_rows(file: DataFrame, form: ReleasedForm) -> DataFrame:
    """Return the rows of released files of one form. The label belongs to a dialogue's last turn (EDOS Table 8).

    Args:
        form: one of ``FORMS``.

    Returns:
        origin, dialogue_id, turn, turns, label (lower case), score double, matched_id ``<dialogue_id>/<turn>``,
        matched_turns.
    """
    matched_id = F.lit(None).cast("string")
    matched_turns = F.lit(None).cast("array<string>")
    if form.matched_id and form.matched:
        matched_id = F.nullif(F.trim(form.matched_id), F.lit(""))
        matched_turns = dialogue_turns(F.col(form.matched))
    rows = file.select(
        F.lit(form.origin).alias("origin"),
        F.nullif(F.trim("os_dialog_id"), F.lit("")).alias("dialogue_id"),
        dialogue_turns(F.col("os_dialog")).alias("turns"),
        normalised_answer(F.col("emotion")).alias("label"),
        F.round(F.expr(f"try_cast({form.score} AS double)"), 4).alias("score"),
        matched_id.alias("matched"),
        matched_turns.alias("matched_turns"),
    )
    matched = F.concat_ws("/", "matched", (F.size("matched_turns") - 1).cast("string"))
    return rows.select(
        "origin",
        "dialogue_id",
        (F.size("turns") - 1).alias("turn"),
        "turns",
        "label",
        "score",
        F.when(F.col("matched").isNotNull(), matched).alias("matched_id"),
        "matched_turns",
    )


def released_dialogues(rows: DataFrame, labels: Sequence[str]) -> Outcome:
    """Return the usable rows of all files as an outcome of ``edos.released_dialogues``, each unit once per origin.

    Args:
        rows: rows of ``released_rows``.
    """
    same = Window.partitionBy("origin", "dialogue_id", "turn").orderBy(
        F.col("score").desc_nulls_last(), "label", "matched_id", "turns"
    )
    flagged = rows.withColumn("copy", F.row_number().over(same)).withColumn(
        FAULT,
        F.when(F.col("dialogue_id").isNull() | (F.col("turn") < 0), fault("no_dialogue", F.col("origin")))
        .when(
            ~F.coalesce(F.col("label").isin(*labels), F.lit(False)),
            fault("outside_taxonomy", F.coalesce("label", F.lit("no label"))),
        )
        .when(F.col("score").isNull() | ~F.col("score").between(0, 1), fault("no_score", F.col("origin")))
        .when(F.col("copy") > 1, fault("repeated_row", F.col("origin"), " ", F.col("label"))),
    )
    return split_kept_dropped(flagged.drop("copy"))
