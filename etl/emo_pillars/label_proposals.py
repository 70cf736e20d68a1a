"""Propose labels for the emotions that models name outside the taxonomy and its map (ours; Emo Pillars 4 maps by hand).

A proposal changes no row: whoever agrees adds the word to ``conf/taxonomies/goemotions_mapping.csv``, or to the map of
the taxonomy of their own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.labels import UNKNOWN, Names
from etl.emo_pillars.step import Step, Wording
from etl.emo_pillars.steps import soft_labels, utterances
from etl.llm.requests import answer_said
from udfs.vectors import nearest_labels

STEPS = (utterances.STEP, soft_labels.STEP)
"""The steps whose answers name emotions."""
MOST_SIMILAR = 2
"""Known names of a label whose mean similarity counts: opposites such as joy and sadness are near each other, too."""


class Proposal(NamedTuple):
    """A word and the label that is nearest to it.

    Attributes:
        label: None if no label is as near as the floor.
        score: mean cosine of the word and the label's nearest names.
    """

    raw_label: str
    label: str | None
    score: float


def unknown_words(answers: Mapping[str, DataFrame], quality: Any, wording_of: Callable[[str], Wording]) -> DataFrame:
    """Return the unknown emotions of stored answers and how often each occurs: (raw_label, occurrences).

    Args:
        answers: the raw answers of each of ``STEPS``, by its name.
        quality: the section ``emo_pillars.quality``.
        wording_of: from a step's name to the present words of its prompts.
    """
    frames = [_words(step, answers[step.name], quality, wording_of(step.name)) for step in STEPS]
    found = frames[0].unionByName(frames[1])
    return found.groupBy("raw_label").agg(F.count("*").alias("occurrences"))


def _words(step: Step, answers: DataFrame, quality: Any, wording: Wording) -> DataFrame:
    rules = step.rules(quality, wording=wording)

    def unknown(answer: str | None, cut_off: bool) -> list[str]:
        parsed = step.items_of(rules, answer or "", bool(cut_off), {})
        return [word for part in parsed.rejected if part.reason == UNKNOWN for word in _word_of(step, part.text)]

    named = F.udf(unknown, "array<string>").asNondeterministic()
    cut = F.coalesce("finish_reason", F.lit("")) == "length"
    said = answers.select(answer_said().alias("said"), cut.alias("cut_off"))
    return said.select(F.explode(named("said.answer", "cut_off")).alias("raw_label"))


def _word_of(step: Step, text: str) -> Iterator[str]:
    """Yield the emotion of a rejected part, which is "emotion: utterance" or "emotion level"."""
    word = text.partition(":")[0] if step.name == utterances.STEP.name else text.rpartition(" ")[0]
    if word.strip():
        yield word.strip().lower()


def proposed_labels(
    words: Sequence[str], names: Names, embed: Callable[[Sequence[str]], NDArray[np.float32]], floor: float
) -> list[Proposal]:
    """Return the nearest label of each word.

    Args:
        words: emotions outside the taxonomy.
        names: known names of emotions, each with its label; those without one propose nothing.
        embed: gives the vectors of texts, each of length 1.
        floor: least score of a proposal.
    """
    known = [(name, label) for name, label in names.items() if label is not None]
    if not words:
        return []
    vectors = embed([name for name, _ in known])
    nearest = nearest_labels(embed(words), [label for _, label in known], vectors, MOST_SIMILAR)
    scored = [(word, label, round(score, 4)) for word, (label, score) in zip(words, nearest, strict=True)]
    return [Proposal(word, label if score >= floor else None, score) for word, label, score in scored]
