"""Score the labels by the raters' answers: accuracy, neutral, agreement, use of contexts (Emo Pillars 8, I.2)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from statistics import fmean
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.annotation.statistics import mean_kappa
from etl.pipeline.outcome import dropped_columns

PAPER = {
    "accuracy, all raters agree": 0.86,
    "accuracy, two or more agree": 0.70,
    "recall of neutral": 0.90,
    "examples called neutral": 38.0,
    "neutral examples that a rater with more shares": 0.963,
    "share without a neutral vote": 0.64,
    "Cohen's kappa, mean of pairs": 0.365,
    "accuracy, ranked": 0.6282,
    "accuracy, shuffled": 0.5131,
    "accuracy, ranked and shuffled": 0.5361,
    "consulted contexts of rewritten utterances": 0.77,
}
"""The measures in order, with the paper's values.

Its raters called 6, 47 and 61 examples neutral; the second shares all of the first's, and the third all of them and 89%
of the second's. We print the means.
"""
RANKED_SHARE = 0.2
"""Weight of the ranked part in a rater's total accuracy (Emo Pillars Table 14); the shuffled part has the rest."""
WHOLE = "share without a neutral vote"
"""The measure that includes all examples with enough raters."""


class MeasureRow(NamedTuple):
    """A row of ``emo_pillars.evaluation_scores``."""

    place: int
    measure: str
    rater: str
    value: float | None
    number: int
    paper: float | None


def too_few_raters(answers: DataFrame, raters: int) -> DataFrame:
    """Return ledger rows of the examples with complete answers of fewer than ``raters`` raters."""
    asked = F.count_distinct(F.when(F.col("question").isin("neutral", "choice"), F.col("question")))
    done = answers.groupBy("utterance_id", "worker_id").agg((asked == 2).alias("done"))
    each = done.groupBy("utterance_id").agg(F.count_if("done").alias("raters")).where(F.col("raters") < raters)
    return each.select(*dropped_columns("example", "utterance_id", "too_few_raters", 1, F.col("raters").cast("string")))


def label_scores(rows: Iterable[Mapping[str, Any]], raters: int) -> list[MeasureRow]:
    """Return the measures of I.2 in the order of ``PAPER``, each mean followed by the values of the raters.

    The number of a measure is of the answers that it is computed from; of examples called neutral it is their number.
    Accuracy and kappa are computed on the examples that no rater called neutral. Recall of neutral is the share of
    examples labelled neutral alone that at least two raters called neutral.

    Args:
        rows: ``emo_pillars.evaluation_answers``.
        raters: least number of complete answers of an example.
    """
    facts: dict[str, Mapping[str, Any]] = {}
    given: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        facts[row["utterance_id"]] = row
        given[row["utterance_id"]][row["worker_id"]][row["question"]] = row["value"]
    done = {
        name: {rater: values for rater, values in answers.items() if {"neutral", "choice"} <= values.keys()}
        for name, answers in given.items()
    }
    whole = {name: answers for name, answers in done.items() if len(answers) >= raters}
    judged = {
        name: {rater: values["choice"] for rater, values in answers.items()}
        for name, answers in whole.items()
        if all(values["neutral"] == "no" for values in answers.values())
    }
    found: list[MeasureRow] = []

    def add(measure: str, hits: list[bool], rater: str = "", value: float | None = None) -> None:
        share = value if value is not None else fmean(hits) if hits else None
        paper = None if rater else PAPER[measure]
        found.append(MeasureRow(list(PAPER).index(measure), measure, rater, share, len(hits), paper))

    tops = {name: Counter(choices.values()).most_common(1)[0] for name, choices in judged.items()}
    right = {name: top == facts[name]["answer"] for name, (top, _) in tops.items()}
    add("accuracy, all raters agree", [right[name] for name, (_, votes) in tops.items() if votes == len(judged[name])])
    add("accuracy, two or more agree", [right[name] for name, (_, votes) in tops.items() if votes >= 2])
    alone = [name for name in whole if facts[name]["neutral"] == "alone"]
    add("recall of neutral", [sum(one["neutral"] == "yes" for one in whole[name].values()) >= 2 for name in alone])
    neutral = neutral_examples(whole)
    counts = [len(names) for names in neutral.values()]
    add("examples called neutral", [True] * sum(counts), "", fmean(counts) if counts else None)
    for rater, names in neutral.items():
        add("examples called neutral", [True] * len(names), rater, float(len(names)))
    pairs = neutral_overlap(neutral)
    add("neutral examples that a rater with more shares", [], "", fmean(pairs.values()) if pairs else None)
    for (fewer, more), share in pairs.items():
        add("neutral examples that a rater with more shares", [], f"{fewer} by {more}", share)
    add(WHOLE, [name in judged for name in whole])
    by_rater: dict[str, dict[str, str]] = defaultdict(dict)
    for name, choices in judged.items():
        for rater, choice in choices.items():
            by_rater[rater][name] = choice
    agreement = mean_kappa(by_rater)
    add("Cohen's kappa, mean of pairs", [True] * len(judged) if agreement is not None else [], "", agreement)
    parts = {
        ranked: {
            rater: [top == facts[name]["answer"] for name, top in choices.items() if facts[name]["ranked"] is ranked]
            for rater, choices in by_rater.items()
        }
        for ranked in (True, False)
    }
    _with_raters(add, "accuracy, ranked", parts[True])
    _with_raters(add, "accuracy, shuffled", parts[False])
    _with_totals(add, "accuracy, ranked and shuffled", parts)
    consulted = {
        rater: [
            bool(facts[name]["rewritten"]) for name, answers in given.items() if "context" in answers.get(rater, {})
        ]
        for rater in sorted({rater for answers in given.values() for rater in answers})
    }
    _with_raters(add, "consulted contexts of rewritten utterances", consulted)
    return found


