"""Corrections of the segmenter film by film, judged on borders that they did not see.

``one limit`` is the segmenter's own. ``EM`` finds the share of changes that explains a film's scores, without any
truth (Saerens, Latinne and Decaestecker 2002). ``marks`` is the product's ``film_shift``. ``true share`` shifts by the
film's true share, which nobody knows: what a correction of the share alone could reach.
"""

import numpy as np
import pandas as pd

from conf.subtitle_settings import TurnCertainty
from etl.subtitles.film_shift import film_shifts
from etl.subtitles.turn_pairs import CARRIED
from tests.benchmarks.harness import content_share

SLOPE = TurnCertainty().model[1]
SPREADS = (0.25, 0.5, 1.0)
MIN_PAIRS = 50
"""Films with fewer judged pairs do not count in the mean difference of shares."""


def log_odds(share: float) -> float:
    return float(np.log(share / (1 - share)))


def probability(odds: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-odds)))


def share_by_em(odds: np.ndarray, base: float, steps: int = 500) -> float:
    """Return the share of changes that explains a film's log-odds best, by expectation maximisation.

    Right where the film differs from the training data in the share of changes alone.

    Args:
        odds: calibrated log-odds of a change under the share ``base``.
        base: share of changes in the data that the log-odds come from.
    """
    share = base
    for _ in range(steps):
        found = float(probability(odds + log_odds(share) - log_odds(base)).mean())
        found = min(max(found, 1e-3), 1 - 1e-3)
        if abs(found - share) < 1e-7:
            break
        share = found
    return share


def shifted(pairs: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the log-odds of each rule for pairs of films with split_group, source, margin, truth.

    Marks correct only pairs that they do not decide: a pair within a block by the pairs of the film's other half,
    drawn by hash; a carried one, which stands between two blocks, by all pairs within the film's blocks.
    """
    odds = SLOPE * pairs["margin"].to_numpy()
    truth = pairs["truth"].to_numpy()
    film, names = pd.factorize(pairs["split_group"])
    base = float(truth.mean())
    rules = {"one limit": odds}
    by_em = odds.copy()
    by_share = odds.copy()
    for number in range(len(names)):
        mine = film == number
        by_em[mine] += log_odds(share_by_em(odds[mine], base)) - log_odds(base)
        by_share[mine] += log_odds(min(max(float(truth[mine].mean()), 0.02), 0.98)) - log_odds(base)
    rules["EM"] = by_em
    rules["true share"] = by_share
    carried = (pairs["source"] == CARRIED).to_numpy()
    text = pairs["split_group"] + "\n" + pairs["left_text"] + "\n" + pairs["right_text"]
    half = (text.map(content_share) < 0.5).to_numpy()
    within = pairs["same_block"].astype(bool).to_numpy()
    for spread in SPREADS:
        found = odds.copy()
        for asked, told in (
            (carried, within),
            (~carried & half, within & ~half),
            (~carried & ~half, within & half),
        ):
            shift = film_shifts(odds[told], truth[told], film[told], len(names), spread)
            found[asked] += shift[film[asked]]
        rules[f"marks, {spread}"] = found
    return rules


def calibration_error(odds: np.ndarray, truth: np.ndarray, parts: int = 5) -> float:
    """Return the mean difference of told and right decisions over equal parts by what was told."""
    told = probability(np.abs(odds))
    right = (odds > 0) == truth
    part = pd.qcut(pd.Series(told).rank(method="first"), parts, labels=False)
    means = pd.DataFrame({"told": told, "right": right}).groupby(part).agg(["mean", "size"])
    difference = (means["told"]["mean"] - means["right"]["mean"]).abs() * means["told"]["size"]
    return float(difference.sum() / len(told))


def table(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return by rule: accuracy by source, shares of changes, mean difference of a film's shares, calibration error."""
    truth = pairs["truth"].to_numpy()
    rows = {}
    for rule, odds in shifted(pairs).items():
        right = (odds > 0) == truth
        row = {f"right, {source}": right[at].mean() for source, at in pairs.groupby("source").indices.items()}
        films = pd.DataFrame({"film": pairs["split_group"], "told": odds > 0, "mean": probability(odds), "true": truth})
        means = films.groupby("film").agg(["mean", "size"])
        means = means[means["true"]["size"] >= MIN_PAIRS]
        rows[rule] = {
            **row,
            "right": right.mean(),
            "changes predicted": (odds > 0).mean(),
            "mean probability": probability(odds).mean(),
            "true": truth.mean(),
            "by film, predicted": (means["told"]["mean"] - means["true"]["mean"]).abs().mean(),
            "by film, probability": (means["mean"]["mean"] - means["true"]["mean"]).abs().mean(),
            "calibration error": calibration_error(odds, truth),
        }
    return pd.DataFrame(rows).T
