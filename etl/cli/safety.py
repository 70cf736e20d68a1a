"""The safety gate of the shells, from the settings."""

from importlib.util import find_spec
from typing import NamedTuple

from conf.safety_settings import SafetySettings
from conf.settings import Settings
from etl.pipeline.locations import model_at
from etl.safety.conversation import SafeConversation


class GateRates(NamedTuple):
    """The measured rates of a safety gate (docs/safety.md).

    Attributes:
        recall: share of held-out lines of danger that are found, which we wrote to be hard.
        public: share of the lines of danger in public sets that are found.
        false_alarms: share of lines of everyday talk, of public sets, that raise an alarm.
    """

    recall: float
    public: float
    false_alarms: float

    @property
    def notice(self) -> str:
        """What a person is told before the conversation."""
        return (
            f"Each line is checked for signs of danger. In our tests, {self.recall:.1%} of dangerous lines that are "
            f"hard to tell were found, {self.public:.1%} of those in public sets, and {self.false_alarms:.1%} of lines "
            "of everyday talk raised a false alarm (docs/safety.md)."
        )


MEASURED_GATE = GateRates(recall=0.788, public=0.975, false_alarms=0.143)
MEASURED_PHRASES = GateRates(recall=0.241, public=0.675, false_alarms=0.002)
PHRASES_ALONE = f"There is no sentence encoder, so only the phrases are used. {MEASURED_PHRASES.notice}"


def safe_conversation(settings: Settings) -> SafeConversation:
    """Return a new conversation's gate, with the danger classifier on the sentence encoder.

    Where ``safety.encoder`` is null, or the default one is not installed, there are the lists of phrases alone.

    Raises:
        InputError: another encoder is not there.
    """
    safety = settings.safety
    if safety.encoder is None or (safety.encoder == SafetySettings().encoder and not _installed(safety.encoder)):
        return SafeConversation(country=safety.country, notice=PHRASES_ALONE)
    from etl.safety.classifier import THRESHOLD, DangerClassifier

    model = DangerClassifier.load(model_at(safety.encoder, settings).path)
    return SafeConversation(model.scores, safety.threshold or THRESHOLD, safety.country, MEASURED_GATE.notice)


def _installed(encoder: str) -> bool:
    return all(find_spec(name) is not None for name in (encoder.partition(":")[2], "torch", "transformers"))
