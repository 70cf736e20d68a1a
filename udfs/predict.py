"""Scoring of distinct texts and histories by models in executors."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from torch import nn

from udfs.devices import PRECISIONS, autocast, set_threads, task_device
from udfs.failures import error_line, in_halves
from udfs.models.classifiers.classifier import Classifier
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.hub_classifier import HubClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.sentence_encoder import SentenceEncoder
from udfs.models.stores import load_once

WEAK_SCHEMA = "text_hash string, model string, top3 array<struct<label: string, confidence: float>>, error string"
DIALOGUE_SCHEMA = "history_hash string, model string, label string, confidence float, error string"
SCORE_SCHEMA = "text_hash string, model string, score float, error string"
LABEL_SCHEMA = "text_hash string, model string, label string, score float, error string"
EMBEDDING_SCHEMA = "text_hash string, model string, embedding array<float>, error string"
PASSAGE_SCHEMA = (
    "model string, probabilities array<float>, threshold double, label_thresholds array<double>, error string"
)
DECIMALS = 4
GATHERED_ROWS = 8192
"""Minimum number of rows that are sorted by length together, for any Arrow batch size of the session."""

CHARACTERS_AT_ONCE = 32_768
"""Number of characters that a CPU answers at once, some 8,000 tokens.

It shows a task's progress, and short texts still fill batches of one width; a GPU would wait each time.
"""

Probabilities = NDArray[np.float32]
Network = TypeVar("Network", bound=nn.Module)


def score_texts(
    texts: DataFrame,
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    top: int = 3,
    partitions: int = 0,
    precision: str = "fp32",
) -> DataFrame:
    """Return the weak labeler's answers (EDOS 3.1).

    Args:
        texts: (text_hash, text), each text once.
        model_path: folder of a `WeakLabeler` or of the mean of several, readable from every worker.
        identity: the model's identity from `resolve`.
        batch_size: rows per forward pass.
        threads: CPU threads per worker: cores over workers.
        top: number of labels to keep, the most confident first, ties by label id.
        partitions: number of tasks; 0 keeps the partitions.
        precision: fp32, bf16 or fp16, in which matrices are multiplied.

    Returns:
        (text_hash, model, top3, error): confidences rounded to 4 decimals; a failed row has an error and no top3.
    """

    def top3(model: Classifier[Any], frame: pd.DataFrame) -> dict[str, Any]:
        scores, errors = scores_or_errors(model, list(frame["text"]), batch_size)
        kept = [None if row is None else top_labels(row, model.labels, top) for row in scores]
        return {"model": identity, "top3": kept, "error": errors}

    model = partial(worker_model, model_path, WeakLabeler.load_to_answer, threads)
    return answered(texts.select("text_hash", "text"), partitions, model, top3, WEAK_SCHEMA, precision)


def score_histories(
    histories: DataFrame,
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    partitions: int = 0,
    precision: str = "fp32",
) -> DataFrame:
    """Return the dialogue classifier's answers (EDOS 3.3.1).

    Args:
        histories: (history_hash, turns array<string> oldest first), each history once.
        model_path, identity, batch_size, threads, partitions, precision: see `score_texts`.

    Returns:
        (history_hash, model, label, confidence, error): the last turn's label; confidence rounded to 4 decimals.
    """

    def best(model: Classifier[Any], frame: pd.DataFrame) -> dict[str, Any]:
        turns = [None if row is None else list(row) for row in frame["turns"]]
        scores, errors = scores_or_errors(model, turns, batch_size)
        best = [("", None) if row is None else top_labels(row, model.labels, 1)[0] for row in scores]
        return {
            "model": identity,
            "label": [label or None for label, _ in best],
            "confidence": pd.Series([confidence for _, confidence in best], dtype="float32"),
            "error": errors,
        }

    model = partial(worker_model, model_path, DialogueClassifier.load_to_answer, threads)
    return answered(histories.select("history_hash", "turns"), partitions, model, best, DIALOGUE_SCHEMA, precision)


def embed_texts(
    texts: DataFrame, model_path: str, identity: str, *, batch_size: int = 64, threads: int = 1, partitions: int = 0
) -> DataFrame:
    """Return the sentence encoder's embeddings (EDOS 3.3), in fp32 because the threshold is 0.92.

    Args:
        texts: (text_hash, text), each text once.
        model_path, identity, batch_size, threads, partitions: see `score_texts`.

    Returns:
        (text_hash, model, embedding, error): a failed row has an error and no embedding.
    """

    def embeddings(model: SentenceEncoder, frame: pd.DataFrame) -> dict[str, Any]:
        vectors, errors = answers_or_errors(lambda some: model.embed(some, batch_size), list(frame["text"]))
        return {"model": identity, "embedding": vectors, "error": errors}

    model = partial(worker_model, model_path, SentenceEncoder.load, threads)
    return answered(texts.select("text_hash", "text"), partitions, model, embeddings, EMBEDDING_SCHEMA)


def label_scores(
    texts: DataFrame,
    labels: Sequence[str],
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    partitions: int = 0,
) -> DataFrame:
    """Return a public classifier's probability of a label as (text_hash, model, score, error), to 4 decimals.

    Args:
        texts: (text_hash, text, other): other is the second text of a pair, or null for all rows.
        labels: possible names of the label.
        model_path, identity, batch_size, threads, partitions: see `score_texts`.
    """

    def scores(model: HubClassifier, frame: pd.DataFrame) -> dict[str, Any]:
        place = model.place_of(labels)
        columns = ["text", "other"] if frame["other"].notna().any() else ["text"]

        def ask(some: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
            second = [one[1] for one in some] if len(columns) > 1 else None
            return model.scores([one[0] for one in some], second, place, batch_size)

        found, errors = answers_or_errors(ask, list(frame[columns].itertuples(index=False, name=None)))
        rounded = [None if one is None else round(float(one[0]), DECIMALS) for one in found]
        return {"model": identity, "score": pd.Series(rounded, dtype="float32"), "error": errors}

    model = partial(worker_model, model_path, HubClassifier.load, threads)
    return answered(texts.select("text_hash", "text", "other"), partitions, model, scores, SCORE_SCHEMA)


def best_labels(
    texts: DataFrame, model_path: str, identity: str, *, batch_size: int = 64, threads: int = 1, partitions: int = 0
) -> DataFrame:
    """Return a public classifier's most probable label as (text_hash, model, label, score, error), to 4 decimals.

    Args:
        texts: (text_hash, text), each text once.
        model_path, identity, batch_size, threads, partitions: see `score_texts`.
    """

    def best(model: HubClassifier, frame: pd.DataFrame) -> dict[str, Any]:
        found, errors = answers_or_errors(lambda some: model.scores(some, None, None, batch_size), list(frame["text"]))
        chosen = [("", None) if one is None else top_labels(one, model.labels, 1)[0] for one in found]
        scores = pd.Series([score for _, score in chosen], dtype="float32")
        return {"model": identity, "label": [label or None for label, _ in chosen], "score": scores, "error": errors}

    model = partial(worker_model, model_path, HubClassifier.load, threads)
    return answered(texts.select("text_hash", "text"), partitions, model, best, LABEL_SCHEMA)


def answer_passages(
    passages: DataFrame, model_path: str, identity: str, *, batch_size: int = 64, threads: int = 1, partitions: int = 0
) -> DataFrame:
    """Return the answers of a multi-label classifier (Emo Pillars 5).

    Args:
        passages: a key in the first column, utterance, context or null; each passage once.
        model_path: folder of a `MultiLabelClassifier`, readable from every worker.
        identity, batch_size, threads, partitions: see `score_texts`.

    Returns:
        (key, model, probabilities, threshold, label_thresholds, error): probabilities in the order of the labels,
        rounded to 4 decimals; the model's threshold, and each label's if it has them; a failed row has an error and
        no probabilities.
    """

    def answers(model: MultiLabelClassifier, frame: pd.DataFrame) -> dict[str, Any]:
        items = [
            None if utterance is None else Passage(utterance, context)
            for utterance, context in zip(frame["utterance"], frame["context"], strict=True)
        ]
        scores, errors = scores_or_errors(model, items, batch_size)
        rounded = [None if row is None else np.round(row, DECIMALS) for row in scores]
        thresholds = {"threshold": model.threshold, "label_thresholds": [model.label_thresholds] * len(frame)}
        return {"model": identity, "probabilities": rounded, **thresholds, "error": errors}

    key = passages.columns[0]
    model = partial(worker_model, model_path, MultiLabelClassifier.load, threads)
    schema = f"{key} string, {PASSAGE_SCHEMA}"
    return answered(passages.select(key, "utterance", "context"), partitions, model, answers, schema)


def top_labels(probabilities: Probabilities, labels: Sequence[str], top: int) -> list[tuple[str, float]]:
    """Return the `top` most confident labels with confidences rounded to 4 decimals, ties by label id."""
    rounded = np.round(probabilities.astype(np.float64), DECIMALS)
    order = np.argsort(-rounded, kind="stable")[:top]
    return [(labels[index], float(rounded[index])) for index in order]


def scores_or_errors(
    model: Classifier[Any], items: Sequence[Any], batch_size: int
) -> tuple[list[Probabilities | None], list[str | None]]:
    """Return each item's probabilities or error."""
    return answers_or_errors(lambda some: model.probabilities(some, batch_size).numpy(), items)


