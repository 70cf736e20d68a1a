"""Compare a language model's labels with the crowd's, beside people, classifiers and floors (ours).

The truth is the majority of a turn's three workers (EDOS 3.2), on turns that no training saw. A worker is compared with
the label on which the other two agree. ``vote_agreement`` compares single votes. All of it is of turns with a majority,
which favours the worker, whose vote was part of it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.annotation.statistics import kappa
from etl.common.hashes import content_order
from etl.common.intervals import wilson
from etl.pipeline.outcome import Outcome
from etl.tables.edos_annotation import LLM_ANNOTATOR_AGREEMENT

UNREAD = "(unread)"
"""Stands for the label of an answer that could not be read, which is never right."""
SEED = 13
RESAMPLES = 1_000
PLACES = 4
LANGUAGE_MODEL = "language model"


class Rated(NamedTuple):
    """A rater's answer about one turn: its label, the label that is right, and the single votes to compare with."""

    given: str
    truth: str
    votes: tuple[str, ...] = ()


def macro_f1(given: Sequence[str], truth: Sequence[str]) -> float:
    """Return the mean F1 of the labels that occur in the truth."""
    both = Counter(a for a, b in zip(given, truth, strict=True) if a == b)
    said, right = Counter(given), Counter(truth)
    return sum(2 * both[label] / (said[label] + right[label]) for label in right) / len(right)


def macro_f1_interval(given: Sequence[str], truth: Sequence[str]) -> tuple[float, float]:
    """Return the interval at 95 % of the macro-F1, by the bootstrap over turns with a fixed seed."""
    import numpy as np

    names = {label: place for place, label in enumerate(sorted({*given, *truth}))}
    said, right = (np.array([names[label] for label in labels]) for labels in (given, truth))
    random = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(said), len(said))
        a, b = said[drawn], right[drawn]
        in_truth = np.bincount(b, minlength=len(names))
        hits = np.bincount(b[a == b], minlength=len(names))
        sums = np.bincount(a, minlength=len(names)) + in_truth
        found.append(float((2 * hits[in_truth > 0] / sums[in_truth > 0]).mean()))
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def measured(rater: str, way: str, model: str, rated: Sequence[Rated]) -> tuple[Any, ...] | None:
    """Return a row of ``edos.llm_annotator_agreement``; None for a rater without answers.

    Args:
        rater, way, model: its key.
        rated: its answers, in an order that depends on the turns alone.
    """
    if not rated:
        return None
    given = [one.given for one in rated]
    truth = [one.truth for one in rated]
    hits = sum(a == b for a, b in zip(given, truth, strict=True))
    votes = [one.given == vote for one in rated for vote in one.votes]
    figures = (
        hits / len(rated),
        *wilson(hits, len(rated)),
        macro_f1(given, truth),
        *macro_f1_interval(given, truth),
        kappa(given, truth),
        sum(votes) / len(votes) if votes else None,
    )
    rounded = (None if value is None else round(value, PLACES) for value in figures)
    return (rater, way, model, len(rated), given.count(UNREAD), *rounded)


def crowd_answers(turns: Iterable[Any]) -> list[Rated]:
    """Return each worker's vote where the two others agree, with their label as the truth."""
    found = []
    for turn in turns:
        votes = tuple(turn.votes or ())
        if len(votes) == 3:
            cases = (
                (votes[one], votes[other], votes[third]) for one, other, third in ((0, 1, 2), (1, 0, 2), (2, 0, 1))
            )
            found += [Rated(own, first, (first, second)) for own, first, second in cases if first == second]
    return found


def worker_pairs(turns: Iterable[Any]) -> float | None:
    """Return the share of pairs of votes on the same turn that are equal; None without pairs."""
    same = [a == b for turn in turns for a, b in permutations(turn.votes or (), 2)]
    return round(sum(same) / len(same), PLACES) if same else None


def agreement(
    turns: DataFrame, annotations: DataFrame, scores: DataFrame, ways: Sequence[str], model: str, labels: Sequence[str]
) -> Outcome:
    """Return ``edos.llm_annotator_agreement``.

    Args:
        turns: ``edos.llm_annotator_turns``, some hundred rows, which are read on the driver.
        annotations: ``edos.llm_annotations``.
        scores: ``edos.llm_annotator_scores``; empty: there is no classifier.
        ways: the ways in which the model was asked.
        model: identity of the language model.
        labels: the taxonomy, of which the random floor draws.
    """
    units = ["dialogue_id", "turn"]
    drawn = turns.withColumn("draw", content_order(*_key(), seed=SEED, of="random label"))
    asked = drawn.orderBy(*units).collect()
    read = {
        (row.way, row.dialogue_id, row.turn): row.label for row in annotations.where(F.col("model") == model).collect()
    }
    known = scores.join(turns.select("history_hash").distinct(), "history_hash").where("label IS NOT NULL").collect()
    by_classifier: dict[str, dict[str, str]] = {}
    for row in known:
        by_classifier.setdefault(row.model, {})[row.history_hash] = row.label

    def answers(label_of: Mapping[Any, str]) -> list[Rated]:
        return [
            Rated(label_of.get((row.dialogue_id, row.turn), UNREAD), row.label, tuple(row.votes or ())) for row in asked
        ]

    def each(label_of: Any) -> list[Rated]:
        return answers({(row.dialogue_id, row.turn): label_of(row) for row in asked})

    rows = []
    for way in ways:
        said = {(dialogue, turn): label for (its, dialogue, turn), label in read.items() if its == way}
        rows.append(measured(LANGUAGE_MODEL, way, model, answers(said)))
    for identity, label_of in sorted(by_classifier.items()):
        rows.append(
            measured("classifier", "", identity, each(lambda row, of=label_of: of.get(row.history_hash, UNREAD)))
        )
    rows.append(measured("weak labeler", "", "", each(lambda row: row.weak_label)))
    crowd = measured("crowd worker", "", "", crowd_answers(asked))
    rows.append(None if crowd is None else (*crowd[:-1], worker_pairs(asked)))
    truth = Counter(row.label for row in asked)
    most = min(truth, key=lambda label: (-truth[label], label), default="")
    rows.append(measured("most frequent label", "", "", each(lambda row: most)))
    rows.append(measured("random label", "offered", "", each(lambda row: _drawn(row.draw, row.offered))))
    rows.append(measured("random label", "all", "", each(lambda row: _drawn(row.draw, labels))))
    spark = turns.sparkSession
    return Outcome(
        spark.createDataFrame([row for row in rows if row], LLM_ANNOTATOR_AGREEMENT.schema),
        rows_in=sum(map(bool, rows)),
    )


def _key() -> tuple[Any, Any]:
    return F.col("dialogue_id"), F.col("turn").cast("string")


def _drawn(draw: str, labels: Sequence[str]) -> str:
    return labels[int(draw, 16) % len(labels)]
