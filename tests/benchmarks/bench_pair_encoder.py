"""The kinds of turn segmenter on films that none of them has seen: SVM, encoder and cascade; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_pair_encoder FOLDER --transcripts FOLDER ... [--folds N] [--set KEY=VALUE...]

One fold of the films, and the dev scenes of the transcripts, are held out. Trains once, with the options of the local
profile. Prints the accuracy by source beside the majority's; ``everywhere`` is the cascade that asks the encoder about
all pairs. Then prints for each kind a and b of ``subtitles.certainty.model``, the share of pairs that these say are
right with a probability of 0.9 or more, and the share of these pairs that are right.
"""

import argparse
import math
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from conf.settings import Settings, load_settings
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_scorers import CascadeScorer, EncoderScorer
from etl.subtitles.turn_scoring import pairs_of
from etl.subtitles.turn_segmenter import SOURCE_WEIGHTS
from etl.training.loop.train import train_model
from tests.benchmarks.bench_certainty import fitted, told
from tests.benchmarks.bench_marks import pair_batch, pairs_by_fold, read_uploads, segmenter
from tests.benchmarks.harness import content_share
from udfs.lemmas import lemma_dictionary
from udfs.models.classifiers.turn_pair_classifier import LABELS, SentencePair, TurnPairClassifier
from udfs.models.loader import resolve
from udfs.models.trainable import TrainingRows

VALIDATION = 0.1
SURE = 0.9


def encoder_rows(pairs: pd.DataFrame) -> list[tuple[SentencePair, int]]:
    """Return pairs as the encoder's rows, sources at their weights' shares."""
    return [
        (SentencePair(row["left_text"], row["right_text"], row["same_block"]), int(row["label"]))
        for row in pair_batch(pairs).to_pylist()
        if content_share("\n".join((row["source"], row["left_text"], row["right_text"])))
        < SOURCE_WEIGHTS.get(row["source"], 1.0)
    ]


def trained(pairs: pd.DataFrame, settings: Settings, folder: Path) -> EncoderScorer:
    """Train the encoder on pairs; a tenth of the films and scenes is for validation."""
    held = pairs["split_group"].map(lambda group: content_share(f"validation\n{group}") < VALIDATION)
    rows = TrainingRows(encoder_rows(pairs[~held]), encoder_rows(pairs[held]))
    print(f"{len(rows.train):,} pairs to learn from, {len(rows.validation):,} for validation", flush=True)
    threads = settings.models.training_threads
    options = settings.training.turn_pairs.model_copy(update={"threads": threads})
    base = resolve(settings.models.turn_encoder, folder)
    result = train_model(lambda: TurnPairClassifier.new(base.path, LABELS, options), rows, options, folder / "model")
    return EncoderScorer(str(result.path), 64, threads)


def table(judged: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Return the accuracy by source of each kind's margins, and of the majority class."""
    rows = {}
    for source, found in judged.groupby("source"):
        truth = found["label"] == 1
        right = {kind: ((found[kind] > 0) == truth).mean() for kind in kinds}
        rows[source] = {"pairs": len(found), **right, "majority": max(truth.mean(), 1 - truth.mean())}
    return pd.DataFrame(rows).T


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transcripts", nargs="*", default=[])
    parser.add_argument("--folds", type=int, default=5)
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
