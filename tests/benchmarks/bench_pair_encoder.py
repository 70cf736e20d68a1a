"""The kinds of turn segmenter on films that none of them has seen; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_pair_encoder FOLDER --transcripts FOLDER ... [--folds N] [--set KEY=VALUE...]
                                                [--shares 0 0.25 0.5 1] [--kept FOLDER] [--curve] [--small]

One fold of the films, and the dev scenes of the transcripts, are held out. Trains once for each share of the other
films' pairs, drawn by hash, with the options of the local profile. ``--kept`` keeps for each share the encoder, its
checkpoints while it is trained, and the margins; what is there is not computed again. ``--small`` takes the same way
through 16 films and some pairs of each source, one epoch long, to see that it works on a machine: its figures say
nothing. Prints, and with ``--curve`` no more than the first:

1. the learning curve: pairs of films that were learned from, and accuracy, area under the curve, predicted beside
   true changes, and calibration error by source, for the SVM, the encoder and both; a share as soon as it is judged;
   then what a doubling of the films' pairs gives, the slope of a line through the shares above 0;
2. for the last share the accuracy of all kinds by source; ``everywhere`` is the cascade that asks about all pairs;
3. for each kind a and b of ``subtitles.certainty.model``, what is told beside what is right by fifths of the pairs, and
   the calibration error with the default a and b;
4. what the SVM, the encoder and both make of the first upload of each held-out film, before cleaning, with an a and b
   fitted to each (``held_out_spans``).
"""

import argparse
import math
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from conf.settings import load_settings
from conf.subtitle_settings import TurnCertainty
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_scorers import BothScorer, CascadeScorer
from etl.subtitles.turn_scoring import PairScorer, pairs_of
from etl.subtitles.turn_segmenter import SvmScorer
from tests.benchmarks import held_out_spans
from tests.benchmarks.bench_certainty import fitted, told
from tests.benchmarks.harness import content_share
from tests.benchmarks.prior_shift import SLOPE, calibration_error
from tests.benchmarks.turn_folds import arguments, both, fold_of, pair_batch, pairs_by_fold, read_uploads, segmenter
from udfs.lemmas import lemma_dictionary

SURE = 0.9
CURVE = ("SVM", "encoder", "both")
ALL = "all"
SLOPES = ("right", "auc")
JUDGED = "judged.parquet"
KEY = ["source", "split_group", "left_text", "right_text", "label"]
SMALL_FILMS = 16
SMALL_PAIRS = 200
"""Pairs of each source that ``--small`` learns from, and that it judges."""
SMALL = {"training.turn_pairs.epochs": 1}


