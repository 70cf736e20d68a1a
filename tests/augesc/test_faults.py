"""Faults of conversations: roles by rule, topic shifts by vectors, models by setting (AugESC 6.4)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.augesc.consistency import role_confusions
from etl.augesc.faults import (
    distinct_utterances,
    faults,
    listed_toxicity,
    sample_texts,
    statement_pairs,
    with_others,
    with_vectors,
)
from etl.augesc.tables import CONTRADICTION_SCORES
from etl.common.hashes import text_hash
from tests.frames import computed
from tests.udfs.tiny_models import tiny_encoder
from udfs.conversation_vectors import nearness, related_pairs, topic_scores
from udfs.models.classifiers.hub_classifier import HubClassifier
from udfs.predict import label_scores


def turn(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "text": text, "tokens": len(text.split())}


def test_who_talks_as_the_other() -> None:
    turns = [
        turn("seeker", "I cannot sleep since the exam went wrong"),
        turn("supporter", "I'm sorry to hear that."),
        turn("supporter", "I cannot sleep since the exam went wrong!"),
        turn("seeker", "How can I help you?"),
        turn("seeker", "Thank you for listening"),
        turn("supporter", "Thanks for the advice, bye"),
        turn("seeker", "Yes"),
        turn("supporter", "Yes"),
    ]
    assert role_confusions(turns) == [turns[2]["text"], turns[3]["text"], turns[5]["text"]]


def test_nearness_is_by_neighbour_and_by_all_before() -> None:
    vectors = np.array([[1, 0], [2, 0], [0, 3], [1, 1]], dtype=np.float32)
    neighbour, before = nearness(vectors, np.array([True, True, False, True]))
    assert np.isnan(neighbour[[0, 2]]).all()
    assert np.isnan(before[[0, 2]]).all()
    assert (neighbour[1], before[1]) == pytest.approx((1, 1))
    assert (neighbour[3], before[3]) == pytest.approx((0.5**0.5, 0.5**0.5))  # the short one is a neighbour all the same


def test_related_pairs_are_the_most_alike() -> None:
    vectors = np.array([[1, 0], [1, 0.1], [0, 1], [-1, 0]], dtype=np.float32)
    assert [(i, j) for i, j, _ in related_pairs(vectors, 0.05, 5)] == [(0, 1), (1, 2)]
    assert related_pairs(vectors, 0.05, 0) == []
    assert len(related_pairs(vectors, -1, 9)) == 6


VECTORS = {
    "work one": [1.0, 0.0],
    "work two": [0.9, 0.1],
    "the sea far away": [0.0, 1.0],
    "fine": [0.5, 0.5],
    "damn it again": [0.8, 0.0],
}


def test_faults_of_a_text(spark: SparkSession) -> None:
    said = {
        "t1": ["work one", "work two", "the sea far away", "fine"],
        "t2": ["work one", "damn it again", "work two"],
        "t3": ["the sea far away"],
    }
    measured = spark.createDataFrame(
        [
            (
                name,
                "augmenter",
                "ed",
                [(("seeker", "supporter")[n % 2], text, len(text.split())) for n, text in enumerate(texts)],
            )
            for name, texts in said.items()
        ],
        "text_id string, method string, source string, turns array<struct<role: string, text: string, tokens: int>>",
    )
    texts = computed(sample_texts(measured, 10))
    assert {row.text_id: row.other_id for row in texts.collect()} == {"t1": "t2", "t2": "t1"}  # t3 has one utterance
    utterances = distinct_utterances(texts)
    assert utterances.count() == 5
    embeddings = spark.createDataFrame(
        [(text, "m", vector, None) for text, vector in VECTORS.items()],
        "text string, model string, embedding array<float>, error string",
    ).withColumn("text_hash", text_hash(F.col("text")))
    conversations = computed(with_vectors(texts, embeddings, "m"))
    assert conversations.count() == 2
    assert with_vectors(texts, embeddings.where("text != 'fine'"), "m").count() == 1
    topics = computed(topic_scores(with_others(conversations), 2))
    pairs = computed(statement_pairs(conversations, 2, 0.5, 5).rows)
    assert [(row.text_id, row.role, row["first"], row["second"]) for row in pairs.collect()] == [
        ("t2", "seeker", "work one", "work two")
    ]
    against = pairs.select("text_hash", F.lit("n").alias("model"), F.lit(0.95).cast("float").alias("score"))
    found = faults(
        texts, topics, listed_toxicity(utterances, ("damn",)), pairs, against, near=0.2, toxic=0.5, contradicts=0.9
    )
    rows = {row.text_id: row for row in found.collect()}
    first = rows["t1"]
    second = rows["t2"]
    assert (first.utterances, first.topical, first.shifted, first.shifted_supporter) == (4, 2, 1, 0)
    assert (first.other_shifted, first.toxic, first.toxic_by) == (1, 0, "none")
    assert (second.shifted, second.toxic, second.statement_pairs, second.contradictory_pairs) == (0, 1, 1, 1)
    nothing = spark.createDataFrame([], CONTRADICTION_SCORES.schema)
    none = faults(texts, topics, listed_toxicity(utterances, ()), pairs, nothing, near=-1, toxic=0.5, contradicts=0.9)
    assert {(row.shifted, row.toxic, row.statement_pairs) for row in none.collect()} == {(0, 0, None)}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    folder = tiny_encoder(tmp_path_factory.mktemp("hub") / "encoder")
    config = AutoConfig.from_pretrained(folder, num_labels=3)
    config.id2label = {0: "ENTAILMENT", 1: "neutral", 2: "contradiction"}
    config.label2id = {name: place for place, name in config.id2label.items()}
    made = folder.parent / "classifier"
    AutoModelForSequenceClassification.from_config(config).save_pretrained(made)
    AutoTokenizer.from_pretrained(folder).save_pretrained(made)
    return made


def test_a_classifier_from_elsewhere(spark: SparkSession, classifier: Path, tmp_path: Path) -> None:
    model = HubClassifier.load(classifier)
    texts = ["i was sad", "the dog", "what a day it was"]
    others = ["i am glad", "the cat", "no"]
    every = np.hstack([model.scores(texts, others, place, 2) for place in range(3)])
    assert every.sum(axis=1) == pytest.approx(1, abs=1e-5)
    for size in (1, 5):  # a text's score does not depend on the texts beside it
        for n in range(3):
            assert model.scores([texts[n]], [others[n]], 1, size)[0, 0] == every[n, 1]
    assert model.scores([], [], 1, 2).shape == (0, 1)
    assert model.scores(texts, None, 1, 2).shape == (3, 1)
    assert model.place_of(("no such", "entailment")) == 0
    with pytest.raises(InputError, match="none of toxic"):
        model.place_of(("toxic",))
    rows = spark.createDataFrame(
        [(str(n), text, other) for n, (text, other) in enumerate(zip(texts, others, strict=True))]
        + [("no", "alone", None)],
        "text_hash string, text string, other string",
    )
    found = {row.text_hash: row for row in label_scores(rows, ("contradiction",), str(classifier), "m").collect()}
    assert [found[str(n)].score for n in range(3)] == pytest.approx(every[:, 2], abs=1e-4)
    assert found["no"].score is None
    assert found["no"].error
    assert found["0"].model == "m"
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InputError, match="only safetensors are read"):
        HubClassifier.load(tmp_path)
