"""Support conversations between people: which are used, and the few that a model is tuned on (AugESC 4.1)."""

from collections.abc import Sequence
from pathlib import PurePath

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.splits import content_share
from etl.tables.outcome import Outcome
from udfs.session_files import DDL, read_batches

ENDINGS = (".json", ".jsonl", ".tsv", ".json.gz", ".jsonl.gz", ".tsv.gz")
FAILED = "Failed"
"""How ESConv's makers begin the name of the file of sessions that failed their checks."""
OPENING = 200
"""Letters and digits at the start of a talk by which two readings of it are known for the same. Ours: MultiESC and
PPDPP change blanks, merge turns and cut ends; 127 of 130 talks that both have agree in so many."""
SITUATION = 40
"""Letters and digits from which on two equal descriptions of a situation mean one talk. Ours; it finds the other 3."""


def read_sessions(spark: SparkSession, files: Sequence[str], contrast: Sequence[str]) -> DataFrame:
    """One row for each session in the files; see ``udfs.session_files``. A file named twice is read once.

    Args:
        files: of sessions.
        contrast: of sessions that failed their makers' checks; what is in both is contrast, and what is named so.

    Returns:
        The columns of ``udfs.session_files``, and contrast boolean.
    """
    failed = {*contrast, *(name for name in files if PurePath(name).name.startswith(FAILED))}
    rows = spark.createDataFrame([], DDL).withColumn("contrast", F.lit(False))
    for names, is_contrast in ((sorted(set(files) - failed), False), (sorted(failed), True)):
        if names:
            contents = spark.read.format("binaryFile").load(names).select("path", "content")
            read = contents.mapInArrow(read_batches, DDL)  # type: ignore[arg-type]
            rows = rows.unionByName(read.withColumn("contrast", F.lit(is_contrast)))
    return rows


def without_greetings(turns: Column) -> Column:
    """The turns from the seeker's first on: what supporters say before is uninformative greetings (AugESC Table 2)."""
    before = F.array_position(F.transform(turns, lambda turn: turn["role"]), "seeker").cast("int") - 1
    return F.when(before >= 0, F.slice(turns, before + 1, F.greatest(F.size(turns) - before, F.lit(1)))).otherwise(
        F.slice(turns, 1, 0)
    )


def talk_key(turns: Column) -> Column:
    """By what two readings of one talk are the same: its first letters and digits, greetings aside."""
    said = F.array_join(F.transform(without_greetings(turns), lambda turn: turn["text"]), "")
    letters = F.regexp_replace(F.lower(said), r"[^\p{L}\p{Nd}]", "")
    return F.sha2(F.substring(letters, 1, OPENING), 256)


def situation_key(situation: Column) -> Column:
    """The letters and digits of what the seeker wrote before the talk; null for few words, which others write, too."""
    letters = F.regexp_replace(F.lower(situation), r"[^\p{L}\p{Nd}]", "")
    return F.when(F.char_length(letters) >= SITUATION, letters)


def session_id(turns: Column) -> Column:
    """The start of a digest of roles and texts."""
    said = F.transform(turns, lambda turn: F.sha2(F.concat_ws(":", turn["role"], turn["text"]), 256))
    return F.concat(F.lit("s"), F.substring(F.sha2(F.concat_ws("", said), 256), 1, 16))


