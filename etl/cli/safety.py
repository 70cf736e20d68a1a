"""The safety gate of the shells, from the settings."""

from pathlib import Path

from conf.settings import Settings
from etl.augesc.safe_conversation import SafeConversation
from etl.pipeline.locations import model_folder, tracking_uri
from udfs.models.classifiers.danger_classifier import DangerClassifier
from udfs.models.loader import resolve

LISTS_ALONE = "safety.encoder is null: danger is looked for by a list of phrases alone, which misses most of it."


def safe_conversation(settings: Settings) -> SafeConversation:
    """Return a new conversation's gate, with the packaged danger classifier unless ``safety.encoder`` is null.

    Raises:
        InputError: the encoder is not there, or not the one that the classifier was trained with.
    """
    safety = settings.safety
    if safety.encoder is None:
        return SafeConversation(country=safety.country)
    found = resolve(
        safety.encoder, Path(model_folder(settings)), tracking_uri(settings), registry_uri=settings.mlflow.registry_uri
    )
    model = DangerClassifier.packaged(found.path, found.identity)
    return SafeConversation(model.scores, safety.threshold or model.threshold, safety.country)
