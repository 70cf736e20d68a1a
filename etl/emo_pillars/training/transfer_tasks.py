"""The arms, rows and scores of the three transfer tasks for models of the synthetic data."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import goemotions_labels
from etl.common.hashes import content_place
from etl.common.splits import SPLITS
from etl.emo_pillars.settings import TransferSettings
from etl.emo_pillars.training.multi_label import PassageRows, contextless, passages_by_split, require_rows
from etl.emo_pillars.transfer_scores import ClassScores, emocontext_scores, goemotions_scores, isear_scores
from etl.emo_pillars.transfer_sets import emocontext_context, emocontext_truth
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.models.classifiers.multi_label_metrics import Thresholds, multi_hot

PLAIN = "emo_pillars_encoder"
CONTEXTLESS = "emo_pillars_contextless"
CONTEXTLESS_REWRITTEN = "emo_pillars_contextless_rewritten"
CONTEXTUAL = "emo_pillars_contextual"
CONTEXTUAL_REWRITTEN = "emo_pillars_contextual_rewritten"
KEPT = "kept"
RELABELLED = "relabelled"
TYPED = "typed"
"""Labels of EmoContext's class others: neutral; the contextual model's label; that label with token types (Table 7)."""


@dataclass(frozen=True)
class Arm:
    """One trial: a model, tuned on the task or unchanged.

    Attributes:
        model: its key under ``models``, or the URI of an encoder of ``emo_pillars.transfer.encoders``.
        variant: the labels of EmoContext's class others.
    """

    model: str
    tuned: bool
    variant: str | None = None
    seed: int | None = None
    fold: int | None = None


Arms = Callable[[Collection[str], TransferSettings], list[Arm]]


def goemotions_arms(present: Collection[str], transfer: TransferSettings) -> list[Arm]:
    """Return the unchanged models, and tuned ones and encoders for each seed (Emo Pillars Table 2)."""
    unchanged, starts = _contextless_arms(present, transfer)
    starts += [model for model in present if model in transfer.encoders]
    return unchanged + [Arm(model, True, seed=seed) for model in starts for seed in dict.fromkeys(transfer.seeds)]


def synthetic_arms(present: Collection[str], transfer: TransferSettings) -> list[Arm]:
    """Return one arm for each encoder (Emo Pillars Table 1)."""
    return [Arm(model, True, seed=transfer.seeds[0]) for model in present if model not in transfer.models]


def isear_arms(present: Collection[str], transfer: TransferSettings) -> list[Arm]:
    """Return the unchanged models on all reports, and tuned ones for each fold (Emo Pillars Table 3)."""
    unchanged, starts = _contextless_arms(present, transfer)
    folds = range(min(transfer.folds, transfer.folds_run or transfer.folds))
    seeds = transfer.seeds
    return unchanged + [
        Arm(model, True, seed=seed, fold=fold)
        for model in starts
        for fold in folds
        for seed in dict.fromkeys(seeds[: transfer.fold_seeds])
    ]


def _contextless_arms(present: Collection[str], transfer: TransferSettings) -> tuple[list[Arm], list[str]]:
    """Return arms of the unchanged context-less models, and the models to tune."""
    further = dict.fromkeys(transfer.models)
    unchanged = [Arm(model, False) for model in (CONTEXTLESS, CONTEXTLESS_REWRITTEN, *further) if model in present]
    return unchanged, [model for model in (PLAIN, CONTEXTLESS, *further) if model in present]


def emocontext_arms(present: Collection[str], transfer: TransferSettings) -> list[Arm]:
    """Return the unchanged contextual models, and tuned ones in the three variants (Emo Pillars Tables 6 and 7).

    The plain encoder is tuned without relabelling, so that it does not depend on a model of the synthetic data.
    """
    models = [model for model in (CONTEXTUAL, CONTEXTUAL_REWRITTEN) if model in present]
    variants = (KEPT, RELABELLED, TYPED) if CONTEXTUAL in present else (KEPT,)
    tuned = [(PLAIN, KEPT)] if PLAIN in present else []
    tuned += [(model, variant) for model in models for variant in variants]
    seed = transfer.seeds[0]
    return [Arm(model, False) for model in models] + [Arm(model, True, variant, seed) for model, variant in tuned]


@dataclass(frozen=True)
class TaskRows:
    """A task's rows for one arm, and the ``truths`` of its test rows in the form that the task's scores take."""

    rows: dict[str, PassageRows]
    truths: Any


def goemotions_rows(comments: DataFrame, arm: Arm, transfer: TransferSettings) -> TaskRows:
    """Return the three splits of GoEmotions."""
    passages = comments.select(
        F.col("text_id").alias("passage_id"),
        F.col("text").alias("utterance"),
        F.lit(None).cast("string").alias("context"),
        "labels",
        "split",
    )
    rows, _ = passages_by_split(passages, "emo_pillars.goemotions", goemotions_labels())
    return TaskRows(rows, [labels for _, labels in rows["test"]])


def synthetic_rows(examples: DataFrame, arm: Arm, transfer: TransferSettings) -> TaskRows:
    """Return the three splits of ``emo_pillars.examples``."""
    rows, _ = passages_by_split(contextless(examples), "emo_pillars.examples", goemotions_labels())
    return TaskRows(rows, [labels for _, labels in rows["test"]])


def isear_rows(reports: DataFrame, arm: Arm, transfer: TransferSettings) -> TaskRows:
    """Return ISEAR's rows: the arm's fold, or without tuning all reports, is held out; a share is for validation."""
    ids = {label: number for number, label in enumerate(goemotions_labels())}
    rows: dict[str, PassageRows] = {split: [] for split in SPLITS}
    for row in reports.orderBy(F.xxhash64("report_id"), "report_id").toLocalIterator():
        validation = content_place(f"validation\n{row.text}") < transfer.validation_share
        split = "test" if arm.fold in (None, row.fold) else "validation" if validation else "train"
        rows[split].append((Passage(row.text), (ids[row.label],)))
    require_rows(rows, "emo_pillars.isear", SPLITS if arm.tuned else ("test",))
    return TaskRows(rows, [labels for _, labels in rows["test"]])


def emocontext_rows(dialogues: DataFrame, arm: Arm, transfer: TransferSettings | None = None) -> TaskRows:
    """Return EmoContext's last turns with two turns of context; the class others is neutral until ``relabelled``."""
    ids = {label: number for number, label in enumerate(goemotions_labels())}
    rows: dict[str, PassageRows] = {split: [] for split in SPLITS}
    emotions = []
    for row in dialogues.orderBy(F.xxhash64("dialogue_id"), "dialogue_id").toLocalIterator():
        labels = tuple(ids[label] for label in emocontext_truth(row.emotion))
        rows[row.split].append((Passage(row.turns[-1], emocontext_context(row.turns[:-1])), labels))
        if row.split == "test":
            emotions.append(row.emotion)
    require_rows(rows, "emo_pillars.emocontext", SPLITS if arm.tuned else ("test",))
    return TaskRows(rows, emotions)


