"""Scores of distinct texts and histories: models in executors, a large Arrow batch at a time."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from torch import nn

from udfs.devices import is_out_of_memory, set_threads, task_device
from udfs.models.classifiers.classifier import SequenceClassifier
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.hub_classifier import HubClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.models.loader import load_once
from udfs.models.sentence_encoder import SentenceEncoder

WEAK_SCHEMA = "text_hash string, model string, top3 array<struct<label: string, confidence: float>>, error string"
DIALOGUE_SCHEMA = "history_hash string, model string, label string, confidence float, error string"
SCORE_SCHEMA = "text_hash string, model string, score float, error string"
EMBEDDING_SCHEMA = "text_hash string, model string, embedding array<float>, error string"
DECIMALS = 4
# Rows sorted by length together, whatever size of Arrow batch the session uses.
GATHERED_ROWS = 8192

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
) -> DataFrame:
    """The weak labeler's answers (EDOS 3.1).

    Args:
        texts: (text_hash, text), each text once.
        model_path: folder of a `WeakLabeler`, readable from every worker.
        identity: the model's, as `resolve` gave it.
        batch_size: rows the network sees at once.
        threads: CPU threads of one worker: cores over workers.
        top: labels kept, the most confident first, equal ones by label id.
        partitions: spread the rows over so many tasks; 0 leaves them as they are.

    Returns:
        (text_hash, model, top3, error): confidences rounded to 4 decimals; a row that fails has its error and
        no top3.
    """

    def top3(model: SequenceClassifier[Any], frame: pd.DataFrame) -> dict[str, Any]:
        scores, errors = scores_or_errors(model, list(frame["text"]), batch_size)
        kept = [None if row is None else top_labels(row, model.labels, top) for row in scores]
        return {"model": identity, "top3": kept, "error": errors}

    model = partial(worker_model, model_path, load_weak_labeler, threads)
    return answered(texts.select("text_hash", "text"), partitions, model, top3, WEAK_SCHEMA)


def score_histories(
    histories: DataFrame,
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    partitions: int = 0,
) -> DataFrame:
    """The dialogue classifier's answers (EDOS 3.3.1).

    Args:
        histories: (history_hash, turns array<string> oldest first), each history once.
        model_path, identity, batch_size, threads, partitions: as for `score_texts`.

    Returns:
        (history_hash, model, label, confidence, error): the last turn's label; confidence rounded to 4
        decimals.
    """

    def best(model: SequenceClassifier[Any], frame: pd.DataFrame) -> dict[str, Any]:
        turns = [None if row is None else list(row) for row in frame["turns"]]
        scores, errors = scores_or_errors(model, turns, batch_size)
        best = [("", None) if row is None else top_labels(row, model.labels, 1)[0] for row in scores]
        return {
            "model": identity,
            "label": [label or None for label, _ in best],
            "confidence": pd.Series([confidence for _, confidence in best], dtype="float32"),
            "error": errors,
        }

    model = partial(worker_model, model_path, load_dialogue_classifier, threads)
    return answered(histories.select("history_hash", "turns"), partitions, model, best, DIALOGUE_SCHEMA)


def embed_texts(
    texts: DataFrame,
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    partitions: int = 0,
) -> DataFrame:
    """The sentence encoder's embeddings, in fp32 (EDOS 3.3): a threshold of 0.92 leaves no room for less.

    Args:
        texts: (text_hash, text), each text once.
        model_path, identity, batch_size, threads, partitions: as for `score_texts`.

    Returns:
        (text_hash, model, embedding, error): a row that fails has its error and no embedding.
    """

    def embeddings(model: SentenceEncoder, frame: pd.DataFrame) -> dict[str, Any]:
        vectors, errors = answers_or_errors(lambda some: model.embed(some, batch_size), list(frame["text"]))
        return {"model": identity, "embedding": vectors, "error": errors}

    model = partial(worker_model, model_path, load_sentence_encoder, threads)
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
    """The probability that a classifier from elsewhere gives a label.

    Args:
        texts: (text_hash, text, other): other is the second text of a pair, or null for all.
        labels: what the label may be called.
        model_path, identity, batch_size, threads, partitions: as for `score_texts`.

    Returns:
        (text_hash, model, score, error): scores rounded to 4 decimals.
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

    model = partial(worker_model, model_path, load_hub_classifier, threads)
    return answered(texts.select("text_hash", "text", "other"), partitions, model, scores, SCORE_SCHEMA)


