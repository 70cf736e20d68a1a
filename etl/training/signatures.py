"""What each kind of model reads and answers."""

from mlflow.models.signature import ModelSignature
from mlflow.types import ColSpec, DataType, Schema, TensorSpec
from mlflow.types.schema import Array

Columns = list[ColSpec | TensorSpec]


def signature_of(kind: str) -> ModelSignature:
    """Return what a model of `kind` reads and answers, as the registry of Unity Catalog asks for."""
    text, turns = ColSpec(DataType.string, "text"), ColSpec(Array(DataType.string), "turns")
    reads: Columns = [text if kind == "weak_labeler" else turns]
    answers: Columns = [ColSpec(DataType.string, "label"), ColSpec(DataType.float, "confidence")]
    if kind == "causal_language_model":
        reads, answers = [ColSpec(DataType.string, "prompt")], [text]
    elif kind == "multi_label_classifier":
        reads = [ColSpec(DataType.string, "context", required=False), text]
        answers = [ColSpec(Array(DataType.string), "labels"), ColSpec(Array(DataType.float), "probabilities")]
    elif kind == "reply_generator":
        answers = [ColSpec(DataType.string, "reply")]
    return ModelSignature(Schema(reads), Schema(answers))
