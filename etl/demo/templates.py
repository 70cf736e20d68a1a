"""The demo's templates with choices and slots, from conf/demo/*.yaml."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

_CHOICE = re.compile(r"\{(?:(\d)=)?([^{}]*)\}")
_SLOT = re.compile(r"<(\w+)>")
_PRONOUNS = {
    "woman": {"he": "she", "him": "her", "his": "her"},
    "man": {"he": "he", "him": "him", "his": "his"},
}


@dataclass(frozen=True)
class Line:
    """A turn of a scene."""

    label: str
    template: str


@dataclass(frozen=True)
class Scene:
    """A short dialogue for two speakers who take turns; ``topic`` is a label or a film genre."""

    key: str
    topic: str
    lines: tuple[Line, ...]


@cache
def material(name: str) -> Mapping[str, Any]:
    """Return the content of ``conf/demo/<name>.yaml``."""
    text = files("conf").joinpath("demo", f"{name}.yaml").read_text(encoding="utf-8")
    content: Mapping[str, Any] = yaml.safe_load(text)
    return content


@cache
def scenes(name: str) -> tuple[Scene, ...]:
    """Return the scenes of ``conf/demo/<name>.yaml``: paragraphs of `label: text` lines under a topic."""
    found = []
    for topic, text in material(name).items():
        for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
            pairs = [line.strip().split(": ", 1) for line in paragraph.splitlines()]
            lines = tuple(Line(label, template) for label, template in pairs)
            found.append(Scene(f"{name}.{topic}.{number}", topic, lines))
    return tuple(found)


@cache
def common_scenes() -> tuple[Scene, ...]:
    """Return the scenes for any film."""
    return (*scenes("scenes_dark"), *scenes("scenes_bright"), *scenes("scenes_everyday"))


@cache
def statements() -> Mapping[str, tuple[str, ...]]:
    """Return the templates of single statements by label."""
    return {label: tuple(text.strip().splitlines()) for label, text in material("statements").items()}


class Frame:
    """The fillers of the slots in one dialogue; a slot keeps its filler, so that replies have the same topic.

    Args:
        rng: source of random fillers.
        given: fixed fillers, such as the speakers ``a`` and ``b``.
    """

    def __init__(self, rng: random.Random, given: Mapping[str, str] | None = None) -> None:
        self._rng = rng
        self._fillers = dict(given or {})
        self._slots = material("slots")
        self._groups: dict[str, int] = {}
        gender = rng.choice(("woman", "man"))
        self._fillers.update(_PRONOUNS[gender])
        taken = set(self._fillers.values())
        people = [name for name in self._slots[{"woman": "women", "man": "men"}[gender]] if name not in taken]
        self._fillers["c"] = rng.choice(people)
        self._fillers["kin"] = rng.choice(self._slots["kinswomen" if gender == "woman" else "kinsmen"])
        for speaker in ("a", "b"):
            self._fillers.setdefault(speaker, rng.choice(self._slots["women"] + self._slots["men"]))

    def choose(self, group: str | None, options: list[str], rng: random.Random) -> str:
        """Return one of the options; the choices of a group (`{1=a|b}`) in a dialogue have the same position."""
        if group is None:
            return rng.choice(options)
        chosen = self._groups.setdefault(group, rng.randrange(len(options)))
        return options[chosen % len(options)]

    def __getitem__(self, slot: str) -> str:
        if slot in self._fillers:
            return self._fillers[slot]
        if slot.lower() in self._fillers or (slot.lower() in self._slots and slot != slot.lower()):
            filler = self[slot.lower()]
            return filler[:1].upper() + filler[1:]
        base = slot.rstrip("0123456789")
        used = self[base] if base != slot else None
        filler = self._rng.choice([entry for entry in self._slots[base] if entry != used])
        self._fillers[slot] = filler
        return filler


def expand(template: str, frame: Frame, rng: random.Random) -> str:
    """Return a template as plain English, with choices, slots, `a`/`an` and capitals resolved."""
    text = template
    while _CHOICE.search(text):
        text = _CHOICE.sub(lambda choice: frame.choose(choice[1], choice[2].split("|"), rng), text, count=1)
    text = _SLOT.sub(lambda slot: frame[slot[1]], text)
    text = re.sub(r"\b([Aa]) (?=[aeiouAEIOU])", r"\1n ", text)
    text = re.sub(r"([?!])\.(?!\.)", r"\1", " ".join(text.split()))
    text = re.sub(r"((?<!\.)[.?!] )([a-z])", lambda start: start[1] + start[2].upper(), text)
    return text[:1].upper() + text[1:]
