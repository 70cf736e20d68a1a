"""Turn segmenters trained once a fold, so that no film is judged by a model that learned from it; no Spark.

Shared by the ``bench_*`` modules of the segmenter: reading uploads, truth from marks, training of each kind.
"""

import argparse
import gzip
import sys
import tempfile
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from conf.settings import Settings, load_settings
from etl.pipeline.model_loader import resolve
from etl.subtitles.transcript_files import example_frames
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_features import FeatureSpace, LemmaTable, pair_features
from etl.subtitles.turn_pairs import CARRIED, LABELS, MIN_CARRIED, PAIRS, pair_candidates
from etl.subtitles.turn_scorers import BothScorer, CascadeScorer, EncoderScorer, fitted_weights
from etl.subtitles.turn_scoring import PairScorer, file_scores, pairs_of
from etl.subtitles.turn_segmenter import SEED, SOURCE_WEIGHTS, SvmScorer, TurnSegmenter, fit_svm
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import flat_values
from etl.training.loop.train import TrainingContext, train_model
from etl.training.recipes.turn_segmenter import ENCODER_SHARES
from tests.benchmarks.harness import content_share
from udfs.lemmas import lemma_dictionary
from udfs.models.classifiers.turn_pair_classifier import LABELS as SPEAKERS
from udfs.models.classifiers.turn_pair_classifier import SentencePair, TurnPairClassifier
from udfs.models.trainable import TrainingRows
from udfs.opus.batches import record_batch
from udfs.opus.files import UnreadableError
from udfs.opus.parser import parse_subtitles
from udfs.opus.paths import is_subtitle_name

REGULARIZATION = 0.007
ITERATIONS = 60
VALIDATION = 0.1
"""Share of the films and scenes that an encoder is validated on."""
SVM = "svm"
CASCADE = "cascade"
BOTH = "both"
MARGINS = "margins.npy"
PAIRS_KEPT = "pairs.parquet"
Trainer = Callable[[pd.DataFrame, LemmaTable], PairScorer]
_PAIR_TYPES = {
    "same_block": pa.bool_(),
    "genres": pa.list_(pa.string()),
    "density": pa.float64(),
    "silence_ms": pa.int64(),
    "mark": pa.bool_(),
    "label": pa.int32(),
}
_CARRIED = pa.list_(pa.struct([("sentence", pa.int32()), ("new_turn", pa.bool_())]))
_SENTENCE = pa.struct(
    [(name, pa.int32()) for name in ("index", "block_first", "block_last", "start_ms", "end_ms")]
    + [("text", pa.string())]
)
_UPLOAD = pa.schema(
    [
        ("source_path", pa.string()),
        ("movie_id", pa.string()),
        ("genres", pa.list_(pa.string())),
        ("subtitle_duration_ms", pa.int32()),
        ("subtitle_id", pa.string()),
        ("sentences", pa.list_(_SENTENCE)),
    ]
)


