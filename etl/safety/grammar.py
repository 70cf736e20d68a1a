"""Lines to learn danger from that are written as templates: ``data/grammar``, a file for each kind.

In a template ``[a|b]`` is one of several wordings, and ``{name}`` one of the slot's fillings (``@name = a | b``).
"""

import random
import re
from collections.abc import Mapping

from etl.safety.lines import DangerLine
from etl.safety.stored import entries

FOLDER = "grammar"
DANGER = ("self_harm", "overdose", "violence_against", "violence_by", "children", "eating", "psychosis")
HARMLESS = ("figurative", "sad_but_safe", "lookalike_topic", "support_talk", "everyday")
DANGER_WORDINGS = 8
HARMLESS_WORDINGS = 15
"""Of a template, at most: the harmless ones are fewer, and everyday talk is wider."""
_SLOT = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"\[([^\[\]]*)\]")

Slots = Mapping[str, list[str]]


def grammar_lines(
    danger_wordings: int = DANGER_WORDINGS, harmless_wordings: int = HARMLESS_WORDINGS
) -> list[DangerLine]:
    """Return wordings of each template of each kind, always the same ones; a line's ``template`` says of which."""
    found = []
    for kind in (*DANGER, *HARMLESS):
        dangerous = kind in DANGER
        slots, templates = parsed(entries(f"{FOLDER}/{kind}"))
        for template in templates:
            for text in wordings(template, slots, danger_wordings if dangerous else harmless_wordings):
                found.append(DangerLine(kind, dangerous, (text,), "", f"{kind}: {template}"))
    return found


def parsed(lines: tuple[str, ...]) -> tuple[Slots, list[str]]:
    """Return the slots and the templates of a file's entries."""
    slots = {}
    for entry in lines:
        if entry.startswith("@"):
            name, fillings = entry[1:].split("=", 1)
            slots[name.strip()] = [one.strip() for one in fillings.split("|")]
    return slots, [entry for entry in lines if not entry.startswith("@")]


def wordings(template: str, slots: Slots, most: int) -> list[str]:
    """Return up to this many different texts of a template, chosen by its own words alone."""
    chance = random.Random(template)
    return list(dict.fromkeys(_wording(template, slots, chance) for _ in range(4 * most)))[:most]


def _wording(template: str, slots: Slots, chance: random.Random) -> str:
    text = template
    while "[" in text or "{" in text:
        text = _SLOT.sub(lambda slot: chance.choice(slots[slot[1]]), text)
        text = _CHOICE.sub(lambda choice: chance.choice(choice[1].split("|")), text)
    return re.sub(r"\s+([,.?!])", r"\1", " ".join(text.split())).strip(" ,")
