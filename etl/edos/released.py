"""Read the released machine labels: similar, self-labelled and similar self-labelled dialogues."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.columns import fault
from etl.edos.labelled_rows import FAULT, split_kept_dropped
from etl.edos.votes import dialogue_turns, normalised_answer
from etl.tables.outcome import Outcome


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


FORMS = (
    ReleasedForm("similar", "cos_sim", "amt_dialog_id", "amt_dialog"),
    ReleasedForm("similar_self", "cos_sim", "high_dialog_id", "high_dialog"),
    ReleasedForm("self", "confidence"),
)
COMMON = ("os_dialog_id", "os_dialog", "emotion")
ROWS = (
    "origin string, dialogue_id string, turn int, turns array<string>, label string, score double, matched_id string, "
    "matched_turns array<string>"
)


def form_of(columns: list[str], source: str) -> ReleasedForm:
    """Return the form of a file with these columns.

    Raises:
        InputError: the columns match no form.
    """
    for form in FORMS:
        needed = {*COMMON, form.score, *filter(None, (form.matched_id, form.matched))}
        if needed <= set(columns):
            return form
    raise InputError(
        f"{source}: no file of similar or self-labelled dialogues; these have {', '.join(COMMON)} and "
        "cos_sim, amt_dialog_id, amt_dialog or cos_sim, high_dialog_id, high_dialog or confidence"
    )


def released_rows(file: DataFrame, source: str) -> DataFrame:
    """Return the rows of one released file. The label belongs to a dialogue's last turn (EDOS Table 8).

    Args:
        file: columns of one of ``FORMS``, all strings.
        source: name of the file for error messages.

    Returns:
        origin, dialogue_id, turn, turns, label (lower case), score double, matched_id ``<dialogue_id>/<turn>``,
        matched_turns.
    """
    form = form_of(file.columns, source)
    matched_id, matched_turns = F.lit(None).cast("string"), F.lit(None).cast("array<string>")
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
        "origin", "dialogue_id", (F.size("turns") - 1).alias("turn"), "turns", "label", "score",
        F.when(F.col("matched").isNotNull(), matched).alias("matched_id"), "matched_turns",
    )  # fmt: skip


def no_released_rows(spark: SparkSession) -> DataFrame:
    """Return an empty frame with the columns of ``released_rows``."""
    return spark.createDataFrame([], ROWS)


def released_dialogues(rows: DataFrame, labels: tuple[str, ...]) -> Outcome:
    """Return the usable rows of all files as an outcome of ``edos.released_dialogues``, each unit once per origin.

    Args:
        rows: rows of ``released_rows``.
        labels: the taxonomy.
    """
    same = Window.partitionBy("origin", "dialogue_id", "turn").orderBy(
        F.col("score").desc_nulls_last(), "label", "matched_id", "turns"
    )
    flagged = rows.withColumn("copy", F.row_number().over(same)).withColumn(
        FAULT,
        F.when(F.col("dialogue_id").isNull() | (F.col("turn") < 0), fault("no_dialogue", F.col("origin")))
        .when(~F.coalesce(F.col("label").isin(*labels), F.lit(False)),
              fault("outside_taxonomy", F.coalesce("label", F.lit("no label"))))
        .when(F.col("score").isNull() | ~F.col("score").between(0, 1), fault("no_score", F.col("origin")))
        .when(F.col("copy") > 1, fault("repeated_row", F.col("origin"), " ", F.col("label"))),
    )  # fmt: skip
    return split_kept_dropped(flagged.drop("copy"))
