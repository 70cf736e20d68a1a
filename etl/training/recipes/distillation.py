"""The training of a small dialogue classifier on the answers of a large one."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from conf.training_options import TrainingOptions
from conf.training_settings import EmotionStudentSettings
from etl.pipeline.outcome import Trained
from etl.pipeline.stage_run import StageRun
from etl.training.held_out_classifiers import ClassifierTest, answers_to, load_on_device
from etl.training.loop.reproducible import reproducible
from etl.training.recipes.classifiers import CROWD, SPLITS, Rows, origins_of, rows_by_split, starting_encoder
from etl.training.registration import Recipe, train_and_register
from udfs.devices import chosen_precision, training_device
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier, DistilledClassifier
from udfs.models.trainable import TrainingRows

Turns = tuple[str, ...]
SoftRows = list[tuple[Turns, tuple[float, ...]]]
PLACES = 4
"""Decimals of a probability, so that rows are the same on machines whose last bits differ."""


def train_and_register_emotion_student(
    training_dialogues: DataFrame,
    histories: DataFrame,
    run: StageRun,
    options: EmotionStudentSettings,
    taxonomy: Taxonomy,
    encoder: str,
) -> Trained:
    """Train a small dialogue classifier on the labels and on the large one's probabilities of unlabelled turns.

    Champions are chosen on validation rows, and figures are of the test split, as for the large one.

    Args:
        training_dialogues: ``edos.training_dialogues``.
        histories: history_hash, turns: of turns without a label. Those whose last turn is labelled, in any split, are
            not used.
        run: with the models ``emotion_classifier``, the teacher, and ``weak_labeler``.

    Raises:
        InputError: a split has no rows.
    """
    labels = taxonomy.names
    rows, dropped = rows_by_split(training_dialogues, labels)
    unlabelled = _unlabelled(histories, rows, options.unlabelled)
    run.say(f"{len(rows['train']):,} labelled rows, {len(unlabelled):,} unlabelled ones for the teacher")
    teacher = run.model("emotion_classifier").required
    soft = soft_rows(unlabelled, teacher_answers(teacher.path, unlabelled, options))
    hard = {split: one_hot(rows[split], len(labels)) for split in ("train", "validation", CROWD)}
    start = starting_encoder(run, options, encoder)
    return train_and_register(
        Recipe(
            name=options.name,
            model=DistilledClassifier,
            options=options,
            start=partial(DistilledClassifier.new, start.path, labels, options, weighted=options.weighted),
            starts_from=start.identity,
            rows=TrainingRows([*hard["train"], *soft], hard["validation"], hard[CROWD]),
            test=ClassifierTest(DialogueClassifier, rows["test"], "macro_f1", labels, options.device),
            choice=ClassifierTest(DialogueClassifier, rows["validation"], "macro_f1", labels, options.device),
            rows_out=sum(len(rows[split]) for split in SPLITS),
            dropped=dropped,
            params={
                "origins": origins_of(training_dialogues),
                "unlabelled_rows": len(soft),
                "teacher": teacher.identity,
            },
            differs=(f"{len(soft):,} unlabelled",),
        ),
        run,
    )


def teacher_answers(folder: Path, histories: Sequence[Turns], options: TrainingOptions) -> NDArray[Any]:
    """Return the probabilities (histories, labels) of the classifier in a folder, in the precision of the training."""
    teacher = load_on_device(DialogueClassifier, folder, options.device)
    device = training_device(options.device)
    dtype = chosen_precision(options.precision, device).dtype
    # A local session leaves one thread to this process: the training's number is set for the answers, too.
    with reproducible(options), torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        return answers_to(teacher, [(turns, None) for turns in histories])


def soft_rows(histories: Sequence[Turns], probabilities: NDArray[Any]) -> SoftRows:
    """Return each history with its probabilities, rounded."""
    shares = probabilities.astype(float).round(PLACES).tolist()
    return [(turns, tuple(row)) for turns, row in zip(histories, shares, strict=True)]


def one_hot(rows: Rows, labels: int) -> SoftRows:
    """Return labelled rows with the probability 1 of their label."""
    return [(turns, tuple(float(label == place) for place in range(labels))) for turns, label in rows]


def _unlabelled(histories: DataFrame, rows: Mapping[str, Rows], most: int) -> list[Turns]:
    """Return at most `most` histories, the first by hash, without those whose last turn is labelled."""
    known = {turns[-1] for split in SPLITS for turns, _ in rows[split]}
    ordered = (tuple(row.turns) for row in histories.orderBy("history_hash").select("turns").toLocalIterator())
    return list(islice((turns for turns in ordered if turns[-1] not in known), most))
