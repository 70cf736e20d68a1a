"""Features of a film's borders by hand, and the layer that weighs them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

from etl.subtitles.turn_marks import Spoken, spoken
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences
from tests.benchmarks.bench_film_context import ALONE, DRAWS, auc_by_draw, features, gains, judged_rows, layered


def lines_of(*sentences: tuple[str, int, int | None, int | None], files: int = 1) -> Spoken:
    """Return spoken sentences from text, block, start and end; each of ``files`` equal files has all of them."""
    texts, blocks, starts, ends = zip(*sentences, strict=True)
    times = [np.array([UNKNOWN_MS if time is None else time for time in side] * files) for side in (starts, ends)]
    size = len(texts)
    block = np.array(blocks * files)
    found = Sentences(
        pa.array(texts * files), np.repeat(np.arange(files), size), np.arange(files + 1) * size, block, block, *times
    )
    return spoken(found)


TALK = lines_of(
    ("Wait for me ,", 1, 0, 1_000),
    ("said the old man .", 2, 1_000, 3_000),
    ("No !", 3, 4_500, None),
    ("... and then we left", 3, None, 6_000),
    ("Late again ?", 4, 5_900, 5_000),
)


@pytest.mark.parametrize(
    ("group", "feature", "values"),
    [
        ("comma", "comma", [0, 1, 0, 0, 0]),
        ("comma", "no end", [1, 1, 0, 0, 1]),
        ("lower case", "lower", [0, 1, 0, 1, 0]),
        ("lower case", "dots first", [0, 0, 0, 1, 0]),
        ("gap", "gap", [0, 0, 1.5, 0, -0.1]),
        ("gap", "known", [0, 1, 1, 0, 1]),
        ("gap", "long", [0, 0, 1, 0, 0]),
        ("blocks", "size", [1, 1, 2, 2, 1]),
        ("blocks", "place", [0, 0, 0, 1, 0]),
        ("blocks", "last", [1, 1, 0, 1, 1]),
        ("time", "known", [1, 1, 0, 0, 0]),
        ("time", "both known", [0, 1, 0, 1, 0]),
    ],
)
def test_features_by_hand(group: str, feature: str, values: list[float]) -> None:
    assert features(TALK, np.zeros(5))[group][feature].tolist() == values


def test_every_feature_is_a_number_where_times_are_missing_or_wrong() -> None:
    odd = lines_of(("", 0, None, None), ("Oh", 0, 90_000_000, 5), ("♪", 0, 1, 1), ("so :", 1, -5, 10**12), files=2)
    for group in features(odd, np.zeros(len(odd.file))).values():
        assert np.isfinite(group.to_numpy()).all()


def test_scores_of_the_film_before_are_no_neighbours() -> None:
    two = lines_of(("Here .", 1, 0, 1), ("There .", 2, 2, 3), ("Where ?", 3, 4, 5), files=2)
    beside = features(two, np.array([0.0, 1, 2, 0, 3, 4]))["neighbouring scores"]
    assert beside["1"].tolist() == [0, 0, 1, 0, 0, 3]
    assert beside["-1"].tolist() == [1, 2, 0, 3, 4, 0]


def test_pairs_are_found_in_their_upload_and_labels_between_blocks_go() -> None:
    two = lines_of(("Here .", 1, 0, 1), ("There .", 2, 2, 3), ("Where ?", 3, 4, 5), files=2)
    given = [
        ("dashes", "Here .", "There .", "b.xml", True),
        ("labels", "There .", "Where ?", "b.xml", False),
        ("labels", "There .", "Where ?", "a.xml", True),
        ("carried", "Here .", "Where ?", "a.xml", False),
        ("meld", "Here .", "There .", None, None),
    ]
    names = ["source", "left_text", "right_text", "source_path", "same_block"]
    pairs = pd.DataFrame(given, columns=names).assign(label=1, margin=0.5)
    rows = judged_rows(pairs, two, ["a.xml", "b.xml"])
    assert sorted(zip(rows["source"], rows["at"], strict=True)) == [("dashes", 4), ("labels", 2)]


@pytest.fixture
def rows() -> pd.DataFrame:
    """Return 3,000 pairs of 30 films whose scores tell something."""
    random = np.random.default_rng(2)
    truth = random.random(3_000) < 0.4
    return pd.DataFrame(
        {
            "split_group": [f"film {n % 30}" for n in range(3_000)],
            "source": np.where(np.arange(3_000) % 7 < 5, "dashes", "carried"),
            "same_block": np.arange(3_000) % 7 < 5,
            "truth": truth,
            "margin": random.normal(np.where(truth, 0.4, -0.4), 1.0),
            "at": np.arange(3_000),
        }
    )


def folds(rows: pd.DataFrame) -> np.ndarray:
    return rows["split_group"].str[5:].astype(int).to_numpy() % 5


def test_a_feature_that_tells_gains_and_noise_does_not(rows: pd.DataFrame) -> None:
    random = np.random.default_rng(4)
    telling = pd.DataFrame({"x": rows["truth"] + random.normal(0, 1, len(rows))})
    noise = pd.DataFrame({"x": random.normal(0, 1, len(rows))})
    odds = {ALONE: rows["margin"].to_numpy(), "telling": layered(rows, telling, folds(rows))}
    odds["noise"] = layered(rows, noise, folds(rows))
    found = gains(rows, odds)
    assert found.loc["all: from", "telling"] > 0.01
    assert found.loc["all: auc from", "telling"] > 0.01
    assert found.loc["all: from", "noise"] <= 0
    assert found.loc["all: more right", ALONE] == found.loc["all: to", ALONE] == 0


def test_within_blocks_leaves_the_others_as_they_are(rows: pd.DataFrame) -> None:
    telling = pd.DataFrame({"x": rows["truth"].astype(float)})
    found = layered(rows, telling, folds(rows), within=True)
    inside = rows["same_block"].to_numpy()
    assert np.array_equal(found[~inside] > 0, (rows["margin"] > 0)[~inside])
    assert ((found > 0) == rows["truth"])[inside].mean() > 0.95


def test_a_film_is_not_judged_by_its_own_truth(rows: pd.DataFrame) -> None:
    telling = pd.DataFrame({"x": rows["truth"].astype(float)})
    mine = folds(rows) == 2
    other = rows.assign(truth=np.where(mine, ~rows["truth"], rows["truth"]))
    assert np.array_equal(layered(rows, telling, folds(rows))[mine], layered(other, telling, folds(rows))[mine])


def test_the_area_under_the_curve_of_all_films_once_is_the_usual_one(rows: pd.DataFrame) -> None:
    film, names = pd.factorize(rows["split_group"])
    once = np.ones((DRAWS, len(names)), dtype=int)
    found = auc_by_draw(rows["margin"].to_numpy(), rows["truth"].to_numpy(), film, once)
    assert found == pytest.approx(np.full(len(found), roc_auc_score(rows["truth"], rows["margin"])))
