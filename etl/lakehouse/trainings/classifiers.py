"""The two trainings of the EDOS path, from labelled rows to the registry's champion."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.training_settings import EmotionClassifierSettings, TrainingSettings
from etl.edos.weak_examples import WeakExamples, read_weak_examples
from etl.lakehouse.outcome import Trained
from etl.lakehouse.registry import model_store
from etl.lakehouse.stage import StageRun
from udfs.models.classifiers.classifier import ENCODER
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier, train_dialogue_classifier
from udfs.models.classifiers.shared_training import SharedTraining, read_result
from udfs.models.classifiers.training import EpochMetrics, TrainingOptions, TrainResult
from udfs.models.classifiers.weak_labeler import WeakLabeler, train_weak_labeler
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.tracked import TrackedTraining, train_tracked

HELD_BACK_SHARE = 0.1
SPLITS = ("train", "validation", "test")
CROWD = "crowd"
Rows = list[tuple[tuple[str, ...], int]]
LeftOut = tuple[str, str, str, str, int]


def tracked_weak_labeler(run: StageRun) -> Trained:
    """Train the weak labeler on ``classifier_train`` and measure it on ``classifier_valid`` (EDOS 3.1).

    The epoch is chosen on a tenth of the training sentences held back by content, never on the file that
    the reported figure comes from.

    Raises:
        InputError: ``edos.weak_label_examples`` names no folder with the two files.
    """
    settings, labels = run.all_settings, run.all_settings.edos.taxonomy.names
    options = options_of(settings.training.weak_labeler, settings.models.training_threads)
    given = {part: _examples(run.settings.edos.weak_label_examples, part, labels) for part in ("train", "valid")}
    held_out = list(given["valid"].rows)
    # A sentence of the validation file must not be trained on.
    known = {text for text, _ in held_out}
    usable = [row for row in given["train"].rows if row[0] not in known]
    back = [row for row in usable if _share(row[0]) < HELD_BACK_SHARE]
    train = [row for row in usable if _share(row[0]) >= HELD_BACK_SHARE]
    encoder = resolve(settings.models.weak_encoder, Path(run.folder))
    run.say(f"{len(train):,} sentences to train on, {len(back):,} to choose the epoch, {len(held_out):,} held out")
    tracked = train_tracked(
        model_store(settings),
        settings.training.weak_labeler.name,
        params=params_of(settings.training.weak_labeler, encoder.identity),
        tags={"stage": "train_weak_labeler", "examples": str(settings.edos.weak_label_examples), **data_tags(run)},
        train=lambda folder, on_epoch: train_weak_labeler(encoder.path, train, back, labels, options, folder, on_epoch),
        load=WeakLabeler.load,
        held_out=held_out,
        metric="accuracy",
        folder=Path(run.folder),
    )
    left_out = [
        ("sentence", f"{line.place}", line.reason, line.detail, 1)
        for examples in given.values()
        for line in examples.left_out
    ]
    seen = len(given["train"].rows) - len(usable)
    if seen:
        left_out.append(("sentence", "classifier_train", "also in the validation file", f"{seen} sentences", seen))
    rows_out = len(train) + len(back) + len(held_out)
    return trained_of(run, tracked, rows_out, left_out)


def tracked_emotion_classifier(training_dialogues: DataFrame, run: StageRun) -> Trained:
    """Train the dialogue classifier (EDOS 3.3.1) on ``edos.training_dialogues`` and measure it on its test fifth.

    The split column decides; the epoch is chosen by validation cross-entropy (EDOS C).

    Raises:
        InputError: a split has no rows.
    """
    settings, labels = run.all_settings, run.all_settings.edos.taxonomy.names
    own = settings.training.emotion_classifier
    options = options_of(own, settings.models.training_threads)
    rows, left_out = rows_by_split(training_dialogues, labels)
    start = starting_encoder(run)
    run.say(", ".join(f"{len(rows[split]):,} {split} rows" for split in SPLITS))
    tracked = train_tracked(
        model_store(settings),
        own.name,
        params=params_of(own, start.identity),
        tags={"stage": "train_emotion_classifier", **data_tags(run)},
        train=lambda folder, on_epoch: train_emotion_model(run, start, rows, options, folder, on_epoch, own.weighted),
        load=DialogueClassifier.load,
        held_out=rows["test"],
        metric="macro_f1",
        folder=Path(run.folder),
    )
    return trained_of(run, tracked, sum(len(rows[split]) for split in SPLITS), left_out)


def train_emotion_model(
    run: StageRun,
    start: ResolvedModel,
    rows: Mapping[str, Rows],
    options: TrainingOptions,
    folder: Path,
    on_epoch: Callable[[EpochMetrics], None],
    weighted: bool,
) -> TrainResult:
    """Train a dialogue classifier on the driver, or in ``training.processes`` processes; it goes to ``folder``."""
    labels = run.all_settings.edos.taxonomy.names
    if run.all_settings.training.processes == 1:
        return train_dialogue_classifier(
            start.path, rows["train"], rows["validation"], labels, options, folder, on_epoch, weighted, last=rows[CROWD]
        )
    from etl.lakehouse.trainings.processes import train_in_processes

    job = SharedTraining(str(start.path.resolve()), tuple(labels), options, weighted)
    parts = (rows["train"], rows["validation"], rows[CROWD])
    put, read = partial(job.put, parts), partial(read_result, options=options)
    return train_in_processes(run, job, put, read, folder, on_epoch)


def rows_by_split(
    training_dialogues: DataFrame, labels: Sequence[str], table: str = "edos.training_dialogues"
) -> tuple[dict[str, Rows], list[LeftOut]]:
    """(turns, label id) rows of each split, in an order of their content.

    What is held out is never trained on: a history that is there in both senses leaves the training rows.

    Args:
        training_dialogues: dialogue_id, turn, turns, label, split, origin.
        labels: the taxonomy in id order.
        table: whose rows they are, for people.

    Returns:
        The rows by split, under ``crowd`` those of the training rows that people labelled, and those left out for
        the ledger.

    Raises:
        InputError: a split has no rows.
    """
    ids = {label: number for number, label in enumerate(labels)}
    ordered = training_dialogues.orderBy(F.xxhash64("dialogue_id", "turn"), "dialogue_id", "turn")
    read = list(ordered.select("dialogue_id", "turn", "turns", "label", "split", "origin").toLocalIterator())
    held_out = {tuple(row.turns) for row in read if row.split == "test"}
    rows: dict[str, Rows] = {split: [] for split in (*SPLITS, CROWD)}
    left_out: list[LeftOut] = []
    for row in read:
        turns = tuple(row.turns)
        if row.split != "test" and turns in held_out:
            left_out.append(("turn", f"{row.dialogue_id}/{row.turn}", "history_is_held_out", " / ".join(turns), 1))
        else:
            rows[row.split].append((turns, ids[row.label]))
            if (row.split, row.origin) == ("train", CROWD):
                rows[CROWD].append(rows["train"][-1])
    for split in SPLITS:
        if not rows[split]:
            raise InputError(f"{table} has no {split} rows: more crowd votes are needed")
    return rows, left_out


def starting_encoder(run: StageRun) -> ResolvedModel:
    """What the classifier starts from: ``models.encoder``, or the weak labeler's encoder."""
    settings = run.all_settings
    if not settings.training.emotion_classifier.start_from_weak_labeler:
        return resolve(settings.models.encoder, Path(run.folder), share=settings.models.share)
    labeler = run.models["weak_labeler"]
    return ResolvedModel(labeler.path / ENCODER, labeler.identity)