def neutral_examples(whole: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, set[str]]:
    """Return the examples that each rater called neutral (Emo Pillars I.2).

    Args:
        whole: by example and rater, the answers to the questions.
    """
    found: dict[str, set[str]] = {rater: set() for rater in sorted({rater for one in whole.values() for rater in one})}
    for name, answers in whole.items():
        for rater, values in answers.items():
            if values["neutral"] == "yes":
                found[rater].add(name)
    return found


def neutral_overlap(neutral: Mapping[str, set[str]]) -> dict[tuple[str, str], float]:
    """Return, for each pair of raters, the share of the shorter list that is in the longer one (Emo Pillars I.2).

    Args:
        neutral: the examples that each rater called neutral; a rater without any is in no pair.

    Returns:
        The share by (rater of fewer, rater of more); of equally many, by name.
    """
    ordered = sorted((rater for rater in neutral if neutral[rater]), key=lambda rater: (len(neutral[rater]), rater))
    return {
        (fewer, more): len(neutral[fewer] & neutral[more]) / len(neutral[fewer])
        for fewer, more in combinations(ordered, 2)
    }


def total_accuracy(ranked: Sequence[bool], shuffled: Sequence[bool]) -> float | None:
    """Return a rater's total accuracy: both parts', weighted by their share of the set (Emo Pillars Table 14).

    A part that the rater did not judge has no weight; without any the total is None.
    """
    parts = [(share, hits) for share, hits in ((RANKED_SHARE, ranked), (1 - RANKED_SHARE, shuffled)) if hits]
    weight = sum(share for share, _ in parts)
    return sum(share * fmean(hits) for share, hits in parts) / weight if parts else None


def _with_totals(add: Any, measure: str, parts: Mapping[bool, Mapping[str, Sequence[bool]]]) -> None:
    """Add the mean of the raters' totals, and each rater's total."""
    hits = {rater: [*parts[True][rater], *parts[False][rater]] for rater in sorted(parts[True])}
    totals = {rater: total_accuracy(parts[True][rater], parts[False][rater]) for rater in hits}
    known = [total for total in totals.values() if total is not None]
    add(measure, list(chain.from_iterable(hits.values())), "", fmean(known) if known else None)
    for rater, total in totals.items():
        if total is not None:
            add(measure, hits[rater], rater, total)


def _with_raters(add: Any, measure: str, hits: Mapping[str, list[bool]]) -> None:
    """Add the mean of the raters' shares, and each rater's share."""
    shares = [fmean(found) for found in hits.values() if found]
    add(measure, list(chain.from_iterable(hits.values())), "", fmean(shares) if shares else None)
    for rater in sorted(hits):
        if hits[rater]:
            add(measure, hits[rater], rater)