def arguments(description: str | None, *, kinds: bool = False) -> argparse.ArgumentParser:
    """Return the parser that these benchmarks share; ``kinds`` adds the choice of the kind that is trained."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--transcripts", nargs="*", default=[])
    parser.add_argument("--folds", type=int, default=5)
    if kinds:
        parser.add_argument("--kind", choices=(SVM, CASCADE, BOTH), default=SVM)
        parser.add_argument("--margins", type=Path, help="a folder for the margins; one that has some is read")
        parser.add_argument("--set", nargs="+", action="extend", default=[], dest="overrides", metavar="KEY=VALUE")
    return parser


def film_of(path: Path) -> str:
    """Return the film of a file ``.../<film>/<upload>.xml[.gz]``."""
    return path.parent.name if path.parent.name.isdigit() else f"file:{path.name}"


def read_uploads(folder: Path, films: int | None = None, among: Collection[str] | None = None) -> pa.RecordBatch:
    """Return the readable files of a tree ``.../<film>/<upload>.xml[.gz]``, in the order of their paths.

    Args:
        folder: of the tree.
        films: the number of films to read, the first by their hash; None: all.
        among: the files to read, as paths in the folder; None: all.
    """
    rows = []
    paths = sorted(path for path in folder.rglob("*.xml*") if is_subtitle_name(path.name))
    chosen = set(sorted({film_of(path) for path in paths}, key=content_share)[:films])
    for path in (path for path in paths if film_of(path) in chosen):
        if among is not None and str(path.relative_to(folder)) not in among:
            continue
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        try:
            parsed = parse_subtitles(data)
        except UnreadableError as error:
            print(f"{path.name} left out: {error.reason}")
            continue
        row = {
            "source_path": str(path.relative_to(folder)),
            "movie_id": film_of(path),
            "subtitle_id": path.name.split(".")[0],
        }
        rows.append(({**parsed.meta, **row}, parsed.sentences))
    return record_batch(rows, _UPLOAD)


def fold_of(film: str, folds: int) -> int:
    """Return the fold of a film, as ``turn_evaluation.split_held_out``."""
    return int(content_share(film) * folds)


def marked_pairs(uploads: pa.RecordBatch) -> pd.DataFrame:
    """Return the rows of ``turn_pairs.marked_pairs``, with the upload that shows the pair."""
    rows = pa.Table.from_batches(list(pair_candidates([uploads]))).to_pandas()
    rows["key"] = rows["left_text"].str.lower() + "\n" + rows["right_text"].str.lower()
    dashes = rows[rows["is_dash"]].groupby(["split_group", "key"])["label"].agg(["min", "max"]).reset_index()
    rows = rows.merge(dashes, on=["split_group", "key"], how="left")
    to_carry = rows["source"] == CARRIED
    long = rows["left_text"].str.len() + rows["right_text"].str.len() > MIN_CARRIED
    rows = rows[~to_carry | ((rows["min"] == rows["max"]) & long)].copy()
    carried = rows["source"] == CARRIED
    rows.loc[carried, "label"] = rows.loc[carried, "min"].astype("int32")
    key = ["source", "split_group", "left_text", "right_text"]
    labels = rows.groupby(key)["label"]
    agreed = rows[labels.transform("min") == labels.transform("max")]
    return agreed.sort_values("source_path").drop_duplicates(key)[[*PAIRS.names, "source_path"]]


def pair_batch(pairs: pd.DataFrame) -> pa.RecordBatch:
    """Return pairs as a batch; labels between blocks hide whether the block is shared."""
    columns = {name: pairs[name].tolist() for name in PAIRS.names}
    hidden = (pairs["source"] == LABELS) & (pairs["same_block"] == False)  # noqa: E712
    columns["same_block"] = [
        None if no or value is None else value for no, value in zip(hidden, columns["same_block"], strict=True)
    ]
    arrays = [pa.array(columns[name], _PAIR_TYPES.get(name, pa.string()), from_pandas=True) for name in PAIRS.names]
    return pa.RecordBatch.from_arrays(arrays, names=PAIRS.names)


def segmenter(pairs: pd.DataFrame, table: LemmaTable, seed: int = SEED) -> SvmScorer:
    """Return the SVM trained on these pairs; ``seed`` is that of its optimizer."""
    space = FeatureSpace()
    features = pair_features(*pairs_of(pair_batch(pairs)), table, space)
    buckets = pa.ListArray.from_arrays(
        pa.array(features.offsets, pa.int32()), pa.array(space.bucket(features), pa.int32())
    )
    weight = pairs["source"].map(SOURCE_WEIGHTS).fillna(1.0).to_numpy()
    rows = pa.table({"label": pairs["label"].to_numpy(float), "weight": weight, "buckets": buckets})
    weights, intercept = fit_svm(rows, space.buckets, REGULARIZATION, ITERATIONS, seed)
    return SvmScorer(TurnSegmenter(weights, intercept, space), table)


def pairs_by_fold(
    uploads: pa.RecordBatch, folders: list[str], folds: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.Series]:
    """Return the pairs of transcripts to learn from, their held-out ones, those of films, and the films' folds."""
    training, held_out = transcript_pairs(*example_frames(folders))
    marked = marked_pairs(uploads)
    fold = marked["split_group"].map(lambda film: fold_of(film, folds))
    training, held_out = (pairs.reindex(columns=PAIRS.names).astype(object) for pairs in (training, held_out))
    return training, held_out, marked.astype(object), fold


