"""Statistics of human evaluations: agreement of raters and tests of significance."""

from collections.abc import Mapping, Sequence
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