def answers_or_errors(
    ask: Callable[[Sequence[Any]], NDArray[np.float32]], items: Sequence[Any]
) -> tuple[list[NDArray[np.float32] | None], list[str | None]]:
    """Return each item's row of a model's answer or its error; a failing batch is tried again in halves."""
    scores: list[NDArray[np.float32] | None] = [None] * len(items)
    errors: list[str | None] = [_missing(item) for item in items]
    present = [index for index, error in enumerate(errors) if error is None]
    if present:
        answers = in_halves(
            lambda some: [_finite(answer) for answer in ask(some)], [items[i] for i in present], _failed
        )
        for index, answer in zip(present, answers, strict=True):
            scores[index], errors[index] = answer
    return scores, errors


def gathered(frames: Iterable[pd.DataFrame], rows: int) -> Iterator[pd.DataFrame]:
    """Yield the rows in frames of at least `rows` rows, except the last."""
    waiting: list[pd.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) >= rows:
            yield pd.concat(waiting, ignore_index=True)
            waiting = []
    if waiting:
        yield pd.concat(waiting, ignore_index=True)


def by_length(frame: pd.DataFrame, characters: float) -> Iterator[pd.DataFrame]:
    """Yield the rows, the longest first, as many at a time as have this number of characters, at least one.

    The first column, the key, does not count.
    """
    lengths = np.array([_characters(row) for row in frame.iloc[:, 1:].itertuples(index=False)])
    longest_first = np.argsort(-lengths, kind="stable")
    pieces = np.cumsum(lengths[longest_first]) // characters
    for piece in np.split(longest_first, np.flatnonzero(np.diff(pieces)) + 1) if len(frame) else ():
        yield frame.iloc[piece].reset_index(drop=True)


