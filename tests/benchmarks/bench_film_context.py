"""Whether more than the words of two sentences tells a change of speaker; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_film_context FOLDER [--transcripts FOLDER ...] [--folds N]
                                               [--kind svm|cascade|both] [--set KEY=VALUE...] [--margins FOLDER]

Adds one group of features at a time to the segmenter's log-odds, with weights learned from the films of the other
folds; the segmenter has not seen the judged film either. ``within blocks`` leaves borders between blocks alone.
``chain`` couples neighbouring borders of a film (``border_chain``); ``chain, marks seen`` is told the truth of the
other borders of the film. Prints by source the accuracy and the area under the curve, and for all pairs the difference
to the score alone with its 95% interval over films. A group helps if its interval is above 0. The source ``unmarked``
has the borders within blocks of uploads without marks, whose truth other uploads tell; nothing learns from them.
"""

import sys
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from etl.subtitles.turn_marks import NEW_TURN, UNMARKED, Spoken, spoken
from etl.subtitles.turn_pairs import CARRIED, DASHES, LABELS
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences
from tests.benchmarks.bench_marks import borders_of
from tests.benchmarks.border_chain import Chains, fitted, log_odds
from tests.benchmarks.prior_shift import SLOPE
from tests.benchmarks.turn_folds import arguments, fold_of, margins_of, read_uploads

ALONE = "score alone"
KEY = ["file", "left_text", "right_text"]
SILENCE_MS = 5_000
DRAWS = 1_000
LONGEST_S = 20.0
PENALTY = 10.0
UNMARKED_UPLOADS = "unmarked"
LAYOUT = ("time", "blocks")


def features(lines: Spoken, margins: np.ndarray) -> dict[str, pd.DataFrame]:
    """Return the groups of features of the border before each spoken sentence, by name.

    Args:
        lines: the spoken sentences.
        margins: the score before each.
    """
    text = pd.Series(lines.text.to_pylist())
    before = text.shift(fill_value="")
    length = np.maximum(text.str.len().to_numpy(), 1)
    seconds = spent(lines.start_ms, lines.end_ms)
    both = spent(np.concatenate([[UNKNOWN_MS], lines.start_ms[:-1]]), lines.end_ms)
    pace = np.where(np.isnan(seconds), 0, np.log((seconds + 0.2) / length))
    known = ~np.isnan(seconds)
    together = np.where(np.isnan(both), 0, np.log((both + 0.2) / (length + before.str.len().to_numpy())))
    silence = lines.silence_ms
    gap = np.where(silence == UNKNOWN_MS, 0, np.clip(silence, -2_000, 10_000)) / 1000
    block = pd.Series(np.cumsum(~lines.same_block))
    size = block.groupby(block).transform("size").to_numpy()
    place = block.groupby(block).cumcount().to_numpy()
    blocks = np.maximum(lines.block_last - lines.block_first, 0)
    ends = text.str.strip()
    found = {
        "time": {
            "pace": pace,
            "pace before": shifted(pace),
            "known": known,
            "known before": shifted(known),
            "pace of both": together,
            "both known": ~np.isnan(both),
        },
        "gap": {
            "gap": gap,
            "long": gap > 1,
            "none": (silence != UNKNOWN_MS) & (gap <= 0.05),
            "known": silence != UNKNOWN_MS,
            "root": np.sqrt(np.maximum(gap, 0)),
        },
        "blocks": {
            "size": np.minimum(size, 4),
            "size before": np.minimum(shifted(size), 4),
            "place": np.minimum(place, 3),
            "last": place == size - 1,
            "spans": np.minimum(blocks, 3),
            "spans before": np.minimum(shifted(blocks), 3),
        },
        "comma": {
            "comma": before.str.strip().str.endswith(","),
            "no end": ~before.str.strip().str.contains(r"[.?!\"'…♪*)\]-]$"),
            "dots": before.str.contains(r"(?:\. ?\. ?\.|…)\s*$"),
            "no end here": ~ends.str.contains(r"[.?!\"'…♪*)\]-]$"),
        },
        "lower case": {
            "lower": text.str.contains(r"^[^\w]*[a-z]"),
            "dots first": text.str.contains(r"^\s*(?:\.|…)"),
            "lower before": before.str.contains(r"^[^\w]*[a-z]"),
        },
        "neighbouring scores": {
            f"{step}": np.where(
                np.roll(lines.pairable, step) & (np.roll(lines.file, step) == lines.file), np.roll(margins, step), 0.0
            )
            for step in (-2, -1, 1, 2)
        },
    }
    return {name: pd.DataFrame(group).astype(float) for name, group in found.items()}


