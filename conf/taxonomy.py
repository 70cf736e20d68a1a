"""Label taxonomies, read from the files under ``taxonomies/`` or from a file of the user's own."""

import csv
import re
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from conf.errors import InputError
from conf.resources import stored, text
from conf.section import Section

Kind = Literal["emotion", "intent", "neutral"]
Read = TypeVar("Read", bound=Section)


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
            raise ValueError(f"label {label!r} must be lower case, with single spaces between words")
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
            raise ValueError(f"label {', '.join(map(repr, twice))} appears twice")
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
    return _taxonomy(_own_file(name), name)


def _own_file(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"taxonomy {path}: cannot be read as UTF-8 ({error})") from None


@cache
def _taxonomy(text: str, place: str) -> Taxonomy:
    return _read(Taxonomy, text, place)


def _read(kind: type[Read], text: str, place: str) -> Read:
    try:
        return kind.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise InputError(f"taxonomy {place} is not YAML: {str(error).splitlines()[0]}") from None
    except ValidationError as error:
        raise InputError(f"taxonomy {place}: {'; '.join(map(_problem, error.errors()))}") from None


def _problem(problem: Any) -> str:
    key = ".".join(map(str, problem["loc"]))
    return f"{key}: {problem['msg'].removeprefix('Value error, ')}" if key else str(problem["msg"])


def edos_labels() -> tuple[str, ...]:
    """Return the 41 labels of EDOS in id order: 32 emotions, 8 empathetic response intents, neutral (EDOS 1)."""
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
    """Return the 28 labels of GoEmotions in id order, neutral last (Emo Pillars 4)."""
    return tuple(row["label"] for row in sorted(_rows("goemotions"), key=lambda row: int(row["id"])))


def goemotions_polarities() -> dict[str, str]:
    """Return each label's polarity: positive, negative, ambiguous or neutral."""
    return {row["label"]: row["polarity"] for row in _rows("goemotions")}


def goemotions_groups() -> dict[str, str]:
    """Return each label's group of emotions that share markers, neutral in none (Emo Pillars Table 9)."""
    return {row["label"]: row["group"] for row in _rows("goemotions_groups")}


def goemotions_mapping() -> dict[str, str | None]:
    """Return the label that each label outside the taxonomy counts as; None: it has no close match and is left out."""
    return {row["raw"]: row["label"] or None for row in _rows("goemotions_mapping")}


Polarity = Literal["positive", "negative", "ambiguous", "neutral"]
_ANSWERED = re.compile(r"[a-z]{2,20}([ -][a-z]{2,20})?")
"""Labels that can be told from the words around them in an answer."""


class EmotionLabel(Section):
    """A label of Emo Pillars: what it means, its polarity, and the group of emotions that it is near to."""

    label: str
    definition: str = Field(min_length=1, description="as prompts give it")
    polarity: Polarity = "ambiguous"
    group: str = Field("", description="emotions that share markers (Emo Pillars Table 9); empty: a group of its own")

    @field_validator("label")
    @classmethod
    def as_answers_name_it(cls, label: str) -> str:
        words = re.split(r"[ -]", label)
        if _ANSWERED.fullmatch(label) is None or {"and", "or"} & set(words):
            raise ValueError(f"label {label!r} must be one or two words of the letters a to z")
        return label


