"""The input of reports and dataset cards: rows of views and facts of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from conf.taxonomy import Taxonomy, load_taxonomy

Rows = Sequence[Mapping[str, Any]]
UNSURE = 0.5
"""Labels with a lower confidence are unsure."""
WRITTEN_BY = "written by"
"""The fact that names the models whose answers a data set consists of."""
RECORDED = (
    "No model was asked: the answers were recorded beforehand, as in the demo. The figures show how the page looks "
    "and say nothing about a model."
)
"""The limitation of a data set that was made from recorded answers."""


@dataclass(frozen=True)
class Findings:
    """The input of a report or a card.

    Attributes:
        views: rows by view name without ``analysis.``; a missing view has no rows.
        classifier: the labelling model's metrics on held-out rows, such as ``macro_f1``; empty if unknown.
        made_with: facts of the run to print, in order.
        classes: label, precision, recall, f1 and support of each class on held-out rows.
        training: name of the MLflow run that trained the labelling model; "" if unknown.
    """

    views: Mapping[str, Rows]
    classifier: Mapping[str, float] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)
    silence_seconds: float = 5.0
    taxonomy: Taxonomy = field(default_factory=partial(load_taxonomy, "edos"))
    classes: Rows = ()
    training: str = ""

    def rows(self, view: str) -> Rows:
        return self.views.get(view, ())

    def count(self, step: int) -> int:
        """Return the units of a step of ``analysis.edos_funnel``; 0 where it is missing."""
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
        """Return the share of turns with a confidence up to `UNSURE`."""
        rows = self.rows("edos_confidence")
        return sum(row["share"] for row in rows if row["to_confidence"] <= UNSURE) if rows else None

    @property
    def accepted(self) -> tuple[float, float] | None:
        """Return the share of test turns whose label is accepted, and how many of these are right; None: unknown."""
        all_labels = next(iter(self.rows("edos_accepted_labels")), None)
        if not all_labels or not all_labels["accepted"]:
            return None
        return all_labels["accepted"] / all_labels["turns"], all_labels["accepted_accuracy"]

    @property
    def recorded(self) -> bool:
        """Return whether answers were recorded beforehand instead of asked from a model."""
        return any(name.startswith("recorded:") for name in self.made_with.get(WRITTEN_BY, "").split(", "))

    @property
    def divergence(self) -> float | None:
        """Return the KL divergence of our labels from EmpatheticDialogues, in nats."""
        return next((row["nats"] for row in self.rows("edos_kl_divergence") if row["place"] == 1), None)

    def _of_table_3(self, place: int) -> int:
        return next((int(row["value"] or 0) for row in self.rows("edos_table_3") if row["place"] == place), 0)
