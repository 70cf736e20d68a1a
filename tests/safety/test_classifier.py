"""The danger classifier: its changes of the encoder, what is stored, and the one that comes with the package."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from conf.errors import InputError
from conf.safety_settings import SafetySettings
from etl.pipeline.model_loader import resolve
from etl.safety.classifier import BIAS, CONFIG, HEAD, DangerClassifier, TunedEncoder
from etl.safety.examples import Examples, FrozenFeatures
from etl.safety.lines import DangerLine
from etl.safety.training import chosen_threshold, gate, risk
from etl.safety.tuning import Trained, far, tuned, typed, varied
from etl.safety.words import BITS, DangerWords
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.classifier import load_encoder

TEXTS = ["i am sad", "the dog was lost when it rain", "happy happy joy", "i cry"]
EXAMPLES = [("i cry and cry", True), ("i am sad", True), ("happy happy joy", False), ("the dog was lost", False)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert")


@pytest.fixture(scope="module")
def features(encoder: Path) -> FrozenFeatures:
    return FrozenFeatures(*load_encoder(encoder), (1, 2))


@pytest.fixture(scope="module")
def weights(encoder: Path) -> dict[str, torch.Tensor]:
    return tuned(*load_encoder(encoder), EXAMPLES * 400, epochs=4, first=0)


def test_features_do_not_depend_on_the_batch(features: FrozenFeatures) -> None:
    together = features(TEXTS * 20)
    alone = np.concatenate([features([text]) for text in TEXTS])
    assert np.allclose(together[:4], alone, atol=1e-5)
    assert np.allclose(together[-4:], alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert features(["word " * 5_000]).shape == alone[:1].shape


def test_like_lines_vote_and_some_can_be_left_out() -> None:
    features = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    examples = Examples.of(features, [True, True, False, True], [False, False, False, True], 3)
    near, far_off, between = examples.shares(np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], np.float32))
    assert near > 0.999 > 0.5 > far_off
    assert far_off < 0.01
    assert far_off < between < near
    assert examples.shares(features[2:3])[0] < 0.01
    assert examples.shares(features[2:3], np.array([False, False, True, False]))[0] > 0.999
    assert examples.held_out.tolist() == [False, False, False, True]


def test_stored_vectors_keep_the_cosines_of_the_features() -> None:
    features = np.random.default_rng(1).normal(size=(40, 12)).astype(np.float32)
    features[:, 6:] *= 0.01
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    examples = Examples.of(features, [True] * 40, [False] * 40, 6)
    vectors = examples.vectors * examples.scale
    assert vectors.shape == (40, 6)
    assert np.allclose(vectors @ vectors.T, features @ features.T, atol=0.03)


def test_training_tells_the_examples_apart(encoder: Path, weights: dict[str, torch.Tensor]) -> None:
    odds = TunedEncoder(*load_encoder(encoder), weights).odds([text for text, _ in EXAMPLES])
    assert [one > 0 for one in odds] == [danger for _, danger in EXAMPLES]


def test_what_is_stored_gives_the_same_scores_on_the_same_encoder(
    encoder: Path, weights: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    whole = FrozenFeatures(*load_encoder(encoder), (1, 2))
    vectors = whole([text for text, _ in EXAMPLES])
    examples = Examples.of(vectors, [danger for _, danger in EXAMPLES], [False] * len(EXAMPLES))
    words = DangerWords.of(np.linspace(-1, 1, 2 ** (BITS + 1)), 0.0, 0.5)
    model = DangerClassifier(TunedEncoder(*load_encoder(encoder), weights), whole, examples, words, 0.3)
    scores = dict(zip([text for text, _ in EXAMPLES], model.scores([text for text, _ in EXAMPLES]), strict=True))
    assert all((scores[text] > 0.5) == danger for text, danger in EXAMPLES)
    assert model.scores([]) == []
    assert model.scores(["i am sad"], np.arange(len(EXAMPLES)) == 1)[0] < scores["i am sad"]
    model.save(tmp_path, "file:encoder#1")
    assert {path.suffix for path in tmp_path.iterdir()} == {".safetensors", ".json"}
    again = DangerClassifier.read(tmp_path, encoder, "file:encoder#1")
    again.features.layers = (1, 2)
    assert again.threshold == 0.3
    assert again.scores(TEXTS) == model.scores(TEXTS)
    with pytest.raises(InputError, match="is not the classifier's file:encoder#1"):
        DangerClassifier.read(tmp_path, encoder, "file:other#2")
    with pytest.raises(InputError, match="no danger classifier"):
        DangerClassifier.read(tmp_path / "none", encoder, "file:encoder#1")


def test_merged_changes_equal_the_layers_in_training(encoder: Path) -> None:
    training, tokenizer = load_encoder(encoder)
    model = Trained.of(training, first=1)
    torch.manual_seed(1)
    for layer in model.layers.values():
        torch.nn.init.normal_(layer.up, std=0.05)
    training.eval()
    batch = dict(tokenizer(TEXTS, padding=True, return_tensors="pt"))
    with torch.inference_mode():
        expected = model.logits(batch).tolist()
    merged = TunedEncoder(*load_encoder(encoder), model.weights())
    assert merged.odds(TEXTS).tolist() == pytest.approx(expected, abs=1e-2)
    plain = TunedEncoder(*load_encoder(encoder), {HEAD: model.weights()[HEAD], BIAS: model.weights()[BIAS]})
    assert plain.odds(TEXTS).tolist() != pytest.approx(expected, abs=1e-2)
    assert all("layer.0." not in name for name in model.layers)
    assert len(model.layers) == 6


def test_lines_like_a_judged_one_are_not_learnt_from(encoder: Path) -> None:
    lines = [DangerLine("x", True, (text,), "") for text in TEXTS]
    assert [line.text for line in far(*load_encoder(encoder), lines, [TEXTS[1]], 0.9999)] == TEXTS[:1] + TEXTS[2:]


def test_lines_are_varied_and_joined_with_the_danger_of_their_parts() -> None:
    found = varied(EXAMPLES * 30, random.Random(0))
    assert len(found) == 150
    dangerous = {text for text, danger in EXAMPLES if danger}
    for text, danger in found:
        assert danger == any(part in text.lower() for part in dangerous), text
    assert {typed("I'm here", random.Random(seed)) for seed in range(60)} >= {"I'm here", "i'm here", "Im here"}


def test_the_threshold_keeps_false_alarms_within_the_share() -> None:
    risks = [(True, 0.2), *((False, place / 10) for place in range(10))]
    assert chosen_threshold(risks, 0.2) == 0.701
    assert chosen_threshold(risks, 0.0) == 0.901
    assert chosen_threshold([(False, 1.0)], 0.0) == 0.999


def test_a_lines_risk_is_the_highest_threshold_that_rings() -> None:
    line = DangerLine("x", True, ("hello", "rain again"), "tune")
    scores = {"hello": 0.1, "rain again": 0.2, "hello rain again": 0.6}

    def asked(texts):
        return [scores[text] for text in texts]

    assert risk(line, asked) == 0.6
    assert gate(asked, 0.6)(line.lines)
    assert not gate(asked, 0.61)(line.lines)
    assert risk(DangerLine("x", True, ("I want to", "die"), "tune"), lambda texts: [0.0] * len(texts)) == 1.0


def test_the_packaged_classifier_tells_danger_from_everyday_talk(tmp_path: Path) -> None:
    found = resolve(SafetySettings().encoder, tmp_path)
    model = DangerClassifier.packaged(found.path, found.identity)
    danger, harmless = model.scores(["i keep thinking about ending my life", "we baked a lemon cake on sunday"])
    assert danger >= model.threshold > harmless


def test_the_packaged_configuration_names_the_default_encoder() -> None:
    folder = Path("etl/safety/weights")
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    assert config["encoder"].startswith(f"{SafetySettings().encoder}==")
    assert 0 < config["threshold"] < 1
