"""Interactive evaluation: talks of one participant with two bots, compared on five aspects (AugESC 7.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import Column, SparkSession, Window
from pyspark.sql import functions as F

from etl.annotation.batch import Batch, Choice, Hit, Item, Panel, Question
from etl.annotation.exports import Form
from etl.annotation.hits import in_position, into_hits
from etl.annotation.labelling import batch_id_of, hits_of
from etl.annotation.statistics import sign_test
from etl.augesc.rating_form import lines_of
from etl.common.hashes import content_order
from etl.tables.outcome import Outcome

BOTS = ("augesc", "esconv")
"""The bot that wins or loses, and the one that it is compared with (AugESC 7.1)."""
CHATS = "pair_id string, bot string, turns array<struct<role: string, text: string>>"
ASPECTS = {
    "fluency": "Which bot's answers were more fluent and easier to understand?",
    "identification": "Which bot went deeper into your situation, and did more to find out what your problem is?",
    "comforting": "Which bot was better at comforting you?",
    "suggestion": "Which bot's suggestions helped you more?",
    "overall": "All in all, which bot's support do you prefer?",
}
QUESTIONS = dict.fromkeys(ASPECTS, ("left", "right", "tie"))
INTRODUCTION = (
    "You talked with two bots about the same problem. Both talks are shown side by side; compare the bots on five "
    "points. Go by how the talks felt to you.",
)


class ComparisonScore(NamedTuple):
    """A row of ``augesc.comparison_scores``."""

    aspect: str
    place: int
    pairs: int
    wins: int
    losses: int
    ties: int
    p: float | None


def paired_chats(spark: SparkSession, files: Sequence[str], *, least: int, seed: int) -> Outcome:
    """Participants' talks with both bots, side by side, which is left by the pair's hash (AugESC 7.2).

    Rules, in this order: ``not_readable`` (no JSON, no pair, no such bot, no turns, another role); ``repeated_chat``;
    ``unpaired``; ``too_short``: fewer than ``least`` utterances of the user or the bot in one of the two;
    ``other_beginning``: the first utterances of the user are not the same.

    Args:
        files: JSON Lines of ``CHATS``.
        least: utterances of the user and of the bot in each talk.
        seed: of order and sides.

    Returns:
        Outcome of ``augesc.comparison_tasks``; the unit is the talk, two a row.
    """
    lines = spark.read.text(list(files)) if files else spark.createDataFrame([], "value string")
    lines = lines.where(F.trim("value") != "")
    parsed = F.from_json("value", f"{CHATS}, broken string", {"columnNameOfCorruptRecord": "broken"})
    rows = lines.select("value", parsed.alias("line")).select("value", "line.*")
    known_roles = F.forall("turns", lambda turn: turn["role"].isin("seeker", "supporter") & turn["text"].isNotNull())
    readable = (
        F.col("broken").isNull() & (F.trim("pair_id") != "") & F.col("bot").isin(*BOTS) & (F.size("turns") > 0)
        & known_roles
    )  # fmt: skip
    rows = rows.withColumn("readable", F.coalesce(readable, F.lit(False)))
    again = Window.partitionBy("pair_id", "bot", "readable").orderBy("value")
    rows = rows.withColumn("nth", F.row_number().over(again))
    pair = Window.partitionBy("pair_id", F.col("readable") & (F.col("nth") == 1))
    rows = rows.withColumns({
        "talks": F.count("*").over(pair),
        "fewest": F.min(F.least(_said(F.col("turns"), "seeker"), _said(F.col("turns"), "supporter"))).over(pair),
        "beginnings": F.size(F.collect_set(_beginning(F.col("turns"))).over(pair)),
    })  # fmt: skip
    reason = (
        F.when(~F.col("readable"), "not_readable")
        .when(F.col("nth") > 1, "repeated_chat")
        .when(F.col("talks") < len(BOTS), "unpaired")
        .when(F.col("fewest") < least, "too_short")
        .when(F.col("beginnings") > 1, "other_beginning")
    )  # fmt: skip
    judged = rows.withColumn("reason", reason)
    first, second = (
        judged.where(F.col("reason").isNull() & (F.col("bot") == bot)).select("pair_id", F.col("turns").alias(bot))
        for bot in BOTS
    )
    sides = content_order(F.col("pair_id"), seed=seed, of="sides").substr(1, 1) < "8"
    pairs = first.join(second, "pair_id").withColumn("swapped", sides)
    shown = pairs.select(
        F.col("pair_id").alias("dialogue_id"), F.lit(0).alias("turn"),
        F.when(F.col("swapped"), BOTS[1]).otherwise(BOTS[0]).alias("left_bot"),
        F.when(F.col("swapped"), F.col(BOTS[1])).otherwise(F.col(BOTS[0])).alias("left_turns"),
        F.when(F.col("swapped"), F.col(BOTS[0])).otherwise(F.col(BOTS[1])).alias("right_turns"),
    )  # fmt: skip
    tasks = in_position(into_hits(shown, 1, seed), seed).select(
        "hit_id", "position", "item_id", F.col("dialogue_id").alias("pair_id"), "left_bot", "left_turns", "right_turns"
    )
    dropped = judged.where(F.col("reason").isNotNull()).groupBy("pair_id", "bot", "reason").agg(
        F.count("*").alias("units"), F.min(F.left("value", F.lit(200))).alias("detail")
    )  # fmt: skip
    return Outcome(
        tasks,
        dropped.select(
            F.lit("talk").alias("unit"), F.concat_ws("/", "pair_id", "bot").alias("id"), "reason", "detail", "units"
        ),
        rows_in=lines.count(),
    )


def _said(turns: Column, role: str) -> Column:
    return F.size(F.filter(turns, lambda turn: turn["role"] == role))


def _beginning(turns: Column) -> Column:
    said = F.filter(turns, lambda turn: turn["role"] == "seeker")
    return F.lower(F.trim(F.coalesce(F.try_element_at(said, F.lit(1))["text"], F.lit(""))))


def comparison_batch(tasks: Sequence[Mapping[str, Any]], post_to: str | None = None) -> Batch:
    """The batch that the page shows, a task a participant; which bot is which does not go into it.

    Args:
        tasks: rows of ``augesc.comparison_tasks``.
        post_to: URL for the answers.
    """
    options = tuple(
        Choice(value=value, text=text) for value, text in (("left", "Bot A"), ("right", "Bot B"), ("tie", "Both alike"))
    )
    questions = tuple(Question(id=name, kind="compare", prompt=text, options=options) for name, text in ASPECTS.items())
    return Batch(
        batch_id=batch_id_of(tasks), title="Compare two bots", unit="Pair of talks", introduction=INTRODUCTION,
        questions=questions, post_to=post_to,
        hits=tuple(Hit(id=name, items=tuple(map(_item, rows))) for name, rows in hits_of(tasks)),
    )  # fmt: skip


def _item(task: Mapping[str, Any]) -> Item:
    names = {"seeker": "You", "supporter": "Bot"}
    panels = tuple(
        Panel(title=title, lines=lines_of(task[side], names))
        for title, side in (("Bot A", "left_turns"), ("Bot B", "right_turns"))
    )
    return Item(id=task["item_id"], panels=panels)


COMPARISON_FORM = Form("augesc-comparisons", "pair_id string, left_bot string", comparison_batch)


def comparisons(counted: Outcome) -> Outcome:
    """Counted answers as ``augesc.comparisons``: the bot tuned on AugESC wins, loses or ties.

    A pair is one participant's: of several people's answers those of the first who submitted stay, the others go as
    ``another_participant``.
    """
    order = Window.partitionBy("pair_id").orderBy(F.col("submitted").asc_nulls_last(), "worker_id")
    ranked = counted.rows.withColumn("first", F.first("worker_id").over(order))
    own = F.col("worker_id") == F.col("first")
    winner = F.when(F.col("value") == "left", F.col("left_bot")).when(
        F.col("value") == "right", F.when(F.col("left_bot") == BOTS[0], BOTS[1]).otherwise(BOTS[0])
    )
    outcome = F.when(winner.isNull(), "tie").when(winner == BOTS[0], "win").otherwise("lose")
    rows = ranked.where(own).select(
        "hit_id", "item_id", "worker_id", "batch_id", "pair_id", F.col("question").alias("aspect"),
        outcome.alias("outcome"), "seconds", "submitted",
    )  # fmt: skip
    others = ranked.where(~own).select(
        F.lit("answer").alias("unit"), F.concat_ws("/", "hit_id", "item_id", "worker_id", "question").alias("id"),
        F.lit("another_participant").alias("reason"), F.concat_ws(" ", "pair_id", "value").alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    assert counted.dropped is not None
    return Outcome(rows, counted.dropped.unionByName(others))


def comparison_scores(rows: Iterable[Mapping[str, Any]]) -> list[ComparisonScore]:
    """AugESC Table 4: wins, losses and ties by aspect, and the sign test.

    Args:
        rows: of ``augesc.comparisons``: aspect, outcome.

    Returns:
        Rows of ``augesc.comparison_scores``, aspects in the table's order.
    """
    outcomes: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        outcomes[row["aspect"]].append(row["outcome"])
    found = []
    for place, aspect in enumerate(name for name in ASPECTS if outcomes[name]):
        wins, losses, ties = (outcomes[aspect].count(name) for name in ("win", "lose", "tie"))
        found.append(ComparisonScore(aspect, place, wins + losses + ties, wins, losses, ties, sign_test(wins, losses)))
    return found
