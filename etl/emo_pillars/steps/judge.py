"""Which labels of an example fit its words, by a second model (ours): the optional gate before an export.

The judge is offered an example's own labels among others, in an order that does not tell which are which.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.llm_settings import DecodingSettings
from conf.taxonomy import GOEMOTIONS, EmotionTaxonomy
from etl.emo_pillars.answers import Parsed, Rejected, lines_of, without_emoji
from etl.emo_pillars.labels import Names, label_of
from etl.emo_pillars.step import OURS, Rules, Step, Wording, list_schema
from etl.llm.json_answers import LABEL, field, json_records, text_of
from etl.llm.prompt_texts import as_data, filled
from etl.llm.requests import with_requests

UNKNOWN_CONTEXT = "nothing"
"""Stands in the prompt for the context of an example without one."""
VERDICT = ["fits", "fit", "verdict", "suits", "applies", "answer", "decision", "match", "matches", "value", "judgement"]
YES = r"(?:yes|y|true|fits?|fitting|suits?|suitable|applies|correct|1)"
NO = (
    r"(?:not (?:fitting|suitable|fit)|no|n|not|none|false|(?:does|do)(?:n['’]t| not)(?: (?:fit|suit|apply))?|unfit"
    r"|unsuitable|incorrect|wrong|0)"
)
_SAID = re.compile(
    rf"[^\w✓✔✅✗✘❌]*(?:[a-z]{{3,12}}ly )?(?:(?P<yes>{YES}\b|[✓✔✅])|(?P<no>{NO}\b|[✗✘❌]))", re.IGNORECASE
)
_GROUP = re.compile(
    rf"\W*(?:the )?(?:(?:labels?|these|those)(?: that| which)? ?)?(?:(?P<no>{NO})|(?P<yes>{YES}))"
    r"(?: (?:labels?|these words|best|are|is)){0,2}\s*(?::|=|->|→|–|—|-)\s*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"[A-Za-z' ]{0,40}\b(?:labels?|answer|verdicts?|fit)\b[A-Za-z' ]{0,25}:\s*", re.IGNORECASE)
_NOTHING = re.compile(
    r"\W*(?:none\b(?: of (?:these|those|them|the)(?: labels| above)?)?(?: fits?)?|no labels?(?: fits?)?)\W*"
)
_APART = re.compile(r"[,;&+]|\band\b")
_WORDS = re.compile(r"[a-z]+(?:[ -][a-z]+)?")
_EMPTY = re.compile(r"\W*")


class Verdict(NamedTuple):
    """The offered labels that fit, in the order of the offer."""

    fits: list[str]


def parse_verdict(answer: str, cut_off: bool, offered: Sequence[str], names: Names) -> Parsed:
    """Parse which of the offered labels fit.

    Each label has its yes or no, on lines or in JSON; or only the fitting labels are named; or none fits. An answer
    that leaves labels open, or says both of one, is no verdict.

    Args:
        answer: the raw answer.
        cut_off: whether generation stopped at the token limit.
        offered: labels of the prompt.
        names: known names of emotions.
    """
    said: dict[str, set[bool | None]] = {}
    rejected = []
    nothing = False
    for text in _lines(answer):
        if _NOTHING.fullmatch(text.lower()) or text.strip() == "[]":
            nothing = True
            continue
        group = _GROUP.match(text)
        verdict = None if group is None else group["no"] is None
        rest = text[group.end() :] if group else _HEADING.sub("", text, count=1)
        marked = False
        for piece in _APART.split(rest):
            found = _judgement(piece, names)
            if found is None or (marked and found[1] is None):
                continue  # words behind a verdict give its reason
            label, own, whole = found
            marked = marked or own is not None
            if label not in offered:
                rejected.append(Rejected("not_offered", piece.strip()))
            elif own is None and not whole:
                rejected.append(Rejected("no_verdict", piece.strip()))
            else:
                said.setdefault(label, set()).add(verdict if own is None else own)
    problem = _problem(said, nothing, cut_off, offered)
    if problem is not None:
        return Parsed([], [*rejected, problem] if said else rejected)
    return Parsed([Verdict([label for label in offered if said.get(label, set()) & {True, None}])], rejected)


def _problem(
    said: Mapping[str, set[bool | None]], nothing: bool, cut_off: bool, offered: Sequence[str]
) -> Rejected | None:
    """Return why what was said is no verdict; None if it is one."""
    open_ones = [label for label in offered if label not in said]
    both = [label for label, its in said.items() if False in its and its & {True, None}]
    if not said and not nothing:
        return Rejected("no_verdict", "")
    if both:
        return Rejected("contradictory", ", ".join(both))
    if cut_off and open_ones:
        return Rejected("cut_off", ", ".join(open_ones))
    denied = any(False in its for its in said.values())
    named = any(None in its for its in said.values())
    if denied and not named and open_ones:
        return Rejected("labels_left_open", ", ".join(open_ones))
    return None


def _judgement(piece: str, names: Names) -> tuple[str, bool | None, bool] | None:
    """Return label, verdict or None, and whether the label is all there is; None for a piece without a known label."""
    text = piece.strip().lower().strip("\"“”'‘’`*_()[]{}<> .!?:")
    denied = re.match(r"(?:not|no|neither|nor) ", text)
    text = text[denied.end() :] if denied else text
    words = _WORDS.match(text)
    if words is None:
        return None
    for named in (words[0], words[0].split(" ")[0], words[0].split("-")[0]):
        label = label_of(named, names)
        if label is not None:
            rest = text[len(named) :]
            mark = _SAID.match(rest)
            if denied:
                return label, False, True
            verdict = None if mark is None else mark["yes"] is not None
            return label, verdict, _EMPTY.fullmatch(rest) is not None
    return None


def _lines(answer: str) -> list[str]:
    """Return the lines of an answer, those of JSON in the text form."""
    records = json_records(answer)
    if records is None:
        return [line.text for line in lines_of(without_emoji(answer))] or [answer]
    lines = []
    for record in records:
        if not isinstance(record, Mapping):
            lines.append(text_of(record))
            continue
        label = field(record, LABEL)
        if isinstance(label, str):
            lines.append(f"{label}: {_word(_verdict_of(record))}")
            continue
        for key, value in record.items():
            if isinstance(value, list):
                group = f"{str(key).replace('_', ' ')}: "
                lines += [f"{group}{text_of(one)}" if _GROUP.match(group) else text_of(one) for one in value]
                lines += [] if value else ["none"]
            else:
                lines.append(f"{key}: {_word(_verdict_of(value) if isinstance(value, Mapping) else value)}")
    return lines


def _verdict_of(record: Mapping[str, Any]) -> Any:
    return next((value for key, value in record.items() if str(key).lower() in VERDICT), None)


def _word(value: Any) -> str:
    return "yes" if value is True else "no" if value is False else text_of(value)


def _parsed(answer: str, cut_off: bool, rules: Rules, given: Mapping[str, Any]) -> Parsed:
    return parse_verdict(answer, cut_off, given["offered"], rules.names)


STEP = Step(
    name="judge",
    unit="text",
    key="text_id",
    item="fits: array<string>",
    parse=_parsed,
    resources=(GOEMOTIONS,),
    schema=lambda taxonomy: list_schema("verdicts", label={"enum": [*taxonomy.names]}, fits={"type": "boolean"}),
)


def judge_prompt(utterance: Column, context: Column, offered: Column, wording: Wording = OURS) -> Column:
    """Ask which of the offered labels fit an utterance after its context."""
    known = wording.taxonomy.definitions
    meanings = F.create_map(*(F.lit(text) for label in known for text in (label, known[label])))
    listed = F.transform(offered, lambda one: F.concat(F.lit("- "), one, F.lit(": "), meanings[one]))
    slots = {
        "labels": F.array_join(listed, "\n"),
        "context": F.coalesce(as_data(context), F.lit(UNKNOWN_CONTEXT)),
        "utterance": as_data(utterance),
    }
    return filled(STEP.template(wording=wording), slots)


def offered_labels(key: Column, labels: Column, others: int, taxonomy: EmotionTaxonomy) -> Column:
    """Return an example's labels among others of the taxonomy, drawn and ordered by content.

    Args:
        key: id of the text.
        labels: array of the example's labels.
        others: number of further labels.
        taxonomy: of the labels.
    """
    known = F.array(*map(F.lit, taxonomy.names))

    def by_hash(labels: Column, salt: str) -> Column:
        keyed = F.transform(
            labels, lambda one: F.struct(F.md5(F.concat_ws(" ", F.lit(salt), key, one)), one.alias("l"))
        )
        return F.transform(F.sort_array(keyed), lambda one: one["l"])

    drawn = F.slice(by_hash(F.array_except(known, labels), "others"), 1, others) if others else F.array()
    return by_hash(F.concat(labels, drawn.cast("array<string>")), "order")


def requests(texts: DataFrame, decoding: DecodingSettings, wording: Wording = OURS) -> DataFrame:
    """Return one prompt per text of ``etl.emo_pillars.judges.judged_texts``."""
    prompt = judge_prompt(F.col("utterance"), F.col("context"), F.col("offered"), wording)
    decoded = STEP.decoding(decoding, wording=wording)
    return with_requests(texts, prompt, decoded, template=STEP.template(wording=wording))
