"""The safety gate of the shells, from the settings."""

from importlib.util import find_spec

from conf.safety_settings import SafetySettings
from conf.settings import Settings
from etl.pipeline.locations import model_at
from etl.safety.conversation import SafeConversation
from etl.safety.words import DangerWords

WORDS_ALONE = (
    "Danger is looked for by phrases and words, without the sentence encoder: more of it is missed (docs/safety.md)."
)


def safe_conversation(settings: Settings) -> SafeConversation:
    """Return a new conversation's gate, with the packaged danger classifier on the sentence encoder.

    Where ``safety.encoder`` is null, or the default one is not installed, a classifier that needs none takes its place.

    Raises:
        InputError: another encoder is not there, or is not the one that the classifier was trained with.
    """
    safety = settings.safety
    if safety.encoder is None or (safety.encoder == SafetySettings().encoder and not _installed(safety.encoder)):
        words = DangerWords.packaged()
        return SafeConversation(words.scores, safety.threshold or words.threshold, safety.country, WORDS_ALONE)
    from etl.safety.classifier import DangerClassifier

    found = model_at(safety.encoder, settings)
    model = DangerClassifier.packaged(found.path, found.identity)
    return SafeConversation(model.scores, safety.threshold or model.threshold, safety.country)


def _installed(encoder: str) -> bool:
    return all(find_spec(name) is not None for name in (encoder.partition(":")[2], "torch", "transformers"))