def data_tags(run: StageRun) -> dict[str, str]:
    """The Delta versions of the tables that a training reads, as tags of its run."""
    return {f"data.{table}": version for table, version in run.inputs.items()}


def options_of(settings: TrainingSettings, threads: int) -> TrainingOptions:
    """The training loop's options from the settings."""
    return TrainingOptions(
        epochs=settings.epochs, batch_size=settings.batch_size, effective_batch=settings.effective_batch,
        learning_rate=settings.learning_rate, head_learning_rate=settings.head_learning_rate,
        layer_decay=settings.layer_decay, warmup_share=settings.warmup_share, dropout=settings.dropout,
        label_smoothing=settings.label_smoothing, average_decay=settings.average_decay,
        last_epochs=settings.crowd_epochs if isinstance(settings, EmotionClassifierSettings) else 0,
        max_tokens=settings.max_tokens, seed=settings.seed,
        precision=settings.precision, device=settings.device, threads=threads,
    )  # fmt: skip


def _examples(folder: str | None, part: str, labels: Sequence[str]) -> WeakExamples:
    if folder is None:
        raise InputError("edos.weak_label_examples is not set: name a folder with classifier_train.txt[.gz]")
    for ending in (".txt", ".txt.gz"):
        path = Path(folder, f"classifier_{part}{ending}")
        if path.is_file():
            return read_weak_examples(path, labels)
    raise InputError(f"edos.weak_label_examples: {folder} has no classifier_{part}.txt or .txt.gz")


def _share(text: str) -> float:
    """A place in 0..1 from the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def params_of(settings: TrainingSettings, start: str) -> dict[str, Any]:
    return {**settings.model_dump(exclude={"name"}), "starts_from": start}


def trained_of(run: StageRun, tracked: TrackedTraining, rows_out: int, left_out: list[LeftOut]) -> Trained:
    figures = {name: round(value, 4) for name, value in tracked.figures.items()}
    run.say(
        f"held out: accuracy {figures['accuracy']:.4f}, macro-F1 {figures['macro_f1']:.4f}; "
        f"champion: {tracked.promotion.reason}"
    )
    schema = "unit string, id string, reason string, detail string, units bigint"
    dropped = run.spark.createDataFrame(left_out, schema) if left_out else None
    rows_in = rows_out + sum(row[-1] for row in left_out)
    return Trained(tracked.champion.identity, rows_in, rows_out, dropped, figures)
