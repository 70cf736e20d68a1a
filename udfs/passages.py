"""Scoring of passages by a multi-label classifier in executors."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame

from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.predict import DECIMALS, answered, scores_or_errors, worker_model

ANSWER_SCHEMA = "model string, probabilities array<float>, threshold double, error string"


def answer_passages(
    passages: DataFrame, model_path: str, identity: str, *, batch_size: int = 64, threads: int = 1, partitions: int = 0
) -> DataFrame:
    """Return the answers of a multi-label classifier (Emo Pillars 5).

    Args:
        passages: a key in the first column, utterance, context or null; each passage once.
        model_path: folder of a `MultiLabelClassifier`, readable from every worker.
        identity, batch_size, threads, partitions: see `udfs.predict.score_texts`.

    Returns:
        (key, model, probabilities, threshold, error): probabilities in the order of the labels, rounded to 4 decimals;
        the model's decision threshold; a failed row has an error and no probabilities.
    """

    def answers(model: MultiLabelClassifier, frame: pd.DataFrame) -> dict[str, Any]:
        items = [
            None if utterance is None else Passage(utterance, context)
            for utterance, context in zip(frame["utterance"], frame["context"], strict=True)
        ]
        scores, errors = scores_or_errors(model, items, batch_size)
        rounded = [None if row is None else np.round(row, DECIMALS) for row in scores]
        return {"model": identity, "probabilities": rounded, "threshold": model.threshold, "error": errors}

    key = passages.columns[0]
    model = partial(worker_model, model_path, MultiLabelClassifier.load, threads)
    schema = f"{key} string, {ANSWER_SCHEMA}"
    return answered(passages.select(key, "utterance", "context"), partitions, model, answers, schema)
