"""The kinds of turn segmenter on films that none of them has seen: SVM, encoder and cascade; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_pair_encoder FOLDER --transcripts FOLDER ... [--folds N] [--set KEY=VALUE...]

One fold of the films, and the dev scenes of the transcripts, are held out. Trains once, with the options of the local
profile. Prints the accuracy by source beside the majority's; ``everywhere`` is the cascade that asks the encoder about
all pairs. Then prints for each kind a and b of ``subtitles.certainty.model``, the share of pairs that these say are
right with a probability of 0.9 or more, and the share of these pairs that are right.
"""

import math
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from conf.settings import load_settings
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_scorers import CascadeScorer
from etl.subtitles.turn_scoring import pairs_of
from tests.benchmarks.bench_certainty import fitted, told
from tests.benchmarks.turn_folds import arguments, pair_batch, pairs_by_fold, read_uploads, segmenter, trained
from udfs.lemmas import lemma_dictionary

SURE = 0.9


def table(judged: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Return the accuracy by source of each kind's margins, and of the majority class."""
    rows = {}
    for source, found in judged.groupby("source"):
        truth = found["label"] == 1
        right = {kind: ((found[kind] > 0) == truth).mean() for kind in kinds}
        rows[source] = {"pairs": len(found), **right, "majority": max(truth.mean(), 1 - truth.mean())}
    return pd.DataFrame(rows).T


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    given = parser.parse_args()
    settings = load_settings("local", [], given.overrides)
    training, held_out, marked, fold = pairs_by_fold(read_uploads(given.folder), given.transcripts, given.folds)
    learned = pd.concat([training, marked[fold != 0]], ignore_index=True)
    judged = pd.concat([held_out, marked[fold == 0]], ignore_index=True)
    asked = pairs_of(pair_batch(judged))
    svm = segmenter(learned, LemmaTable.of(lemma_dictionary("en")))
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        encoder = trained(learned, settings, Path(scratch))
        print(f"{time.monotonic() - began:.0f} s of training", flush=True)
        cascade = CascadeScorer(svm, encoder, settings.training.turn_segmenter.sure_margin)
        everywhere = replace(cascade, sure_margin=math.inf)
        scorers = {"SVM": svm, "encoder": encoder, "cascade": cascade, "everywhere": everywhere}
        for kind, scorer in scorers.items():
            judged[kind] = scorer(*asked)
    print(table(judged, list(scorers)).round(4).to_string())
    for kind in scorers:
        found = judged.assign(margin=judged[kind], right=(judged[kind] > 0) == (judged["label"] == 1))
        a, b = fitted(found)
        sure = found["right"][told(found, (a, b)) >= SURE]
        share = len(sure) / len(found)
        print(f"{kind}: a {a:.2f}, b {b:.2f}; {share:.3f} of the pairs at {SURE} or more, {sure.mean():.3f} right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
