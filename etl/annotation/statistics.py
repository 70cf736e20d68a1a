"""Figures of human evaluations: agreement of raters and tests of significance, as pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, pvariance


def student_t(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Two-sided p of Student's t-test for equal means (AugESC Table 3); None where it says nothing.

    It says nothing with fewer than two values in a set, or where neither set varies.
    """
    if min(len(first), len(second)) < 2 or not (pvariance(first) or pvariance(second)):
        return None
    from scipy.stats import ttest_ind

    return float(ttest_ind(first, second).pvalue)


def sign_test(wins: int, losses: int) -> float | None:
    """Two-sided p of the sign test, ties left out (AugESC Table 4); None without a win or a loss."""
    if not wins + losses:
        return None
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue)


def share_within(samples: Iterable[Sequence[float]], apart: float = 1, raters: int = 2) -> float | None:
    """Share of the samples whose ratings are at most so far apart (AugESC Table 3); None without samples.

    Args:
        samples: each sample's ratings.
        apart: the greatest difference that counts as agreement.
        raters: samples with fewer ratings are not looked at.
    """
    near = [max(sample) - min(sample) <= apart for sample in samples if len(sample) >= raters]
    return sum(near) / len(near) if near else None


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Cohen's kappa of two raters' answers to the same items; None without items, or where chance explains all."""
    if not first:
        return None
    number = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / number
    chance = sum(first.count(one) * second.count(one) for one in set(first)) / number**2
    return (observed - chance) / (1 - chance) if chance < 1 else None


def mean_kappa(answers: Mapping[str, Mapping[str, str]]) -> float | None:
    """Cohen's kappa averaged over pairs of raters, on the items that both answered (Emo Pillars I.2).

    Args:
        answers: by rater, by item.
    """
    found = []
    for one, other in combinations(sorted(answers), 2):
        both = sorted(answers[one].keys() & answers[other].keys())
        value = kappa([answers[one][item] for item in both], [answers[other][item] for item in both])
        found += [] if value is None else [value]
    return fmean(found) if found else None
