"""Statistics of human evaluations: agreement of raters and tests of significance."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pvariance


def student_t(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the two-sided p of Student's t-test for equal means (AugESC Table 3).

    The result is None if a set has fewer than two values or neither set varies.
    """
    if min(len(first), len(second)) < 2 or not (pvariance(first) or pvariance(second)):
        return None
    from scipy.stats import ttest_ind

    return float(ttest_ind(first, second).pvalue)


def sign_test(wins: int, losses: int) -> float | None:
    """Return the two-sided p of the sign test without ties (AugESC Table 4); None without wins and losses."""
    if not wins + losses:
        return None
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue)


def wilson(hits: int, cases: int) -> tuple[float, float]:
    """Return Wilson's interval at 95 % of a share; all of 0 to 1 without cases."""
    if not cases:
        return 0.0, 1.0
    from scipy.stats import binomtest

    interval = binomtest(hits, cases).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def share_within(samples: Iterable[Sequence[float]], apart: float = 1, raters: int = 2) -> float | None:
    """Return the share of samples whose ratings agree (AugESC Table 3); None without samples.

    Args:
        samples: each sample's ratings.
        apart: greatest difference that counts as agreement.
        raters: least number of ratings of a sample. Other samples are ignored.
    """
    near = [max(sample) - min(sample) <= apart for sample in samples if len(sample) >= raters]
    return sum(near) / len(near) if near else None


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Return Cohen's kappa of two raters' answers to the same items; None without items or with certain chance."""
    if not first:
        return None
    number = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / number
    chance = sum(first.count(one) * second.count(one) for one in set(first)) / number**2
    return (observed - chance) / (1 - chance) if chance < 1 else None


def mean_kappa(answers: Mapping[str, Mapping[str, str]]) -> float | None:
    """Return the mean of Cohen's kappa over pairs of raters, on the items that both answered (Emo Pillars I.2).

    Args:
        answers: answers by rater and item.
    """
    found = []
    for one, other in combinations(sorted(answers), 2):
        both = sorted(answers[one].keys() & answers[other].keys())
        found.append(kappa([answers[one][item] for item in both], [answers[other][item] for item in both]))
    known = [value for value in found if value is not None]
    return fmean(known) if known else None
