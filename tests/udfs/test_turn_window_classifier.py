"""The segmenter's encoder over windows of sentences: trained, saved, and asked as a scorer."""

import json
import shutil
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from conf.errors import InputError
from conf.training_options import ClassifierOptions
from etl.subtitles.border_features import border_codes
from etl.subtitles.border_segmenter import UNIT, BorderSegmenter
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_scorers import (
    ENCODER_WEIGHTS,
    EQUAL_WEIGHTS,
    WINDOWS,
    WindowScorer,
    fitted_weights,
    save_windows,
    turn_scorer,
    windows_of,
)
from etl.training.loop.train import train_model
from tests.turn_contexts import pair_context
from tests.udfs.tiny_models import tiny_encoder
from udfs.models.classifiers.turn_window_classifier import (
    CODES,
    CONTEXT,
    LABELS,
    SENTENCES,
    UNKNOWN,
    TurnWindowClassifier,
    Window,
    spans,
)
from udfs.models.trainable import TrainingRows

OPTIONS = ClassifierOptions(
    epochs=30, learning_rate=3e-3, head_learning_rate=1e-2, batch_size=8, effective_batch=8, max_tokens=384, threads=1
)
SAID = ["i am so sad", "the dog is not here", "you cry", "it was very dark", "we are glad"]
ASKED = ["why did you cry ?", "what is it ?", "how are you ?"]
NO_TIMES = int(border_codes(pair_context([-1]))[0])
NO_LEMMAS = LemmaTable.of({})


def talk(number: int) -> tuple[Window, tuple[int, ...]]:
    """After a question another speaks; after a statement the same goes on."""
    random = Random(number)
    lines = [random.choice(ASKED if random.random() < 0.4 else SAID) for _ in range(random.randint(3, 6))]
    truth = [int(line.endswith("?")) for line in lines[:-1]]
    return Window(tuple(lines), (NO_TIMES,) * len(truth)), (*truth[:-1], UNKNOWN)


@pytest.fixture(scope="module")
def window_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("windows")
    encoder = tiny_encoder(folder / "encoder")
    rows = [talk(number) for number in range(96)]
    start = partial(TurnWindowClassifier.new, encoder, LABELS, OPTIONS)
    return train_model(start, TrainingRows(rows, rows), OPTIONS, folder / "model").path


def test_the_model_answers_each_border_of_a_window(window_model: Path) -> None:
    model = TurnWindowClassifier.load(window_model)
    windows, truths = zip(*(talk(number) for number in range(24)), strict=True)
    odds = model.log_odds(windows, 16)
    assert odds.shape == (24, SENTENCES - 1)
    known = [
        (row[place], label) for row, truth in zip(odds, truths, strict=True) for place, label in enumerate(truth[:-1])
    ]
    assert np.mean([(odd > 0) == (label == 1) for odd, label in known]) > 0.9
    assert (odds[:, 5:] == 0).all()
    alone = np.concatenate([model.log_odds([window], 16) for window in windows])
    assert odds == pytest.approx(alone, abs=1e-5)
    assert model.log_odds([], 16).shape == (0, SENTENCES - 1)


@pytest.mark.parametrize(
    "lines", [("", ""), ("so ?", ""), ("i " * 900, "you " * 900), ("\u0000", "\ud7ff 😀"), ("a b " * 99,) * SENTENCES]
)
def test_odd_sentences_are_answered_and_take_at_most_the_tokens_allowed(
    window_model: Path, lines: tuple[str, ...]
) -> None:
    model = TurnWindowClassifier.load(window_model)
    window = Window(lines, (CODES - 1,) * (len(lines) - 1))
    assert len(model.encode([window])[0].ids) <= OPTIONS.max_tokens
    assert np.isfinite(model.log_odds([window], 8)).all()


def test_a_border_is_told_by_its_code(window_model: Path) -> None:
    model = TurnWindowClassifier.load(window_model)
    found = [model.log_odds([Window(("you cry", "you cry"), (code,))], 8)[0, 0] for code in (1, 40, 80)]
    assert len(set(found)) == 3


def test_a_training_needs_a_known_border(tmp_path: Path) -> None:
    start = partial(TurnWindowClassifier.new, tiny_encoder(tmp_path / "encoder"), LABELS, OPTIONS)
    rows = [(talk(1)[0], (UNKNOWN,) * len(talk(1)[1]))]
    with pytest.raises(InputError, match="training borders have the labels"):
        train_model(start, TrainingRows(rows, rows), OPTIONS, tmp_path / "model")


@pytest.mark.parametrize("context", [0, CONTEXT])
@pytest.mark.parametrize("sentences", [2, 15, 16, 17, 26, 27, 200])
def test_windows_cover_each_border_with_context(sentences: int, context: int) -> None:
    answered: dict[int, int] = {}
    for first, last in spans(sentences, context):
        assert last - first <= SENTENCES
        for border in range(first + 1, last):
            if border not in answered or border - first > context:
                answered[border] = border - first
    assert sorted(answered) == list(range(1, sentences))
    assert all(before >= min(border, context + 1) for border, before in answered.items()) or context == 0


