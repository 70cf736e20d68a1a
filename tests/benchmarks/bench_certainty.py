"""How often the segmenter is right, by the distance of its score from 0; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_certainty FOLDER [--transcripts FOLDER ...] [--folds N]
                                            [--kind cascade] [--set KEY=VALUE...] [--margins FOLDER]

Fits a and b of ``subtitles.certainty.model``: right with probability 1 / (1 + exp(-(a + b * distance))), once on all
held-out pairs of each source and once a fold on the films of the other folds. Prints the numbers by source, and for
the folds what was told beside what was right. No film is judged by an SVM or by an a and b that learned from it.
"""

import sys

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from conf.subtitle_settings import TurnCertainty
from etl.subtitles.turn_marks import UNMARKED
from etl.subtitles.turn_pairs import CARRIED, DASHES, LABELS
from tests.benchmarks.bench_marks import borders_of, families, judged
from tests.benchmarks.turn_folds import arguments, fold_of, margins_of, read_uploads

BINS = np.arange(0.5, 1.01, 0.05)


def fitted(pairs: pd.DataFrame) -> tuple[float, float]:
    """Return a and b by maximum likelihood."""
    distance = pairs["margin"].abs().to_numpy()
    sign = np.where(pairs["right"], 1.0, -1.0)

    def loss(line: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (line[0] + line[1] * distance)).sum())

    a, b = minimize(loss, [0.0, 1.0]).x
    return float(a), float(b)


def told(pairs: pd.DataFrame, line: tuple[float, float]) -> np.ndarray:
    """Return the probability that each decision is right, by a and b."""
    return np.asarray(1 / (1 + np.exp(-(line[0] + line[1] * pairs["margin"].abs()))))


def by_source(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return a and b of each source, what they tell at some distances, and true beside predicted changes.

    ``probability`` is the mean probability of a change by the default b.
    """
    rows = {}
    for source, found in pairs.groupby("source"):
        a, b = fitted(found)
        at = {f"at {x}": 1 / (1 + np.exp(-(a + b * x))) for x in (0.1, 0.5, 1.0, 1.5, 2.0)}
        odds = TurnCertainty().model[1] * found["margin"]
        shares = {
            "changes": (found["label"] == 1).mean(),
            "predicted": (found["margin"] > 0).mean(),
            "probability": (1 / (1 + np.exp(-odds))).mean(),
        }
        rows[source] = {"pairs": len(found), "a": a, "b": b, **at, **shares}
    return pd.DataFrame(rows).T


def reliability(pairs: pd.DataFrame, folds: int) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Return what was told and what was right on films that a and b never saw, and the expected calibration error.

    The first table has what was told in steps, the second in fifths of the pairs.
    """
    films = pairs[pairs["source"].isin([DASHES, LABELS, CARRIED])].copy()
    fold = films["split_group"].map(lambda film: fold_of(film, folds))
    films["told"] = 0.0
    for one in range(folds):
        films.loc[fold == one, "told"] = told(films[fold == one], fitted(films[fold != one]))
    fifth = pd.qcut(films["told"].rank(method="first"), 5, labels=[f"fifth {n}" for n in range(1, 6)])
    steps, fifths = (
        films.groupby(by, observed=True).agg(pairs=("right", "size"), told=("told", "mean"), right=("right", "mean"))
        for by in (pd.cut(films["told"], BINS), fifth)
    )
    error = (steps["pairs"] * (steps["told"] - steps["right"]).abs()).sum() / steps["pairs"].sum()
    return steps, fifths, float(error)


def marks_agree(borders: pd.DataFrame, family: np.ndarray) -> tuple[int, float]:
    """Return the borders that uploads of two families mark, and the share on which their own marks agree."""
    marked = borders[borders["certain"] != UNMARKED]
    marked = marked.assign(family=family[marked["file"]]).drop_duplicates(["film", "family", "key"])
    both = marked.merge(marked, on=["film", "key"])
    both = both[both["family_x"] < both["family_y"]]
    return len(both), float((both["certain_x"] == both["certain_y"]).mean())


def main() -> int:
    given = arguments(__doc__, kinds=True).parse_args()
    uploads = read_uploads(given.folder)
    margins, pairs = margins_of(given, uploads)
    report(pairs, given.folds)
    borders = borders_of(uploads, margins)
    family = families(borders, uploads.num_rows)
    number, agree = marks_agree(borders, family)
    print(f"own marks of two families of uploads agree on {agree:.1%} of {number:,} borders")
    rows = judged(borders, family, copies=False)
    voted = rows[rows["vote"] != 0]
    right = ((voted["vote"] > 0) == (voted["truth"] == 1)).mean()
    print(f"carried marks agree with a further upload on {right:.1%} of {len(voted):,} borders")
    return 0


def report(pairs: pd.DataFrame, folds: int) -> None:
    """Print the fits by source and the reliability over the folds."""
    margin = pairs["margin"].astype(float)
    label = pairs["label"].astype(int)
    pairs = pairs.assign(margin=margin, right=(margin > 0) == (label == 1))
    print(by_source(pairs).round(3).to_string(), "\n")
    a, b = fitted(pairs[pairs["source"].isin([DASHES, LABELS, CARRIED])])
    table, fifths, error = reliability(pairs, folds)
    print(f"all pairs of films: a {a:.2f}, b {b:.2f}; expected calibration error {error:.3f}")
    print(table.round(3).to_string(), "\n")
    print(fifths.round(3).to_string(), "\n")


if __name__ == "__main__":
    sys.exit(main())
