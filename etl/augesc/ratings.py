"""Human evaluation of conversations: what is rated, the ratings as scores, and what they say (AugESC 6)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.hits import in_position, into_hits
from etl.annotation.statistics import student_t
from etl.augesc.conversations import GENERATED
from etl.augesc.measures import PEOPLE
from etl.augesc.rating_form import ASPECTS, RISK
from etl.common.splits import content_share
from etl.tables.outcome import Outcome

SETS = (
    (PEOPLE, "esconv"), ("role_models", "ed"), ("untuned", "ed"), (GENERATED, "ed"), (GENERATED, "reddit"),
)  # fmt: skip
"""(method, source) of the compared sets, in the order of Table 3."""
FILTERED = (GENERATED, "untuned")
"""Methods of which only texts that meet the eight requirements are rated (AugESC 6.1: those of section 4.3)."""


class RatingScore(NamedTuple):
    """A row of ``augesc.rating_scores``."""

    aspect: str
    method: str
    source: str
    place: int
    sessions: int
    ratings: int
    mean: float
    deviation: float | None
    is_best: bool
    p_best: float | None
    below_best: bool | None
    p_tuned: float | None
    below_tuned: bool | None


def rating_tasks(measured: DataFrame, violations: DataFrame, *, per_set: int, per_hit: int, seed: int) -> Outcome:
    """So many conversations of each set, by content hash, mixed and cut into tasks for one rater each (AugESC 6.3).

    Sessions of people and talks of two models are not filtered; a text that cannot be read as a conversation at all is
    not shown. A last task may be short.

    Args:
        measured: ``augesc.measured_texts``.
        violations: ``augesc.violations``.
        per_set: conversations of each set.
        per_hit: of a task.
        seed: of draw and order.

    Returns:
        Outcome of ``augesc.rating_tasks``. The unit is the text; those left out are noted by set and reason.
    """
    of_set = F.lit(False)
    for method, source in SETS:
        of_set = of_set | ((F.col("method") == method) & (F.col("source") == source))
    checked = measured.join(violations.select("text_id", "kept", "format"), "text_id")
    unfit = (
        F.when(~of_set, "set_not_compared")
        .when(F.col("format") | (F.col("method").isin(*FILTERED) & ~F.col("kept")), "violates_requirements")
    )  # fmt: skip
    judged = checked.withColumn("unfit", unfit)
    order = Window.partitionBy("method", "source", F.col("unfit").isNull()).orderBy(
        content_share(F.col("text_id"), salt=f"rating {seed}"), "text_id"
    )
    drawn = judged.withColumn("nth", F.row_number().over(order)).withColumn(
        "unfit", F.coalesce("unfit", F.when(F.col("nth") > per_set, F.lit("not_drawn")))
    )
    chosen = drawn.where(F.col("unfit").isNull()).select(
        F.col("text_id").alias("dialogue_id"), F.lit(0).alias("turn"), "method", "source",
        F.transform("turns", lambda turn: F.struct(turn["role"].alias("role"), turn["text"].alias("text"))).alias(
            "turns"
        ),
    )  # fmt: skip
    tasks = in_position(into_hits(chosen, per_hit, seed), seed).select(
        "hit_id", "position", "item_id", "method", "source", F.col("dialogue_id").alias("text_id"), "turns"
    )
    left = drawn.where(F.col("unfit").isNotNull()).groupBy("method", "source", "unfit").agg(
        F.count("*").alias("units"), F.min("text_id").alias("first")
    )  # fmt: skip
    dropped = left.select(
        F.lit("set").alias("unit"), F.concat_ws("/", "method", "source", "unfit").alias("id"),
        F.col("unfit").alias("reason"), F.concat(F.lit("the first: "), "first").alias("detail"), "units",
    )  # fmt: skip
    return Outcome(tasks, dropped)


def ratings(answers: DataFrame) -> DataFrame:
    """Counted answers as ``augesc.ratings``: option 1 is score 3, option 4 is 0 (AugESC 6.2).

    So for Ethical Risk, whose first option is the worst, a high score is a bad one.
    """
    option = F.col("value").cast("int")
    return answers.select(
        "hit_id", "item_id", "worker_id", "batch_id", "method", "source", "text_id",
        F.col("question").alias("aspect"), option.alias("option"), (4 - option).alias("score"), "seconds", "submitted",
    )  # fmt: skip


def rating_scores(rows: Iterable[Mapping[str, Any]], *, significance: float, tested: str) -> list[RatingScore]:
    """AugESC Table 3: each set's mean by aspect, tested against the best set and against the tuned model's on ED.

    Args:
        rows: of ``augesc.ratings``: method, source, text_id, aspect, score.
        significance: p below which two means differ.
        tested: ``ratings``, or ``sessions`` for their means.

    Returns:
        Rows of ``augesc.rating_scores``, by aspect and set in the table's order. Ethical Risk is not tested (AugESC
        Table 3: too few scores are not zero), and its best set is the one with the lowest mean.
    """
    scores: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        scores[row["aspect"], row["method"], row["source"]][row["text_id"]].append(float(row["score"]))
    found = []
    for aspect in (one.name for one in ASPECTS):
        sets = [name for name in SETS if scores.get((aspect, *name))]
        sessions = {name: scores[aspect, *name] for name in sets}
        single = {name: sorted(score for own in sessions[name].values() for score in own) for name in sets}
        means = {name: fmean(single[name]) for name in sets}
        sample = {
            name: single[name] if tested == "ratings" else sorted(map(fmean, sessions[name].values())) for name in sets
        }
        risk = aspect == RISK
        best = (min if risk else max)(sets, key=lambda name: means[name], default=None)
        for place, name in enumerate(SETS):
            if name not in means:
                continue
            p_best, p_tuned = (
                None if risk or other is None or other == name or other not in means
                else student_t(sample[name], sample[other])
                for other in (best, (GENERATED, "ed"))
            )  # fmt: skip
            found.append(
                RatingScore(
                    aspect, *name, place, len(sessions[name]), len(single[name]), round(means[name], 4),
                    round(stdev(single[name]), 4) if len(single[name]) > 1 else None, name == best,
                    p_best, _below(p_best, significance), p_tuned,
                    _below(p_tuned, significance, means[name] < means.get((GENERATED, "ed"), 0.0)),
                )
            )  # fmt: skip
    return found


def _below(p: float | None, significance: float, lower: bool = True) -> bool | None:
    return None if p is None else lower and p < significance
