"""The utterances of a character with their emotions: eight of various emotions, two neutral ones (Emo Pillars 3.2)."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import GOEMOTIONS, EmotionTaxonomy
from etl.emo_pillars.answers import (
    ARROW,
    Line,
    Parsed,
    Rejected,
    echoes,
    has_letters,
    is_placeholder,
    lines_of,
    looks_finished,
    without_emoji,
    without_remark,
    without_repeats,
    words_of,
)
from etl.emo_pillars.labels import Names, known_only
from etl.emo_pillars.prompts import NEUTRAL, definitions
from etl.emo_pillars.quality import LEAST_WORDS, SHORT, judged, of_other_language, text_faults
from etl.emo_pillars.quotes import quotations, unquoted, without_labels
from etl.emo_pillars.refusals import refuses
from etl.emo_pillars.settings import UtterancePrompt
from etl.emo_pillars.step import FAULTS_COLUMN, MAPPED, REQUEST_COLUMN, Asked, Rules, Step, child_id, list_schema
from etl.emo_pillars.steps import actors
from etl.emo_pillars.tables import PLOTS
from etl.llm.json_answers import LABEL, WHY, WORDS, field, json_records, key_of, text_of
from etl.llm.prompt_texts import as_data
from etl.pipeline import RowAccounting

SAME = "same_across_emotions"
SAMENESS = 0.8
"""Jaccard of the words of two utterances of different emotions in one answer that are a fault."""
MOST_WORDS = 100
MOST_LABELS = 5
"""Names of emotions that are removed on each side of an utterance."""
_NEUTRAL = re.compile(r"(?:the\s+)?(?:\w+\s+)?neutral(?:\s[a-z\s]*+)?(?:\(.*\))?\s*+[:.]?", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:line|utterance|statement|thought|quote|sentence|example)\s*#?\d{1,2}\s*[:.)–—-]*\s*", re.IGNORECASE
)
_EMOTION_IS = re.compile(r"(?:emotion|label|feeling)\s*:\s*(?=\w)", re.IGNORECASE)
_WORDS_ARE = re.compile(r"(?:words|utterance|text|quote|line|thought)\s*:\s*(?=\S)", re.IGNORECASE)
_LABEL_NUMBER = re.compile(r"^(?P<label>[A-Za-z]{3,20})[ \t]?#?\d{1,2}(?=[ \t]*[:)\]–—-])")
"""A numbered label, such as "Neutral 2:"."""
_LABEL = r"[A-Za-z][A-Za-z /&,-]{1,40}?"
_BRACKET = re.compile(rf"[(\[]\s*(?P<label>{_LABEL})\s*[)\]]\s*[:–—-]?\s*(?P<spoken>.*)", re.DOTALL)
_BEFORE = re.compile(rf"(?P<label>{_LABEL})\s*(?::|\s[-–—]|[–—])\s*(?P<spoken>.*)", re.DOTALL)
_BARE = re.compile(rf"(?P<label>{_LABEL})\s+(?P<spoken>[\"“«].*)", re.DOTALL)
_BEHIND = re.compile(
    rf"(?P<spoken>[\"“«].+[\"”»])\s*+(?:[-–—:]\s*+)?(?:[(\[]\s*+)?(?P<label>{_LABEL})\s*+[)\]]?\.?", re.DOTALL
)
_LAST = re.compile(rf"(?P<spoken>.+?)(?<!\s)\s*+[(\[]\s*+(?P<label>{_LABEL})\s*+[)\]]\.?", re.DOTALL)
_WHY = re.compile(r"\(.*|(?:reason(?:ing)?|explanation|because)\b\s*:?.*", re.IGNORECASE | re.DOTALL)
_SPEAKER = re.compile(r"(?:[A-Z][\w.'’-]{0,20} ?){1,4}:\s*(?=[\"“«])")
"""The speaker's name before a quotation, each word with a capital: "I said:" is none."""
_TAGGED = re.compile(r"^\[[A-Za-z ]{1,20}\]$")
_OF_A_MODEL = re.compile(
    r"\b(?:as|i am|i['’]m) an? (?:ai\b|(?:large )?language model|virtual assistant)", re.IGNORECASE
)
_ARROW_BESIDE = re.compile(
    rf"(?P<before>[\"”»)\]])[ \t]{{0,9}}{ARROW}[ \t]{{0,9}}|[ \t]{{0,9}}{ARROW}[ \t]{{0,9}}(?=[\"“«])"
)
_BETWEEN = re.compile(rf"[\s,;/|]*(?:(?:and|or)\s+)?(?:[(\[]\s*+(?P<label>{_LABEL})\s*+[)\]]\s*+(?::\s*+)?)?")


