"""Read the crowd's votes and find the labels that workers agree on (EDOS 3.2, Table 4).

The unit is a turn with its history, (dialogue_id, turn). A dialogue can occur several times, cut at different turns.
"""

import re
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.edos.labelled_rows import unit_id
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.labelled_files import MISSING

ANSWERS = ("Worker 1 answer", "Worker 2 answer", "Worker 3 answer")
VOTE_COLUMNS = ("Index", "DialogID", "Dialog", *ANSWERS)
"""The columns of the released file of worker answers that are read. The agreed emotion is computed again."""
VOTE_IDS = ("DialogID",)
BLANK = r"[\s\p{Z}\p{Cc}]"
"""A blank of any kind, for Java: its ``\\s`` has no NBSP."""
LINE_BREAK = (
    r"(?:\r\n?|[\n\x0B\f\u0085\u2028\u2029]|\\r\\n|\\[rnN]|_x000[DdAa]_|&#(?:10|13|x0?[AaDd]);"
    r"|(?i:(?:<|&lt;)/?(?:br|p|div|li)\s?/?(?:>|&gt;)))"
)
"""An end of a line within a cell, for Java: of any system, of HTML, and as it is escaped in tables."""
NO_WORD = ("none", "na", "-", "--")
"""Cells without an answer, unless it is a label or an own word ``None (Other)``."""
MOST_SEVERAL = 500
"""Characters of an answer in which several options are looked for."""


def normalised_answer(answer: Column) -> Column:
    """Return an answer in lower case, without the mark ` (Other)` and outer blanks; null if it is empty or missing."""
    seen = F.trim(F.regexp_replace(F.regexp_replace(F.lower(answer), r"\p{Cf}+", ""), rf"{BLANK}+", " "))
    plain = F.trim(F.regexp_replace(seen, r" ?\(other\)$", ""))
    return F.when((plain != "") & ~seen.isin(*MISSING), plain)


def _is_own_word(answer: Column) -> Column:
    return answer.rlike(rf"(?i)\(other\){BLANK}*$")


def several_options(answer: Column, labels: Sequence[str]) -> Column:
    """Return whether an answer holds more than one label, as cells of checkboxes do: ``Sad|Angry``.

    Two labels that a worker wrote as an own word, ``angry, annoyed (Other)``, are one answer.
    """
    given = F.left(F.coalesce(answer, F.lit("")), F.lit(MOST_SEVERAL))
    own = _is_own_word(given)
    parts = F.transform(F.split(given, rf"\||{LINE_BREAK}"), normalised_answer)
    known = F.exists(parts, lambda part: part.isin(*labels))
    known &= F.size(F.filter(parts, lambda part: part.isNotNull())) > 1  # a line end behind one option parts nothing
    one = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    between = rf"(?:{LINE_BREAK}|[^\p{{L}}\p{{N}}]|\b(?:and|or)\b)++"
    others = rf"(?:{between}(?:{one})){{1,{MOST_SEVERAL}}}"
    only_labels = F.lower(given).rlike(rf"(?i)^(?:{between})?(?:{one}){others}(?:{between})?$")
    several = only_labels | known | ((F.size(parts) > 1) & F.contains(given, F.lit("|")))
    return several & ~own & ~F.coalesce(normalised_answer(given).isin(*labels), F.lit(False))


def dialogue_turns(cell: Column) -> Column:
    """Split a released dialogue cell into turns, one per line, without blank lines and the prefixes `- ` and `- - `.

    NULs are left out. A cell that is missing (``nan``, ``#NAME?``) has none.
    """
    lines = F.split(F.regexp_replace(F.coalesce(cell, F.lit("")), "\\x00", ""), LINE_BREAK)
    ends = rf"^{BLANK}*+(?:-{BLANK}++)*+|(?<!{BLANK}){BLANK}++$"
    bare = F.transform(lines, lambda line: F.regexp_replace(line, ends, ""))
    missing = F.lower(F.trim(cell)).isin(*MISSING)
    return F.filter(bare, lambda line: (line != "") & ~F.coalesce(missing, F.lit(False)))


def answers_from_votes(votes: DataFrame, labels: Sequence[str], source: str) -> Outcome:
    """Return the released file of worker answers with one row per answer.

    Dropped are rows without id or dialogue, a second row for the same (dialogue, turn), and empty answers. An answer
    outside the taxonomy is kept with a null label and recorded in the ledger with 0 units.

    Args:
        votes: the columns of ``VOTE_COLUMNS``, all strings.
        labels: the taxonomy, lower case.
        source: value of the column source.

    Returns:
        Outcome of ``edos.annotations``, with worker_id '1', '2' or '3', as the file has no other id. The unit is the
        vote, three for each row of the file.
    """
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
        "dialogue_id",
        "turn",
        "turns",
        "item",
        "copy",
        "fault",
        (F.col("position") + 1).cast("string").alias("worker_id"),
        "answer",
        normalised_answer(F.col("answer")).alias("given"),
        F.coalesce(_is_own_word(F.col("answer")), F.lit(False)).alias("specified"),
        F.nullif("band", F.lit("")).alias("band"),
    )
    no_word = F.col("given").isin(*(word for word in NO_WORD if word not in labels)) & ~F.col("specified")
    answers = answers.withColumn("given", F.when(~no_word, F.col("given")))
    answers = answers.withColumn("fault", F.coalesce("fault", F.when(F.col("given").isNull(), F.lit("no_answer"))))
    several = F.when(several_options(F.col("answer"), labels), F.lit("several_options"))
    answers = answers.withColumn("fault", F.coalesce("fault", several))
    vote_id = F.concat_ws(
        "/",
        "item",
        F.coalesce("dialogue_id", F.lit("?")),
        F.col("turn").cast("string"),
        "worker_id",
        F.when(F.col("copy") > 1, F.concat(F.lit("copy "), F.col("copy").cast("string"))),
    )
    answers = answers.withColumn("label", F.when(F.col("given").isin(*labels), F.col("given")))
    dropped = refused_answers(answers, "vote", vote_id, F.coalesce("answer", F.lit("no answer")))
    rows = answers.filter(F.col("fault").isNull()).select(
        "dialogue_id",
        "turn",
        "worker_id",
        "turns",
        "answer",
        "label",
        "specified",
        "band",
        F.lit(source).alias("source"),
    )
    return Outcome(rows, dropped)