def usable_sessions(read: DataFrame, max_characters: int) -> Outcome:
    """The sessions that can be used, each talk once; the others with the reason.

    Rules, in this order: ``not_readable``, ``unknown_role``, ``missing_turns`` (see ``udfs.session_files``),
    ``one_speaker`` (no turn of the seeker's, or none of the supporter's after it), ``too_long``, ``same_talk`` (of
    several readings of one talk the one that names a problem and then has most turns stays: merged turns are not as
    people wrote them). Turns without words leave their session, which the ledger reports with units 0.

    Args:
        read: of ``read_sessions``.
        max_characters: of all texts together.

    Returns:
        Outcome of ``augesc.sessions``; the unit is the session.
    """
    turns = F.coalesce("turns", F.array().cast("array<struct<role:string,text:string>>"))
    told = F.when(~F.col("contrast"), situation_key(F.col("situation")))  # seekers begin anew after failed talks
    rows = read.withColumns(
        {
            "turns": turns,
            "session_id": session_id(turns),
            "talk": talk_key(turns),
            "told": told,
        }
    )
    roles = F.transform(without_greetings(F.col("turns")), lambda turn: turn["role"])
    characters = F.aggregate("turns", F.lit(0), lambda total, turn: total + F.char_length(turn["text"]))
    first_faults = (
        F.when(F.col("fault").isNotNull(), F.struct(F.col("fault").alias("reason"), "detail"))
        .when(F.size(F.array_distinct(roles)) < 2, fault("one_speaker", F.size("turns"), " turns"))
        .when(characters > max_characters, fault("too_long", characters, " characters"))
    )  # fmt: skip
    rows = rows.withColumn("fault", first_faults)
    order = [
        F.col("fault").isNotNull(), F.col("contrast").desc(), F.col("problem").isNull(), F.size("turns").desc(),
        F.col("session_id"), F.col("place"),
    ]  # fmt: skip
    for key in ("talk", "told"):
        window = Window.partitionBy(key).orderBy(*order)
        rows = rows.withColumns({"kept": F.first("place").over(window), "reading": F.row_number().over(window)})
        again = F.col("fault").isNull() & F.col(key).isNotNull() & (F.col("reading") > 1)
        rows = rows.withColumn("fault", F.when(again, fault("same_talk", F.col("kept"))).otherwise(F.col("fault")))
    left_out = rows.where(F.col("fault").isNotNull()).select(
        F.lit("session").alias("unit"), F.col("place").alias("id"), "fault.reason", "fault.detail",
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    emptied = rows.where(F.col("fault").isNull() & (F.col("empty_turns") > 0)).select(
        F.lit("turn").alias("unit"), F.col("place").alias("id"), F.lit("empty_turn").alias("reason"),
        F.concat(F.col("empty_turns").cast("string"), F.lit(" turns without words")).alias("detail"),
        F.lit(0).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows.where(F.col("fault").isNull()), left_out.unionByName(emptied))


def training_draw(sessions: DataFrame, size: int, seed: int) -> Outcome:
    """Sessions to tune on, drawn as evenly over the problem types as the data allow (AugESC 4.1).

    In each problem type the sessions stand in the order of a digest of seed and id. Rounds take the next one of every
    type; in the last round the types stand in the order of their digest. A type with few sessions gives them all.
    Leading greetings of supporters are removed (AugESC Table 2).

    Args:
        sessions: ``augesc.sessions``.
        size: how many.
        seed: another seed, another draw.

    Returns:
        Outcome of ``augesc.training_sessions``, with how many sessions the type had; the others are dropped as
        ``contrast``, ``no_problem_type`` or ``not_drawn``.
    """
    unfit = F.when(F.col("contrast"), "contrast").when(F.col("problem").isNull(), "no_problem_type")
    flagged = sessions.withColumn("unfit", unfit).withColumn(
        "share", content_share(F.col("session_id"), salt=f"training {seed}")
    )
    types = Window.partitionBy("problem")
    turn_of = F.row_number().over(types.orderBy("share", "session_id"))
    fit = flagged.where(F.col("unfit").isNull()).withColumns(
        {"round": turn_of, "available": F.count("*").over(types).cast("int")}
    )
    order = Window.partitionBy(F.lit(0)).orderBy(
        "round", content_share(F.col("problem"), salt=f"training {seed}"), "problem"
    )
    placed = fit.withColumn("place", F.row_number().over(order)).withColumn(
        "turns", without_greetings(F.col("turns"))
    )  # fmt: skip
    rest = placed.where(F.col("place") > size).select("session_id", F.lit("not_drawn").alias("reason"), "problem")
    unfit_rows = flagged.where(F.col("unfit").isNotNull()).select(
        "session_id", F.col("unfit").alias("reason"), "problem"
    )
    dropped = unfit_rows.unionByName(rest).select(
        F.lit("session").alias("unit"), F.col("session_id").alias("id"), "reason",
        F.coalesce("problem", F.lit("")).alias("detail"), F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(placed.where(F.col("place") <= size), dropped)


def held_out_sessions(sessions: DataFrame, drawn: DataFrame, number: int) -> DataFrame:
    """So many sessions that no model is tuned on, by a digest of their ids, without greetings; ours.

    Args:
        sessions: ``augesc.sessions``; those that failed their makers' checks are no measure.
        drawn: ``augesc.training_sessions``.
        number: how many, if there are so many.

    Returns:
        session_id, turns.
    """
    order = content_share(F.col("session_id"), salt="held out")
    rest = sessions.where(~F.col("contrast")).join(drawn.select("session_id"), "session_id", "left_anti")
    return (
        rest.orderBy(order, "session_id")
        .limit(number)
        .select("session_id", without_greetings(F.col("turns")).alias("turns"))
    )