class LabelledUtterance(NamedTuple):
    raw_label: str
    utterance: str
    reasoning: str | None
    label: str
    was_mapped: bool


class Utterance(NamedTuple):
    """An utterance, its emotion as named by the model, and the model's reasoning, if any."""

    raw_label: str
    utterance: str
    reasoning: str | None


def parse_utterances(
    answer: str, template: str, cut_off: bool = False, emotions: Collection[str] = (), neutral_label: str = NEUTRAL
) -> Parsed:
    """Parse the utterances of an answer, including those under a heading "Neutral" (Emo Pillars 3.2).

    Args:
        cut_off: whether generation stopped at the token limit. An incomplete last line is then rejected, and in any
            case one whose quotation does not end: some servers tell of no limit.
        emotions: known names of emotions, to tell a name from the words of an utterance.
        neutral_label: the label of the utterances under the heading.
    """
    records = json_records(answer)
    if records is not None:
        return _of_records(said_records(records, neutral_label), template)
    found: list[Utterance] = []
    rejected: list[Rejected] = []
    neutral = False
    awaited = None
    lines = lines_of(_arrows(without_emoji(answer)))
    for place, line in enumerate(lines):
        if _NEUTRAL.fullmatch(line.text):
            neutral = True
            awaited = None
            continue
        if _continues(line, found):
            found[-1] = found[-1]._replace(reasoning=_joined(found[-1].reasoning, line.text))
            continue
        label, text = _labelled(line, awaited or (neutral_label if neutral else None), emotions)
        if label is not None and not text:
            awaited = label
            continue
        awaited = None
        if line.text.endswith(":") and (label is None or neutral) and not quotations(line.text):
            continue  # a heading
        last = place == len(lines) - 1 and (cut_off or text.startswith(('"', "“", "«")))
        for result in _utterances(line.text, label, text, template, last):
            (found if isinstance(result, Utterance) else rejected).append(result)  # type: ignore[arg-type]
    kept = without_repeats(found, lambda one: " ".join(words_of(one.utterance)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _arrows(answer: str) -> str:
    """Return an answer with arrows between a label and a quotation as dashes."""
    return _ARROW_BESIDE.sub(lambda found: f"{found['before'] or ''} - ", answer)


def _of_records(records: list[tuple[str, str, str | None]], template: str) -> Parsed:
    """Return the utterances of an answer in JSON."""
    found: list[Utterance] = []
    rejected: list[Rejected] = []
    for label, words, why in records:
        line = f"{label}: {words}"
        if not label:
            result: Utterance | Rejected = Rejected("refusal" if refuses(words) else "no_emotion", words)
        elif echoes(words, template):
            result = Rejected("repeats_prompt", line)
        else:
            result = _utterance(line, first_label(label), unquoted(words), why)
        (found if isinstance(result, Utterance) else rejected).append(result)  # type: ignore[arg-type]
    kept = without_repeats(found, lambda one: " ".join(words_of(one.utterance)), "repeated")
    return Parsed(kept.items, rejected + kept.rejected)


def _labelled(line: Line, heading: str | None, emotions: Collection[str]) -> tuple[str | None, str]:
    """Return a line's emotion, or else the heading's, and its text."""
    text = _EMOTION_IS.sub("", _NUMBER.sub("", line.text, count=1), count=1)
    text = _LABEL_NUMBER.sub(lambda found: found["label"] if found["label"].lower() in emotions else found[0], text)
    if heading is not None and _WORDS_ARE.match(text):
        return heading, _WORDS_ARE.sub("", text, count=1)
    if first_label(text) in emotions and len(text.split()) == 1:
        return first_label(text), ""
    for pattern, sure in (
        (_BRACKET, True),
        (_BEHIND, True),
        (_LAST, False),
        (_BEFORE, heading is None),
        (_BARE, False),
    ):
        match = pattern.fullmatch(text)
        if match is not None and (sure or first_label(match["label"]) in emotions):
            return _of_two(first_label(match["label"]), match["spoken"].strip(), emotions)
    if heading is not None and (line.listed or line.text[0] in '"“«'):
        return heading, text
    return None, ""


def _of_two(label: str, text: str, emotions: Collection[str]) -> tuple[str, str]:
    """Return an emotion and a text without further emotions before or behind it.

    The emotion is the first that is not neutral, as "neutral" may be the heading on the same line.
    """
    second = _BRACKET.fullmatch(text)
    if label == NEUTRAL and second is not None and first_label(second["label"]) in emotions:
        label = first_label(second["label"])
    for _ in range(MOST_LABELS):
        text = without_labels(text, emotions)
    return label, text


def _utterances(line: str, label: str | None, text: str, template: str, last: bool) -> Iterator[Utterance | Rejected]:
    """Return the utterances of a line: one, or each of several quotations."""
    if echoes(line, template):
        yield Rejected("repeats_prompt", line)
    elif label is None:  # a labelled line may be a character's refusal
        yield Rejected("refusal" if refuses(line) else "no_emotion", line)
    else:
        speaker = _SPEAKER.match(text)
        text = text[speaker.end() :] if speaker else text
        quoted = quotations(text)
        if not quoted or quoted[0].start > 0:
            if is_placeholder(text) or _OF_A_MODEL.search(text):
                yield Rejected("placeholder" if is_placeholder(text) else "refusal", line)
                return
            text = without_remark(text)
            cut = last and not looks_finished(text)
            yield Rejected("cut_off", line) if cut else _utterance(line, label, unquoted(text).lstrip('"“«'), None)
            return
        for place, one in enumerate(quoted):
            after = text[one.end : quoted[place + 1].start] if place + 1 < len(quoted) else ""
            between = _BETWEEN.fullmatch(after) if place + 1 < len(quoted) else None
            why = None if between else _TAGGED.sub("", text[one.end :].lstrip(".,:-–—→ ").strip(" ()"))
            yield _utterance(line, label, one.text, why or None)
            if between is None:
                return
            label = first_label(between["label"]) if between["label"] else label


def _utterance(line: str, label: str, words: str, why: str | None) -> Utterance | Rejected:
    if not has_letters(words):
        return Rejected("no_words", line)
    if words.startswith("[") and is_placeholder(words):
        return Rejected("placeholder", line)
    if len(words.split()) > MOST_WORDS:
        return Rejected("too_long", line)
    return Utterance(label, words, why)


def first_label(label: str) -> str:
    """Return the first of several emotions, in lower case."""
    return re.split(r"(?:(?<!\s)\s++)?(?:[/,&]|\band\b)\s*+", label.strip().lower())[0].strip(" -")


def _continues(line: Line, found: list[Utterance]) -> bool:
    """Return true if a line continues the reasoning of the previous one and names no emotion."""
    match = _BRACKET.fullmatch(line.text)
    labelled = match is not None and bool(match["spoken"])
    return bool(found) and not line.listed and not labelled and _WHY.fullmatch(line.text) is not None


def _joined(before: str | None, more: str) -> str:
    return f"{before} {more.strip('() ')}" if before else more.strip("() ")


def said_records(records: Sequence[Any], neutral: str) -> list[tuple[str, str, str | None]]:
    """Return utterances as (emotion, words, reasoning or None) (Emo Pillars 3.2).

    Lists under names of emotions, and under such as ``neutral_utterances``, give their emotion to the utterances.
    """
    found: list[tuple[str, str, str | None]] = []
    for record in records:
        if not isinstance(record, Mapping):
            continue
        words = field(record, WORDS)
        if isinstance(words, str):
            label = field(record, LABEL)
            label = label[0] if isinstance(label, list) else label
            is_neutral = label is None and field(record, ["neutral", "is_neutral"]) is True
            why = field(record, WHY)
            found.append((neutral if is_neutral else text_of(label), text_of(words), text_of(why) or None))
            continue
        for key, value in record.items():
            label = neutral if neutral in key_of(key) else str(key)
            inside = value if isinstance(value, list) else [value]
            texts = [(label, text_of(one), None) for one in inside if isinstance(one, str)]
            nested = said_records([one for one in inside if isinstance(one, Mapping)], neutral)
            found += [*texts, *((its or label, said, why) for its, said, why in nested)]
    return found


def labelled_utterances(answer: str, template: str, cut_off: bool, names: Names, neutral: str = NEUTRAL) -> Parsed:
    """Parse an answer's utterances, and reject those of unknown emotions (Emo Pillars 3.2, 4)."""
    found = parse_utterances(answer, template, cut_off, names, neutral)
    return known_only(found, LabelledUtterance, lambda one: f"{one.raw_label}: {one.utterance}", names)


def utterance_faults(said: Sequence[tuple[str, str]], emotions: Collection[str]) -> list[list[str]]:
    """Return the faults of an answer's utterances, given as (label, text): also nearly equal ones of other emotions."""
    bags = [frozenset(words_of(text)) - set(emotions) for _, text in said]
    found = []
    for place, (label, text) in enumerate(said):
        faults = text_faults(text, [label], emotions)
        if len(words_of(text)) < LEAST_WORDS:
            faults.append(SHORT)
        others = (bag for other, bag in zip(said, bags, strict=True) if other[0] != label)
        if any(_jaccard(bags[place], bag) >= SAMENESS for bag in others):
            faults.append(SAME)
        found.append(faults)
    return found


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def ask(actors: DataFrame, plots: DataFrame, asked: UtterancePrompt, taxonomy: EmotionTaxonomy) -> Asked:
    """Ask for each character's utterances: eight with emotions and two neutral ones (Emo Pillars 3.2)."""
    units = actors.select("actor_id", "plot_id", "actor").join(plots.select("plot_id", "plot"), "plot_id")
    slots = {
        "plot": as_data(F.col("plot")),
        "actor": as_data(F.col("actor")),
        "definitions": F.lit(definitions(taxonomy, neutral=False)),
        # Each has an emotion of its own, so there are no more than emotions.
        "emotional": F.lit(min(asked.emotional, len(taxonomy.emotions))),
        "neutral": F.lit(asked.neutral),
    }
    return Asked(units, slots, together=F.col("plot_id"), taxonomy=taxonomy)


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse the utterances and their emotions (Emo Pillars 3.2)."""
    parsed = labelled_utterances(answer, rules.template, cut_off, rules.names, rules.neutral)
    said = [(one.label, one.utterance) for one in parsed.items]
    texts = [text for _, text in said]
    foreign = of_other_language(texts, rules.template)
    faults = [one + its for one, its in zip(foreign, utterance_faults(said, rules.names), strict=True)]
    return judged(parsed, texts, faults, rules.quality.reject)


STEP = Step(
    name="utterances",
    asked_for="utterances of a character (Emo Pillars 3.2)",
    reads=(actors.STEP.table, PLOTS),
    ask=ask,
    form="shared",
    form_setting="emo_pillars.prompt_order",
    resources=(GOEMOTIONS,),
    schema=lambda taxonomy: list_schema(
        "utterances", emotion={"enum": [*taxonomy.names]}, utterance={"type": "string"}
    ),
    unit="actor",
    unit_key="actor_id",
    item=f"raw_label: string, utterance: string, reasoning: string, {MAPPED}",
    read=read,
    row="One thing that a character could say, with the emotion it was made for (Emo Pillars 3.2).",
    columns=f"""
    utterance_id string COMMENT 'actor_id and place', plot_id string, actor_id string, actor string, place int,
    utterance string, raw_label string COMMENT 'as the model named it', label string, was_mapped boolean,
    reasoning string, {FAULTS_COLUMN}, {REQUEST_COLUMN}
    """,
    key=("utterance_id",),
    values={"utterance_id": child_id("actor_id")},
    accounting=RowAccounting("actors", rows_out="count(DISTINCT actor_id)"),
    version=10,
)
