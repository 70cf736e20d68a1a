"""Intervals of shares, against figures worked out by hand."""

import pytest

from etl.common.intervals import wilson


@pytest.mark.parametrize(
    ("hits", "cases", "low", "high"),
    [
        # At z = 1.96: (0.5714 + 0.2744) / 1.5488, less and more 0.2962.
        (4, 7, 0.2505, 0.8418),
        (5, 10, 0.2366, 0.7634),
        (90, 100, 0.8256, 0.9448),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilsons_interval(hits: int, cases: int, low: float, high: float) -> None:
    assert wilson(hits, cases) == pytest.approx((low, high), abs=1e-3)