def margins_by_fold(
    uploads: pa.RecordBatch, folders: list[str], folds: int, train: Trainer = segmenter
) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the margin before each sentence, and the held-out pairs of films and of transcripts with theirs."""
    training, held_out, marked, pair_fold = pairs_by_fold(uploads, folders, folds)
    table = LemmaTable.of(lemma_dictionary("en"))
    sentences = Sentences.of(uploads.column("sentences"))
    film_fold = np.array([fold_of(film, folds) for film in uploads.column("movie_id").to_pylist()])
    margins = np.zeros(len(sentences))
    judged_pairs = []
    none = pa.nulls(uploads.num_rows, _CARRIED)
    with_marks = pa.RecordBatch.from_arrays([*uploads.columns, none], [*uploads.schema.names, "carried"])
    for fold in range(folds):
        learned = pd.concat([training, marked[pair_fold != fold]], ignore_index=True)
        scorer = train(learned, table)
        own = marked[pair_fold == fold]
        for pairs in (own, *([held_out] if fold == 0 else [])):
            if len(pairs):
                judged_pairs.append(pairs.assign(margin=scorer(*pairs_of(pair_batch(pairs)))))
        files = np.flatnonzero(film_fold == fold)
        if len(files):
            scores, _, _ = file_scores(with_marks.take(pa.array(files)), scorer)
            mine = Sentences.of(uploads.column("sentences").take(pa.array(files)))
            margins[np.isin(sentences.file, files)] = flat_values(scores, mine, 0.0)
        print(f"fold {fold + 1} of {folds} judged", file=sys.stderr, flush=True)
    return margins, pd.concat(judged_pairs)


def encoder_rows(pairs: pd.DataFrame) -> list[tuple[SentencePair, int]]:
    """Return pairs as the encoder's rows, sources at their shares."""
    return [
        (SentencePair(row["left_text"], row["right_text"], row["same_block"]), int(row["label"]))
        for row in pair_batch(pairs).to_pylist()
        if content_share("\n".join((row["source"], row["left_text"], row["right_text"])))
        < ENCODER_SHARES.get(row["source"], 1.0)
    ]


def for_validation(pairs: pd.DataFrame) -> pd.Series:
    """Return whether each pair is of the tenth of the films and scenes by which an encoder is validated."""
    return pairs["split_group"].map(lambda group: content_share(f"validation\n{group}") < VALIDATION)


def trained(pairs: pd.DataFrame, settings: Settings, folder: Path) -> EncoderScorer:
    """Train the encoder on pairs, or read what was trained in the folder before; a checkpoint there is gone on from."""
    threads = settings.models.training_threads
    if not (folder / "model" / "head.json").is_file():
        held = for_validation(pairs)
        rows = TrainingRows(encoder_rows(pairs[~held]), encoder_rows(pairs[held]))
        print(f"{len(rows.train):,} pairs to learn from, {len(rows.validation):,} for validation", flush=True)
        options = settings.training.turn_pairs.model_copy(update={"threads": threads})
        base = resolve(settings.models.turn_encoder, folder)
        context = TrainingContext(checkpoints=folder / "checkpoints")

        def start() -> TurnPairClassifier:
            return TurnPairClassifier.new(base.path, SPEAKERS, options)

        train_model(start, rows, options, folder / "model", context)
    return EncoderScorer(str(folder / "model"), 64, threads)


def both(pairs: pd.DataFrame, table: LemmaTable, settings: Settings, folder: Path) -> BothScorer:
    """Return the SVM and the encoder, weighed on the films and scenes that neither learned from."""
    encoder = trained(pairs, settings, folder)
    held = for_validation(pairs)
    svm = segmenter(pairs[~held], table)
    apart = pairs[held]
    asked = pairs_of(pair_batch(apart))
    weight = apart["source"].map(SOURCE_WEIGHTS).fillna(1.0).to_numpy(dtype=float)
    truth = apart["label"].to_numpy(dtype=int) == 1
    return BothScorer(svm, encoder, fitted_weights(svm(*asked), encoder(*asked), truth, weight))


def cascade(pairs: pd.DataFrame, table: LemmaTable, settings: Settings, folder: Path) -> CascadeScorer:
    """Return the cascade trained on these pairs; the encoder is kept under a folder."""
    encoder = trained(pairs, settings, Path(tempfile.mkdtemp(dir=folder)))
    return CascadeScorer(segmenter(pairs, table), encoder, settings.training.turn_segmenter.sure_margin)


def both_of_a_fold(pairs: pd.DataFrame, table: LemmaTable, settings: Settings, folder: Path) -> BothScorer:
    """Return :func:`both` trained on these pairs; the encoder is kept under a folder."""
    return both(pairs, table, settings, Path(tempfile.mkdtemp(dir=folder)))


def margins_of(given: argparse.Namespace, uploads: pa.RecordBatch) -> tuple[np.ndarray, pd.DataFrame]:
    """Return :func:`margins_by_fold` of the kind that was asked for, or what a run before kept under ``--margins``."""
    kept = given.margins
    if kept and (kept / PAIRS_KEPT).is_file():
        return np.load(kept / MARGINS), pd.read_parquet(kept / PAIRS_KEPT)
    train: Trainer = segmenter
    with tempfile.TemporaryDirectory() as scratch:
        if given.kind != SVM:
            settings = load_settings("local", [], given.overrides)
            kinds = {CASCADE: cascade, BOTH: both_of_a_fold}
            train = partial(kinds[given.kind], settings=settings, folder=Path(scratch))
        margins, pairs = margins_by_fold(uploads, given.transcripts, given.folds, train)
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        np.save(kept / MARGINS, margins)
        pairs.to_parquet(kept / PAIRS_KEPT)
    return margins, pairs