def refused_answers(answers: DataFrame, unit: str, unit_id: Column, detail: Column, label: str = "label") -> DataFrame:
    """Return ledger rows of the answers with a fault; an answer outside the taxonomy has one of 0 units.

    Args:
        answers: fault and the label, null outside the taxonomy.
        unit, unit_id, detail: see `dropped_columns`.
        label: column of the label.
    """
    outside = F.col("fault").isNull() & F.col(label).isNull()
    reason = F.coalesce("fault", F.lit("outside_taxonomy"))
    columns = dropped_columns(unit, unit_id, reason, F.when(outside, 0).otherwise(1), detail)
    return answers.where(F.col("fault").isNotNull() | outside).select(*columns)


def all_annotations(votes: Outcome | None, answers: DataFrame, labels: Sequence[str]) -> Outcome:
    """Return released votes and the crowd's answers on the page together.

    Answers to quiz items are ignored. The page's answers to a turn with released votes are dropped.

    Args:
        votes: rows of files of votes, with ledger rows of those that cannot be read, or None.
        answers: ``edos.answers``.

    Returns:
        Outcome of ``edos.annotations``. The unit is the vote.
    """
    page = answers.where((F.col("purpose") == "crowd") & F.col("quiz_label").isNull()).select(
        "dialogue_id",
        "turn",
        "worker_id",
        "turns",
        "answer",
        "label",
        "specified",
        "band",
        F.col("batch_id").alias("source"),
    )
    if votes is None:
        return Outcome(page, rows_in=page.count())
    released = answers_from_votes(votes.rows, labels, "released votes")
    units = ["dialogue_id", "turn"]
    known = released.rows.select(*units).distinct()
    vote_id = F.concat_ws("/", "source", unit_id(), "worker_id")
    twice = page.join(known, units, "left_semi").select(
        *dropped_columns("vote", vote_id, "released_with_votes", 1, F.col("answer"))
    )
    rest = page.join(known, units, "left_anti")
    assert released.dropped is not None
    assert votes.dropped is not None
    unread = votes.dropped.withColumn("units", F.col("units") * len(ANSWERS))
    dropped = released.dropped.unionByName(twice).unionByName(unread)
    rows_in = len(ANSWERS) * (votes.rows_in or 0) + page.count()
    return Outcome(released.rows.unionByName(rest), dropped, rows_in=rows_in)


def majority(votes: Column) -> Column:
    """Return the vote of more than half of at least two voters; null if there is none (EDOS 3.2: two of three)."""
    most = F.filter(
        F.array_distinct(votes),
        lambda vote: F.size(F.filter(votes, lambda other: other == vote)) * 2 > F.size(votes),
    )
    return F.when(F.size(votes) >= 2, F.get(most, F.lit(0)))


def vote_shares(votes: Column, labels: Sequence[str]) -> Column:
    """Return the share of the votes of each label of the taxonomy, as (label, probability), the largest first."""
    share = F.transform(
        F.filter(F.array_distinct(votes), lambda vote: vote.isin(*labels)),
        lambda vote: F.struct(
            F.round(-F.size(F.filter(votes, lambda other: other == vote)) / F.size(votes), 4).alias("order"),
            vote.alias("label"),
        ),
    )
    return F.transform(
        F.array_sort(share), lambda one: F.struct(one["label"].alias("label"), (-one["order"]).alias("probability"))
    )


def agree(annotations: DataFrame, labels: Sequence[str]) -> Outcome:
    """Return the label of each turn on which two of three workers agree after normalising (EDOS 3.2).

    A majority for an answer outside the taxonomy gives a null label and a ledger row with 0 units.

    Args:
        annotations: ``edos.annotations``.
        labels: the taxonomy, lower case.

    Returns:
        Outcome of ``edos.crowd_labels``, with the normalised votes in order of worker_id.
    """
    answers = F.sort_array(F.collect_list(F.struct("worker_id", normalised_answer(F.col("answer")).alias("vote"))))
    agreed = (
        annotations.groupBy("dialogue_id", "turn")
        .agg(answers.alias("answers"), F.min("turns").alias("turns"), F.min("source").alias("source"))
        .withColumn("votes", F.col("answers")["vote"])
        .withColumn("most", majority(F.col("votes")))
    )
    known = F.col("most").isin(*labels)
    rows = agreed.select(
        "dialogue_id",
        "turn",
        "turns",
        F.when(known, F.col("most")).alias("label"),
        "votes",
        "source",
        vote_shares(F.col("votes"), labels).alias("probabilities"),
    )
    columns = dropped_columns("turn", unit_id(), "majority_outside_taxonomy", 0, F.col("most"))
    return Outcome(rows, agreed.filter(~known).select(*columns))
