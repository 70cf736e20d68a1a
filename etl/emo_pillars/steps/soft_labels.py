"""The emotions of an utterance with their levels, the primary emotion first (Emo Pillars 3.3)."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import GOEMOTIONS, EmotionTaxonomy
from etl.emo_pillars.answers import ARROW, Line, Parsed, Rejected, echoes, lines_of, without_emoji, without_repeats
from etl.emo_pillars.labels import Names, known_only
from etl.emo_pillars.prompts import definitions
from etl.emo_pillars.quality import judged
from etl.emo_pillars.step import FAULTS_COLUMN, MAPPED, REQUEST_COLUMN, Asked, Rules, Step, list_schema
from etl.emo_pillars.tables import DISTINCT_UTTERANCES
from etl.llm.json_answers import LABEL, LEVEL, WHY, field, json_records, text_of, unwrapped
from etl.llm.prompt_texts import as_data
from etl.pipeline import At, RowAccounting

FEW_LABELS = "few_labels"
LEAST_LABELS = 2
"""Labels with levels of an utterance."""
EQUAL_LEVELS = "equal_levels"
_CUT_LEVEL = re.compile(r"(?<![\d.,])[01][.,]?\s*\Z")
"""A level that ends with the tokens before its decimals, or that may."""
_ON_ONE_LINE = re.compile(
    r"(?<=[\d)\]%])(?:[,;]?[ \t]+(?=\d{1,2}[.)]\s*[A-Za-z])"
    r"|[,;][ \t]+(?=[A-Za-z]{1,30}[ -]?[A-Za-z]{0,30}[ \t]{0,9}[:=(\[]{0,9}[ \t]{0,9}[01]?\.\d))"
)
_LABEL_IS = re.compile(r"(?:label|emotion)\s*[:=]\s*(?=\w)", re.IGNORECASE)
_LABEL = re.compile(
    r"[\"“'(\[*]*(?P<label>[A-Za-z]+(?:[ -][A-Za-z]+)?)[\"”')\]*]*(?P<rest>[\s:=(\[,|–—-].*|$)", re.DOTALL
)
_KIND = r"(?:expressiveness|expressed|intensity|strength|level|rating|score)"
# Each of them begins a repeat, and none is within one: a text that can be parted in two ways takes exponential time.
_NAMED = rf"(?:{_KIND}(?:(?!{_KIND})[a-z\s])*(?:[:=]\s*)?)*"
_LEVEL = re.compile(
    rf"[\s:=(\[,|–—-]*{_NAMED}(?:[~≈]|ca?\.|about|around|approx(?:\.|imately)?)?\s?(?P<number>\d+(?:[.,]\d+)?|[.,]\d+)\s*"
    r"(?:(?:/|out of)\s*(?P<of>\d+(?:[.,]\d+)?)|(?P<percent>%))?\s*[)\]]?(?P<why>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ARROW = re.compile(rf"[ \t]{{0,9}}{ARROW}[ \t]{{0,9}}")
_SECOND_LABEL = re.compile(
    r"(?<=[A-Za-z])[ \t]?(?:/|&|,|\bor\b|\band\b)[ \t]?[A-Za-z]{3,20}(?=[ \t]*[:=(\[–—-][ \t]*[\d.])"
    r"|(?<=[A-Za-z])[ \t]?\((?:or|and|also|aka|i\.e\.|e\.g\.|/)[^()\d\n]{1,40}\)",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\s*[:=(\[]\s*[-−–]\s*[\d.,]")
_RANGE = re.compile(r"\s*(?:[-–—]|to\b)\s*[\d.,]*\d")
_IN_WORDS = re.compile(
    r"[\s:=(\[,|–—-]*(?:very |quite |extremely )?(?:high|low|medium|moderate|strong|mild|weak|intense|none)\w*\b",
    re.IGNORECASE,
)


class MappedLabel(NamedTuple):
    raw_label: str
    level: float
    reasoning: str | None
    label: str
    was_mapped: bool


class SoftLabel(NamedTuple):
    """A label as named by the model, its level, and the model's reasoning."""

    raw_label: str
    level: float
    reasoning: str | None


def parse_soft_labels(answer: str, template: str, top: int) -> Parsed:
    """Parse the first ``top`` labels of an answer with levels from 0 to 1 (Emo Pillars 3.3).

    "0,7", "7/10" and "70%" are levels. "high", a bare 7, a range or a negative number is not.

    Args:
        answer: the raw answer with its predefined start.
    """
    found = []
    rejected = []
    records = json_records(answer)
    if records is None:
        answer = _SECOND_LABEL.sub("", _ARROW.sub(": ", without_emoji(answer)))
        lines = _with_levels(lines_of(_ON_ONE_LINE.sub("\n", answer)))
    else:
        lines = [Line(text, True) for text in level_lines(records) if text]
    for line in lines:
        result = _soft_label(line.text, line.listed, template)
        if isinstance(result, SoftLabel):
            found.append(result)
        elif result is not None:
            rejected.append(result)
    kept = without_repeats(found, lambda one: one.raw_label, "repeated_label")
    beyond = [Rejected("beyond_top", f"{one.raw_label} {one.level}") for one in kept.items[top:]]
    return Parsed(kept.items[:top], rejected + kept.rejected + beyond)


def _with_levels(lines: list[Line]) -> list[Line]:
    """Return the lines, each joined with a level that stands on the next line."""
    joined: list[Line] = []
    for line in lines:
        before = _LABEL.match(joined[-1].text) if joined else None
        alone = not line.numbered and _LEVEL.match(line.text) is not None
        if alone and before is not None and _LEVEL.match(before["rest"]) is None:
            joined[-1] = joined[-1]._replace(text=f"{joined[-1].text.rstrip(' :')}: {line.text}", listed=True)
        else:
            joined.append(line._replace(text=_LABEL_IS.sub("", line.text, count=1)))
    return joined


