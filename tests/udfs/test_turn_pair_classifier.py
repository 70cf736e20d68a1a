"""The segmenter's other kind: an encoder over two sentences, trained, saved, and asked as a scorer."""

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from conf.errors import InputError
from conf.training_options import ClassifierOptions
from etl.subtitles.turn_features import FeatureSpace, LemmaTable
from etl.subtitles.turn_scorers import (
    BOTH,
    EQUAL_WEIGHTS,
    BothScorer,
    EncoderScorer,
    fitted_weights,
    save_both,
    turn_scorer,
)
from etl.subtitles.turn_segmenter import TurnSegmenter
from etl.training.loop.train import train_model
from tests.turn_contexts import pair_context
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.turn_pair_classifier import LABELS, SentencePair, TurnPairClassifier
from udfs.models.trainable import TrainingRows

OPTIONS = ClassifierOptions(
    epochs=12, learning_rate=5e-3, head_learning_rate=2e-2, batch_size=8, effective_batch=8, max_tokens=24, threads=1
)


def question_and_answer(block: bool | None = None) -> list[tuple[SentencePair, int]]:
    """After a question another speaks; after a statement the same goes on."""
    said = ["i am so sad", "the dog is not here", "you cry", "it was very dark", "we are glad"]
    asked = ["why did you cry ?", "what is it ?", "how are you ?"]
    return [(SentencePair(left, right, block), 1) for left in asked for right in said] + [
        (SentencePair(left, right, block), 0) for left in said for right in said if left != right
    ]


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    encoder = tiny_encoder(folder / "encoder")
    rows = question_and_answer()
    start = partial(TurnPairClassifier.new, encoder, LABELS, OPTIONS)
    return train_model(start, TrainingRows(rows, rows), OPTIONS, folder / "model").path


def test_the_pair_model_learns_questions_and_answers(pair_model: Path) -> None:
    model = TurnPairClassifier.load(pair_model)
    rows = question_and_answer()
    margins = model.margins([pair for pair, _ in rows], 16)
    assert np.mean((margins > 0) == [label == 1 for _, label in rows]) > 0.9
    assert np.isfinite(margins).all()
    assert model.margins([], 16).shape == (0,)


@pytest.mark.parametrize("left, right", [("", ""), ("so ?", ""), ("i " * 900, "you " * 900), ("\u0000", "\ud7ff 😀")])
def test_odd_pairs_get_a_margin_and_at_most_the_tokens_allowed(pair_model: Path, left: str, right: str) -> None:
    model = TurnPairClassifier.load(pair_model)
    pair = SentencePair(left, right, None)
    assert len(model.encode([pair])[0].ids) <= OPTIONS.max_tokens
    assert np.isfinite(model.margins([pair], 8)).all()


def test_the_block_is_told_by_a_sign_and_silence_where_it_is_not_known(pair_model: Path) -> None:
    model = TurnPairClassifier.load(pair_model)
    encoded = {model.encode([SentencePair("so", "and", block)])[0].ids for block in (None, True, False)}
    assert len(encoded) >= 2
    [unknown] = [model.encode([SentencePair("so", "and", None)])[0].ids]
    assert len(unknown) == min(map(len, encoded))


def test_a_folder_tells_which_kind_it_holds(pair_model: Path, tmp_path: Path, spark) -> None:
    lemmas = LemmaTable.of({"dogs": "dog"})
    scorer = turn_scorer(pair_model, lemmas, 8, 1)
    assert scorer == EncoderScorer(str(pair_model), 8, 1)
    texts = pa.array(["why did you cry ?", "i am so sad", "it was very dark"])
    none = pair_context([-1, -1])
    margins = scorer(texts, np.array([0, 1]), np.array([1, 2]), none)
    assert margins[0] > 0 > margins[1]
    (tmp_path / "head.json").write_text(json.dumps({"kind": "weak_labeler"}))
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            turn_scorer(folder, lemmas, 8, 1)


