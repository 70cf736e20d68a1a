"""Make quiz items from the situations of EmpatheticDialogues, whose emotion is known (EDOS 3.2)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.hashes import content_order, shuffled
from etl.common.labelled_files import labelled_rows, noted
from etl.pipeline.stage_run import StageRun

COLUMNS = ("Dialog_ID", "Type", "Text")
"""The required columns of the EmpatheticDialogues file."""
EMOTION = "context"
"""Its column of a conversation's emotion. A file without it is named after its one emotion, as in afraid.csv."""
CHARACTERS = (20, 160)
"""Shorter and longer situations are no quiz (ours)."""


def situations(dialogues: DataFrame, labels: Sequence[str]) -> DataFrame:
    """Return the situations usable in a quiz as distinct (dialogue_id, text, quiz_label).

    Args:
        dialogues: the rows of EmpatheticDialogues with `place` as ``<file>:<line>``, all strings.
        labels: the taxonomy. Situations with another emotion are dropped.
    """
    text = F.trim(F.regexp_replace("Text", r"\s+", " "))
    emotion = F.coalesce(EMOTION, F.regexp_extract("place", r"(?<![^/.:])([^/.:]+)\.[^/]*$", 1))
    rows = dialogues.where(F.lower("Type") == "situation").select(
        F.col("Dialog_ID").alias("dialogue_id"), text.alias("text"), F.lower(F.trim(emotion)).alias("quiz_label")
    )
    fit = rows.where(F.col("quiz_label").isin(*labels) & F.length("text").between(*CHARACTERS))
    first = F.row_number().over(Window.partitionBy(F.lower("text")).orderBy("dialogue_id", "quiz_label"))
    return fit.withColumn("copy", first).where(F.col("copy") == 1).drop("copy")


def situations_of(
    run: StageRun, path: str | None, setting: str, labels: Sequence[str]
) -> tuple[DataFrame | None, DataFrame | None]:
    """Return the run's `situations` and the ledger rows of what cannot be read; None and None without the file.

    Args:
        setting: ``edos.empathetic_dialogues``, for messages.
        labels: see `situations`.
    """
    if path is None:
        run.say(f"{setting} is not set: HITs without a quiz")
        return None, None
    read = labelled_rows(run.spark, [path], COLUMNS, setting, optional=(EMOTION,))
    return situations(read.rows, labels), noted(read)


def quiz_items(hits: DataFrame, pool: DataFrame, each: int, seed: int) -> DataFrame:
    """Draw the situations of each HIT by content and seed. The pool is reused from the start when it is exhausted.

    The two wrong options are emotions of the pool, drawn by content. The paper does not say which were offered.

    Args:
        hits: hit (from 0), hit_id.
        pool: rows of ``situations``.
        each: quiz items per HIT, without repetition within a HIT.

    Returns:
        hit_id, dialogue_id, turn (0), turns, options, quiz_label.

    Raises:
        InputError: the pool has too few situations for one HIT, or fewer than three emotions.
    """
    size = pool.count()
    if size < each:
        raise InputError(
            f"edos.empathetic_dialogues: {size} situations fit a quiz, but a HIT needs {each}: give situations "
            "with labels of edos.taxonomy, or set edos.annotation.quiz_per_hit=0"
        )
    known = [row[0] for row in pool.select("quiz_label").distinct().orderBy("quiz_label").collect()]
    if len(known) < 3:
        raise InputError("edos.empathetic_dialogues: a quiz needs situations of three emotions or more")
    order = Window.orderBy(content_order(F.col("dialogue_id"), F.col("text"), seed=seed, of="quiz"))
    numbered = pool.withColumn("number", F.row_number().over(order) - 1)
    wanted = hits.select("hit_id", F.explode(F.sequence(F.col("hit") * each, (F.col("hit") + 1) * each - 1)).alias("n"))
    items = wanted.withColumn("number", (F.col("n") % size).cast("int")).join(numbered, "number")
    others = F.filter(F.array(*map(F.lit, known)), lambda label: label != F.col("quiz_label"))
    drawn = F.slice(shuffled(others, F.col("hit_id"), F.col("text"), seed=seed, of="others"), 1, 2)
    offered = F.concat(F.array("quiz_label"), drawn)
    return items.select(
        "hit_id",
        "dialogue_id",
        F.lit(0).alias("turn"),
        F.array("text").alias("turns"),
        shuffled(offered, F.col("hit_id"), F.col("text"), seed=seed, of="options").alias("options"),
        "quiz_label",
    )
