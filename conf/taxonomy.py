"""Label taxonomies, read from the files under ``taxonomies/`` or from a file of the user's own."""

import csv
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from conf.errors import InputError
from conf.resources import text
from conf.section import Section

Kind = Literal["emotion", "intent", "neutral"]


class Label(Section):
    """A label, its kind, and its description for annotators."""

    label: str
    kind: Kind
    about: str = Field(min_length=1, description="what it means")
    example: str = Field(min_length=1, description="what somebody says who shows it")

    @field_validator("label")
    @classmethod
    def as_answers_are_compared(cls, label: str) -> str:
        if not label or label != " ".join(label.lower().split()):
            raise ValueError(f"label {label!r} must be lower case, its words parted by single blanks")
        return label


class Taxonomy(Section):
    """The labels of a data set, in the order of their ids."""

    name: str = Field(min_length=1)
    labels: tuple[Label, ...] = Field(min_length=2)

    @field_validator("labels")
    @classmethod
    def each_once(cls, labels: tuple[Label, ...]) -> tuple[Label, ...]:
        names = [label.label for label in labels]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"label {', '.join(map(repr, twice))} stands there twice")
        return labels

    @property
    def names(self) -> tuple[str, ...]:
        """The labels' names."""
        return tuple(label.label for label in self.labels)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Label to kind."""
        return {label.label: label.kind for label in self.labels}

    def in_words(self) -> str:
        """Return the number of labels of each kind in words."""
        kinds = list(self.kinds.values())
        counted = [
            f"{kinds.count(kind)} {word}"
            for kind, word in (("emotion", "emotions"), ("intent", "empathetic intents"))
            if kind in kinds
        ]
        counted += ["neutral"] if "neutral" in kinds else []
        listed = " and ".join([", ".join(counted[:-1]), counted[-1]] if len(counted) > 1 else counted)
        return f"{len(kinds)} labels, {listed}"


def load_taxonomy(name: str) -> Taxonomy:
    """Read a taxonomy.

    Args:
        name: of a YAML file under ``conf/taxonomies`` without its ending, or the path of one.

    Raises:
        InputError: there is no such file, or it is no taxonomy.
    """
    folder = files("conf").joinpath("taxonomies")
    known = sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml"))
    if name in known:
        return _taxonomy(folder.joinpath(f"{name}.yaml").read_text("utf-8"), name)
    if not Path(name).is_file():
        raise InputError(f"taxonomy {name}: no such file, and none of {', '.join(known)}")
    try:
        return _taxonomy(Path(name).read_text("utf-8"), name)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"taxonomy {name}: cannot be read as UTF-8 ({error})") from None


@cache
def _taxonomy(text: str, place: str) -> Taxonomy:
    try:
        return Taxonomy.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise InputError(f"taxonomy {place} is not YAML: {str(error).splitlines()[0]}") from None
    except ValidationError as error:
        raise InputError(f"taxonomy {place}: {'; '.join(map(_problem, error.errors()))}") from None


def _problem(problem: Any) -> str:
    key = ".".join(map(str, problem["loc"]))
    return f"{key}: {problem['msg'].removeprefix('Value error, ')}" if key else str(problem["msg"])


def edos_labels() -> tuple[str, ...]:
    """The 41 labels of EDOS in id order: 32 emotions, 8 empathetic response intents, neutral (EDOS 1)."""
    return load_taxonomy("edos").names


def edos_kinds() -> dict[str, Kind]:
    """Label of EDOS to kind: emotion, intent or neutral."""
    return load_taxonomy("edos").kinds


GOEMOTIONS = "taxonomies/goemotions.csv"
GOEMOTIONS_MAPPING = "taxonomies/goemotions_mapping.csv"
GOEMOTIONS_GROUPS = "taxonomies/goemotions_groups.csv"


def _rows(name: str) -> tuple[dict[str, str], ...]:
    return _parsed(text(f"taxonomies/{name}.csv"))


@cache
def _parsed(content: str) -> tuple[dict[str, str], ...]:
    return tuple(csv.DictReader(content.splitlines()))


def goemotions_labels() -> tuple[str, ...]:
    """The 28 labels of GoEmotions in id order, neutral last (Emo Pillars 4)."""
    return tuple(row["label"] for row in sorted(_rows("goemotions"), key=lambda row: int(row["id"])))


def goemotions_definitions() -> dict[str, str]:
    """Return each label's definition, in our words (Emo Pillars 3.2, A)."""
    return {row["label"]: row["definition"] for row in _rows("goemotions")}


def goemotions_polarities() -> dict[str, str]:
    """Return each label's polarity: positive, negative, ambiguous or neutral."""
    return {row["label"]: row["polarity"] for row in _rows("goemotions")}


def goemotions_groups() -> dict[str, str]:
    """Return each label's group of emotions that share markers, neutral in none (Emo Pillars Table 9)."""
    return {row["label"]: row["group"] for row in _rows("goemotions_groups")}


def goemotions_mapping() -> dict[str, str | None]:
    """A label out of the taxonomy to the one it counts as; None: it has no close match and is left out."""
    return {row["raw"]: row["label"] or None for row in _rows("goemotions_mapping")}
