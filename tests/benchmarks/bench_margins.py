"""Whether a margin by kind of film decides better than 0: thresholds fitted on some films, judged on others.

    python -m tests.benchmarks.bench_margins FOLDER [--transcripts FOLDER ...] [--folds N]
                                          [--kind cascade] [--set KEY=VALUE...] [--margins FOLDER]

An upload's kind is its share of marked sentences and its sentences a block, each in thirds. A kind's threshold is the
one with the best accuracy on the other folds' films, or the one at which as many changes are predicted as are true.
The last table corrects the scores film by film (``prior_shift``).
The first table has limits for a dash that opens a block of several: on the film with the most of them, and on others.
"""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa

from etl.subtitles.turn_marks import NEW_TURN, UNMARKED, spoken
from etl.subtitles.turn_pairs import CARRIED, DASHES, LABELS
from etl.subtitles.turn_sentences import Sentences
from tests.benchmarks import prior_shift
from tests.benchmarks.bench_marks import borders_of
from tests.benchmarks.turn_folds import arguments, fold_of, margins_of, read_uploads

LIMITS = (-0.5, -0.4, -0.3, -0.2, -0.1, 0)
FEWEST_PAIRS = 100
"""A kind with fewer pairs in the other films keeps 0."""


def kinds(uploads: pa.RecordBatch) -> pd.DataFrame:
    """Return each upload's share of marked sentences and its sentences a block, in thirds of all uploads."""
    lines = spoken(Sentences.of(uploads.column("sentences")))
    files = uploads.num_rows
    size = np.maximum(np.bincount(lines.file, minlength=files), 1)
    marked = np.bincount(lines.file[lines.dash | (lines.label >= 0)], minlength=files) / size
    blocks = np.maximum(size - np.bincount(lines.file[lines.same_block], minlength=files), 1)
    found = pd.DataFrame({"marked": marked, "sentences a block": size / blocks})
    thirds = found.rank(pct=True).apply(lambda rank: np.minimum(rank * 3, 2.99).astype(int))
    return thirds.set_index(pd.Index(uploads.column("source_path").to_pylist()))


def best_threshold(margin: np.ndarray, truth: np.ndarray) -> float:
    """Return the threshold above which predicting a change has the best accuracy."""
    order = np.argsort(-margin)
    gain = np.concatenate([[0], np.cumsum(np.where(truth[order], 1, -1))])
    place = int(gain.argmax())
    ends = np.concatenate([[margin[order[0]] + 1], margin[order], [margin[order[-1]] - 1]])
    return float((ends[place] + ends[place + 1]) / 2)


def matching_threshold(margin: np.ndarray, truth: np.ndarray) -> float:
    """Return the threshold above which as many changes are predicted as there are."""
    return float(np.quantile(margin, 1 - truth.mean()))


def opening_dashes(borders: pd.DataFrame) -> pd.DataFrame:
    """Return how often each limit is right at a dash that opens a block of several, as other uploads tell."""
    told = borders[borders["same_block"] & (borders["certain"] != UNMARKED)]
    truth = told.groupby(["film", "key"])["certain"].agg(["min", "max"])
    truth = truth[truth["min"] == truth["max"]]["min"].rename("truth")
    rows = borders[borders["opening_dash"]].merge(truth, left_on=["film", "key"], right_index=True)
    rows = rows.drop_duplicates(["film", "key"])
    new = rows["truth"] == NEW_TURN
    found = pd.DataFrame({"film": rows["film"], "always a turn": new.astype(float)})
    for limit in LIMITS:
        found[f"above {limit}"] = ((rows["margin"] > limit) == new).astype(float)
    by_others = pd.Series(0.0, found.index)
    for film, held_out in found.groupby("film"):
        limits = found[found["film"] != film].drop(columns="film").mean()
        by_others[held_out.index] = held_out[limits.idxmax()]
    found["chosen by the other films"] = by_others
    most = found["film"].mode()[0]
    names = {True: f"film {most}", False: "the other films"}
    rules = found.drop(columns="film")
    means = rules.groupby((found["film"] == most).map(names))
    table = means.mean().join(means.size().rename("dashes"))
    table.loc["all films"] = [*rules.mean(), len(rules)]
    return table


def main() -> int:
    given = arguments(__doc__, kinds=True).parse_args()
    uploads = read_uploads(given.folder)
    margins, pairs = margins_of(given, uploads)
    print(opening_dashes(borders_of(uploads, margins)).round(3).to_string(), "\n")
    pairs = pairs.assign(truth=pairs["label"].astype(int) == 1, margin=pairs["margin"].astype(float))
    judged = pairs[pairs["source"].isin([DASHES, LABELS, CARRIED])].reset_index(drop=True)
    pairs = pairs[pairs["source"].isin([DASHES, CARRIED])].join(kinds(uploads), on="source_path")
    pairs["fold"] = pairs["split_group"].map(lambda film: fold_of(film, given.folds))
    by: dict[str, list[str]] = {
        "one": ["source"],
        "by marked": ["source", "marked"],
        "by sentences a block": ["source", "sentences a block"],
        "by both": ["source", "marked", "sentences a block"],
    }
    rows = {}
    for source in (*pairs["source"].unique(), "all"):
        chosen = pairs if source == "all" else pairs[pairs["source"] == source]
        row = {
            "pairs": len(chosen),
            "changes": chosen["truth"].mean(),
            "predicted at 0": (chosen["margin"] > 0).mean(),
            "0 everywhere": ((chosen["margin"] > 0) == chosen["truth"]).mean(),
        }
        for rule, threshold in (("best", best_threshold), ("matching", matching_threshold)):
            for name, columns in by.items():
                row[f"{rule}, {name}"] = _accuracy(chosen, columns, threshold)
        rows[source] = row
    print(pd.DataFrame(rows).round(4).to_string(), "\n")
    print(prior_shift.table(judged).round(4).T.to_string())
    return 0


def _accuracy(pairs: pd.DataFrame, columns: list[str], threshold: object) -> float:
    """Return the accuracy of thresholds by kind that the films of other folds chose."""
    right = 0
    for fold, held_out in pairs.groupby("fold"):
        others = pairs[pairs["fold"] != fold]
        limits = {
            kind: threshold(rows["margin"].to_numpy(), rows["truth"].to_numpy())  # type: ignore[operator]
            for kind, rows in others.groupby(columns)
            if len(rows) >= FEWEST_PAIRS
        }
        for kind, rows in held_out.groupby(columns):
            right += int(((rows["margin"] > limits.get(kind, 0.0)) == rows["truth"]).sum())
    return right / len(pairs)


if __name__ == "__main__":
    sys.exit(main())