def _characters(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(_characters, value)) if isinstance(value, tuple | list | np.ndarray) else 0


def worker_model(path: str, loader: Callable[[str], Network], threads: int) -> Network:
    """Return the worker's cached copy of the model at `path`, on the task's device."""
    set_threads(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would add to torch's
    return load_once(path, loader).to(task_device())


def _failed(error: Exception) -> tuple[None, str]:
    out_of_memory = isinstance(error, torch.cuda.OutOfMemoryError)
    return None, f"{type(error).__name__}: out of GPU memory" if out_of_memory else error_line(error)


def _finite(answer: Probabilities) -> tuple[Probabilities | None, str | None]:
    return (answer, None) if np.isfinite(answer).all() else (None, "the model's answer is not a number")


def _missing(item: Any) -> str | None:
    if item is None:
        return "no text"
    if isinstance(item, list) and (len(item) == 0 or any(turn is None for turn in item)):
        return "no turns" if len(item) == 0 else "a turn is null"
    return None


def answered(
    rows: DataFrame,
    partitions: int,
    load: Callable[[], Network],
    answer: Callable[[Network, pd.DataFrame], dict[str, Any]],
    schema: str,
    precision: str = "fp32",
) -> DataFrame:
    """Return the key of each row, which is its first column, with the columns of the model's answer."""
    key = rows.columns[0]

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = load()
        device = task_device()
        characters = CHARACTERS_AT_ONCE if device.type == "cpu" else math.inf
        for frame in gathered(frames, GATHERED_ROWS):
            for some in by_length(frame, characters):
                with autocast(device, PRECISIONS[precision]):
                    columns = answer(model, some)
                yield pd.DataFrame({key: some[key], **columns})

    spread = rows.repartition(partitions, key) if partitions > 0 else rows
    return spread.mapInPandas(ask, schema)