def table(judged: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Return the accuracy by source of each kind's margins, and of the majority class."""
    rows = {}
    for source, found in judged.groupby("source"):
        truth = found["label"] == 1
        right = {kind: ((found[kind] > 0) == truth).mean() for kind in kinds}
        rows[source] = {"pairs": len(found), **right, "majority": max(truth.mean(), 1 - truth.mean())}
    return pd.DataFrame(rows).T


def curve(judged: pd.DataFrame, learned: int, share: float) -> pd.DataFrame:
    """Return one row for each kind and source: accuracy, area under the curve, shares of changes."""
    rows = []
    for source, found in [*judged.groupby("source"), (ALL, judged)]:
        truth = found["label"] == 1
        for kind in CURVE:
            margin = found[kind].astype(float)
            row = {"share": share, "film pairs": learned, "source": source, "pairs": len(found), "kind": kind}
            right = ((margin > 0) == truth).mean()
            shares = {"predicted": (margin > 0).mean(), "true": truth.mean()}
            error = calibration_error(SLOPE * margin.to_numpy(), truth.to_numpy())
            rows.append({**row, "right": right, "auc": roc_auc_score(truth, margin), **shares, "calibration": error})
    return pd.DataFrame(rows)


def doubling(found: pd.DataFrame) -> pd.DataFrame:
    """Return by source and kind what twice the pairs of films give, in accuracy and area under the curve.

    Each is the slope of the line of least squares over the binary logarithm of the pairs; a curve of fewer than two
    shares above 0 has none.

    Args:
        found: rows of :func:`curve` of several shares.
    """
    some = found[found["film pairs"] > 0]
    if some["film pairs"].nunique() < 2:
        return pd.DataFrame(columns=["right", "auc"])
    rows = {
        key: {name: np.polyfit(np.log2(group["film pairs"].astype(float)), group[name], 1)[0] for name in SLOPES}
        for key, group in some.groupby(["source", "kind"])
    }
    return pd.DataFrame(rows).T.rename_axis(["source", "kind"])


def right_of(judged: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the margins of a kind, and whether each decision is right."""
    margin = judged[kind].astype(float)
    return pd.DataFrame({"margin": margin, "right": (margin > 0) == (judged["label"] == 1)})


def fifths(found: pd.DataFrame) -> pd.DataFrame:
    """Return what is told by the default a and b, and what is right, in fifths of the pairs by what is told."""
    rows = pd.DataFrame({"told": told(found, TurnCertainty().model), "right": found["right"]})
    part = pd.qcut(rows["told"].rank(method="first"), 5, labels=False)
    return rows.groupby(part).mean()


def small_part(pairs: pd.DataFrame, number: int = SMALL_PAIRS) -> pd.DataFrame:
    """Return the first pairs of each source by their hash, at most ``number``, in the order given."""
    place = (pairs["left_text"] + "\n" + pairs["right_text"]).map(content_share)
    rank = place.groupby(pairs["source"]).rank(method="first")
    return pairs[rank <= number]


def kinds_of(added: BothScorer, svm: SvmScorer, sure_margin: float) -> dict[str, PairScorer]:
    """Return the scorers of all kinds by name."""
    cascade = CascadeScorer(svm, added.encoder, sure_margin)
    everywhere = replace(cascade, sure_margin=math.inf)
    return {"SVM": svm, "encoder": added.encoder, "cascade": cascade, "everywhere": everywhere, "both": added}


def kept_margins(path: Path, judged: pd.DataFrame) -> np.ndarray | None:
    """Return the margins of ``CURVE`` that a run before kept, or None where there are none of these pairs."""
    if not path.is_file():
        return None
    before = pd.read_parquet(path)
    same = len(before) == len(judged) and all(before[name].tolist() == judged[name].tolist() for name in KEY)
    return before[list(CURVE)].to_numpy(dtype=float) if same else None


def learned_curve(
    given: argparse.Namespace, parts: tuple[pd.DataFrame, pd.DataFrame], judged: pd.DataFrame, folder: Path
) -> dict[str, PairScorer]:
    """Print the learning curve, and add the margins of the last share to ``judged``.

    Args:
        given: the arguments of the command.
        parts: pairs of transcripts and of films to learn from.
        judged: the held-out pairs.
        folder: for what is trained.

    Returns:
        the scorers of the last share by kind, none with ``--curve``.
    """
    settings = load_settings("local", [], given.overrides)
    training, films = parts
    place = (films["source"] + "\n" + films["left_text"] + "\n" + films["right_text"]).map(content_share)
    lemmas = LemmaTable.of(lemma_dictionary("en"))
    asked = pairs_of(pair_batch(judged))
    scorers: dict[str, PairScorer] = {}
    curves = []
    for share in given.shares:
        chosen = films[place < share]
        own = folder / f"share-{share}"
        own.mkdir(parents=True, exist_ok=True)
        whole = share == given.shares[-1] and not given.curve
        before = None if whole else kept_margins(own / JUDGED, judged)
        if before is not None:
            judged[list(CURVE)] = before
        else:
            learned = pd.concat([training, chosen], ignore_index=True)
            began = time.monotonic()
            added = both(learned, lemmas, settings, own)
            seconds = time.monotonic() - began
            print(f"share {share}: {seconds:.0f} s; weights {np.round(added.weights, 3)}", flush=True)
            scorers = kinds_of(added, segmenter(learned, lemmas), settings.training.turn_segmenter.sure_margin)
            for kind in scorers if whole else CURVE:
                judged[kind] = scorers[kind](*asked)
            judged[[*KEY, *CURVE]].to_parquet(own / JUDGED)
        curves.append(curve(judged, len(chosen), share))
        print(curves[-1].round(4).to_string(index=False), "\n", flush=True)
    found = pd.concat(curves)
    wide = found.set_index(["source", "kind", "share", "film pairs", "pairs"]).sort_index()
    print(wide.round(4).to_string(), "\n")
    print(f"a doubling of the films' pairs\n{doubling(found).round(4).to_string()}\n", flush=True)
    return {} if given.curve else scorers


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    parser.add_argument(
        "--shares", nargs="+", type=float, default=[1.0], help="of the films' pairs, the last is judged"
    )
    parser.add_argument("--kept", type=Path, help="a folder for the encoders; those that it has are not trained again")
    parser.add_argument("--curve", action="store_true", help="print the learning curve alone")
    parser.add_argument("--small", action="store_true", help="the same way in minutes; its figures say nothing")
    given = parser.parse_args()
    uploads = read_uploads(given.folder, SMALL_FILMS if given.small else None)
    training, held_out, marked, fold = pairs_by_fold(uploads, given.transcripts, given.folds)
    parts = [training, held_out, marked[fold != 0], marked[fold == 0]]
    if given.small:
        given.overrides = [*(f"{key}={value}" for key, value in SMALL.items()), *given.overrides]
        parts = [small_part(part) for part in parts]
    judged = pd.concat([parts[1], parts[3]], ignore_index=True)
    with tempfile.TemporaryDirectory() as scratch:
        scorers = learned_curve(given, (parts[0], parts[2]), judged, given.kept or Path(scratch))
        if given.curve:
            return 0
        films_of_fold = [film for film in uploads.column("movie_id").to_pylist() if fold_of(film, given.folds) == 0]
        spans = held_out_spans.table(
            held_out_spans.first_uploads(uploads, films_of_fold),
            {kind: scorers[kind] for kind in CURVE},
            {kind: fitted(right_of(judged, kind)) for kind in CURVE},
        )
    if given.kept:
        judged.to_parquet(given.kept / JUDGED)
    print(table(judged, list(scorers)).round(4).to_string(), "\n")
    for kind in scorers:
        found = right_of(judged, kind)
        a, b = fitted(found)
        sure = found["right"][told(found, (a, b)) >= SURE]
        share = len(sure) / len(found)
        print(f"{kind}: a {a:.2f}, b {b:.2f}; {share:.3f} of the pairs at {SURE} or more, {sure.mean():.3f} right")
        parts = fifths(found)
        error = (parts["told"] - parts["right"]).abs().mean()
        print(f"{parts.T.round(3).to_string()}\ncalibration error with the default a and b: {error:.3f}\n")
    print(spans.round(3).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
