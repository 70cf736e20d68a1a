"""The segmenter of words, marks and times."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from conf.errors import InputError
from etl.subtitles.border_features import UNKNOWN_BIN, _bins, sentence_words
from etl.subtitles.border_segmenter import (
    PLAIN_BITS,
    SEGMENTER_FILE,
    WORDS_BITS,
    BorderSegmenter,
    fit_logistic,
    no_start,
    trained_kind,
)
from etl.subtitles.training.package_segmenter import OUT
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_ragged import Ragged
from etl.subtitles.turn_scorers import RULE_FILE, turn_scorer
from tests.turn_contexts import pair_context


@pytest.mark.parametrize(
    ("text", "mark", "low", "words"),
    [
        ("Where is it ?", 2, False, 3),
        ("and so on", 0, True, 3),
        ('He said , " No ! "', 3, False, 3),
        ("I thought ...", 5, False, 2),
        ("I thought...", 5, False, 2),
        ("- -", 6, False, 0),
        ("", 0, False, 0),
        ('" "', 0, False, 0),
        ("... then we left .", 1, True, 3),
    ],
)
def test_a_sentence_shows_how_it_ends_and_opens(text: str, mark: int, low: bool, words: int) -> None:
    found = sentence_words(pa.array([text, "Other ."]))
    assert (found.mark[0], bool(found.low[0]), found.words[0]) == (mark, low, words)


def test_bins_keep_what_is_not_known_apart() -> None:
    assert _bins(np.array([0.0, 39, 40, 9e9, np.nan]), (40, 150)).tolist() == [0, 0, 1, 2, UNKNOWN_BIN]


def scores(texts: list[str], segmenter: BorderSegmenter, **known: object) -> np.ndarray:
    count = len(texts) - 1
    return segmenter(pa.array(texts), np.arange(count), np.arange(count) + 1, pair_context([0] * count, **known))


def test_the_package_tells_an_answer_from_a_sentence_that_goes_on() -> None:
    segmenter = BorderSegmenter.packaged()
    texts = ["Where were you last night ?", "At home .", "Why do you ask ?"]
    changes = scores(texts, segmenter, gap_ms=[0, 0], language=["en", "en"])
    goes_on = scores(["I went to the shop ,", "and then I came home ."], segmenter, gap_ms=[0], language=["en"])
    assert changes.min() > 0.3 > -0.3 > goes_on[0]


def test_words_of_another_language_are_not_read() -> None:
    segmenter = BorderSegmenter.packaged()
    one, other = (["Where were you ?", word] for word in ("Home .", "Dort ."))
    assert scores(one, segmenter, language=["de"]) == scores(other, segmenter, language=["de"])
    assert scores(one, segmenter, language=["en"]) != scores(other, segmenter, language=["en"])


def test_borders_within_a_cue_have_their_own_model() -> None:
    segmenter = BorderSegmenter.packaged()
    texts, left, right = pa.array(["Where were you ?", "At home ."]), np.array([0]), np.array([1])
    within, between, unknown = (
        segmenter(texts, left, right, pair_context([block], language=["en"]))[0] for block in (1, 0, -1)
    )
    assert len({within, between, unknown}) == 3


def table(rows: list[tuple[str, str, int | None]]) -> pa.Table:
    count = len(rows)
    left, right, label = zip(*rows, strict=True)
    none = [None] * count
    return pa.table(
        {
            "source": ["cues"] * count,
            "split_group": [f"series/{number % 7}" for number in range(count)],
            "left_text": list(left),
            "right_text": list(right),
            "label": pa.array(label, pa.int32()),
            "same_block": pa.array([False] * count),
            "genres": pa.array(none, pa.list_(pa.string())),
            **{name: pa.array(none, pa.float64()) for name in ("density", "silence_ms", "left_speed", "right_speed")},
            "language": ["en"] * count,
            "place": pa.array(none, pa.int64()),
        }
    )


def test_training_goes_on_from_the_weights_that_it_begins_with() -> None:
    rows = [("Is it late ?", "Maybe .", 1), ("It is late .", "We go .", 0)] * 30
    start = no_start("en").between
    learned = trained_kind(table(rows), "en", start)
    texts, pair = pa.array(["Is it late ?", "Maybe .", "It is late .", "We go ."]), (np.array([0, 2]), np.array([1, 3]))
    segmenter = BorderSegmenter(learned, learned)
    first = segmenter(texts, *pair, pair_context([0, 0]))
    assert first[0] > 0 > first[1]
    again = trained_kind(table(rows), "en", learned)
    second = BorderSegmenter(again, again)(texts, *pair, pair_context([0, 0]))
    assert second[0] > first[0]
    assert second[1] < first[1]
    assert trained_kind(table(rows[:1]), "en", start) is start
    other = trained_kind(table(rows), "de", learned)
    assert other.language == "de"


def test_the_log_loss_is_minimised() -> None:
    random = np.random.default_rng(3)
    features = Ragged(np.full(400, 3), random.integers(0, 2**63, 1200).astype(np.uint64))
    label = random.integers(0, 2, 400).astype(float)
    model = fit_logistic(features, label, np.ones(400), no_start("en").between.plain)

    def loss(weights: np.ndarray, intercept: float) -> float:
        odds = type(model)(weights, intercept).log_odds(features)
        return float(np.logaddexp(0, -(2 * label - 1) * odds).sum() + 25 * (weights**2).sum())

    least = loss(model.weights, model.intercept)
    for _ in range(5):
        moved = model.weights + random.normal(0, 0.01, len(model.weights)).astype(np.float32)
        assert loss(moved, model.intercept) > least
        assert loss(model.weights, model.intercept + random.normal(0, 0.1)) > least


def test_it_is_saved_and_loaded_and_refused_when_damaged(tmp_path: Path) -> None:
    packaged = BorderSegmenter.packaged()
    packaged.save(tmp_path)
    loaded = turn_scorer(tmp_path, LemmaTable.of({}), 8, 1)
    assert isinstance(loaded, BorderSegmenter)
    assert np.array_equal(loaded.between.words.weights, packaged.between.words.weights)
    assert loaded.within.plain.intercept == packaged.within.plain.intercept
    assert len(loaded.within.words.weights) == 2**WORDS_BITS
    assert len(loaded.within.plain.weights) == 2**PLAIN_BITS
    about = json.loads((tmp_path / SEGMENTER_FILE).read_text())
    for damaged in ("", "[]", "{}", json.dumps({**about, "format": 99}), json.dumps({**about, "within": {}})):
        (tmp_path / SEGMENTER_FILE).write_text(damaged)
        with pytest.raises(InputError, match="train it again"):
            turn_scorer(tmp_path, LemmaTable.of({}), 8, 1)


def test_the_rule_of_an_earlier_version_is_the_packaged_segmenter_now(tmp_path: Path) -> None:
    (tmp_path / RULE_FILE).write_text("{}")
    assert turn_scorer(tmp_path, LemmaTable.of({}), 8, 1) is BorderSegmenter.packaged()


def test_pairs_without_a_label_teach_nothing() -> None:
    known = [("Where is it ?", "At the mill .", 1), ("I was late .", "The mill was shut .", 0)] * 20
    start = no_start("en").between
    alone = trained_kind(table(known), "en", start)
    both = trained_kind(table([*known, *[("Where ?", "Here .", None)] * 9]), "en", start)
    assert np.array_equal(alone.words.weights, both.words.weights)
    assert trained_kind(table([("Where ?", "Here .", None)] * 9), "en", start) is start


def test_the_packaged_weights_go_where_they_are_read() -> None:
    assert (OUT / SEGMENTER_FILE).is_file()


def test_the_packaged_weights_are_small() -> None:
    folder = Path(__file__).parents[2] / "etl" / "subtitles" / "segmenter"
    assert sum(path.stat().st_size for path in folder.glob("*.safetensors")) < 2**20
