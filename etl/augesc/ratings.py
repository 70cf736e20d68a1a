"""Human evaluation of conversations: rating tasks, scores, and their means and tests (AugESC 6)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from statistics import fmean, stdev
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.hits import in_position, into_hits
from etl.annotation.statistics import student_t
from etl.augesc.measures import GENERATED, PEOPLE
from etl.augesc.rating_form import ASPECTS, RISK
from etl.common.splits import content_share
from etl.pipeline.outcome import Outcome, dropped_columns

SETS = (
    (PEOPLE, "esconv"),
    ("role_models", "ed"),
    ("untuned", "ed"),
    (GENERATED, "ed"),
    (GENERATED, "reddit"),
)
"""(method, source) of the compared sets, in the order of Table 3."""
FILTERED = (GENERATED, "untuned")
"""Methods whose rated texts must meet the eight requirements of section 4.3 (AugESC 6.1)."""
TUNED = (GENERATED, "ed")


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
    """Draw conversations of each set by content hash, and mix them into tasks for one rater each (AugESC 6.3).

    Sessions of people and talks of two models need not meet the requirements, but must have a valid format. The last
    task can be short.

    Args:
        measured: ``augesc.measured_texts``.
        violations: ``augesc.violations``.
        seed: seed of the draw and the order.

    Returns:
        Outcome of ``augesc.rating_tasks``. The unit is the text. Dropped texts are counted by set and reason.
    """
    of_set = F.lit(False)
    for method, source in SETS:
        of_set = of_set | ((F.col("method") == method) & (F.col("source") == source))
    checked = measured.join(violations.select("text_id", "kept", "format"), "text_id")
    unfit = F.when(~of_set, "set_not_compared").when(
        F.col("format") | (F.col("method").isin(*FILTERED) & ~F.col("kept")), "violates_requirements"
    )
    judged = checked.withColumn("unfit", unfit)
    order = Window.partitionBy("method", "source", F.col("unfit").isNull()).orderBy(
        content_share(F.col("text_id"), salt=f"rating {seed}"), "text_id"
    )
    drawn = judged.withColumn("nth", F.row_number().over(order)).withColumn(
        "unfit", F.coalesce("unfit", F.when(F.col("nth") > per_set, F.lit("not_drawn")))
    )
    chosen = drawn.where(F.col("unfit").isNull()).select(
        F.col("text_id").alias("dialogue_id"),
        F.lit(0).alias("turn"),
        "method",
        "source",
        F.transform("turns", lambda turn: F.struct(turn["role"].alias("role"), turn["text"].alias("text"))).alias(
            "turns"
        ),
    )
    tasks = in_position(into_hits(chosen, per_hit, seed), seed).select(
        "hit_id", "position", "item_id", "method", "source", F.col("dialogue_id").alias("text_id"), "turns"
    )
    dropped = (
        drawn.where(F.col("unfit").isNotNull())
        .groupBy("method", "source", "unfit")
        .agg(F.count("*").alias("units"), F.concat(F.lit("the first: "), F.min("text_id")).alias("detail"))
    )
    group = F.concat_ws("/", "method", "source", "unfit")
    return Outcome(
        tasks, dropped.select(*dropped_columns("set", group, F.col("unfit"), F.col("units"), F.col("detail")))
    )


def ratings(answers: DataFrame) -> DataFrame:
    """Return the counted answers as ``augesc.ratings``: option 1 is score 3, option 4 is score 0 (AugESC 6.2).

    The first option of Ethical Risk is the worst, so its high scores are bad.
    """
    option = F.col("value").cast("int")
    return answers.select(
        "hit_id",
        "item_id",
        "worker_id",
        "batch_id",
        "method",
        "source",
        "text_id",
        F.col("question").alias("aspect"),
        option.alias("option"),
        (4 - option).alias("score"),
        "seconds",
        "submitted",
    )


def rating_scores(rows: Iterable[Mapping[str, Any]], *, significance: float) -> list[RatingScore]:
    """Return each set's mean by aspect, tested against the best set and the tuned model's on ED (AugESC Table 3).

    The samples are single ratings, which the paper's printed stars suggest. Ethical Risk is not tested (AugESC Table 3:
    too few scores are not zero). Its best set has the lowest mean.

    Args:
        rows: method, source, text_id, aspect and score of ``augesc.ratings``.
        significance: p below which two means differ.

    Returns:
        Rows of ``augesc.rating_scores``, by aspect and set in the table's order.
    """
    scores: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        scores[row["aspect"], row["method"], row["source"]][row["text_id"]].append(float(row["score"]))
    found = []
    for aspect in (one.name for one in ASPECTS):
        sets = [name for name in SETS if scores.get((aspect, *name))]
        sessions = {name: scores[aspect, *name] for name in sets}
        single = {name: sorted(chain.from_iterable(sessions[name].values())) for name in sets}
        means = {name: fmean(single[name]) for name in sets}
        risk = aspect == RISK
        best = (min if risk else max)(sets, key=means.__getitem__, default=None)
        for place, name in enumerate(SETS):
            if name not in means:
                continue
            p_best, p_tuned = (
                None
                if risk or other is None or other == name or other not in means
                else student_t(single[name], single[other])
                for other in (best, TUNED)
            )
            found.append(
                RatingScore(
                    aspect,
                    *name,
                    place,
                    len(sessions[name]),
                    len(single[name]),
                    round(means[name], 4),
                    round(stdev(single[name]), 4) if len(single[name]) > 1 else None,
                    name == best,
                    p_best,
                    _below(p_best, significance),
                    p_tuned,
                    _below(p_tuned, significance, means[name] < means.get(TUNED, 0.0)),
                )
            )
    return found


def _below(p: float | None, significance: float, lower: bool = True) -> bool | None:
    return None if p is None else lower and p < significance
