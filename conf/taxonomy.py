"""Label taxonomies, read from the CSV files beside this module."""

import csv
from functools import cache

from conf.resources import text

EDOS, EDOS_TUTORIAL = "taxonomies/edos.csv", "taxonomies/edos_tutorial.csv"
GOEMOTIONS, GOEMOTIONS_MAPPING = "taxonomies/goemotions.csv", "taxonomies/goemotions_mapping.csv"
GOEMOTIONS_GROUPS = "taxonomies/goemotions_groups.csv"


def _rows(name: str) -> tuple[dict[str, str], ...]:
    return _parsed(text(f"taxonomies/{name}.csv"))


@cache
def _parsed(content: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(content.splitlines()))


def edos_labels() -> tuple[str, ...]:
    """The 41 labels of EDOS in id order: 32 emotions, 8 empathetic response intents, neutral (EDOS 1)."""
    return tuple(row["label"] for row in sorted(_rows("edos"), key=lambda row: int(row["id"])))


def edos_kinds() -> dict[str, str]:
    """Label to kind: emotion, intent or neutral."""
    return {row["label"]: row["kind"] for row in _rows("edos")}


def edos_lessons() -> dict[str, tuple[str, str]]:
    """Label to (what it means, an example of our own), for people who label."""
    return {row["label"]: (row["about"], row["example"]) for row in _rows("edos_tutorial")}


def goemotions_labels() -> tuple[str, ...]:
    """The 28 labels of GoEmotions in id order, neutral last (Emo Pillars 4)."""
    return tuple(row["label"] for row in sorted(_rows("goemotions"), key=lambda row: int(row["id"])))


def goemotions_definitions() -> dict[str, str]:
    """Label to what it means, in our words (Emo Pillars 3.2, A)."""
    return {row["label"]: row["definition"] for row in _rows("goemotions")}


def goemotions_polarities() -> dict[str, str]:
    """Label to positive, negative, ambiguous or neutral."""
    return {row["label"]: row["polarity"] for row in _rows("goemotions")}


def goemotions_groups() -> dict[str, str]:
    """Label to the group of emotions that share markers, neutral in none (Emo Pillars Table 9)."""
    return {row["label"]: row["group"] for row in _rows("goemotions_groups")}


def goemotions_mapping() -> dict[str, str | None]:
    """A label out of the taxonomy to the one it counts as; None: it has no close match and is left out."""
    return {row["raw"]: row["label"] or None for row in _rows("goemotions_mapping")}
