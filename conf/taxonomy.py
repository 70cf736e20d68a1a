"""Label taxonomies, read from the CSV files beside this module."""

import csv
from functools import cache
from importlib.resources import files


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files("conf").joinpath("taxonomies", f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def edos_labels() -> tuple[str, ...]:
    """The 41 labels of EDOS in id order: 32 emotions, 8 empathetic response intents, neutral (EDOS 1)."""
    return tuple(row["label"] for row in sorted(_rows("edos"), key=lambda row: int(row["id"])))


def edos_kinds() -> dict[str, str]:
    """Label to kind: emotion, intent or neutral."""
    return {row["label"]: row["kind"] for row in _rows("edos")}


def edos_lessons() -> dict[str, tuple[str, str]]:
    """Label to (what it means, an example of our own), for people who label."""
    return {row["label"]: (row["about"], row["example"]) for row in _rows("edos_tutorial")}
