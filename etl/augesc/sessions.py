"""Read support conversations between people, and draw the few that a model is tuned on (AugESC 4.1)."""

from collections.abc import Iterable
from pathlib import Path, PurePath

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.labelled_files import NamedFiles, distinct_names, read_files
from etl.common.splits import content_share
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.session_files import DDL, SCHEMA, sessions_in

ENDINGS = (".json", ".jsonl", ".tsv", ".json.gz", ".jsonl.gz", ".tsv.gz")
FAILED = "Failed"
"""The first word of the name of ESConv's file of sessions that failed its makers' checks."""
OPENING = 200
"""Number of leading letters and digits by which two versions of a talk are the same (ours). MultiESC and PPDPP change
blanks, merge turns and cut ends. 127 of the 130 talks in both are found by this rule."""
SITUATION = 40
"""Least number of letters and digits of an equal situation by which two talks are the same. Ours; finds the other 3."""


def read_sessions(spark: SparkSession, files: Iterable[str], contrast: Iterable[str]) -> DataFrame:
    """Read one row for each session in the files. A file named twice is read once.

    Args:
        files: files of sessions. Those whose name starts with ``FAILED`` are contrast files.
        contrast: files of sessions that failed their makers' checks.

    Returns:
        The columns of ``udfs.session_files``, and contrast boolean.
    """
    named = set(files)
    failed = set(contrast)
    failed |= {name for name in named if PurePath(name).name.startswith(FAILED)}
    names = distinct_names([Path(name) for name in sorted(named | failed)])
    contrasts = [name for path, name in names.items() if str(path) in failed]
    read = read_files(spark, NamedFiles({name: str(path) for path, name in names.items()}), sessions_in, SCHEMA, DDL)
    return read.withColumn("contrast", F.col("source").isin(*contrasts) if contrasts else F.lit(False))


def without_greetings(turns: Column, values: Column | None = None) -> Column:
    """Return the turns from the seeker's first turn, without the supporter's greetings (AugESC Table 2).

    Args:
        values: an array with a value of each turn, which is returned in their place.
    """
    kept = turns if values is None else values
    before = F.array_position(F.transform(turns, lambda turn: turn["role"]), "seeker").cast("int") - 1
    return F.when(before >= 0, F.slice(kept, before + 1, F.greatest(F.size(turns) - before, F.lit(1)))).otherwise(
        F.slice(kept, 1, 0)
    )


def talk_key(turns: Column) -> Column:
    """Return a hash of a talk's first letters and digits, without greetings. Versions of one talk have the same key."""
    text = F.array_join(F.transform(without_greetings(turns), lambda turn: turn["text"]), "")
    return F.sha2(F.substring(_letters(text), 1, OPENING), 256)


def situation_key(situation: Column) -> Column:
    """Return the letters and digits of the seeker's description before the talk; null if it is too short."""
    letters = _letters(situation)
    return F.when(F.char_length(letters) >= SITUATION, letters)


def _letters(text: Column) -> Column:
    return F.regexp_replace(F.lower(text), r"[^\p{L}\p{Nd}]", "")


def session_id(turns: Column) -> Column:
    """Return the start of a hash of roles and texts."""
    hashes = F.transform(turns, lambda turn: F.sha2(F.concat_ws(":", turn["role"], turn["text"]), 256))
    return F.concat(F.lit("s"), F.substring(F.sha2(F.concat_ws("", hashes), 256), 1, 16))


