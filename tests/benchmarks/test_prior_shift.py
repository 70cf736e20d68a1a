"""The corrections of the share of changes find a share that is known."""

import numpy as np
import pandas as pd
import pytest

from tests.benchmarks.prior_shift import calibration_error, log_odds, share_by_em, shifted, table

BASE = 0.4


def scores(share: float, films: str, pairs: int = 4_000, seed: int = 3, *, source: str = "dashes") -> pd.DataFrame:
    """Return pairs of a film of which a share are changes, with calibrated scores under the share ``BASE``."""
    random = np.random.default_rng(seed)
    truth = random.random(pairs) < share
    # Of two normal distributions, 2 apart and of variance 1, the log-odds are 2 x plus those of the share.
    odds = 2 * random.normal(np.where(truth, 1.0, -1.0), 1.0) + log_odds(BASE)
    texts = [f"{films} {number}" for number in range(pairs)]
    return pd.DataFrame(
        {
            "split_group": films,
            "source": source,
            "left_text": texts,
            "right_text": texts,
            "same_block": source != "carried",
            "margin": odds / 1.45,
            "truth": truth,
        }
    )


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4, 0.6, 0.85])
def test_em_finds_the_share_of_changes(share: float) -> None:
    film = scores(share, "a")
    assert share_by_em(1.45 * film["margin"].to_numpy(), BASE) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("sign, found", [(1, 0.999), (-1, 0.001)])
def test_em_stays_within_shares_that_have_log_odds(sign: int, found: float) -> None:
    assert share_by_em(np.full(50, sign * 30.0), BASE) == pytest.approx(found)


def test_marks_of_one_half_correct_the_other_and_what_stands_between_blocks() -> None:
    pairs = pd.concat(
        [
            scores(0.2, "a", seed=1),
            scores(0.6, "b", seed=2),
            scores(0.2, "a", 1_000, 4, source="carried"),
            scores(0.6, "b", 1_000, 5, source="carried"),
        ],
        ignore_index=True,
    )
    found = table(pairs)
    for source in ("dashes", "carried"):
        assert found.loc["marks, 1.0", f"right, {source}"] > found.loc["one limit", f"right, {source}"]
    assert found.loc["marks, 1.0", "by film, probability"] < 0.02
    assert found.loc["one limit", "by film, probability"] > 0.05
    assert found.loc["EM", "by film, probability"] < 0.02
    assert found.loc["marks, 1.0", "calibration error"] < 0.02


def test_a_pair_is_not_corrected_by_its_own_mark() -> None:
    pairs = scores(0.4, "a", 400)
    other = pairs.copy()
    other.loc[7, "truth"] = not other.loc[7, "truth"]
    before, after = (shifted(one)["marks, 0.5"] for one in (pairs, other))
    assert after[7] == before[7]
    assert (after != before).any()


def test_the_calibration_error_is_what_is_told_beside_what_is_right() -> None:
    odds = np.full(1_000, log_odds(0.8))
    truth = np.arange(1_000) % 10 < 7
    assert calibration_error(odds, truth, 1) == pytest.approx(0.1)
