"""An utterance in words that need its context (Emo Pillars 3.5)."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.answers import (
    Parsed,
    lines_of,
    plain,
    problem_of,
    without_emoji,
    without_heading,
    without_remark,
    words_of,
)
from etl.emo_pillars.examples import with_needed_context
from etl.emo_pillars.prompts import spoken_slots
from etl.emo_pillars.prose import prose
from etl.emo_pillars.quality import LEAST_WORDS, SHORT, judged, of_other_language, text_faults
from etl.emo_pillars.quotes import quotations, unquoted, without_labels
from etl.emo_pillars.refusals import refuses
from etl.emo_pillars.remarks import without_opening
from etl.emo_pillars.step import FAULTS_COLUMN, PROSE, REQUEST_COLUMN, Asked, Rules, Step, text_schema
from etl.emo_pillars.steps import clean_contexts
from etl.emo_pillars.tables import EXAMPLES
from etl.llm.json_answers import json_value, prose_of
from etl.llm.prompt_texts import as_data

MOST_UTTERANCE_WORDS = 100
_SPEAKER = re.compile(r"[A-Z][\w .'’-]{0,40}:\s*(?=[\"“«])")
_BESIDE = re.compile(
    r"\W*|\s*[(\[].*[)\]]\W*|\s*(?:/|or\b|and\b|[-–—]|,)\s*[\"“«].*|\s*(?:→|[-=]>).*", re.IGNORECASE | re.DOTALL
)
LONGEST_REWRITE = 2.0
"""Words of a rewritten utterance to one of the original."""
MORE_WORDS = 10
"""Words that a rewritten utterance may always have beyond its share of the original."""
_FIRST = frozenset(words_of("I me my mine myself we us our ours ourselves"))
_THIRD = frozenset(words_of("he she they his her their him them"))
_SPEAKERS = (("the", "character"), ("the", "speaker"), ("this", "character"), ("this", "person"))
LONG = "too_many_words"
OTHER_PERSON = "other_person"
UNCHANGED = "same_as_original"


def parse_rewrite(answer: str, template: str, cut_off: bool = False, emotions: Collection[str] = ()) -> Parsed:
    """Parse the rewritten utterance: the first of several proposals, without explanations (Emo Pillars 3.5).

    Args:
        template: the prompt's template, to detect repetitions of the prompt.
        cut_off: whether generation stopped at the token limit.
        emotions: names of emotions, which are no part of an utterance when they stand before or behind it.
    """
    value = json_value(answer)
    said = answer if value is None else prose_of(value)[0]
    lines = lines_of(without_opening(plain(without_emoji(without_heading(said)))))
    lines = [line for line in lines if not line.text.endswith(":") or refuses(line.text)] or lines
    text = without_labels(without_remark(lines[0].text), emotions) if lines else ""
    spoken = _spoken(text)
    problem = problem_of(text, template) if spoken is None else problem_of(spoken, template, quoted=True)
    text = text if spoken is None else spoken
    problem = problem or ("too_long" if len(text.split()) > MOST_UTTERANCE_WORDS else None)
    unclosed = text.startswith(('"', "“", "«")) and not quotations(text)  # some servers tell of no limit
    return prose(text, answer, problem, (cut_off or unclosed) and len(lines) == 1)


def _spoken(text: str) -> str | None:
    """Return the quotation that a line consists of, maybe after a name and before remarks or further proposals."""
    speaker = _SPEAKER.match(text)
    line = text[speaker.end() :] if speaker else text
    found = quotations(line)
    if found and found[0].start == 0 and _BESIDE.fullmatch(line[found[0].end :]):
        return found[0].text
    bare = unquoted(line)
    return bare if bare != line else None


def rewrite_faults(text: str, given: Mapping[str, Any], emotions: Collection[str]) -> list[str]:
    """Return the faults of a rewritten utterance: also its length and its person.

    Args:
        given: the original ``utterance``, the ``actor`` who says it, and its ``labels``.
    """
    found = text_faults(text, given.get("labels") or (), emotions)
    words = words_of(text)
    before = words_of(given.get("utterance") or "")
    if len(words) < LEAST_WORDS:
        found.append(SHORT)
    if before and len(words) > LONGEST_REWRITE * len(before) + MORE_WORDS:
        found.append(LONG)
    if words == before:
        found.append(UNCHANGED)
    if is_of_other_person(words, before, given.get("actor") or ""):
        found.append(OTHER_PERSON)
    return found


def is_of_other_person(words: Sequence[str], before: Sequence[str], actor: str) -> bool:
    """Return true if words tell of a character instead of being said by it.

    They begin with the character, or with a pronoun or the character's name where the original says "I".
    """
    if tuple(words[:2]) in _SPEAKERS:
        return True
    name = words_of(actor.split("(")[0])
    tells = bool(words) and (words[0] in _THIRD or words[0] in name[:1])
    return tells and bool(_FIRST & set(before)) and not _FIRST & set(words)


def ask(clean_contexts: DataFrame, examples: DataFrame) -> Asked:
    """Ask for each utterance rewritten so that it depends on its context (Emo Pillars 3.5)."""
    units = clean_contexts.select("utterance_id", "context").join(with_needed_context(examples), "utterance_id")
    return Asked(units, {"context": as_data(F.col("context")), **spoken_slots()})


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the rewritten utterances (Emo Pillars 3.5)."""
    parsed = parse_rewrite(answer, rules.template, cut_off, rules.names)
    texts = [one.text for one in parsed.items]
    faults = [
        foreign + rewrite_faults(text, given, rules.names)
        for text, foreign in zip(texts, of_other_language(texts, rules.template), strict=True)
    ]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="rewrites",
    asked_for="an utterance in words that need its context (Emo Pillars 3.5)",
    reads=(clean_contexts.STEP.table, EXAMPLES),
    ask=ask,
    form="example",
    form_setting="emo_pillars.rewrite_prompt",
    schema=lambda taxonomy: text_schema("rewritten_utterance"),
    unit="rewrite",
    unit_key="utterance_id",
    given={"labels": "labels.label", "utterance": "utterance", "actor": "actor"},
    item=PROSE,
    read=read,
    row="An utterance in words that need its context (Emo Pillars 3.5).",
    columns=f"utterance_id string, rewritten string, cut boolean, {FAULTS_COLUMN}, {REQUEST_COLUMN}",
    key=("utterance_id",),
    values={"rewritten": "item.text"},
    accounting="contexts",
    version=10,
)