def drawn(task: TaskRows, share: float) -> TaskRows:
    """Return the rows with a share of the training rows, by a hash of their texts; all models learn from the same."""
    train = [row for row in task.rows["train"] if content_place(f"training\n{row[0].utterance}") < share]
    if task.rows["train"] and not train:
        raise InputError(f"emo_pillars.transfer.training_share={share:g} leaves no training rows: raise it")
    return TaskRows({**task.rows, "train": train}, task.truths)


def relabelled(task: TaskRows, model: MultiLabelClassifier, least: float, batch_size: int) -> TaskRows:
    """Give training and validation rows of the class others the model's strongest label (Emo Pillars 5.2.2).

    Args:
        least: rows whose strongest label is less probable stay neutral.
    """
    neutral = goemotions_labels().index("neutral")
    rows = dict(task.rows)
    for split in ("train", "validation"):
        others = [place for place, (_, labels) in enumerate(rows[split]) if labels == (neutral,)]
        answers = model.probabilities([rows[split][place][0] for place in others], batch_size).numpy()
        fresh = list(rows[split])
        for place, answer in zip(others, answers, strict=True):
            strongest = int(answer.argmax())
            fresh[place] = (fresh[place][0], (strongest if answer[strongest] >= least else neutral,))
        rows[split] = fresh
    return TaskRows(rows, task.truths)


@dataclass(frozen=True)
class TransferTask:
    """A task: its key under ``training``, its arms, rows and scores.

    Attributes:
        validates: an unchanged model gets a threshold from the validation rows, instead of its saved one.
    """

    name: str
    arms: Arms
    rows: Callable[[DataFrame, Arm, TransferSettings], TaskRows]
    scores: Callable[[NDArray[Any], Any, Thresholds], list[ClassScores]]
    validates: bool = False


def _of_labels(
    scores: Callable[..., list[ClassScores]],
) -> Callable[[NDArray[Any], Any, Thresholds], list[ClassScores]]:
    def scored(
        probabilities: NDArray[Any], truths: Sequence[Sequence[int]], threshold: Thresholds
    ) -> list[ClassScores]:
        return scores(probabilities, multi_hot(truths, probabilities.shape[1]), threshold)

    return scored


def _of_emotions(probabilities: NDArray[Any], emotions: list[str], threshold: Thresholds) -> list[ClassScores]:
    return emocontext_scores(probabilities, emotions)


def settle_on(model: MultiLabelClassifier, rows: PassageRows, batch_size: int) -> None:
    """Set the model's threshold, or its labels', to the best on labelled rows (Emo Pillars D)."""
    answers = model.probabilities([passage for passage, _ in rows], batch_size).numpy()
    model.settle(model.validation_figures(answers.astype(np.float32), [labels for _, labels in rows]))


TASKS = {
    task.name: task
    for task in (
        TransferTask("goemotions", goemotions_arms, goemotions_rows, _of_labels(goemotions_scores), validates=True),
        TransferTask(CONTEXTLESS, synthetic_arms, synthetic_rows, _of_labels(goemotions_scores)),
        TransferTask("isear", isear_arms, isear_rows, _of_labels(isear_scores)),
        TransferTask("emocontext", emocontext_arms, emocontext_rows, _of_emotions),
    )
}
