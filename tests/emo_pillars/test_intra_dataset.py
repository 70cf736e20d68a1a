"""Whether contexts help: tests of two models' scores of the same passages, against scipy."""

import numpy as np
import pytest
from scipy import stats

from etl.emo_pillars.intra_dataset import differences


def test_paired_tests_see_a_small_gain_on_each_passage() -> None:
    """The passages differ far more than the models: tests of independent samples see nothing."""
    draw = np.random.default_rng(13)
    theirs = draw.uniform(0, 0.9, 200)
    ours = theirs + draw.uniform(0, 0.04, 200)
    pairs, gain, t_test, mann_whitney, paired, wilcoxon = differences(ours, theirs)
    assert pairs == 200
    assert gain == pytest.approx(float(np.mean(ours - theirs)), abs=1e-4)
    assert paired == pytest.approx(stats.ttest_1samp(ours - theirs, 0).pvalue)
    assert wilcoxon == pytest.approx(stats.wilcoxon(ours - theirs).pvalue)
    assert t_test == pytest.approx(stats.ttest_ind(ours, theirs, equal_var=False).pvalue)
    assert mann_whitney == pytest.approx(stats.mannwhitneyu(ours, theirs).pvalue)
    assert max(paired, wilcoxon) < 1e-10 < 0.1 < min(t_test, mann_whitney)


def test_no_difference_is_found_where_there_is_none() -> None:
    draw = np.random.default_rng(13)
    theirs = draw.uniform(0, 1, 500)
    *_, paired, wilcoxon = differences(theirs + draw.normal(0, 0.1, 500), theirs)
    assert min(paired, wilcoxon) > 0.01


@pytest.mark.parametrize(("gain", "p"), [(0.0, (1.0, 1.0)), (0.25, (0.0, pytest.approx(0.0625)))])
def test_equal_pairs_and_a_constant_gain(gain: float, p: tuple) -> None:
    theirs = np.array([0.5, 0.25, 0.5, 0.75, 0.5])
    found = differences(theirs + gain, theirs)
    assert found[:2] == (5, gain)
    assert found[-2:] == p
