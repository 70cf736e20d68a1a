"""Ask a language model for the label of turns that the crowd labelled, and read its answers (ours).

The paper's labels are people's (EDOS 3.2). A language model is asked as they were: it sees the turn with its history
and three proposed labels, and may choose any other. How far it can be trusted is told by the turns whose labels people
agreed on: see ``etl.edos.annotator_agreement``.
"""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.llm_settings import STEP_FORM, DecodingSettings
from conf.prompts import TEMPLATE, prompt
from conf.taxonomy import Taxonomy
from etl.common.hashes import content_order, history_hash, shuffled, text_hash
from etl.edos.labelled_rows import unit_id
from etl.llm.json_answers import json_records
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import answered_request, fault_of, with_requests
from etl.pipeline.outcome import Outcome, dropped_columns

FOLDER = "edos"
WAYS = ("offered", "all")
PROMPT_FILES = tuple(f"prompts/{FOLDER}/{way}{TEMPLATE}" for way in WAYS)
"""Our prompts, as resources."""
SEED = 13
MOST_CHARACTERS = 4_000
"""Of an answer that are read: it is one label."""
MOST_PROSE = 60
"""Words of an answer without a statement that may still be one that names a single label."""
NO_HISTORY = "(it opens the dialogue)"
TURNS_A_GROUP = 16
"""Parts of each way's prompts, each of which is sent by one task, one prompt after the other."""

NO_LABEL = "no_label"
SEVERAL = "several_labels"
CUT_OFF = "cut_off"


def drawn_turns(seeds: DataFrame, crowd_labels: DataFrame, sample: int) -> DataFrame:
    """Return the held-out turns that are asked about: the first of the test split in the order of a hash.

    A smaller sample is a subset of a larger one.

    Args:
        seeds: ``edos.seeds``.
        crowd_labels: ``edos.crowd_labels``, for the votes.
        sample: number of turns; the whole test split if it has fewer.

    Returns:
        dialogue_id, turn, turns, label, votes, history_hash, text (of the turn), text_hash.
    """
    order = content_order(F.col("dialogue_id"), F.col("turn").cast("string"), seed=SEED, of="llm annotator")
    held_out = seeds.where(F.col("split") == "test").select("dialogue_id", "turn", "turns", "label")
    drawn = held_out.orderBy(order, "dialogue_id", "turn").limit(sample)
    votes = crowd_labels.select("dialogue_id", "turn", "votes")
    text = F.element_at("turns", -1)
    return drawn.join(votes, ["dialogue_id", "turn"], "left").select(
        "*", history_hash(F.col("turns")).alias("history_hash"), text.alias("text"), text_hash(text).alias("text_hash")
    )


def offered_turns(drawn: DataFrame, scores: DataFrame) -> Outcome:
    """Give each drawn turn the weak labeler's three most probable labels as shuffled offers, as a HIT has (EDOS 3.2).

    The released votes do not tell which labels their workers were offered.

    Args:
        drawn: result of ``drawn_turns``.
        scores: the weak labeler's answers: text_hash, top3, error.

    Returns:
        Outcome of ``edos.llm_annotator_turns``. Turns on which the weak labeler failed are dropped.
    """
    found = drawn.join(scores.select("text_hash", "top3", "error"), "text_hash", "left").persist()
    failed = F.col("top3").isNull()
    detail = F.coalesce("error", F.lit("no answer"))
    rows = found.where(~failed).select(
        "dialogue_id",
        "turn",
        "turns",
        "label",
        "votes",
        "history_hash",
        F.get("top3", F.lit(0))["label"].alias("weak_label"),
        shuffled(
            F.col("top3")["label"], F.col("dialogue_id"), F.col("turn").cast("string"), seed=SEED, of="options"
        ).alias("offered"),
    )
    dropped = found.where(failed).select(*dropped_columns("turn", unit_id(), "model_failed", 1, detail))
    return Outcome(rows, dropped, rows_in=drawn.count())


def template_of(way: str, files: Mapping[str, str]) -> str:
    """Return the template of a way of asking, the user's or ours."""
    return files.get(f"{way}{TEMPLATE}") or prompt(f"{FOLDER}/{way}")


def label_requests(
    turns: DataFrame, ways: Sequence[str], labels: Taxonomy, decoding: DecodingSettings, files: Mapping[str, str]
) -> DataFrame:
    """Return a request for each turn and way of asking.

    Args:
        turns: ``edos.llm_annotator_turns``.
        ways: ``edos.llm_annotator.ways``.
        labels: the taxonomy, whose names and meanings the prompt lists.
        decoding: of the answers.
        files: ``edos.llm_annotator.prompts``.

    Raises:
        InputError: ``response_format`` of the decoding is ``step``, and these prompts have none.
    """
    if decoding.response_format == STEP_FORM:
        raise InputError(f"edos.llm_annotator.decoding: there is no form called {STEP_FORM} here: write it, or null")
    asked = [
        with_requests(
            turns.withColumn("way", F.lit(way)),
            label_prompt(way, labels, template_of(way, files)),
            decoding,
            together=_group(way),
            template=template_of(way, files),
        )
        for way in dict.fromkeys(ways)
    ]
    return reduce(DataFrame.unionByName, asked)