def usable_sessions(read: DataFrame, max_characters: int) -> Outcome:
    """Return the usable sessions, each talk once, and drop the others with a reason.

    The rules apply in this order: ``not_readable``, ``unknown_role``, ``missing_turns`` (see ``udfs.session_files``);
    ``one_speaker``: no turn of the seeker, or none of the supporter after it; ``too_long``; ``same_talk``. Of several
    versions of a talk, one with a problem type is preferred, then the one with most turns, because others have merged
    turns. Turns without words are removed and recorded in the ledger with 0 units.

    Args:
        read: rows of ``read_sessions``.
        max_characters: greatest total length of a session's texts.

    Returns:
        Outcome of ``augesc.sessions``. The unit is the session.
    """
    turns = F.coalesce("turns", F.array().cast("array<struct<role:string,text:string>>"))
    rows = read.withColumns(
        {
            "turns": turns,
            "strategies": F.coalesce("strategies", F.transform(turns, lambda turn: F.lit(None).cast("string"))),
            "session_id": session_id(turns),
            "talk": talk_key(turns),
            # Seekers start new talks on the same situation after failed ones.
            "situation_key": F.when(~F.col("contrast"), situation_key(F.col("situation"))),
        }
    )
    roles = F.transform(without_greetings(F.col("turns")), lambda turn: turn["role"])
    characters = F.aggregate("turns", F.lit(0), lambda total, turn: total + F.char_length(turn["text"]))
    first_faults = (
        F.when(F.col("fault").isNotNull(), F.struct(F.col("fault").alias("reason"), "detail"))
        .when(F.size(F.array_distinct(roles)) < 2, fault("one_speaker", F.size("turns"), " turns"))
        .when(characters > max_characters, fault("too_long", characters, " characters"))
    )
    rows = rows.withColumn("fault", first_faults)
    order = [
        F.col("fault").isNotNull(),
        F.col("contrast").desc(),
        F.col("problem").isNull(),
        F.size("turns").desc(),
        F.col("session_id"),
        F.col("place"),
    ]
    for key in ("talk", "situation_key"):
        window = Window.partitionBy(key).orderBy(*order)
        rows = rows.withColumns({"kept": F.first("place").over(window), "reading": F.row_number().over(window)})
        again = F.col("fault").isNull() & F.col(key).isNotNull() & (F.col("reading") > 1)
        rows = rows.withColumn("fault", F.when(again, fault("same_talk", F.col("kept"))).otherwise(F.col("fault")))
    dropped = rows.where(F.col("fault").isNotNull()).select(
        *dropped_columns("session", "place", F.col("fault.reason"), 1, F.col("fault.detail"))
    )
    empty = F.concat(F.col("empty_turns").cast("string"), F.lit(" turns without words"))
    emptied = rows.where(F.col("fault").isNull() & (F.col("empty_turns") > 0)).select(
        *dropped_columns("turn", "place", "empty_turn", 0, empty)
    )
    return Outcome(rows.where(F.col("fault").isNull()), dropped.unionByName(emptied))


def training_draw(sessions: DataFrame, size: int, seed: int) -> Outcome:
    """Draw training sessions as evenly over the problem types as the data allow (AugESC 4.1).

    The sessions of each problem type are ordered by a hash of seed and id. Each round draws the next session of every
    type. In the last round the types are ordered by their hash. The supporter's leading greetings are removed (AugESC
    Table 2).

    Args:
        sessions: ``augesc.sessions``.

    Returns:
        Outcome of ``augesc.training_sessions``. The others are dropped as ``contrast``, ``no_problem_type`` or
        ``not_drawn``.
    """
    unfit = F.when(F.col("contrast"), "contrast").when(F.col("problem").isNull(), "no_problem_type")
    salt = f"training {seed}"
    detail = F.coalesce("problem", F.lit(""))
    flagged = sessions.withColumns({"unfit": unfit, "share": content_share(F.col("session_id"), salt=salt)})
    types = Window.partitionBy("problem")
    fit = flagged.where(F.col("unfit").isNull()).withColumns(
        {
            "round": F.row_number().over(types.orderBy("share", "session_id")),
            "available": F.count("*").over(types).cast("int"),
        }
    )
    order = Window.partitionBy(F.lit(0)).orderBy("round", content_share(F.col("problem"), salt=salt), "problem")
    turns = F.col("turns")
    whole = {"turns": without_greetings(turns), "strategies": without_greetings(turns, F.col("strategies"))}
    placed = fit.withColumns({"place": F.row_number().over(order), **whole})
    rest = placed.where(F.col("place") > size).select(*dropped_columns("session", "session_id", "not_drawn", 1, detail))
    unfit_rows = flagged.where(F.col("unfit").isNotNull())
    dropped = unfit_rows.select(*dropped_columns("session", "session_id", F.col("unfit"), 1, detail)).unionByName(rest)
    return Outcome(placed.where(F.col("place") <= size), dropped)


def held_out_sessions(sessions: DataFrame, drawn: DataFrame, number: int) -> DataFrame:
    """Return session_id and turns of at most ``number`` sessions without training rows, by a hash of their ids (ours).

    Args:
        sessions: ``augesc.sessions``. Contrast sessions are ignored.
        drawn: ``augesc.training_sessions``.
    """
    order = content_share(F.col("session_id"), salt="held out")
    rest = sessions.where(~F.col("contrast")).join(drawn.select("session_id"), "session_id", "left_anti")
    first = rest.orderBy(order, "session_id").limit(number)
    return first.select("session_id", without_greetings(F.col("turns")).alias("turns"))
