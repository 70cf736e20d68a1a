"""Find inconsistencies within a conversation by rules, without a model (AugESC 6.4).

The paper found inconsistencies by reading and gives no measure. These rules are ours. They detect:

- contradicted facts about the speaker in simple patterns ("I have two brothers", "my dog is 13", "I don't have a car");
- confused roles: phrases that only the other role uses (``conf/augesc/*_phrases.txt``), or a repeated utterance of the
  other speaker.

They miss facts in different words, such as the paper's example of a dog that was raised for 14 years and is 13. They
also ignore that facts change ("now I have a job"). The results compare methods and are not rates of faults. An
entailment model (``models.contradiction``) detects more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from conf.wordlists import words

SCHEMA = "facts int, contradicted int, contradiction string, confused int, confusion string"
ECHO_WORDS = 6
"""Least number of words of an utterance whose repetition by the other speaker is counted."""

_NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
)
_VALUES = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_NUMBER = rf"(?P<value>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_TIME = frozenset(
    {
        "year",
        "years",
        "month",
        "months",
        "week",
        "weeks",
        "day",
        "days",
        "hour",
        "hours",
        "minute",
        "minutes",
        "time",
        "times",
        "more",
        "of",
        "or",
        "to",
    }
)
_VAGUE = frozenset(
    {
        "lot",
        "few",
        "bit",
        "couple",
        "idea",
        "feeling",
        "choice",
        "problem",
        "clue",
        "time",
        "chance",
        "way",
        "question",
        "hard",
        "good",
        "great",
        "bad",
        "big",
        "little",
        "new",
        "plan",
        "point",
        "reason",
        "thing",
        "things",
        "very",
        "really",
        "much",
    }
)
_AGE = re.compile(rf"\bi(?:'m| am) (?:an? )?{_NUMBER}(?: years? old|[ -]years?[ -]old|\s*[.,!]|$)")
_AGE_OF_MINE = re.compile(
    rf"\bmy (?P<noun>[a-z]+) (?:is|just turned|turned) {_NUMBER}\b(?! (?:minutes|hours|percent|miles))"
)
_COUNT = re.compile(rf"\bi(?:'ve got| have got| have) {_NUMBER} (?P<noun>[a-z]+)")
_HAVE_OR_LIKE = re.compile(
    r"\bi (?P<no>don't |do not |dont |never )?(?P<verb>have|own|like|love) (?P<none>no )?"
    r"(?P<article>(?:an?|any|my) )?(?P<noun>[a-z]+)"
)
_SPOUSE = re.compile(r"\bmy (?P<value>husband|wife)\b")
_PLAIN = str.maketrans({"’": "'", "‘": "'"})

RolePhrases = Mapping[str, re.Pattern[str]]


class Fact(NamedTuple):
    """A statement of a speaker, such as (number of brothers, 2)."""

    about: str
    value: str


def facts_in(text: str) -> list[Fact]:
    """Return the facts about the speaker that match simple patterns."""
    plain = text.lower().translate(_PLAIN)
    found = [Fact("age", _number(match)) for match in _AGE.finditer(plain)]
    found += [Fact(f"age of my {match['noun']}", _number(match)) for match in _AGE_OF_MINE.finditer(plain)]
    found += [
        Fact(f"number of {_singular(match['noun'])}", _number(match))
        for match in _COUNT.finditer(plain)
        if match["noun"] not in _TIME
    ]
    for match in _HAVE_OR_LIKE.finditer(plain):
        if match["noun"] in _VAGUE or not (match["none"] or match["article"]):
            continue
        verb = "have" if match["verb"] in ("have", "own") else "like"
        found.append(Fact(f"{verb} {_singular(match['noun'])}", "no" if match["no"] or match["none"] else "yes"))
    return found + [Fact("spouse", match["value"]) for match in _SPOUSE.finditer(plain)]


def contradictions(texts: Sequence[str]) -> tuple[int, list[str]]:
    """Return the number of subjects of one speaker's facts, and descriptions of those with contradicting values."""
    stated: dict[str, list[str]] = {}
    for fact in (fact for text in texts for fact in facts_in(text)):
        values = stated.setdefault(fact.about, [])
        if fact.value not in values:
            values.append(fact.value)
    return len(stated), [f"{about}: {', '.join(values)}" for about, values in stated.items() if len(values) > 1]


def role_confusions(turns: Sequence[Mapping[str, Any]], phrases: RolePhrases | None = None) -> list[str]:
    """Return the utterances in which a speaker talks like the other role.

    Args:
        turns: role and text of each utterance, in order.
        phrases: result of ``role_phrases``. Executors need it, because they read no files.
    """
    phrases = phrases or role_phrases()
    found = []
    earlier = {"seeker": set[str](), "supporter": set[str]()}
    for turn in turns:
        role = turn["role"]
        plain = " ".join(re.findall(r"[\w']+", turn["text"].lower().translate(_PLAIN)))
        other = "supporter" if role == "seeker" else "seeker"
        if phrases[other].search(plain) or plain in earlier[other]:
            found.append(turn["text"])
        if len(plain.split()) >= ECHO_WORDS:
            earlier[role].add(plain)
    return found


def inconsistencies(
    turns: Sequence[Mapping[str, Any]], phrases: RolePhrases | None = None
) -> tuple[int, int, str | None, int, str | None]:
    """Return a conversation's row of ``SCHEMA``."""
    facts = 0
    contradicted = []
    for role in ("seeker", "supporter"):
        number, found = contradictions([turn["text"] for turn in turns if turn["role"] == role])
        facts += number
        contradicted += found
    confused = role_confusions(turns, phrases)
    return facts, len(contradicted), _first(contradicted), len(confused), _first(confused)


def inconsistent(phrases: RolePhrases) -> Callable[[Iterator[pd.Series]], Iterator[pd.DataFrame]]:
    """Return a pandas function that computes ``SCHEMA`` of arrays of turns."""
    columns = [part.split()[0] for part in SCHEMA.split(", ")]

    def rows(batches: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield pd.DataFrame([inconsistencies(turns, phrases) for turns in batch], columns=columns)

    return rows


def role_phrases() -> RolePhrases:
    """Return the phrases that only one role uses, by role (``conf/augesc/*_phrases.txt``)."""
    found = {}
    for role in ("seeker", "supporter"):
        listed = "|".join(re.escape(phrase) for phrase in words(f"augesc/{role}_phrases"))
        found[role] = re.compile(rf"\b(?:{listed})\b")
    return found


def _number(match: re.Match[str]) -> str:
    return _VALUES.get(match["value"], match["value"])


def _singular(noun: str) -> str:
    return noun[:-1] if len(noun) > 3 and noun.endswith("s") and not noun.endswith("ss") else noun


def _first(texts: Sequence[str]) -> str | None:
    return texts[0][:200] if texts else None
