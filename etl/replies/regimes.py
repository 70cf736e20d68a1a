"""Which generators there are: what each is trained on, and from which it starts (EDOS 5)."""

from dataclasses import dataclass

from etl.replies.conversations import EDOS, EMPATHETIC, OS


@dataclass(frozen=True)
class Regime:
    """A way to train a generator.

    Attributes:
        generator: its name in tables.
        sources: of the rows it learns from.
        starts_from: the generator whose weights it starts from; None: from nothing.
        steered: whether it is told the replies' intents.
    """

    generator: str
    sources: tuple[str, ...]
    starts_from: str | None = None
    steered: bool = False

    @property
    def model(self) -> str:
        """The name of its model among the settings."""
        return f"reply_{self.generator}"


PRETRAINED = Regime("pretrained", (OS,))
ON_EDOS = Regime("edos", (EDOS,), PRETRAINED.model)
ON_EMPATHETIC = Regime("empathetic", (EMPATHETIC,), PRETRAINED.model)
STEERED = Regime("steered", (EDOS, EMPATHETIC), ON_EMPATHETIC.model, steered=True)
"""Ours, the paper's future work: every labelled reply, its label in the token that it begins from. It goes on from the
generator that takes no intents, with which it is compared."""

PAPERS = (PRETRAINED, ON_EDOS, ON_EMPATHETIC)
ALL = (*PAPERS, STEERED)
