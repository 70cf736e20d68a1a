"""The tracked training of the turn segmenter, from transcripts and the subtitles' own marks to the champion.

Two kinds of it, by setting: the paper's linear SVM, and an encoder that reads both sentences.
"""

import gzip
import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings
from conf.training_settings import TurnSegmenterSettings
from etl.common.splits import content_share
from etl.pipeline.stage_run import StageRun
from etl.subtitles.dialogue_corpora import DAILYDIALOG, dialogue_utterances, turns_of_lines, turns_of_reccon
from etl.subtitles.transcripts import transcript_pairs
from etl.subtitles.turn_evaluation import (
    SEGMENTER,
    accuracy_metrics,
    at_most,
    rule_accuracies,
    split_held_out,
)
from etl.subtitles.turn_features import FeatureSpace, LemmaTable
from etl.subtitles.turn_pairs import films_by_hash, marked_pairs, transcript_rows, without_leaks
from etl.subtitles.turn_scorers import turn_scorer
from etl.subtitles.turn_scoring import with_margins
from etl.subtitles.turn_segmenter import (
    SOURCE_WEIGHTS,
    TurnSegmenter,
    mask_label_leakage,
    train_turn_segmenter,
)
from etl.tables.outcome import Trained
from etl.training.loop.train import train_model
from etl.training.registration import options_of, promoted, training_context, training_tags
from etl.training.registry import model_store
from etl.training.tracking import Candidate, TrackedRun, tracked_run
from udfs.lemmas import lemma_dictionary
from udfs.models.classifiers.turn_pair_classifier import LABELS, SentencePair, TurnPairClassifier
from udfs.models.loader import resolve
from udfs.models.trainable import TrainingResult, TrainingRows

CORPORA = {
    "meld": ("train_sent_emo.csv", "dev_sent_emo.csv"),
    "emorynlp": ("emorynlp_train_final.csv", "emorynlp_dev_final.csv"),
}
DIALOGUES = ("dialogues_train.txt", "dialogues_valid.txt", "dialogues_test.txt", "reccon_dailydialog_train.json.gz")
"""DailyDialog's text and RECCON's copy of its training part: all is trained on, whatever of them there is."""
MOST_BYTES = 64 << 20
HELD_OUT_FILMS = 0.2
HELD_BACK_GROUPS = 0.1


def train_and_register_turn_segmenter(files: DataFrame, run: StageRun) -> Trained:
    """Train on transcripts and marks, measure every rule on each held-out source, log, register (EDOS 3.1).

    The alias moves when the mean of the model's accuracies over the sources is higher than the champion's.

    Raises:
        InputError: ``subtitles.turn_examples`` holds no known transcripts and the files no marks.
    """
    settings = run.all_settings
    own = settings.training.turn_segmenter
    training, held_out = pairs_apart(files, settings)
    training, held_out = training.persist(), held_out.persist()
    sizes = {row["source"]: row["count"] for row in training.groupBy("source").count().collect()}
    if not sizes:
        raise InputError("no pairs to train the turn segmenter on: set subtitles.turn_examples to transcripts")
    held = held_out.count()
    run.say(", ".join(f"{count:,} pairs from {source}" for source, count in sorted(sizes.items())))
    # The whole dictionary: looking up the words of the pairs first would cost more than it saves.
    table = LemmaTable.of(lemma_dictionary(settings.subtitles.lemma_language))
    folder = Path(run.folder)
    params = {**own.model_dump(exclude={"name"}), **{f"pairs_{source}": str(count) for source, count in sizes.items()}}

    def evaluated(path: Path) -> DataFrame:
        scorer = turn_scorer(path, table, settings.models.batch_size, settings.models.threads)
        return rule_accuracies(with_margins(held_out, scorer))

    folder.mkdir(parents=True, exist_ok=True)
    tags = training_tags(run, "train_turn_segmenter", own.name)
    # Where the workers of a cluster can read it: they ask the new model about the held-out pairs.
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        tracked_run(model_store(settings), own.name, params, tags) as tracked,
    ):
        model = Path(scratch) / "model"
        if own.kind == "encoder":
            tracked.log_history(encoder_learned_from(training, run, tracked, model))
        else:
            svm_learned_from(training, table, own).save(model)
        evaluation = evaluated(model).persist()
        tracked.log_metrics(accuracy_metrics(evaluation))
        tracked.client.log_text(tracked.run_id, accuracy_table(evaluation), "accuracy.txt")
        version = tracked.register(own.name, tracked.log_model(model, "turn_segmenter"))
    for line in accuracy_table(evaluation).splitlines():
        run.say(line)
    candidate = Candidate(own.name, version, "accuracy", mean_accuracy(evaluation), _digest(held_out))
    champion, promotion = promoted(run, candidate, lambda path: mean_accuracy(evaluated(path)))
    run.say(f"champion: {promotion.reason}")
    rows = sum(sizes.values()) + held
    return Trained(champion.identity, rows, rows, figures={"accuracy": promotion.score})


def pairs_apart(
    files: DataFrame, settings: Settings, share: float = HELD_OUT_FILMS, fold: int = 0
) -> tuple[DataFrame, DataFrame]:
    """Training and held-out pairs: transcripts apart by scene, marks apart by film.

    Args:
        files: ``subtitles.files``.
        settings: of the run.
        share, fold: which films are held out, see ``turn_evaluation.split_held_out``.
    """
    own = settings.training.turn_segmenter
    learned, judged = transcript_pairs(*example_frames(settings.subtitles.turn_examples))
    marked = marked_pairs(films_by_hash(files, own.films))
    marked_training, marked_held_out = split_held_out(marked, share, fold)
    spoken = transcript_rows(judged, files.sparkSession)
    # The corpus may hold the very episodes that the transcripts' held-out scenes come from.
    marked_training = at_most(without_leaks(marked_training, spoken), own.subtitle_pairs)
    held_out = spoken.unionByName(at_most(marked_held_out, own.subtitle_pairs))
    return transcript_rows(learned, files.sparkSession).unionByName(marked_training), held_out


