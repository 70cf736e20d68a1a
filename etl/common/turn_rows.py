"""Read the data that the authors of EDOS published: files with a row for each turn, with or without labels."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.labelled_files import columns_in, read_files, usable_files
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.turn_rows import DIALOGUES, DIALOGUES_DDL, dialogues_in

TURN: dict[str, tuple[str, ...]] = {"dialogue_id": ("dialogue_id", "dialog_id"), "text": ("text",)}
"""The columns of a turn, each with its names; other columns are ignored."""
LABELLED_TURN: dict[str, tuple[str, ...]] = TURN | {"label": ("label", "emotion"), "confidence": ("confidence",)}
"""Those of a turn with its label."""


def columns_of(header: Collection[str], asked: Mapping[str, tuple[str, ...]]) -> dict[str, str] | None:
    """Return the file's own name of each column asked for; None if it lacks one."""
    found = {role: next((name for name in names if name in header), "") for role, names in asked.items()}
    return found if all(found.values()) else None


def read_dialogues(
    spark: SparkSession,
    paths: Sequence[str],
    asked: Mapping[str, tuple[str, ...]],
    setting: str,
    labels: Collection[str] = (),
) -> Outcome:
    """Read dialogues from files (CSV, JSON Lines, JSON, each also ``.gz``) with a row for each turn.

    Neighbouring rows of one dialogue_id are a dialogue, its turns in the order of the rows. Of an id that occurs again,
    in the same file or another, the first dialogue stays.

    Args:
        asked: ``TURN`` or ``LABELLED_TURN``.

    Returns:
        Outcome of dialogue_id, texts, labels, confidences (arrays of equal length; the last two are empty without
        labels). The unit is the row of a file: its turn.

    Raises:
        InputError: no file is named, one is not there, or none has the columns.
    """
    files = usable_files(paths, (), setting)
    columns = {name: columns_of(columns_in(path), asked) for name, path in files.paths.items()}
    needs = ", ".join(" or ".join(names) for names in asked.values())
    unfit = [name for name, own in columns.items() if own is None]
    if len(unfit) == len(files):
        raise InputError(f"{setting}: no file has the columns {needs}; {unfit[0]} has others")
    own = {name: found for name, found in columns.items() if found is not None}
    skipped = [*files.skipped, *((name, "no_column", needs) for name in unfit)]
    fit = type(files)({name: files.paths[name] for name in own}, tuple(skipped))
    read = read_files(spark, fit, partial(dialogues_in, columns=own, labels=tuple(labels)), DIALOGUES, DIALOGUES_DDL)
    read = read.cache()
    total = read.agg(F.coalesce(F.sum("units"), F.lit(0))).collect()[0][0]
    return fit.with_skipped(without_repeated(read, int(total)), spark)


def without_repeated(read: DataFrame, rows_in: int) -> Outcome:
    """Return the first dialogue of each id, and the others and the faults as ledger rows.

    Args:
        read: rows of ``udfs.turn_rows.DIALOGUES``.
        rows_in: the rows of the files.
    """
    place = F.concat_ws(":", "file", F.when(F.col("line") > 0, F.col("line").cast("string")))
    faults = read.where(F.col("fault").isNotNull()).select(
        F.col("unit"), place.alias("id"), F.col("fault").alias("reason"), "detail", "units"
    )
    order = Window.partitionBy("dialogue_id").orderBy("file", "line")
    ordered = read.where(F.col("fault").isNull()).withColumn("copy", F.row_number().over(order))
    again = ordered.where(F.col("copy") > 1)
    repeated = dropped_columns("dialogue", place, "repeated_dialogue", F.col("units"), F.col("dialogue_id"))
    rows = ordered.where(F.col("copy") == 1).select("dialogue_id", "texts", "labels", "confidences")
    return Outcome(rows, faults.unionByName(again.select(*repeated)), rows_in=rows_in)


def own_film() -> Column:
    """Return the movie_id of a dialogue whose film is not published: one of its own, so that it is in one split."""
    return F.concat(F.lit("dialogue:"), F.col("dialogue_id"))