def _group(way: str) -> Column:
    """Return what prompts have in common that one task sends: the way, whose list of labels all of them begin with."""
    part = F.pmod(F.xxhash64("history_hash"), F.lit(TURNS_A_GROUP))
    return F.concat_ws(" ", F.lit(way), part.cast("string"))


def label_prompt(way: str, labels: Taxonomy, template: str) -> Column:
    """Return the prompt of a row of ``edos.llm_annotator_turns``. The list that numbers choose from is numbered."""
    mark = "- " if way == "offered" else ""
    listed = [f"{mark or f'{number}. '}{one.label}: {one.about}" for number, one in enumerate(labels.labels, start=1)]
    before = F.transform(F.slice("turns", F.lit(1), F.size("turns") - 1), lambda one: F.concat(F.lit("- "), one))
    history = F.when(F.size(before) > 0, as_data(F.array_join(before, "\n"))).otherwise(NO_HISTORY)
    offers = F.transform("offered", lambda one, n: F.concat((n + 1).cast("string"), F.lit(". "), one))
    return filled(
        template,
        {
            "labels": F.lit("\n".join(listed)),
            "history": history,
            "turn": as_data(F.element_at("turns", -1)),
            "offered": F.array_join(offers, "\n"),
        },
    )


class Read(NamedTuple):
    """The label that was read from an answer, or why none was.

    Attributes:
        label: None if there is a fault.
        fault: ``no_label``, ``several_labels`` or ``cut_off``.
    """

    label: str | None
    fault: str | None


_KEYS = ("label", "best_label", "emotion", "intent", "answer", "choice", "result", "final_answer", "output")
_NOISE = re.compile(r"[*_`#>|~]|\\boxed|\\text|[^\w\s.,;:/!?'\"()\[\]{}&=<+-]")
_NUMBER = re.compile(r"\W*(?:(?:label|option|number|choice|answer|no|nr)\W{0,3}(?:is\W{0,3})?)?#?(\d{1,3})\W*")
_HEAD = (
    r"(?:label|emotion|intent|feeling|answer|choice|option|category|classification|conclusion|verdict"
    r"|best (?:fit|match))"
)
_SAID = re.compile(
    rf"\b{_HEAD}s?\b(?:[^.:\n=]{{0,60}}?\b(?:is|be|are|being|as)\b\s*:?|\s*[:=]|\s*-+>?)\s*"
    r"(?:probably |most likely |clearly )?(?:the (?:label|emotion) )?[\s\"'(\[{<]*(?:\d{1,3}[.)] *)?$"
    r"|\b(?:i (?:would )?(?:choose|pick|say|label(?: (?:it|this))?(?: as)?|go with|select)"
    r"|i['’]d (?:choose|pick|say|go with)|is best (?:described|labell?ed) (?:as|by)"
    r"|(?:fits|describes)(?: (?:it|this turn|the turn|this))? best is|therefore|so|thus)"
    r"[\s:,]*(?:it is |it['’]s )?[\s\"'(\[{<]*$",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    rf"(?:\W|the |your |my |final |best |proposed |chosen )*{_HEAD}s?(?: (?:is|would be))?\s*[:=-]+\s*"
)
_EXPLAINED = re.compile(r"\s*(?:[:(]|-+ |, (?:because|since|as)\b|\. |because\b)")
"""Separates a label from the reason that follows it, as in "sad: she has lost her cat"."""
_DENIED = re.compile(
    r"(?:\b(?:not|neither|nor|no|isn['’]t|wasn['’]t|rather than|instead of|than|without|unlike|except)"
    r"(?: (?:really|quite|exactly|so|just|a|an|the|label|merely|simply))*)[\s\"'(\[]*$",
    re.IGNORECASE,
)
_OWN_VOICE = re.compile(r"\b(?:i am|i['’]m|we are|we['’]re)(?: \w+ly| very| quite)?\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\W|\d|\b(?:and|or|with|then|maybe|perhaps|possibly|also)\b)*", re.IGNORECASE)
_BRITISH = re.compile(r"is(ing|ed|e)\b")


