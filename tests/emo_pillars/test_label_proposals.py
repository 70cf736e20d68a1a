"""Labels proposed for emotions outside the taxonomy (ours)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from conf.emo_pillars_settings import EmoPillarsSettings, QualitySettings
from conf.settings import load_settings
from etl.emo_pillars.label_proposals import Proposal, proposed_labels, unknown_words
from etl.emo_pillars.step import OURS
from etl.pipeline.model_loader import resolve
from udfs.models.sentence_encoder import SentenceEncoder

VECTORS = {"joy": (1, 0, 0), "delight": (0.8, 0.6, 0), "fear": (0, 0, 1), "calm": (0, 1, 0), "bliss": (0.96, 0.28, 0)}
NAMES = {"joy": "joy", "delight": "joy", "fear": "fear", "calm": None}
ANSWER = "answer_start string, text string, finish_reason string"


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """A stand-in for the encoder: words that it does not know are far from all."""
    return np.array([VECTORS.get(text, (0, 0, 0)) for text in texts], dtype=np.float32)


@pytest.mark.parametrize(
    ("word", "floor", "proposal"),
    [
        ("bliss", 0.5, Proposal("bliss", "joy", 0.948)),
        ("bliss", 0.95, Proposal("bliss", None, 0.948)),
        ("table", 0.5, Proposal("table", None, 0.0)),
    ],
)
def test_the_nearest_label_is_proposed_from_the_floor_on(word: str, floor: float, proposal: Proposal) -> None:
    assert proposed_labels([word], NAMES, embed, floor) == [proposal]


def test_no_words_have_no_proposals() -> None:
    assert proposed_labels([], NAMES, embed, 0.5) == []


def test_unknown_emotions_of_stored_answers_are_counted(spark: SparkSession) -> None:
    said = [
        ("", '1. (Betrayal) "You sold it."\n2. (Joy) "It is back!"\n3. (betrayal) "You lied to me."', "stop"),
        ("", None, None),
    ]
    levels = [("1. joy", " (0.9)\n2. bitterness (0.5)\n3. betrayal (0.4)", "stop")]
    answers = {"utterances": spark.createDataFrame(said, ANSWER), "soft_labels": spark.createDataFrame(levels, ANSWER)}
    found = {
        row.raw_label: row.occurrences for row in unknown_words(answers, QualitySettings(), lambda step: OURS).collect()
    }
    assert found == {"betrayal": 3, "bitterness": 1}


WORDS = {
    "betrayal": "anger disappointment sadness",
    "bitterness": "anger annoyance disappointment",
    "helplessness": "sadness fear",
    "loneliness": "sadness",
    "melancholy": "sadness",
    "heartbreak": "sadness grief",
    "exasperation": "annoyance",
    "wrath": "anger",
    "hostility": "anger",
    "suspicion": "confusion nervousness fear",
    "distrust": "disapproval fear nervousness confusion",
    "alarm": "fear surprise nervousness",
    "astonishment": "surprise",
    "shock": "surprise fear",
    "cheerfulness": "joy",
    "bliss": "joy",
    "euphoria": "joy excitement",
    "passion": "love excitement desire",
    "fondness": "love caring",
    "lust": "desire",
    "hopelessness": "sadness",
    "misery": "sadness",
    "agony": "grief sadness",
    "dismay": "disappointment sadness",
    "esteem": "admiration pride",
}
"""Emotions outside the taxonomy and its map, each with the labels that would be right."""


def test_most_proposals_of_the_local_encoder_are_right(tmp_path: Path) -> None:
    encoder = SentenceEncoder.load(str(resolve(load_settings("local", [], []).models.analysis_encoder, tmp_path).path))

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(encoder.embed(list(texts), 64), dtype=np.float32)

    found = proposed_labels([*WORDS], OURS.taxonomy.known_names, vectors, EmoPillarsSettings().analysis.label_floor)
    proposed = [one for one in found if one.label is not None]
    right = [one for one in proposed if one.label in WORDS[one.raw_label].split()]
    print(len(proposed), len(right), [one for one in proposed if one not in right])
    assert len(proposed) >= 8
    assert len(right) >= 0.85 * len(proposed)
