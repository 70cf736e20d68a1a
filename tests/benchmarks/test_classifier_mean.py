"""The mean of several classifiers is chosen by validation rows."""

import numpy as np
import pytest

from tests.benchmarks.bench_classifier_mean import figures, subsets

FIRST = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
SECOND = [[0.4, 0.6], [0.1, 0.9], [0.3, 0.7]]


def test_figures_are_of_the_most_probable_labels() -> None:
    accuracy, macro_f1 = figures(np.array(FIRST), np.array([0, 1, 1]))
    assert accuracy == pytest.approx(2 / 3)
    assert macro_f1 == pytest.approx(2 / 3)


def test_the_best_on_validation_rows_is_first_whatever_the_test_rows_say() -> None:
    answers = {"validation": [np.array(FIRST), np.array(SECOND)], "test": [np.array(SECOND), np.array(FIRST)]}
    truths = {"validation": np.array([0, 1, 1]), "test": np.array([1, 1, 1])}
    found = subsets(answers, truths)
    assert [some for some, _ in found] == [(0, 1), (0,), (1,)]
    assert [round(one["validation"][0], 2) for _, one in found] == [1, 0.67, 0.67]
    assert [round(one["test"][0], 2) for _, one in found] == [0.67, 1, 0.33]