def label_in(answer: str, names: Sequence[str], numbered: Sequence[str], cut_off: bool = False) -> Read:
    """Read the label that an answer gives.

    In this order: the value of a label in JSON; a line that is a label, a number of the prompt's numbered list, or
    several labels and nothing else, of which the first counts, since the model was asked for the best one; the
    first statement such as "the emotion is ..."; the only label that a short text names. A label does not count if it
    is denied ("not sad") or if the model speaks of itself ("I am confident that"). A text that names several labels
    without a statement is not read.

    Args:
        answer: the answer, without the model's thoughts.
        names: labels of the taxonomy.
        numbered: labels of the numbered list, in its order.
        cut_off: whether generation stopped at the token limit: a text without a statement is not read then.
    """
    text = _value_of(answer[:MOST_CHARACTERS])
    lines = [line for line in (_plain(line) for line in text.splitlines()) if line]
    for line in lines:
        found = _whole_line(line, names, numbered)
        if found is not None:
            return Read(found, None)
    whole = "\n".join(lines)
    named = [one for one in _mentions(whole, names) if not one.denied]
    said = [one for one in named if one.said]
    if said:
        return Read(said[0].label, None)
    if cut_off:
        return Read(None, CUT_OFF)
    different = {one.label for one in named}
    if len(different) == 1 and len(whole.split()) <= MOST_PROSE:
        return Read(named[0].label, None)
    return Read(None, SEVERAL if different else NO_LABEL)


def _value_of(answer: str) -> str:
    """Return the label's value of an answer in JSON, and any other answer as it is."""
    records = json_records(answer)
    for record in records or ():
        if isinstance(record, Mapping):
            low = {str(key).lower().replace(" ", "_"): value for key, value in record.items()}
            value = next((low[key] for key in _KEYS if key in low), None)
        else:
            value = record
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    return answer


def _plain(line: str) -> str:
    """Return a line without marks of emphasis, emoji and outer blanks, in lower case."""
    return " ".join(_NOISE.sub(" ", line).lower().replace("(other)", " ").split())


def _whole_line(line: str, names: Sequence[str], numbered: Sequence[str]) -> str | None:
    """Return the label of a line that is nothing but labels or a number, with or without "Label:" before it."""
    number = _NUMBER.fullmatch(line)
    if number is not None:
        place = int(number[1]) - 1
        return numbered[place] if 0 <= place < len(numbered) else None
    opening = _PREFIX.match(line)
    rest = line[opening.end() :] if opening else line
    found = _mentions(rest, names)
    if not found or _BETWEEN.fullmatch(rest[: found[0].start]) is None or found[0].denied:
        return None
    if _EXPLAINED.match(rest[found[0].end :]):
        return found[0].label
    gaps = [rest[one.end : other.start] for one, other in pairwise(found)]
    return found[0].label if all(map(_BETWEEN.fullmatch, [*gaps, rest[found[-1].end :]])) else None


class _Mention(NamedTuple):
    label: str
    start: int
    end: int
    denied: bool
    said: bool


def _mentions(text: str, names: Sequence[str]) -> list[_Mention]:
    """Return the labels that a text names as whole words, in its order."""
    spelled = {**{_BRITISH.sub(r"iz\1", name): name for name in names}, **{name: name for name in names}}
    longest = sorted({*spelled, *(re.sub(r"iz(ing|ed|e)\b", r"is\1", name) for name in names)}, key=len, reverse=True)
    found = []
    for match in re.finditer(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])", text):
        before = text[max(0, match.start() - 120) : match.start()]
        label = spelled.get(match[0]) or spelled[_BRITISH.sub(r"iz\1", match[0])]
        denied = _DENIED.search(before) is not None or _OWN_VOICE.search(before) is not None
        found.append(_Mention(label, match.start(), match.end(), denied, _SAID.search(before) is not None))
    return found


def read_labels(answers: DataFrame, labels: Taxonomy) -> Outcome:
    """Return the labels that the answers give: ``edos.llm_annotations``.

    Args:
        answers: rows of ``label_requests`` with their answers (``etl.llm.requests.with_answers``).
        labels: the taxonomy.

    Returns:
        Outcome with a row for each answer with a label. The others are in the ledger with their text.
    """
    names = labels.names

    def read(answer: str | None, cut_off: bool, way: str, offered: list[str]) -> tuple[str | None, str | None]:
        return label_in(answer or "", names, offered if way == "offered" else names, bool(cut_off))

    # Spark calls a nondeterministic function once, not once per column that reads its result.
    reader = F.udf(read, "label string, fault string").asNondeterministic()
    found = answers.withColumn("read", reader("answer", "cut_off", "way", "offered")).persist()
    ok = F.col("error").isNull() & F.col("read.label").isNotNull()
    reason = F.when(F.col("error").isNotNull(), fault_of(F.col("error"), "model_failed")).otherwise(F.col("read.fault"))
    key = F.concat(unit_id(), F.lit("#"), F.col("way"))
    dropped = found.where(~ok).select(*dropped_columns("answer", key, reason, 1, F.coalesce("error", "answer")))
    rows = found.where(ok).select(
        "dialogue_id", "turn", "way", "model", F.col("read.label").alias("label"), answered_request()
    )
    return Outcome(rows, dropped, rows_in=answers.count())
