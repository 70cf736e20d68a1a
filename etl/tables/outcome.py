"""What a stage's function hands back."""

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Outcome:
    """A stage's rows, and the units it left out.

    Attributes:
        rows: the rows of the stage's table.
        dropped: left-out units as (unit, id, reason, detail, units), with (work_key) in sliced stages
            where it is not the id; None when the rule drops nothing.
        quarantined: unreadable files as (source, source_path, reason, detail).
        rows_in: units that came in, for a stage that reads no table.
    """

    rows: DataFrame
    dropped: DataFrame | None = None
    quarantined: DataFrame | None = None
    rows_in: int | None = None


@dataclass(frozen=True)
class Trained:
    """What a training hands back.

    Attributes:
        identity: of the model that the registry's alias names after the training.
        rows_in: labelled rows given.
        rows_out: labelled rows used, for training or held out.
        dropped: rows left out as (unit, id, reason, detail, units).
        figures: metrics to show.
    """

    identity: str
    rows_in: int
    rows_out: int
    dropped: DataFrame | None = None
    figures: dict[str, Any] = field(default_factory=dict)