def _soft_label(text: str, listed: bool, template: str) -> SoftLabel | Rejected | None:
    if echoes(text, template):
        return Rejected("repeats_prompt", text)
    match = _LABEL.match(text)
    if match is None:
        return Rejected("no_label", text)
    rest = match["rest"]
    if _NEGATIVE.match(rest):
        return Rejected("level_out_of_range", text)
    number = _LEVEL.match(rest)
    if number is None:
        if not listed:
            return None if text.endswith(":") else Rejected("no_list_item", text)
        return Rejected("level_in_words" if _IN_WORDS.match(rest) else "no_level", text)
    if _RANGE.match(number["why"]):
        return Rejected("level_is_a_range", text)
    level = level_of(number["number"], number["of"], bool(number["percent"]))
    if level is None:
        return Rejected("level_out_of_range", text)
    why = number["why"].strip(" .:;,|-–—\t()")
    return SoftLabel(match["label"].strip().lower(), level, why or None)


def level_of(number: str, of: str | None = None, percent: bool = False) -> float | None:
    """Return a level from 0 to 1 with two decimals; None for a number out of range."""
    whole = 100.0 if percent else float(of.replace(",", ".")) if of else 1.0
    level = float(number.replace(",", ".")) / whole if whole > 0 else -1.0
    return round(level, 2) if 0 <= level <= 1 else None


def level_lines(records: Sequence[Any]) -> list[str]:
    """Return labels with levels as lines of the text form (Emo Pillars 3.3)."""
    lines = []
    for record in records:
        if not isinstance(record, Mapping):
            lines.append(text_of(record))
            continue
        label = field(record, LABEL)
        if label is None:
            lines += [f"{key}: {text_of(value)}" for key, value in record.items()]
        elif isinstance(label, Mapping | list):
            lines += level_lines(unwrapped(label))
        else:
            why = text_of(field(record, WHY))
            lines.append(f"{label}: {text_of(field(record, LEVEL))}" + (f" - {why}" if why else ""))
    return lines


def labels_with_levels(answer: str, template: str, top: int, names: Names) -> Parsed:
    """Parse an answer's soft labels, and reject unknown emotions (Emo Pillars 3.3, 4)."""
    found = parse_soft_labels(answer, template, top)
    return known_only(found, MappedLabel, lambda one: f"{one.raw_label} {one.level}", names)


def label_faults(levels: Sequence[tuple[str, float]]) -> list[str]:
    """Return the faults of an utterance's labels with levels: too few labels, or three and more of one level."""
    found = [FEW_LABELS] if len({label for label, _ in levels}) < LEAST_LABELS else []
    equal = len(levels) > 2 and len({level for _, level in levels}) == 1
    return [*found, EQUAL_LEVELS] if equal else found


def ask(
    utterances: DataFrame, top_labels: Annotated[int, At("emo_pillars.top_labels")], taxonomy: EmotionTaxonomy
) -> Asked:
    """Ask for the emotions of each utterance and their levels (Emo Pillars 3.3)."""
    # No plot and no actor, so that only the utterance itself is judged. The answer starts with the utterance's emotion.
    units = utterances.select("utterance_id", "utterance", "label")
    start = F.concat(F.lit("1. "), F.col("label"))
    slots = {
        "definitions": F.lit(definitions(taxonomy, neutral=True)),
        "utterance": as_data(F.col("utterance")),
        "top": F.lit(min(top_labels, len(taxonomy.names))),
        "start": start,
    }
    return Asked(units, slots, start, taxonomy=taxonomy)


def read(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    """Parse labels and levels, and map the labels to the taxonomy (Emo Pillars 3.3, 4)."""
    parsed = labels_with_levels(
        _CUT_LEVEL.sub("", answer) if cut_off else answer, rules.template, rules.top, rules.names
    )
    faults = label_faults([(one.label, one.level) for one in parsed.items])
    texts = [f"{one.raw_label} {one.level}" for one in parsed.items]
    return judged(parsed, texts, [faults for _ in texts], rules.quality.reject)


STEP = Step(
    name="soft_labels",
    asked_for="the emotions of an utterance with their levels (Emo Pillars 3.3)",
    reads=(DISTINCT_UTTERANCES,),
    ask=ask,
    form="shared",
    form_setting="emo_pillars.prompt_order",
    resources=(GOEMOTIONS,),
    schema=lambda taxonomy: list_schema("labels", label={"enum": [*taxonomy.names]}, level={"type": "number"}),
    unit="utterance",
    unit_key="utterance_id",
    item=f"raw_label: string, level: double, reasoning: string, {MAPPED}",
    read=read,
    rules_from=("quality", "taxonomy", "top_labels"),
    row="One label of an utterance with its level (Emo Pillars 3.3).",
    columns=f"""
    utterance_id string, place int COMMENT 'among the readable ones, from 1',
    raw_label string COMMENT 'as the model named it', level double COMMENT 'from 0 to 1', label string,
    was_mapped boolean, reasoning string, {FAULTS_COLUMN}, {REQUEST_COLUMN}
    """,
    key=("utterance_id", "place"),
    checks={"level_is_a_share": "level BETWEEN 0 AND 1"},
    exported=("raw_label", "level", "label", "was_mapped"),
    accounting=RowAccounting("utterances", rows_out="count(DISTINCT utterance_id)"),
    version=8,
)
