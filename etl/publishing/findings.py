"""The input of reports and dataset cards: rows of views and facts of the run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Rows = Sequence[Mapping[str, Any]]
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
        made_with: facts of the run to print, in order.
    """

    views: Mapping[str, Rows]
    made_with: Mapping[str, str] = field(default_factory=dict)

    def rows(self, view: str) -> Rows:
        return self.views.get(view, ())

    @property
    def recorded(self) -> bool:
        """Return whether answers were recorded beforehand instead of asked from a model."""
        return any(name.startswith("recorded:") for name in self.made_with.get(WRITTEN_BY, "").split(", "))
