"""Intervals of shares."""


def wilson(hits: int, cases: int) -> tuple[float, float]:
    """Return Wilson's interval at 95 % of a share; all of 0 to 1 without cases."""
    if not cases:
        return 0.0, 1.0
    from scipy.stats import binomtest

    interval = binomtest(hits, cases).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
