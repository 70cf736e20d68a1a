"""Agreement and significance of human evaluations, against scipy, scikit-learn and worked examples."""

import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from etl.annotation.statistics import kappa, mean_kappa, sign_test, student_t


@pytest.mark.parametrize(
    ("wins", "losses", "below"),
    [(28, 8, 0.005), (41, 13, 0.005), (33, 13, 0.005), (35, 9, 0.005), (35, 17, 0.0176)],
    ids=["fluency", "identification", "comforting", "suggestion", "overall"],
)
def test_the_papers_counts_give_its_levels(wins: int, losses: int, below: float) -> None:
    p = sign_test(wins, losses)
    assert p is not None
    assert p < below
    assert p == pytest.approx(2 * stats.binom.sf(wins - 1, wins + losses, 0.5))
    assert sign_test(losses, wins) == pytest.approx(p)


def test_overall_is_significant_at_five_percent_only() -> None:
    assert sign_test(35, 17) == pytest.approx(0.0175, abs=5e-5)
    assert sign_test(0, 0) is None
    assert sign_test(5, 5) == 1.0


def test_students_t_by_hand() -> None:
    first = [3, 2, 3, 2, 3]
    second = [1, 2, 1, 2, 1]
    # Means 2.6 and 1.4, both variances 0.3: t = 1.2 / sqrt(0.3 * 2 / 5) with 8 degrees of freedom.
    by_hand = 2 * stats.t.sf(1.2 / (0.3 * 2 / 5) ** 0.5, 8)
    assert student_t(first, second) == pytest.approx(by_hand)
    assert student_t([1, 1, 1], [1, 1]) is None
    assert student_t([1], [1, 2]) is None


@pytest.mark.parametrize(("first", "second"), [("aabbc", "abbbc"), ("abcabc", "cabbac"), ("aab", "bba")])
def test_kappa_is_that_of_scikit_learn(first: str, second: str) -> None:
    assert kappa(list(first), list(second)) == pytest.approx(cohen_kappa_score(list(first), list(second)))


def test_kappa_is_averaged_over_pairs_on_what_both_answered() -> None:
    answers = {
        "x": dict(zip("1234", "abab", strict=True)),
        "y": dict(zip("1234", "abba", strict=True)),
        "z": dict(zip("345", "abb", strict=True)),
    }
    pairs = (kappa(list("abab"), list("abba")), kappa(list("ab"), list("ab")), kappa(list("ba"), list("ab")))
    assert None not in pairs
    assert mean_kappa(answers) == pytest.approx(sum(one for one in pairs if one is not None) / 3)
    assert mean_kappa({"x": {"1": "a"}}) is None
    assert kappa([], []) is None
    assert kappa(["a"], ["a"]) is None