def test_each_stretch_of_pairs_has_windows_of_its_own() -> None:
    texts = pa.array([f"s {number}" for number in range(40)])
    left = np.array([*range(20), 30, 31])
    places, windows = windows_of(texts, left, left + 1, pair_context([-1] * 22), shared=0)
    assert [len(at) for at in places] == [15, 5, 2]
    assert windows[1].sentences[0] == windows[0].sentences[-1] == "s 15"
    assert windows[2].sentences == ("s 30", "s 31", "s 32")
    assert windows_of(texts, left[:0], left[:0], pair_context([])) == ([], [])


def test_a_scorer_answers_a_border_in_the_window_that_sees_most_around_it(window_model: Path) -> None:
    scorer = WindowScorer(str(window_model), 8, 1, None, ENCODER_WEIGHTS)
    texts = pa.array([(SAID + ASKED)[number * 5 % 8] for number in range(40)])
    left = np.arange(39)
    context = pair_context([-1] * 39)
    found = scorer(texts, left, left + 1, context)
    model = TurnWindowClassifier.load(window_model)
    for first, last, low, high in ((0, 16, 0, 13), (10, 26, 13, 23), (20, 36, 23, 33), (30, 40, 33, 39)):
        pairs = slice(first, last - 1)
        _, [window] = windows_of(texts, left[pairs], left[pairs] + 1, context.part(pairs))
        odds = model.log_odds([window], 8)[0]
        assert found[low:high] * UNIT == pytest.approx(odds[low - first : high - first], abs=1e-4)


def test_a_folder_tells_which_kind_it_holds(window_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(window_model, save_windows(folder, None, ENCODER_WEIGHTS))
    scorer = turn_scorer(folder, NO_LEMMAS, 8, 1)
    assert scorer == WindowScorer(str(folder / "encoder"), 8, 1, None, ENCODER_WEIGHTS)
    texts = pa.array(["why did you cry ?", "i am so sad", "it was very dark"])
    margins = scorer(texts, np.array([0, 1]), np.array([1, 2]), pair_context([-1, -1]))
    assert margins[0] > 0 > margins[1]
    (tmp_path / "head.json").write_text(json.dumps({"kind": "weak_labeler"}))
    for wrong in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            turn_scorer(wrong, NO_LEMMAS, 8, 1)


def test_both_are_added_at_every_pair(window_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    linear = BorderSegmenter.packaged()
    shutil.copytree(window_model, save_windows(folder, linear, (0.5, 0.25, -1.0)))
    scorer = turn_scorer(folder, NO_LEMMAS, 8, 1)
    assert isinstance(scorer, WindowScorer)
    assert scorer.weights == (0.5, 0.25, -1.0)
    texts = pa.array(["why did you cry ?", "i am so sad", "it was very dark"])
    left, right = np.array([0, 1]), np.array([1, 2])
    none = pair_context([-1, -1])
    odds = scorer.log_odds(texts, left, right, none)
    expected = 0.5 * linear(texts, left, right, none) + 0.25 * odds - 1.0
    assert scorer(texts, left, right, none) == pytest.approx(expected)
    empty = np.zeros(0, np.int64)
    assert scorer(texts, empty, empty, pair_context([])).shape == (0,)
    kept = json.loads((folder / WINDOWS).read_text())
    for change, fault in {
        "linear": "cannot be read",
        "encoder": "cannot be read",
        "format": "not of this version's format",
    }.items():
        (folder / WINDOWS).write_text(json.dumps({name: value for name, value in kept.items() if name != change}))
        with pytest.raises(InputError, match=f"{fault}.*train it again"):
            turn_scorer(folder, NO_LEMMAS, 8, 1)
    (folder / WINDOWS).write_text(json.dumps({**kept, "constant": float("nan")}))
    with pytest.raises(InputError, match="train it again"):
        turn_scorer(folder, NO_LEMMAS, 8, 1)


def two_scores(seed: int, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores of two kinds that err on different pairs, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.random(4_000) < 0.4
    sign = np.where(truth, 1.0, -1.0)
    return random.normal(0.7 * sign, 1.0) + shift, random.normal(2.0 * sign, 2.0), truth


def test_the_weights_of_both_tell_how_likely_a_new_turn_is() -> None:
    margins, odds, truth = two_scores(1)
    by_linear, by_encoder, constant = fitted_weights(margins, odds, truth, np.ones(len(truth)))
    # Of two normal distributions the log-odds are 2 mean / variance times the score: 1.4 and 1, on the scale of 1.45.
    assert by_linear == pytest.approx(1.4 / 1.45, rel=0.1)
    assert by_encoder == pytest.approx(1.0 / 1.45, rel=0.1)
    other = two_scores(2)
    score = by_linear * other[0] + by_encoder * other[1] + constant
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


def test_an_encoder_alone_gets_the_slope_that_is_right() -> None:
    _, odds, truth = two_scores(1)
    by_linear, by_encoder, constant = fitted_weights(None, odds, truth, np.ones(len(truth)))
    assert by_linear == 0
    assert by_encoder == pytest.approx(1.0 / 1.45, rel=0.1)
    told = 1 / (1 + np.exp(-1.45 * (by_encoder * odds + constant)))
    assert told.mean() == pytest.approx(truth.mean(), abs=0.02)
