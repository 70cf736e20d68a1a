"""The training regimes of the response generators: data and initial weights (EDOS 5)."""

from dataclasses import dataclass

from etl.replies.conversations import EDOS, EMPATHETIC, OS


@dataclass(frozen=True)
class Regime:
    """A way to train a generator.

    Attributes:
        starts_from: model with its initial weights; None for random ones.
        steered: whether it is given the replies' intents.
        causal: whether its initial weights are a causal language model's, ``models.reply_base``.
    """

    generator: str
    sources: tuple[str, ...]
    starts_from: str | None = None
    steered: bool = False
    causal: bool = False

    @property
    def model(self) -> str:
        """Name of its model in the settings."""
        return f"reply_{self.generator}"


PRETRAINED = Regime("pretrained", (OS,))
ON_EDOS = Regime("edos", (EDOS,), PRETRAINED.model)
ON_EMPATHETIC = Regime("empathetic", (EMPATHETIC,), PRETRAINED.model)
CAUSAL = Regime("causal", (EDOS, EMPATHETIC), causal=True)
"""Ours: a pre-trained causal language model, tuned on what both of the paper's tuned generators have."""
STEERED = Regime("steered", (EDOS, EMPATHETIC), ON_EMPATHETIC.model, steered=True)
"""Ours, the paper's future work: trained on all labelled replies, with the label as the first token. It is initialised
from the generator without intents, with which it is compared: the causal one where ``models.reply_causal`` names it."""

PAPERS = (PRETRAINED, ON_EDOS, ON_EMPATHETIC)
COMPARED = (*PAPERS, CAUSAL)
"""The rows of Table 7; the causal one where ``models.reply_causal`` names it."""
ALL = (*COMPARED, STEERED)
