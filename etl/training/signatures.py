"""Inputs and outputs of the registered models, by kind."""

from mlflow.models.signature import ModelSignature
from mlflow.types import ColSpec, DataType, Schema
from mlflow.types.schema import Array

LOADER = "udfs.serving"
"""The ``loader_module`` of the pyfunc flavour."""
SERVED = ("weak_labeler", "dialogue_classifier", "multi_label_classifier")
"""The kinds that it serves."""


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
