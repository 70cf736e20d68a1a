"""Interactive evaluation: participants chat with two bots and compare them on five aspects (AugESC 7.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import Column, SparkSession, Window
from pyspark.sql import functions as F

from etl.annotation.batch import Batch, Choice, Hit, Item, Panel, Question
from etl.annotation.exports import Form
from etl.annotation.hits import batch_id_of, hits_of, in_position, into_hits
from etl.annotation.statistics import sign_test
from etl.augesc.rating_form import lines_of
from etl.common.hashes import content_order
from etl.common.labelled_files import NamedFiles, json_lines
from etl.pipeline.outcome import Outcome, dropped_columns

BOTS = ("augesc", "esconv")
"""The bot that wins or loses, and its opponent (AugESC 7.1)."""
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


def paired_chats(spark: SparkSession, files: NamedFiles | Sequence[str], *, least: int, seed: int) -> Outcome:
    """Pair each participant's chats with the two bots. The pair's hash decides which bot is left (AugESC 7.2).

    Chats are dropped by these rules, in this order: ``not_readable`` (no JSON, no pair, an unknown bot or role, no
    turns); ``repeated_chat``; ``unpaired``; ``too_short``: one of the two chats has fewer than ``least`` utterances of
    the user or of the bot; ``other_beginning``: the first utterances of the user differ.

    Args:
        files: JSON Lines of ``CHATS``.
        least: least number of utterances of the user and of the bot in each chat.
        seed: seed of the order and the sides.

    Returns:
        Outcome of ``augesc.comparison_tasks``. The unit is the chat, two per row.
    """
    lines = json_lines(spark, files, CHATS)
    known_roles = F.forall("turns", lambda turn: turn["role"].isin("seeker", "supporter") & turn["text"].isNotNull())
    readable = (
        F.col("broken").isNull()
        & (F.trim("pair_id") != "")
        & F.col("bot").isin(*BOTS)
        & (F.size("turns") > 0)
        & known_roles
    )
    rows = lines.withColumn("readable", F.coalesce(readable, F.lit(False)))
    again = Window.partitionBy("pair_id", "bot", "readable").orderBy("value")
    rows = rows.withColumn("nth", F.row_number().over(again))
    pair = Window.partitionBy("pair_id", F.col("readable") & (F.col("nth") == 1))
    beginning = F.lower(F.trim(F.coalesce(F.try_element_at(_utterances("seeker"), F.lit(1))["text"], F.lit(""))))
    rows = rows.withColumns(
        {
            "chats": F.count("*").over(pair),
            "fewest": F.min(F.least(F.size(_utterances("seeker")), F.size(_utterances("supporter")))).over(pair),
            "beginnings": F.size(F.collect_set(beginning).over(pair)),
        }
    )
    reason = (
        F.when(~F.col("readable"), "not_readable")
        .when(F.col("nth") > 1, "repeated_chat")
        .when(F.col("chats") < len(BOTS), "unpaired")
        .when(F.col("fewest") < least, "too_short")
        .when(F.col("beginnings") > 1, "other_beginning")
    )
    judged = rows.withColumn("reason", reason)
    first, second = (
        judged.where(F.col("reason").isNull() & (F.col("bot") == bot)).select("pair_id", F.col("turns").alias(bot))
        for bot in BOTS
    )
    sides = content_order(F.col("pair_id"), seed=seed, of="sides").substr(1, 1) < "8"
    pairs = first.join(second, "pair_id").withColumn("swapped", sides)
    shown = pairs.select(
        F.col("pair_id").alias("dialogue_id"),
        F.lit(0).alias("turn"),
        F.when(F.col("swapped"), BOTS[1]).otherwise(BOTS[0]).alias("left_bot"),
        F.when(F.col("swapped"), F.col(BOTS[1])).otherwise(F.col(BOTS[0])).alias("left_turns"),
        F.when(F.col("swapped"), F.col(BOTS[0])).otherwise(F.col(BOTS[1])).alias("right_turns"),
    )
    tasks = in_position(into_hits(shown, 1, seed), seed).select(
        "hit_id", "position", "item_id", F.col("dialogue_id").alias("pair_id"), "left_bot", "left_turns", "right_turns"
    )
    dropped = (
        judged.where(F.col("reason").isNotNull())
        .groupBy("pair_id", "bot", "reason")
        .agg(F.count("*").alias("units"), F.min(F.left("value", F.lit(200))).alias("detail"))
    )
    pair_id = F.concat_ws("/", "pair_id", "bot")
    columns = dropped_columns("talk", pair_id, F.col("reason"), F.col("units"), F.col("detail"))
    return Outcome(tasks, dropped.select(*columns), rows_in=lines.count())


def _utterances(role: str) -> Column:
    return F.filter("turns", lambda turn: turn["role"] == role)


def comparison_batch(tasks: Sequence[Mapping[str, Any]], post_to: str | None = None) -> Batch:
    """Return the page's batch, one task per participant. It does not reveal which bot is which.

    Args:
        tasks: rows of ``augesc.comparison_tasks``.
    """
    options = tuple(
        Choice(value=value, text=text) for value, text in (("left", "Bot A"), ("right", "Bot B"), ("tie", "Both alike"))
    )
    questions = tuple(Question(id=name, kind="compare", prompt=text, options=options) for name, text in ASPECTS.items())
    return Batch(
        batch_id=batch_id_of(tasks),
        title="Compare two bots",
        unit="Pair of talks",
        introduction=INTRODUCTION,
        questions=questions,
        post_to=post_to,
        hits=tuple(Hit(id=name, items=tuple(map(_item, rows))) for name, rows in hits_of(tasks)),
    )


def _item(task: Mapping[str, Any]) -> Item:
    names = {"seeker": "You", "supporter": "Bot"}
    panels = tuple(
        Panel(title=title, lines=lines_of(task[side], names))
        for title, side in (("Bot A", "left_turns"), ("Bot B", "right_turns"))
    )
    return Item(id=task["item_id"], panels=panels)


COMPARISON_FORM = Form("augesc-comparisons", "pair_id string, left_bot string", comparison_batch)


def comparisons(counted: Outcome) -> Outcome:
    """Return the counted answers as ``augesc.comparisons``: the bot tuned on AugESC wins, loses or ties.

    A pair belongs to one participant. Only the answers of the first worker who submitted are kept, those of others are
    dropped as ``another_participant``.
    """
    order = Window.partitionBy("pair_id").orderBy(F.col("submitted").asc_nulls_last(), "worker_id")
    ranked = counted.rows.withColumn("first", F.first("worker_id").over(order))
    is_first = F.col("worker_id") == F.col("first")
    winner = F.when(F.col("value") == "left", F.col("left_bot")).when(
        F.col("value") == "right", F.when(F.col("left_bot") == BOTS[0], BOTS[1]).otherwise(BOTS[0])
    )
    outcome = F.when(winner.isNull(), "tie").when(winner == BOTS[0], "win").otherwise("lose")
    rows = ranked.where(is_first).select(
        "hit_id",
        "item_id",
        "worker_id",
        "batch_id",
        "pair_id",
        F.col("question").alias("aspect"),
        outcome.alias("outcome"),
        "seconds",
        "submitted",
    )
    answer_id = F.concat_ws("/", "hit_id", "item_id", "worker_id", "question")
    columns = dropped_columns("answer", answer_id, "another_participant", 1, F.concat_ws(" ", "pair_id", "value"))
    assert counted.dropped is not None
    return Outcome(rows, counted.dropped.unionByName(ranked.where(~is_first).select(*columns)))


def comparison_scores(rows: Iterable[Mapping[str, Any]]) -> list[ComparisonScore]:
    """Return wins, losses and ties by aspect with the sign test, in the order of AugESC Table 4.

    Args:
        rows: aspect and outcome of ``augesc.comparisons``.
    """
    outcomes: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        outcomes[row["aspect"]].append(row["outcome"])
    found = []
    for place, aspect in enumerate(name for name in ASPECTS if outcomes[name]):
        wins, losses, ties = (outcomes[aspect].count(name) for name in ("win", "lose", "tie"))
        found.append(ComparisonScore(aspect, place, wins + losses + ties, wins, losses, ties, sign_test(wins, losses)))
    return found