def test_both_are_added_at_every_pair(pair_model: Path, tmp_path: Path) -> None:
    lemmas = LemmaTable.of({})
    folder = tmp_path / "model"
    svm = TurnSegmenter(np.zeros(2**10), 3.0, FeatureSpace(2**10))
    shutil.copytree(pair_model, save_both(folder, svm, (0.5, 0.25, -1.0)))
    scorer = turn_scorer(folder, lemmas, 8, 1)
    assert isinstance(scorer, BothScorer)
    assert scorer.weights == (0.5, 0.25, -1.0)
    assert scorer.encoder.path == str(folder / "encoder")
    texts = pa.array(["why did you cry ?", "i am so sad", "it was very dark"])
    left = np.array([0, 1])
    right = np.array([1, 2])
    none = pair_context([-1, -1])
    odds = scorer.encoder(texts, left, right, none)
    assert scorer(texts, left, right, none) == pytest.approx(0.5 * 3.0 + 0.25 * odds - 1.0)
    empty = np.zeros(0, np.int64)
    nobody = pair_context([])
    assert scorer(texts, empty, empty, nobody).shape == (0,)
    kept = json.loads((folder / BOTH).read_text())
    for change, fault in {
        "svm": "cannot be read",
        "encoder": "cannot be read",
        "format": "not of this version's format",
    }.items():
        (folder / BOTH).write_text(json.dumps({name: value for name, value in kept.items() if name != change}))
        with pytest.raises(InputError, match=f"{fault}.*train it again"):
            turn_scorer(folder, lemmas, 8, 1)
    (folder / BOTH).write_text(json.dumps({**kept, "constant": float("nan")}))
    with pytest.raises(InputError, match="train it again"):
        turn_scorer(folder, lemmas, 8, 1)


def two_scores(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores of two kinds that err on different pairs, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.random(4_000) < 0.4
    sign = np.where(truth, 1.0, -1.0)
    return random.normal(0.7 * sign, 1.0) + shift, random.normal(2.0 * sign, 2.0), truth


def test_the_weights_of_both_tell_how_likely_a_new_turn_is() -> None:
    margins, odds, truth = two_scores(1)
    by_svm, by_encoder, constant = fitted_weights(margins, odds, truth, np.ones(len(truth)))
    # Of two normal distributions the log-odds are 2 mean / variance times the score: 1.4 and 1, on the scale of 1.45.
    assert by_svm == pytest.approx(1.4 / 1.45, rel=0.1)
    assert by_encoder == pytest.approx(1.0 / 1.45, rel=0.1)
    other = two_scores(2)
    score = by_svm * other[0] + by_encoder * other[1] + constant
    told = 1 / (1 + np.exp(-1.45 * score))
    assert told.mean() == pytest.approx(other[2].mean(), abs=0.02)
    right = ((score > 0) == other[2]).mean()
    assert right > ((other[0] > 0) == other[2]).mean()
    assert right > ((other[1] > 0) == other[2]).mean()


def test_the_constant_takes_back_the_bias_of_a_training() -> None:
    margins, odds, truth = two_scores(1)
    biased, _, _ = two_scores(1, shift=0.8)
    plain = fitted_weights(margins, odds, truth, np.ones(len(truth)))
    corrected = fitted_weights(biased, odds, truth, np.ones(len(truth)))
    assert corrected[0] * biased + corrected[2] == pytest.approx(plain[0] * margins + plain[2], abs=0.01)


def test_pairs_of_a_source_that_counts_nothing_change_no_weight() -> None:
    margins, odds, truth = two_scores(1)
    weight = np.ones(len(truth))
    weight[2_000:] = 0.0
    wrong = np.where(weight > 0, truth, ~truth)
    found = fitted_weights(margins, odds, wrong, weight)
    assert found == pytest.approx(
        fitted_weights(margins[:2_000], odds[:2_000], truth[:2_000], np.ones(2_000)), abs=0.02
    )


@pytest.mark.parametrize("changes", [0, 99])
def test_few_pairs_of_a_class_leave_both_kinds_equal(changes: int) -> None:
    margins, odds, _ = two_scores(1)
    truth = np.arange(len(margins)) < changes
    assert fitted_weights(margins, odds, truth, np.ones(len(margins))) == EQUAL_WEIGHTS
