"""What each kind of model reads and answers."""

from mlflow.models.signature import ModelSignature
from mlflow.types import ColSpec, DataType, Schema
from mlflow.types.schema import Array


def signature_of(kind: str) -> ModelSignature:
    """Return what a model of `kind` reads and answers, as the registry of Unity Catalog asks for."""
    if kind == "causal_language_model":
        return ModelSignature(Schema([ColSpec(DataType.string, "prompt")]), Schema([ColSpec(DataType.string, "text")]))
    text, turns = ColSpec(DataType.string, "text"), ColSpec(Array(DataType.string), "turns")
    if kind == "multi_label_classifier":
        answers = [ColSpec(Array(DataType.string), "labels"), ColSpec(Array(DataType.float), "probabilities")]
        return ModelSignature(Schema([ColSpec(DataType.string, "context", required=False), text]), Schema(answers))
    if kind == "reply_generator":
        return ModelSignature(Schema([turns]), Schema([ColSpec(DataType.string, "reply")]))
    one = [ColSpec(DataType.string, "label"), ColSpec(DataType.float, "confidence")]
    return ModelSignature(Schema([text if kind == "weak_labeler" else turns]), Schema(one))
