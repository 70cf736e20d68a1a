"""Crowd votes: released worker answers in, agreed labels and Fleiss' kappa out (EDOS 3.2, Table 4).

The unit is a turn with its history, (dialogue_id, turn): a dialogue may occur cut at different turns.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.tables.outcome import Outcome

AGREED = "Agreed emotion (2/3 vote)"
ANSWERS = ("Worker 1 answer", "Worker 2 answer", "Worker 3 answer")
VOTE_COLUMNS = ("Count", "Index", "DialogID", "Dialog", AGREED, *ANSWERS)
"""The columns of the released file of worker answers."""

VOTE_FILE_OPTIONS = {"header": "true", "multiLine": "true", "quote": '"', "escape": '"', "encoding": "UTF-8"}
"""How Spark reads the released file: dialogues are quoted cells of several lines."""


def normalised_answer(answer: Column) -> Column:
    """An answer without its mark ` (Other)`, outer blanks and case; null when nothing is left."""
    plain = F.regexp_replace(F.lower(answer), r"\s*\(other\)\s*$", "")
    return F.nullif(F.trim(F.regexp_replace(plain, r"\s+", " ")), F.lit(""))


def is_specified(answer: Column) -> Column:
    """Whether the worker chose Other and named the label: the answer ends in ` (Other)`."""
    return answer.rlike(r"(?i)\(other\)\s*$")


def dialogue_turns(cell: Column) -> Column:
    """A released dialogue cell as its turns: one a line, without the prefixes `- ` and `- - `; no blank lines."""
    lines = F.split(F.coalesce(cell, F.lit("")), r"\r?\n")
    bare = F.transform(lines, lambda line: F.trim(F.regexp_replace(line, r"^\s*(?:-\s+)+", "")))
    return F.filter(bare, lambda line: line != "")


def answers_from_votes(votes: DataFrame, labels: Sequence[str], source: str) -> Outcome:
    """The released file of worker answers as one row an answer.

    Args:
        votes: the columns of ``VOTE_COLUMNS``, all strings (the agreed emotion may be missing: it is recomputed).
        labels: the taxonomy, lower case.
        source: what the rows' source column says.

    Returns:
        Outcome of ``edos.annotations``; worker_id is '1', '2', '3', the file has no other. The unit is the
        vote: three for each row of the file = rows + dropped units. Left out: rows without id or dialogue, a
        second row for the same (dialogue, turn), empty answers. An answer outside the taxonomy stays, its
        label null; the ledger reports it with units 0.

    Raises:
        InputError: the file lacks a column.
    """
    needed = [name for name in VOTE_COLUMNS if name not in ("Count", AGREED)]
    missing = [name for name in needed if name not in votes.columns]
    if missing:
        raise InputError(
            f"{source}: no column {', '.join(map(repr, missing))}; a file of votes has {', '.join(needed)}"
        )
    items = votes.select(
        F.nullif(F.trim("DialogID"), F.lit("")).alias("dialogue_id"),
        dialogue_turns(F.col("Dialog")).alias("turns"),
        F.regexp_extract(F.coalesce("Index", F.lit("")), r"^(\d(?:\.\d+)?)-", 1).alias("band"),
        F.trim(F.coalesce("Index", F.lit(""))).alias("item"),
        F.array(*(F.col(f"`{name}`") for name in ANSWERS)).alias("answers"),
    ).withColumn("turn", F.size("turns") - 1)
    same_unit = Window.partitionBy("dialogue_id", "turn").orderBy("item", "turns", "answers")
    ranked = items.withColumn("copy", F.row_number().over(same_unit)).withColumn(
        "fault",
        F.when(F.col("dialogue_id").isNull() | (F.col("turn") < 0), "no_dialogue").when(
            F.col("copy") > 1, "repeated_item"
        ),
    )
    answers = ranked.select("*", F.posexplode("answers").alias("position", "answer")).select(
        "dialogue_id", "turn", "turns", "item", "copy", "fault",
        (F.col("position") + 1).cast("string").alias("worker_id"),
        "answer",
        normalised_answer(F.col("answer")).alias("given"),
        F.coalesce(is_specified(F.col("answer")), F.lit(False)).alias("specified"),
        F.nullif("band", F.lit("")).alias("band"),
    )  # fmt: skip
    known = F.col("given").isin(*labels)
    answers = answers.withColumn("fault", F.coalesce("fault", F.when(F.col("given").isNull(), F.lit("no_answer"))))
    vote_id = F.concat_ws(
        "/", "item", F.coalesce("dialogue_id", F.lit("?")), F.col("turn").cast("string"), "worker_id",
        F.when(F.col("copy") > 1, F.concat(F.lit("copy "), F.col("copy").cast("string"))),
    )  # fmt: skip
    outside = F.col("fault").isNull() & ~known
    dropped = answers.filter(F.col("fault").isNotNull() | outside).select(
        F.lit("vote").alias("unit"),
        vote_id.alias("id"),
        F.coalesce("fault", F.lit("outside_taxonomy")).alias("reason"),
        F.coalesce("answer", F.lit("no answer")).alias("detail"),
        F.when(outside, 0).otherwise(1).cast("bigint").alias("units"),
    )
    rows = answers.filter(F.col("fault").isNull()).select(
        "dialogue_id", "turn", "worker_id", "turns", "answer",
        F.when(known, F.col("given")).alias("label"),
        "specified", "band", F.lit(source).alias("source"),
    )  # fmt: skip
    return Outcome(rows=rows, dropped=dropped)


def crowd_annotations(answers: DataFrame) -> DataFrame:
    """The crowd's answers on the page to dialogues, quiz and audit aside, as rows of ``edos.annotations``."""
    return answers.where((F.col("purpose") == "crowd") & F.col("quiz_label").isNull()).select(
        "dialogue_id", "turn", "worker_id", "turns", "answer", "label", "specified", "band",
        F.col("batch_id").alias("source"),
    )  # fmt: skip


