"""Parse and judge the answer of any step, for the tables of results and for the account of all stored answers."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from conf.prompts import SLOT
from etl.emo_pillars.actors import parse_actors
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.labels import Names, labelled_utterances, labels_with_levels
from etl.emo_pillars.prose import parse_cleaned, parse_prose, parse_rewrite
from etl.emo_pillars.quality import judged, label_faults, rewrite_faults, text_faults, utterance_faults

STEPS = ("actors", "utterances", "soft_labels", "contexts", "clean_contexts", "rewrites")
MOST_CHARACTERS = 20_000
"""Most characters of an answer that are parsed; the longest step asks for 500 tokens."""


class Rules(NamedTuple):
    """Settings of the parser of a step's answers.

    Attributes:
        template: the step's template.
        names: known names of emotions.
        quality: the section ``emo_pillars.quality``.
        top: number of requested soft labels.
    """

    template: str
    names: Names
    quality: Any
    top: int = 5


def parse_step(step: str, rules: Rules, answer: str, cut_off: bool, given: Mapping[str, Any]) -> Parsed:
    """Parse a step's answer and judge its items.

    Args:
        step: one of ``STEPS``.
        rules: the rules.
        answer: the raw answer.
        cut_off: whether generation stopped at the token limit.
        given: what the prompt contained: labels (a list), utterance, actor, context.

    Returns:
        The items as tuples, each with its faults at the end; and the rejected parts.
    """
    template, names, quality, top = rules
    answer, cut_off = answer[:MOST_CHARACTERS], cut_off or len(answer) > MOST_CHARACTERS
    if step == "actors":
        parsed = parse_actors(answer, template, cut_off)
        return judged(parsed, [one.actor for one in parsed.items], [[] for _ in parsed.items], ())
    if step == "utterances":
        parsed = labelled_utterances(answer, template, cut_off, names)
        texts = [one.utterance for one in parsed.items]
        faults = utterance_faults([(one.label, one.utterance) for one in parsed.items], names, quality)
    elif step == "soft_labels":
        parsed = labels_with_levels(answer, template, top, names)
        texts = [f"{one.raw_label} {one.level}" for one in parsed.items]
        faults = [label_faults([(one.label, one.level) for one in parsed.items], quality) for _ in parsed.items]
    elif step == "rewrites":
        parsed = parse_rewrite(answer, template, cut_off, names)
        texts = [one.text for one in parsed.items]
        faults = [rewrite_faults(text, given, names, quality) for text in texts]
    else:
        parse = parse_cleaned if step == "clean_contexts" else parse_prose
        parsed = parse(answer, template, cut_off)
        texts = [(given.get("context") or "") if one.unchanged else one.text for one in parsed.items]
        faults = [text_faults(text, given.get("labels") or (), names, quality) for text in texts]
    return judged(parsed, texts, faults, quality.reject)


def slots_of(template: str, prompt: str) -> dict[str, str] | None:
    """Return the contents of a template's slots in a prompt; None for a prompt of another template."""
    match = _pattern(template).fullmatch(prompt)
    return None if match is None else match.groupdict()


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = SLOT.split(template)
    seen = set()
    pattern = ""
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            pattern += re.escape(piece)
        else:
            pattern += f"(?P={piece})" if piece in seen else f"(?P<{piece}>.*?)"
            seen.add(piece)
    return re.compile(pattern, re.DOTALL)
