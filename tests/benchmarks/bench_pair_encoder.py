"""The kinds of turn segmenter on films that none of them has seen; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_pair_encoder FOLDER --transcripts FOLDER ... [--folds N] [--set KEY=VALUE...]
                                                [--shares 0 0.25 0.5 1] [--kept FOLDER]

One fold of the films, and the dev scenes of the transcripts, are held out. Trains once for each share of the other
films' pairs, drawn by hash, with the options of the local profile; ``--kept`` keeps the encoders, and the margins of
the last share. Prints:

1. the learning curve: pairs of films that were learned from, and accuracy, area under the curve, and predicted beside
   true changes by source, for the SVM, the encoder and both;
2. for the last share the accuracy of all kinds by source; ``everywhere`` is the cascade that asks about all pairs;
3. for each kind a and b of ``subtitles.certainty.model``, what is told beside what is right by fifths of the pairs, and
   the calibration error with the default a and b;
4. what the SVM, the encoder and both make of the first upload of each held-out film, before cleaning, with an a and b
   fitted to each (``held_out_spans``).
"""

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
from etl.subtitles.turn_scorers import CascadeScorer
from etl.subtitles.turn_scoring import pairs_of
from tests.benchmarks import held_out_spans
from tests.benchmarks.bench_certainty import fitted, told
from tests.benchmarks.harness import content_share
from tests.benchmarks.turn_folds import arguments, both, fold_of, pair_batch, pairs_by_fold, read_uploads, segmenter
from udfs.lemmas import lemma_dictionary

SURE = 0.9
CURVE = ("SVM", "encoder", "both")
ALL = "all"
JUDGED = "judged.parquet"


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
            rows.append({**row, "right": right, "auc": roc_auc_score(truth, margin), **shares})
    return pd.DataFrame(rows)


def right_of(judged: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the margins of a kind, and whether each decision is right."""
    margin = judged[kind].astype(float)
    return pd.DataFrame({"margin": margin, "right": (margin > 0) == (judged["label"] == 1)})


def fifths(found: pd.DataFrame) -> pd.DataFrame:
    """Return what is told by the default a and b, and what is right, in fifths of the pairs by what is told."""
    rows = pd.DataFrame({"told": told(found, TurnCertainty().model), "right": found["right"]})
    part = pd.qcut(rows["told"].rank(method="first"), 5, labels=False)
    return rows.groupby(part).mean()


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    parser.add_argument(
        "--shares", nargs="+", type=float, default=[1.0], help="of the films' pairs, the last is judged"
    )
    parser.add_argument("--kept", type=Path, help="a folder for the encoders; those that it has are not trained again")
    given = parser.parse_args()
    settings = load_settings("local", [], given.overrides)
    uploads = read_uploads(given.folder)
    training, held_out, marked, fold = pairs_by_fold(uploads, given.transcripts, given.folds)
    films = marked[fold != 0]
    place = (films["source"] + "\n" + films["left_text"] + "\n" + films["right_text"]).map(content_share)
    judged = pd.concat([held_out, marked[fold == 0]], ignore_index=True)
    asked = pairs_of(pair_batch(judged))
    lemmas = LemmaTable.of(lemma_dictionary("en"))
    curves = []
    with tempfile.TemporaryDirectory() as scratch:
        for share in given.shares:
            chosen = films[place < share]
            learned = pd.concat([training, chosen], ignore_index=True)
            began = time.monotonic()
            folder = (given.kept or Path(scratch)) / f"share-{share}"
            folder.mkdir(parents=True, exist_ok=True)
            added = both(learned, lemmas, settings, folder)
            print(f"share {share}: {time.monotonic() - began:.0f} s; weights {np.round(added.weights, 3)}", flush=True)
            svm = segmenter(learned, lemmas)
            cascade = CascadeScorer(svm, added.encoder, settings.training.turn_segmenter.sure_margin)
            everywhere = replace(cascade, sure_margin=math.inf)
            scorers = {
                "SVM": svm,
                "encoder": added.encoder,
                "cascade": cascade,
                "everywhere": everywhere,
                "both": added,
            }
            for kind in scorers if share == given.shares[-1] else CURVE:
                judged[kind] = scorers[kind](*asked)
            curves.append(curve(judged, len(chosen), share))
        films_of_fold = [film for film in uploads.column("movie_id").to_pylist() if fold_of(film, given.folds) == 0]
        spans = held_out_spans.table(
            held_out_spans.first_uploads(uploads, films_of_fold),
            {kind: scorers[kind] for kind in CURVE},
            {kind: fitted(right_of(judged, kind)) for kind in CURVE},
        )
    if given.kept:
        judged.to_parquet(given.kept / JUDGED)
    wide = pd.concat(curves).set_index(["source", "kind", "share", "film pairs", "pairs"]).sort_index()
    print(wide.round(4).to_string(), "\n")
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