def spent(start_ms: np.ndarray, end_ms: np.ndarray) -> np.ndarray:
    """Return the seconds between two times, NaN where one is missing, negative or too long to be of two sentences."""
    known = (start_ms != UNKNOWN_MS) & (end_ms != UNKNOWN_MS)
    seconds = np.where(known, end_ms - np.where(known, start_ms, 0), -1) / 1000
    return np.where((seconds >= 0) & (seconds <= LONGEST_S), seconds, np.nan)


def shifted(values: np.ndarray) -> np.ndarray:
    """Return the values of the sentence before."""
    return np.concatenate([values[:1], values[:-1]])


def undecided(lines: Spoken) -> tuple[int, int]:
    """Return how many borders within and between blocks no mark of their own upload decides."""
    left = lines.pairable & (lines.certain == UNMARKED)
    return int((left & lines.same_block).sum()), int((left & ~lines.same_block).sum())


def judged_rows(pairs: pd.DataFrame, lines: Spoken, paths: list[str]) -> pd.DataFrame:
    """Return the pairs of films with the number of their right sentence in ``lines``; pairs without one go.

    Labels between blocks tell changes only, so they are left out.
    """
    films = pairs[pairs["source"].isin([DASHES, LABELS, CARRIED])]
    films = films[(films["source"] != LABELS) | films["same_block"].astype(bool)]
    films = films.assign(file=films["source_path"].map({path: at for at, path in enumerate(paths)}))
    text = np.array(lines.text.to_pylist(), dtype=object)
    right = np.flatnonzero(lines.pairable)
    places = pd.DataFrame(
        {"file": lines.file[right], "left_text": text[right - 1], "right_text": text[right], "at": right}
    ).drop_duplicates(KEY)
    rows = films.merge(places, on=KEY)
    return rows.assign(truth=rows["label"].astype(int) == 1, margin=rows["margin"].astype(float))


def unmarked_rows(uploads: pa.RecordBatch, margins: np.ndarray) -> pd.DataFrame:
    """Return the borders within blocks that no mark of their upload decides, and other uploads' marks all tell alike.

    Here a rule about blocks would be used. Nothing learns from these rows.
    """
    borders = borders_of(uploads, margins)
    told = borders[borders["same_block"] & (borders["certain"] != UNMARKED)]
    truth = told.groupby(["film", "key"])["certain"].agg(["min", "max"])
    truth = truth[truth["min"] == truth["max"]]["min"].rename("truth")
    asked = borders[borders["same_block"] & (borders["certain"] == UNMARKED)]
    rows = asked.assign(at=asked.index).merge(truth, left_on=["film", "key"], right_index=True)
    rows = rows.drop_duplicates(["film", "key"]).rename(columns={"film": "split_group"})
    rows = rows.assign(source=UNMARKED_UPLOADS, truth=rows["truth"] == NEW_TURN)
    return rows[["split_group", "source", "file", "at", "same_block", "truth", "margin"]]


