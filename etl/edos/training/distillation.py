"""The training of small classifiers on the answers of large ones (ours)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from numpy.typing import NDArray
from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from etl.common.splits import SPLITS
from etl.edos.settings import EmotionStudentSettings, WeakStudentSettings
from etl.edos.training.classifiers import (
    CROWD,
    calibrated,
    dialogue_recipe,
    origins_of,
    rows_by_split,
    starting_encoder,
    weak_recipe,
    weak_rows,
)
from etl.edos.training.soft_rows import PLACES, SoftRows, one_hot, soft_rows, teacher_answers
from etl.pipeline.outcome import Trained
from etl.pipeline.stage_run import StageRun
from etl.training.registration import train_and_register
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.distilled import DistilledClassifier, DistilledLabeler
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.trainable import TrainingRows

TEACHER_SHARE = 0.5
"""Weight of the teacher's answer in the truth of a labelled sentence."""
Answers = Callable[[Sequence[Any]], NDArray[Any]]
"""From texts or histories to their probabilities (items, labels)."""


def train_and_register_emotion_student(
    training_dialogues: DataFrame,
    histories: DataFrame,
    run: StageRun,
    options: EmotionStudentSettings,
    taxonomy: Taxonomy,
    encoder: str,
) -> Trained:
    """Train a small dialogue classifier on the labels, and on the large one's answers to turns without a label.

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
    known = {turns[-1] for split in SPLITS for turns, _ in rows[split]}
    unlabelled = first_by_hash(histories, "history_hash", "turns", options.unlabelled, known, lambda turns: turns[-1])
    teacher = run.model("emotion_classifier").required
    answers: Answers = partial(teacher_answers, DialogueClassifier, teacher.path, options)
    run.say(f"{len(rows['train']):,} labelled rows, {len(unlabelled):,} unlabelled ones for the teacher")
    soft = soft_rows(unlabelled, answers(unlabelled))
    start = starting_encoder(run, options, encoder)
    recipe = dialogue_recipe(run, options, taxonomy, start, (rows, dropped), origins_of(training_dialogues))
    recipe = replace(
        recipe,
        model=DistilledClassifier,
        start=partial(DistilledClassifier.new, start.path, labels, weighted=options.weighted),
        rows=TrainingRows(
            [*one_hot(rows["train"], len(labels)), *soft],
            *(one_hot(rows[part], len(labels)) for part in ("validation", CROWD)),
        ),
        params={**recipe.params, "unlabelled_rows": len(soft), "teacher": teacher.identity},
        differs=(f"{len(soft):,} unlabelled",),
    )
    return train_and_register(calibrated(recipe, run, confidence=True) if options.calibrated else recipe, run)


def train_and_register_weak_student(
    texts: DataFrame,
    run: StageRun,
    options: WeakStudentSettings,
    taxonomy: Taxonomy,
    encoder_uri: str,
    folder: str | None,
) -> Trained:
    """Train a small weak labeler on the labelled sentences and on the large one's answers, as its dialogue kind is.

    The truth of a labelled sentence is the mean of its label and of the teacher's answer.

    Args:
        texts: text_hash, text: of turns without a label. Those that are labelled, in any file, are not used.
        run: with the model ``weak_labeler``, the teacher.
        folder: of the files of labelled sentences.

    Raises:
        InputError: ``edos.weak_label_examples`` is not a folder with the first two files.
    """
    labels = taxonomy.names
    rows = weak_rows(folder, labels)
    known = {text for part in (rows.train, rows.validation, rows.held_out) for text, _ in part}
    unlabelled = first_by_hash(texts, "text_hash", "text", options.unlabelled, known, lambda text: text)
    teacher = run.model("weak_labeler").required
    answers: Answers = partial(teacher_answers, WeakLabeler, teacher.path, options)
    learned = mixed(rows.train, answers, len(labels))
    soft = soft_rows(unlabelled, answers(unlabelled))
    start = run.model(encoder_uri)
    recipe = weak_recipe(run, options, taxonomy, start, rows)
    recipe = replace(
        recipe,
        model=DistilledLabeler,
        start=partial(DistilledLabeler.new, start.path, labels),
        rows=TrainingRows([*learned, *soft], one_hot(rows.validation, len(labels))),
        params={**recipe.params, "unlabelled_rows": len(soft), "teacher": teacher.identity},
        differs=(f"{len(soft):,} unlabelled",),
    )
    return train_and_register(recipe, run)


def mixed(rows: Sequence[tuple[Any, int]], answers: Answers, labels: int) -> SoftRows:
    """Return labelled rows with the mean of label and teacher's answer."""
    taught = soft_rows([item for item, _ in rows], answers([item for item, _ in rows]))
    truths = []
    for (item, hard), (_, soft) in zip(one_hot(rows, labels), taught, strict=True):
        both = zip(hard, soft, strict=True)
        truth = tuple(round((1 - TEACHER_SHARE) * one + TEACHER_SHARE * other, PLACES) for one, other in both)
        truths.append((item, truth))
    return truths


def first_by_hash(
    items: DataFrame, order: str, column: str, most: int, known: set[Any], key: Callable[[Any], Any]
) -> list[Any]:
    """Return at most `most` items, the first by hash, without those whose key is known.

    Args:
        items: with the columns ``order``, the hash, and ``column``, a text or an array of turns.
    """
    ordered = (row[column] for row in items.orderBy(order).select(column).toLocalIterator())
    plain = (tuple(item) if isinstance(item, list) else item for item in ordered)
    return list(islice((item for item in plain if key(item) not in known), most))
