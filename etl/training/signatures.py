"""Inputs, parameters and outputs of the registered models, by kind."""

from collections.abc import Mapping
from typing import Any

from mlflow.models.signature import ModelSignature
from mlflow.types import ColSpec, DataType, Schema
from mlflow.types.schema import Array

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "weak_labeler": {"text": "I am so proud of you."},
    "dialogue_classifier": {"turns": ["Nobody came to my party.", "I am sorry to hear that."]},
    "multi_label_classifier": {"context": "The last train had left.", "text": "Then we walk, all night if we must."},
}
"""A row of a request, by the kinds that are served."""
SERVED = tuple(EXAMPLES)
"""The kinds that MLflow serves."""


def signature_of(kind: str) -> ModelSignature:
    """Return the inputs and outputs of a model of `kind`, which the registry of Unity Catalog requires."""
    text = ColSpec(DataType.string, "text")
    turns = ColSpec(Array(DataType.string), "turns")
    inputs = [text if kind == "weak_labeler" else turns]
    error = ColSpec(DataType.string, "error", required=False)
    outputs = [ColSpec(DataType.string, "label"), ColSpec(DataType.float, "confidence"), error]
    if kind == "causal_language_model":
        inputs = [ColSpec(DataType.string, "prompt")]
        outputs = [text]
    elif kind == "multi_label_classifier":
        inputs = [ColSpec(DataType.string, "context", required=False), text]
        outputs = [ColSpec(Array(DataType.string), "labels"), ColSpec(Array(DataType.float), "probabilities"), error]
    elif kind in ("reply_generator", "causal_reply_generator"):
        outputs = [ColSpec(DataType.string, "reply")]
    return ModelSignature(Schema(list(inputs)), Schema(list(outputs)))