class EmotionTaxonomy(Section):
    """The labels of Emo Pillars in the order of their ids, and the names that count as one of them."""

    name: str = Field(min_length=1)
    neutral: str = Field("neutral", description="the label of utterances without an emotion")
    labels: tuple[EmotionLabel, ...] = Field(min_length=3)
    map: dict[str, str | None] = Field(
        default_factory=dict, description="outside name to label; null: it has no close match and is left out"
    )

    @model_validator(mode="after")
    def _is_whole(self) -> "EmotionTaxonomy":
        """Check the names against each other."""
        twice = sorted({one for one in self.names if self.names.count(one) > 1})
        if twice:
            raise ValueError(f"label {', '.join(map(repr, twice))} appears twice")
        if self.neutral not in self.names:
            raise ValueError(f"neutral: {self.neutral!r}is not one of the labels")
        if self.polarities[self.neutral] != "neutral":
            raise ValueError(f"label {self.neutral!r}: the polarity of the neutral label is neutral")
        if others := [one.label for one in self.labels if one.polarity == "neutral" and one.label != self.neutral]:
            raise ValueError(f"label {others[0]!r}: only {self.neutral!r} has the polarity neutral")
        for name, label in self.map.items():
            if name != " ".join(name.lower().split()) or not name:
                raise ValueError(f"map: {name!r} must be lower case, with single spaces between words")
            if name in self.names:
                raise ValueError(f"map: {name!r} is a label itself")
            if label is not None and label not in self.names:
                raise ValueError(f"map: {name!r} counts as {label!r}, which is not one of the labels")
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels."""
        return tuple(one.label for one in self.labels)

    @cached_property
    def emotions(self) -> tuple[str, ...]:
        """The labels without the neutral one."""
        return tuple(name for name in self.names if name != self.neutral)

    @cached_property
    def definitions(self) -> dict[str, str]:
        """Label to definition."""
        return {one.label: one.definition for one in self.labels}

    @cached_property
    def polarities(self) -> dict[str, str]:
        """Label to polarity."""
        return {one.label: one.polarity for one in self.labels}

    @cached_property
    def groups(self) -> dict[str, str]:
        """Emotion to its group; the neutral label is in none (Emo Pillars Table 9)."""
        return {one.label: one.group or one.label for one in self.labels if one.label != self.neutral}

    @property
    def known_names(self) -> dict[str, str | None]:
        """Labels and the names mapped to them, each with its label (Emo Pillars 4).

        "neutral" is one of them whatever the neutral label is called, since prompts say it.
        """
        return {**self.map, **{name: name for name in self.names}, "neutral": self.map.get("neutral", self.neutral)}


GOEMOTIONS_NAME = "goemotions"
"""The setting ``emo_pillars.taxonomy`` of the paper's 28 labels."""


def load_emotion_taxonomy(name: str) -> EmotionTaxonomy:
    """Read a taxonomy of Emo Pillars: ``goemotions``, the paper's 28 labels, or a YAML file of one's own.

    Raises:
        InputError: there is no such file, or it is no such taxonomy.
    """
    if name == GOEMOTIONS_NAME:
        return _goemotions()
    if not Path(name).is_file():
        raise InputError(f"emo_pillars.taxonomy {name}: no such file, and not {GOEMOTIONS_NAME}")
    return _read(EmotionTaxonomy, _own_file(name), name)


def require_goemotions(taxonomy: EmotionTaxonomy, what: str) -> None:
    """Raise an InputError where the labels are not the 28 that people's sets are labelled or scored with."""
    if taxonomy.names != _goemotions().names:
        raise InputError(
            f"{what} compares with human labels in GoEmotions' taxonomy, but emo_pillars.taxonomy is "
            f"{taxonomy.name}: leave it out, or set emo_pillars.taxonomy={GOEMOTIONS_NAME}"
        )


@cache
def _goemotions() -> EmotionTaxonomy:
    rows, groups, mapping = (_parsed(stored(file)) for file in (GOEMOTIONS, GOEMOTIONS_GROUPS, GOEMOTIONS_MAPPING))
    group_of = {row["label"]: row["group"] for row in groups}
    labels = [
        {
            "label": row["label"],
            "definition": row["definition"],
            "polarity": row["polarity"],
            "group": group_of.get(row["label"], ""),
        }
        for row in sorted(rows, key=lambda row: int(row["id"]))
    ]
    names = {row["raw"]: row["label"] or None for row in mapping}
    return EmotionTaxonomy.model_validate({"name": "GoEmotions", "labels": labels, "map": names})
