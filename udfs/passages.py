"""All 28 labels' probabilities of passages: a model of several labels in executors."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame

from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.predict import DECIMALS, answered, scores_or_errors, worker_model

ANSWER_SCHEMA = "model string, probabilities array<float>, threshold double, error string"


def answer_passages(
    passages: DataFrame,
    model_path: str,
    identity: str,
    *,
    batch_size: int = 64,
    threads: int = 1,
    partitions: int = 0,
) -> DataFrame:
    """The answers of a model of several labels (Emo Pillars 5).

    Args:
        passages: a key in the first column, utterance, context (null: none); each passage once.
        model_path: folder of a `MultiLabelClassifier`, readable from every worker.
        identity, batch_size, threads, partitions: as for `udfs.predict.score_texts`.

    Returns:
        (the key, model, probabilities, threshold, error): probabilities in the labels' order, rounded to 4 decimals;
        the threshold from which the model gives a label; a row that fails has its error and no probabilities.
    """

    def answers(model: MultiLabelClassifier, frame: pd.DataFrame) -> dict[str, Any]:
        items = [
            None if said is None else Passage(said, context)
            for said, context in zip(frame["utterance"], frame["context"], strict=True)
        ]
        scores, errors = scores_or_errors(model, items, batch_size)
        rounded = [None if row is None else np.round(row, DECIMALS) for row in scores]
        return {"model": identity, "probabilities": rounded, "threshold": model.threshold, "error": errors}

    key = passages.columns[0]
    model = partial(worker_model, model_path, load_multi_label, threads)
    schema = f"{key} string, {ANSWER_SCHEMA}"
    return answered(passages.select(key, "utterance", "context"), partitions, model, answers, schema)


def load_multi_label(path: str) -> MultiLabelClassifier:
    """`MultiLabelClassifier.load`, as a function that a cache can name."""
    return MultiLabelClassifier.load(path)