def top_labels(probabilities: Probabilities, labels: Sequence[str], top: int) -> list[tuple[str, float]]:
    """The `top` most confident labels with confidences rounded to 4 decimals; equal ones by label id."""
    rounded = np.round(probabilities.astype(np.float64), DECIMALS)
    order = np.argsort(-rounded, kind="stable")[:top]
    return [(labels[index], float(rounded[index])) for index in order]


def scores_or_errors(
    model: SequenceClassifier[Any], items: Sequence[Any], batch_size: int
) -> tuple[list[Probabilities | None], list[str | None]]:
    """Each item's probabilities, or its error."""
    return answers_or_errors(lambda some: model.probabilities(some, batch_size).numpy(), items)


def answers_or_errors(
    ask: Callable[[Sequence[Any]], NDArray[np.float32]], items: Sequence[Any]
) -> tuple[list[NDArray[np.float32] | None], list[str | None]]:
    """Each item's row of a model's answer, or its error: what fails together is tried again in halves, down to one."""
    scores: list[NDArray[np.float32] | None] = [None] * len(items)
    errors: list[str | None] = [_missing(item) for item in items]

    def attempt(indices: Sequence[int]) -> None:
        try:
            answers = ask([items[index] for index in indices])
        except Exception as error:
            if len(indices) == 1:
                errors[indices[0]] = _reason(error)
                return
            middle = len(indices) // 2
            attempt(indices[:middle])
            attempt(indices[middle:])
            return
        for index, answer in zip(indices, answers, strict=True):
            scores[index], errors[index] = _finite(answer)

    present = [index for index, error in enumerate(errors) if error is None]
    if present:
        attempt(present)
    return scores, errors


def gathered(frames: Iterable[pd.DataFrame], rows: int) -> Iterator[pd.DataFrame]:
    """The same rows in frames of at least `rows` rows, but for the last."""
    waiting: list[pd.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) >= rows:
            yield pd.concat(waiting, ignore_index=True)
            waiting = []
    if waiting:
        yield pd.concat(waiting, ignore_index=True)


def worker_model(path: str, loader: Callable[[str], Network], threads: int) -> Network:
    """The worker's one copy of the model at `path`, on the task's device."""
    set_threads(threads)
    # The tokenizer's own threads would come on top of those.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return load_once(path, loader).to(task_device())


def load_hub_classifier(path: str) -> HubClassifier:
    """`HubClassifier.load`, as a function that a cache can name."""
    return HubClassifier.load(path)


def load_weak_labeler(path: str) -> SequenceClassifier[Any]:
    """`WeakLabeler.load`, as a function that a cache can name."""
    return WeakLabeler.load(path)


def load_dialogue_classifier(path: str) -> SequenceClassifier[Any]:
    """`DialogueClassifier.load`, as a function that a cache can name."""
    return DialogueClassifier.load(path)


def load_sentence_encoder(path: str) -> SentenceEncoder:
    """`SentenceEncoder.load`, as a function that a cache can name."""
    return SentenceEncoder.load(path)


def _reason(error: Exception) -> str:
    line = "out of GPU memory" if is_out_of_memory(error) else " ".join(str(error).split())
    return f"{type(error).__name__}: {line}"[:300]


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
) -> DataFrame:
    """A model's answer to each row beside the row's key, which is its first column."""
    key = rows.columns[0]

    def ask(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        model = load()
        for frame in gathered(frames, GATHERED_ROWS):
            yield pd.DataFrame({key: frame[key], **answer(model, frame)})

    spread = rows.repartition(partitions, key) if partitions > 0 else rows
    return spread.mapInPandas(ask, schema)
