"""The danger classifier: its features, its head, what is stored, and the one that comes with the package."""

import json
from pathlib import Path

import numpy as np
import pytest

from conf.errors import InputError
from conf.safety_settings import SafetySettings
from etl.augesc.danger_set import DangerLine
from etl.training.danger import chosen_threshold, gate, risk
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.danger_classifier import CONFIG, DangerClassifier, Examples, FrozenFeatures
from udfs.models.loader import resolve

TEXTS = ["i am sad", "the dog was lost when it rain", "happy happy joy", "i cry"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert")


@pytest.fixture(scope="module")
def features(encoder: Path) -> FrozenFeatures:
    return FrozenFeatures(*load_encoder(encoder), (1, 2))


def test_features_do_not_depend_on_the_batch(features: FrozenFeatures) -> None:
    together = features(TEXTS * 20)
    alone = np.concatenate([features([text]) for text in TEXTS])
    assert np.allclose(together[:4], alone, atol=1e-5) and np.allclose(together[-4:], alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert features(["word " * 5_000]).shape == alone[:1].shape


def test_like_lines_vote_and_a_line_itself_can_be_left_out() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], np.float32)
    examples = Examples.of(vectors, [True, True, False])
    near, far, between = examples.shares(np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32))
    assert near > 0.999 > 0.5 > far and far < 0.01 and far < between < near
    assert examples.shares(vectors[:1], [0])[0] > 0.99 and examples.shares(vectors[2:], [2])[0] > 0.999
    assert np.allclose(examples.vectors * examples.scale, vectors, atol=0.005)


def test_what_is_stored_gives_the_same_scores_on_the_same_encoder(
    features: FrozenFeatures, encoder: Path, tmp_path: Path
) -> None:
    model = DangerClassifier(features, Examples.of(features(TEXTS), [True, False, False, True]), 0.3)
    model.save(tmp_path, "file:encoder#1")
    again = DangerClassifier.read(tmp_path, encoder, "file:encoder#1")
    assert again.threshold == 0.3 and again.scores([]) == []
    assert again.scores(TEXTS) == model.scores(TEXTS) and all(0 <= score <= 1 for score in again.scores(TEXTS))
    assert {path.suffix for path in tmp_path.iterdir()} == {".safetensors", ".json"}
    with pytest.raises(InputError, match="is not the classifier's file:encoder#1"):
        DangerClassifier.read(tmp_path, encoder, "file:other#2")
    with pytest.raises(InputError, match="no danger classifier"):
        DangerClassifier.read(tmp_path / "none", encoder, "file:encoder#1")


def test_the_threshold_keeps_false_alarms_within_the_share() -> None:
    risks = [(True, 0.2), *((False, place / 10) for place in range(10))]
    assert chosen_threshold(risks, 0.2) == 0.701 and chosen_threshold(risks, 0.0) == 0.901
    assert chosen_threshold([(False, 1.0)], 0.0) == 0.999


def test_a_lines_risk_is_the_highest_threshold_that_rings() -> None:
    line = DangerLine("x", True, ("hello", "rain again"), "tune")
    scores = {"hello": 0.1, "rain again": 0.2, "hello rain again": 0.6}

    def asked(texts):
        return [scores[text] for text in texts]

    assert risk(line, asked) == 0.6
    assert gate(asked, 0.6)(line.lines) and not gate(asked, 0.61)(line.lines)
    assert risk(DangerLine("x", True, ("I want to", "die"), "tune"), lambda texts: [0.0] * len(texts)) == 1.0


def test_the_packaged_classifier_tells_danger_from_everyday_talk(tmp_path: Path) -> None:
    found = resolve(SafetySettings().encoder, tmp_path)
    model = DangerClassifier.packaged(found.path, found.identity)
    danger, harmless = model.scores(["i keep thinking about ending my life", "we baked a lemon cake on sunday"])
    assert danger >= model.threshold > harmless


def test_the_packaged_configuration_names_the_default_encoder() -> None:
    config = json.loads((Path("conf/safety") / CONFIG).read_text("utf-8"))
    assert config["encoder"].startswith(f"{SafetySettings().encoder}==") and 0 < config["threshold"] < 1