def all_annotations(votes: DataFrame | None, answers: DataFrame, labels: Sequence[str]) -> Outcome:
    """Released votes and the page's answers together.

    Args:
        votes: a file of votes, or none.
        answers: ``edos.answers``.
        labels: the taxonomy.

    Returns:
        Outcome of ``edos.annotations``; the unit is the vote. A turn that was released with votes keeps those: the
        page's answers to it are left out.
    """
    page = crowd_annotations(answers)
    if votes is None:
        return Outcome(page, rows_in=page.count())
    released = answers_from_votes(votes, labels, "released votes")
    units = ["dialogue_id", "turn"]
    twice = page.join(released.rows.select(*units).distinct(), units, "left_semi").select(
        F.lit("vote").alias("unit"),
        F.concat_ws("/", "source", "dialogue_id", F.col("turn").cast("string"), "worker_id").alias("id"),
        F.lit("released_with_votes").alias("reason"),
        F.col("answer").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )
    rest = page.join(released.rows.select(*units).distinct(), units, "left_anti")
    assert released.dropped is not None
    return Outcome(
        released.rows.unionByName(rest), released.dropped.unionByName(twice), rows_in=3 * votes.count() + page.count()
    )


def majority(votes: Column) -> Column:
    """The vote that more than half of at least two voters gave; null without one (EDOS 3.2: two of three)."""
    most = F.filter(
        F.array_distinct(votes),
        lambda vote: F.size(F.filter(votes, lambda other: other == vote)) * 2 > F.size(votes),
    )
    return F.when(F.size(votes) >= 2, F.get(most, F.lit(0)))


def agree(annotations: DataFrame, labels: Sequence[str]) -> Outcome:
    """What the workers of each turn agreed on: a label where two of three do after normalising (EDOS 3.2).

    Args:
        annotations: the columns of ``edos.annotations``.
        labels: the taxonomy, lower case.

    Returns:
        Outcome of ``edos.crowd_labels``: votes as normalised, in order of worker_id. A majority for an
        answer outside the taxonomy gives label null and a ledger row (unit ``turn``, units 0).
    """
    answers = F.sort_array(F.collect_list(F.struct("worker_id", normalised_answer(F.col("answer")).alias("vote"))))
    agreed = (
        annotations.groupBy("dialogue_id", "turn")
        .agg(answers.alias("answers"), F.min("turns").alias("turns"), F.min("source").alias("source"))
        .withColumn("votes", F.col("answers")["vote"])
        .withColumn("most", majority(F.col("votes")))
    )
    known = F.col("most").isin(*labels)
    rows = agreed.select("dialogue_id", "turn", "turns", F.when(known, F.col("most")).alias("label"), "votes", "source")
    dropped = agreed.filter(~known).select(
        F.lit("turn").alias("unit"),
        F.concat_ws("/", "dialogue_id", F.col("turn").cast("string")).alias("id"),
        F.lit("majority_outside_taxonomy").alias("reason"),
        F.col("most").alias("detail"),
        F.lit(0).cast("bigint").alias("units"),
    )
    return Outcome(rows=rows, dropped=dropped)