def layered(rows: pd.DataFrame, columns: pd.DataFrame, fold: np.ndarray, *, within: bool = False) -> np.ndarray:
    """Return the log-odds of the score plus a weighed sum of these features, whose weights other folds' films taught.

    The features are taken around their means, so that they move no limit by themselves.

    Args:
        rows: the judged pairs.
        columns: the features of each sentence.
        fold: of each pair.
        within: whether they count at borders within a block only.
    """
    offset = SLOPE * rows["margin"].to_numpy()
    truth = rows["truth"].to_numpy()
    own = columns.to_numpy()[rows["at"].to_numpy()]
    counts = rows["same_block"].astype(bool).to_numpy() if within else np.ones(len(rows), dtype=bool)
    found = offset.copy()
    for one in np.unique(fold):
        learned = (fold != one) & counts & (rows["source"] != UNMARKED_UPLOADS).to_numpy()
        judged = (fold == one) & counts
        scale = StandardScaler().fit(own[learned])
        weights = weights_beside(scale.transform(own[learned]), offset[learned], truth[learned])
        found[judged] += scale.transform(own[judged]) @ weights
    return found


def weights_beside(table: np.ndarray, offset: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return the weights of features that are added to known log-odds, by penalised maximum likelihood."""
    sign = np.where(truth, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = sign * (offset + table @ weights)
        slope = -sign / (1 + np.exp(np.clip(odds, -50, 50)))
        return float(
            np.logaddexp(0, -odds).sum() + PENALTY * weights @ weights / 2
        ), table.T @ slope + PENALTY * weights

    return np.asarray(minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x)


def chains_of(rows: pd.DataFrame, lines: Spoken, margins: np.ndarray) -> tuple[Chains, np.ndarray, np.ndarray]:
    """Return the borders of all uploads as chains, and the row and column of each judged pair."""
    right = np.flatnonzero(lines.pairable)
    files = len(lines.offsets) - 1
    sizes = np.bincount(lines.file[right], minlength=files)
    column = np.arange(len(right)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = (files, int(sizes.max()))
    score = np.zeros(shape)
    truth = np.full(shape, -1)
    joined = np.zeros(shape, dtype=bool)
    real = np.zeros(shape, dtype=bool)
    at = (lines.file[right], column)
    score[at] = margins[right]
    real[at] = True
    near = lines.silence_ms[right] <= SILENCE_MS
    joined[at] = near & (column > 0) & (np.diff(right, prepend=-2) == 1)
    place = np.zeros(len(lines.file), dtype=int)
    place[right] = column
    mine = (rows["file"].to_numpy(), place[rows["at"].to_numpy()])
    told = (rows["source"] != UNMARKED_UPLOADS).to_numpy()
    truth[mine[0][told], mine[1][told]] = rows["truth"][told]
    return Chains(score, truth, joined, real), *mine


def chained(
    rows: pd.DataFrame, lines: Spoken, margins: np.ndarray, fold: np.ndarray
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the log-odds of the chains, by whether the film's other borders are seen, and the mean weights."""
    chains, row, column = chains_of(rows, lines, margins)
    found = {name: np.zeros(len(rows)) for name in ("chain", "chain, marks seen")}
    weights = []
    for one in np.unique(fold):
        mine = fold == one
        weights.append(fitted(chains.rows(np.unique(row[~mine]))))
        judged = np.unique(row[mine])
        own = chains.rows(judged)
        at = (np.searchsorted(judged, row[mine]), column[mine])
        for name, seen in (("chain", False), ("chain, marks seen", True)):
            found[name][mine] = log_odds(own, weights[-1], np.full(own.truth.shape, seen))[at]
    return found, np.mean(weights, axis=0)


def gains(rows: pd.DataFrame, odds: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return by rule: accuracy and area under the curve by source, and the differences to the score alone.

    The differences are of all pairs but those of ``UNMARKED_UPLOADS``, and of these. The intervals are of the
    differences over drawings of the films with replacement.
    """
    truth = rows["truth"].to_numpy()
    parts = {"all": (rows["source"] != UNMARKED_UPLOADS).to_numpy()}
    if not parts["all"].all():
        parts[UNMARKED_UPLOADS] = ~parts["all"]
    table = {}
    for rule, value in odds.items():
        row: dict[str, float] = {}
        for source, at in rows.groupby("source").indices.items():
            row |= {
                f"{source}": ((value > 0) == truth)[at].mean(),
                f"{source}, auc": roc_auc_score(truth[at], value[at]),
            }
        row["predicted"] = (value > 0)[parts["all"]].mean()
        for part, at in parts.items():
            found = differences(rows["split_group"][at], truth[at], odds[ALONE][at], value[at])
            row |= {f"{part}: {name}": number for name, number in found.items()}
        table[rule] = row
    return pd.DataFrame(table)


def differences(films: pd.Series, truth: np.ndarray, alone: np.ndarray, value: np.ndarray) -> dict[str, float]:
    """Return by how much more is right than by the score alone, and how much the curve gains, with intervals."""
    film, names = pd.factorize(films)
    random = np.random.default_rng(7)
    drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
    pairs = np.bincount(film, minlength=len(names))
    more = np.bincount(film, ((value > 0) == truth).astype(float) - ((alone > 0) == truth), minlength=len(names))
    low, high = np.quantile(drawn @ more / (drawn @ pairs), [0.025, 0.975])
    auc = auc_by_draw(value, truth, film, drawn) - auc_by_draw(alone, truth, film, drawn)
    auc_low, auc_high = np.quantile(auc, [0.025, 0.975])
    gained = roc_auc_score(truth, value) - roc_auc_score(truth, alone)
    return {
        "more right": more.sum() / len(truth),
        "from": low,
        "to": high,
        "more auc": gained,
        "auc from": auc_low,
        "auc to": auc_high,
    }


def auc_by_draw(value: np.ndarray, truth: np.ndarray, film: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return the area under the curve of each drawing of films; ``drawn`` has how often each film is in it."""
    order = np.argsort(value, kind="stable")
    found = []
    for counts in drawn[: DRAWS // 5]:
        weight = counts[film[order]].astype(float)
        no = np.where(truth[order], 0.0, weight)
        yes = weight - no
        below = np.cumsum(no) - no / 2
        found.append((yes * below).sum() / (yes.sum() * no.sum()))
    return np.array(found)


def main() -> int:
    given = arguments(__doc__, kinds=True).parse_args()
    uploads = read_uploads(given.folder)
    margins, pairs = margins_of(given, uploads)
    lines = spoken(Sentences.of(uploads.column("sentences")))
    score = margins[lines.opens_at]
    rows = judged_rows(pairs, lines, uploads.column("source_path").to_pylist())
    rows = pd.concat([rows, unmarked_rows(uploads, margins)], ignore_index=True)
    fold = rows["split_group"].map(lambda film: fold_of(film, given.folds)).to_numpy()
    groups = features(lines, score)
    every = list(groups.values())
    both = pd.concat([groups[name] for name in LAYOUT], axis=1)
    groups[" and ".join(LAYOUT)] = both
    groups["all features"] = pd.concat(every, axis=1)
    odds = {ALONE: rows["margin"].to_numpy()}
    for name, columns in groups.items():
        odds[name] = layered(rows, columns, fold)
        odds[f"{name}, within blocks"] = layered(rows, columns, fold, within=True)
    chains, weights = chained(rows, lines, score, fold)
    counts = rows["source"].value_counts().to_dict()
    print(f"{len(rows):,} pairs of {rows['split_group'].nunique()} films: {counts}\n")
    within, between = undecided(lines)
    print(f"borders that no mark of their upload decides: {between:,} between blocks, {within:,} within\n")
    print(f"chain: constant {weights[0]:.2f}, slope {weights[1]:.2f}, coupling {weights[2]:.2f}\n")
    print(gains(rows, odds | chains).round(4).T.to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
