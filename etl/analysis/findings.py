"""What the report and the dataset card are written from: rows of views and a few facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conf.taxonomy import Taxonomy, load_taxonomy

Rows = Sequence[Mapping[str, Any]]
UNSURE = 0.5
"""Below this a label has less than half of the probability."""


@dataclass(frozen=True)
class Findings:
    """What a report or a card is written from.

    Attributes:
        views: rows by view name without ``analysis.``; a view that is not there has none.
        classifier: the labelling model's figures on held-out rows, as ``macro_f1``; empty when not known.
        made_with: facts of the run to print, in order.
        silence_seconds: ``subtitles.silence_seconds``.
        taxonomy: ``edos.taxonomy``.
    """

    views: Mapping[str, Rows]
    classifier: Mapping[str, float] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)
    silence_seconds: float = 5.0
    taxonomy: Taxonomy = field(default_factory=partial(load_taxonomy, "edos"))

    def rows(self, view: str) -> Rows:
        return self.views.get(view, ())

    def count(self, step: int) -> int:
        """Of ``analysis.edos_funnel``; 0 where it is not there."""
        return next((row["units"] for row in self.rows("edos_funnel") if row["place"] == step), 0)

    @property
    def dialogues(self) -> int:
        return self._of_table_3(1)

    @property
    def turns(self) -> int:
        return self._of_table_3(2)

    @property
    def films(self) -> int:
        return self.count(8)

    @property
    def unsure_share(self) -> float | None:
        """Share of turns whose label has less than half of the probability."""
        rows = self.rows("edos_confidence")
        return sum(row["share"] for row in rows if row["to_confidence"] <= UNSURE) if rows else None

    @property
    def divergence(self) -> float | None:
        """KL of our labels against EmpatheticDialogues, in nats."""
        return next((row["nats"] for row in self.rows("edos_kl_divergence") if row["place"] == 1), None)

    def _of_table_3(self, place: int) -> int:
        return next((int(row["value"] or 0) for row in self.rows("edos_table_3") if row["place"] == place), 0)