def svm_learned_from(training: DataFrame, table: LemmaTable, settings: TurnSegmenterSettings) -> TurnSegmenter:
    """The SVM of these pairs, with the settings' features and regularization."""
    return train_turn_segmenter(
        training, table, space=FeatureSpace(settings.features, settings.lengths),
        regularization=settings.regularization, max_iterations=settings.max_iterations,
    )  # fmt: skip


def encoder_learned_from(training: DataFrame, run: StageRun, tracked: TrackedRun, out: Path) -> TrainingResult:
    """The pair model of these pairs, written to ``out``.

    A source that weighs 0.4 for the SVM gives four of ten of its pairs, chosen by content; a tenth of the transcripts'
    scenes and of the films picks the epoch.
    """
    weights = F.create_map(*chain.from_iterable((F.lit(k), F.lit(v)) for k, v in sorted(SOURCE_WEIGHTS.items())))
    share = content_share(F.col("source"), F.col("left_text"), F.col("right_text"), salt="turn pairs")
    rows = mask_label_leakage(training).where(share < F.coalesce(weights[F.col("source")], F.lit(1.0)))
    ordered = rows.withColumn(
        "back", content_share(F.col("split_group"), salt="turn pairs") < HELD_BACK_GROUPS
    ).orderBy(F.xxhash64("left_text", "right_text"), "source", "split_group", "left_text", "right_text")
    parts: dict[bool, list[tuple[SentencePair, int]]] = {False: [], True: []}
    for row in ordered.toLocalIterator():
        parts[row["back"]].append((SentencePair(row["left_text"], row["right_text"], row["same_block"]), row["label"]))
    encoder = resolve(run.all_settings.models.turn_encoder, Path(run.folder))
    options = options_of(run, "turn_pairs")
    start = partial(TurnPairClassifier.new, encoder.path, LABELS, options)
    return train_model(
        start, TrainingRows(parts[False], parts[True]), options, out, training_context(run, tracked, "turn_pairs")
    )  # fmt: skip


def example_frames(folders: Sequence[str]) -> tuple[dict[str, pd.DataFrame], ...]:
    """What the folders of transcripts hold.

    Returns:
        (training, held out, further), as ``transcripts.transcript_pairs`` takes them.

    Raises:
        InputError: a folder holds no known transcripts, or a file cannot be read.
    """
    training: dict[str, pd.DataFrame] = {}
    held_out: dict[str, pd.DataFrame] = {}
    further: dict[str, pd.DataFrame] = {}
    for folder in folders:
        corpus = next((name for name, parts in CORPORA.items() if Path(folder, parts[0]).is_file()), None)
        dialogues = [path for path in (Path(folder, name) for name in DIALOGUES) if path.is_file()]
        if corpus is not None:
            training[corpus], held_out[corpus] = (_read(Path(folder, name)) for name in CORPORA[corpus])
        elif dialogues:
            further[DAILYDIALOG] = dialogue_utterances(chain.from_iterable(map(_dialogues, dialogues)))
        else:
            known = [parts[0] for parts in CORPORA.values()] + list(DIALOGUES)
            raise InputError(f"subtitles.turn_examples: {folder} has none of {', '.join(known)}")
    return training, held_out, further


def _dialogues(path: Path) -> Iterator[list[tuple[str, str]]]:
    packed = path.suffix == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            text = stream.read(MOST_BYTES + 1).decode("utf-8")
        if len(text) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        dialogues = json.loads(text) if packed else text.split("\n")
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path} cannot be read as dialogues: {reason}") from None
    return turns_of_reccon(dialogues, path.name) if packed else turns_of_lines(dialogues)


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as CSV: {str(error).splitlines()[0]}") from None


def mean_accuracy(evaluation: DataFrame) -> float:
    """The model's mean accuracy over the sources, marks unseen."""
    row = evaluation.where(F.col("rule") == SEGMENTER).agg(F.avg("accuracy")).first()
    return float(row[0]) if row is not None and row[0] is not None else 0.0


def _digest(held_out: DataFrame) -> str:
    """Of the held-out pairs, whatever their order."""
    row = held_out.agg(F.count("*"), F.bit_xor(F.xxhash64("source", "left_text", "right_text", "label"))).first()
    return f"{row[0]}:{row[1]}" if row is not None else "0"


def accuracy_table(evaluation: DataFrame) -> str:
    """Accuracy by source (rows) and rule (columns), as text."""
    wide: dict[str, dict[str, Any]] = {}
    pairs: dict[str, int] = {}
    for row in evaluation.orderBy("source", "rule").collect():
        wide.setdefault(row["source"], {})[row["rule"]] = row["accuracy"]
        pairs[row["source"]] = row["pairs"]
    rules = sorted({rule for cells in wide.values() for rule in cells})
    lines = [f"{'source':10s} {'pairs':>7s}  " + "  ".join(f"{rule:>15s}" for rule in rules)]
    for source, cells in wide.items():
        shown = [f"{cells[rule]:15.4f}" if cells.get(rule) is not None else " " * 15 for rule in rules]
        lines.append(f"{source:10s} {pairs[source]:7,d}  " + "  ".join(shown))
    return "\n".join(lines)
