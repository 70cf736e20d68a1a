"""Which posts start no conversation: neutral, positive and toxic ones (AugESC A)."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from conf.settings import load_settings
from conf.wordlists import words
from etl.augesc.post_judges import (
    EMOTIONS,
    GOEMOTIONS,
    JUDGED,
    MOST_SIMILAR,
    TOXIC,
    TOXICITY,
    Example,
    examples,
    judged_posts,
    nearest_label,
    polarities,
    require_known_labels,
)
from etl.pipeline.model_loader import resolve
from etl.pipeline.outcome import Outcome
from udfs.models.sentence_encoder import SentenceEncoder
from udfs.vectors import nearest_labels

POSTS = [*csv.DictReader((Path(__file__).parent / "post_texts.csv").read_text("utf-8").splitlines())]
ROW = "query_id string, source string, text string, text_hash string"
ANSWER = "text_hash string, label string, score float, model string, error string"


def is_seen(text: str) -> bool:
    """Whether a post is of the half by which the examples and the margin were chosen."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def test_the_nearest_label_is_that_of_the_most_similar_examples() -> None:
    known = np.eye(3, dtype=np.float32)
    vectors = np.array([[0.9, 0.1, 0], [0, 0.6, 0.8]], dtype=np.float32)
    assert [label for label, _ in nearest_labels(vectors, ["joy", "fear", "anger"], known, MOST_SIMILAR)] == [
        "joy",
        "anger",
    ]
    assert [label for label, _ in nearest_labels(vectors, ["joy", "fear", "fear"], known, MOST_SIMILAR)] == [
        "joy",
        "fear",
    ]


def test_examples_have_labels_whose_polarity_is_known() -> None:
    moods = polarities()
    found = examples()
    assert {one.judge for one in found} == {EMOTIONS, GOEMOTIONS, TOXICITY}
    assert {one.label for one in found} - moods.keys() == {TOXIC}
    assert {one.text for one in found} & {post["text"] for post in POSTS} == set()
    assert moods["joy"] == moods["happiness"] == "positive"


def judged(spark: SparkSession, answers: dict[str, list[tuple[object, ...]]]) -> Outcome:
    rows = [("reddit/a", "reddit", "I cry at night", "a"), ("ed/b", "ed", "I cry at night", "a")]
    posts = spark.createDataFrame(rows, ROW)
    labels = {judge: spark.createDataFrame(found, ANSWER) for judge, found in answers.items()}
    return judged_posts(Outcome(posts), labels, ("damn",), 0.5)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({EMOTIONS: ("sadness", 0.9), GOEMOTIONS: ("grief", 0.5), TOXICITY: ("scored", 0.1)}, None),
        ({EMOTIONS: ("joy", 0.9), GOEMOTIONS: ("grief", 0.5)}, "neutral_or_positive"),
        ({EMOTIONS: ("Sadness", 0.9), GOEMOTIONS: ("neutral", 0.5)}, "neutral_or_positive"),
        ({GOEMOTIONS: ("surprise", 0.5)}, None),
        ({EMOTIONS: ("sadness", 0.9), TOXICITY: ("scored", 0.5)}, "toxic"),
        ({TOXICITY: ("toxic", None)}, "toxic"),
        ({TOXICITY: ("anger", None)}, None),
        ({EMOTIONS: (None, None)}, "not_judged"),
        ({}, None),
    ],
)
def test_each_judge_leaves_out_posts_of_forums(
    spark: SparkSession, answers: dict[str, tuple[str | None, float | None]], reason: str | None
) -> None:
    given = {judge: [("a", label, score, "m", None)] for judge, (label, score) in answers.items()}
    outcome = judged(spark, given)
    assert outcome.dropped is not None
    assert [(row.id, row.reason) for row in outcome.dropped.collect()] == ([("reddit/a", reason)] if reason else [])
    kept = {row.query_id: row.judged_by for row in outcome.rows.collect()}
    asked = [f"{judge}: m" for judge in (EMOTIONS, GOEMOTIONS, TOXICITY) if judge in answers]
    assert kept == ({"ed/b": []} if reason else {"ed/b": [], "reddit/a": asked})


SEVEN = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (SEVEN, None),
        ((*SEVEN, "happiness"), None),
        (("negative", "positive"), "does not know 'negative', 'positive': choose"),
        (("label_0", "label_1"), "does not know 'label_0', "),
        ((*SEVEN, " relief "), "does not know ' relief ': "),
        ((*SEVEN, "boredom"), "does not know 'boredom': "),
        (SEVEN[:4], "needs a label neutral"),
    ],
)
def test_a_classifier_with_other_labels_is_refused(labels: tuple[str, ...], message: str | None) -> None:
    if message is None:
        return require_known_labels(labels, "models.query_emotions")
    with pytest.raises(InputError, match=f"^models.query_emotions: the stage {message}"):
        require_known_labels(labels, "models.query_emotions")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> SentenceEncoder:
    uri = load_settings("local", [], []).models.sentence_encoder
    return SentenceEncoder.load(str(resolve(uri, tmp_path_factory.mktemp("models")).path))


def embedded(encoder: SentenceEncoder, texts: list[str]) -> NDArray[np.float32]:
    return np.asarray(encoder.embed(texts, 64), dtype=np.float32)


@pytest.fixture(scope="module")
def stand_ins(spark: SparkSession, encoder: SentenceEncoder) -> dict[str, DataFrame]:
    """The sentence encoder's labels of the 200 posts, by judge."""
    known: list[Example] = examples()
    vectors = embedded(encoder, [one.text for one in known])
    found = embedded(encoder, [post["text"] for post in POSTS])
    rows = [(str(place), [float(value) for value in vector]) for place, vector in enumerate(found)]
    frame = spark.createDataFrame(rows, "text_hash string, embedding array<float>").selectExpr(
        "*", "CAST(NULL AS float) AS score", "'m' AS model", "CAST(NULL AS string) AS error"
    )
    return {
        judge: frame.withColumn("label", nearest_label(frame.embedding, judge, known, vectors)).cache()
        for judge in (EMOTIONS, GOEMOTIONS, TOXICITY)
    }


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "unseen"])
def test_200_posts_by_the_sentence_encoder(spark: SparkSession, stand_ins: dict[str, DataFrame], seen: bool) -> None:
    rows = [(f"{post['kind']}/{place}", "reddit", post["text"], str(place)) for place, post in enumerate(POSTS)]
    asked = [row for row in rows if is_seen(row[2]) == seen]
    outcome = judged_posts(Outcome(spark.createDataFrame(asked, ROW)), stand_ins, words("profanity"), 0.5)
    kept = [row.query_id.split("/")[0] for row in outcome.rows.collect()]
    total = [row[0].split("/")[0] for row in asked]
    share = {kind: kept.count(kind) / total.count(kind) for kind in set(total)}
    assert len(kept) > 0
    print({kind: f"{kept.count(kind)} of {total.count(kind)}" for kind in sorted(set(total))})
    assert share["negative"] >= 0.7
    assert share["neutral"] <= 0.1
    assert share["positive"] <= 0.1
    assert share["toxic"] <= 0.1
    assert JUDGED == ("neutral", "positive")
