"""Inconsistency within a conversation, as far as rules without a model see it (AugESC 6.4).

The paper found it by reading and gives no measure; these are ours. They see:

- a speaker's own facts in plain patterns ("I have two brothers", "my dog is 13", "I don't have a car") that later are
  others;
- mixed-up roles: phrases that only the other role says (``conf/augesc/*_phrases.txt``), or a whole utterance of the
  other's said again.

They do not see what takes understanding: the paper's own case, a dog that was raised for 14 years and is 13, is two
facts in different words; nor do they know that facts change ("now I have a job"). So they find few of the real
contradictions, and a share of theirs compares methods, it is no rate of faults. A model of entailment sees more:
``models.contradiction``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from conf.wordlists import words

SCHEMA = "facts int, contradicted int, contradiction string, confused int, confusion string"
ECHO_WORDS = 6
"""An utterance of so many words that the other said before is no chance."""

_NUMBERS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen",
)  # fmt: skip
_VALUES = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_NUMBER = rf"(?P<value>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_TIME = frozenset({
    "year", "years", "month", "months", "week", "weeks", "day", "days", "hour", "hours", "minute", "minutes", "time",
    "times", "more", "of", "or", "to",
})  # fmt: skip
_VAGUE = frozenset({
    "lot", "few", "bit", "couple", "idea", "feeling", "choice", "problem", "clue", "time", "chance", "way", "question",
    "hard", "good", "great", "bad", "big", "little", "new", "plan", "point", "reason", "thing", "things", "very",
    "really", "much",
})  # fmt: skip
_AGE = re.compile(rf"\bi(?:'m| am) (?:an? )?{_NUMBER}(?: years? old|[ -]years?[ -]old|\s*[.,!]|$)")
_OF_MINE = re.compile(
    rf"\bmy (?P<noun>[a-z]+) (?:is|just turned|turned) {_NUMBER}\b(?! (?:minutes|hours|percent|miles))"
)
_HOW_MANY = re.compile(rf"\bi(?:'ve got| have got| have) {_NUMBER} (?P<noun>[a-z]+)")
_WHETHER = re.compile(
    r"\bi (?P<no>don't |do not |dont |never )?(?P<verb>have|own|like|love) (?P<none>no )?"
    r"(?P<article>(?:an?|any|my) )?(?P<noun>[a-z]+)"
)
_SPOUSE = re.compile(r"\bmy (?P<value>husband|wife)\b")
_PLAIN = str.maketrans({"’": "'", "‘": "'"})


RolePhrases = Mapping[str, re.Pattern[str]]


class Fact(NamedTuple):
    """What a speaker says of something, such as (number of brothers, 2)."""

    about: str
    value: str


def facts_in(text: str) -> list[Fact]:
    """The facts about the speaker that plain patterns find."""
    said = text.lower().translate(_PLAIN)
    found = [Fact("age", _number(match)) for match in _AGE.finditer(said)]
    found += [Fact(f"age of my {match['noun']}", _number(match)) for match in _OF_MINE.finditer(said)]
    found += [
        Fact(f"number of {_singular(match['noun'])}", _number(match))
        for match in _HOW_MANY.finditer(said)
        if match["noun"] not in _TIME
    ]
    for match in _WHETHER.finditer(said):
        if match["noun"] in _VAGUE or not (match["none"] or match["article"]):
            continue
        verb = "have" if match["verb"] in ("have", "own") else "like"
        found.append(Fact(f"{verb} {_singular(match['noun'])}", "no" if match["no"] or match["none"] else "yes"))
    return found + [Fact("spouse", match["value"]) for match in _SPOUSE.finditer(said)]


def contradictions(texts: Sequence[str]) -> tuple[int, list[str]]:
    """One speaker's utterances: how many facts they state, and those stated in two ways.

    Returns:
        (different things that something is said of, descriptions of the contradicted ones).
    """
    stated: dict[str, list[str]] = {}
    for fact in (fact for text in texts for fact in facts_in(text)):
        values = stated.setdefault(fact.about, [])
        if fact.value not in values:
            values.append(fact.value)
    return len(stated), [f"{about}: {', '.join(values)}" for about, values in stated.items() if len(values) > 1]


def role_confusions(turns: Sequence[Mapping[str, Any]], phrases: RolePhrases | None = None) -> list[str]:
    """Utterances in which a speaker talks as the other role does.

    Args:
        turns: role and text of each utterance, in order.
        phrases: of ``role_phrases``, for an executor, which reads no file.
    """
    phrases = phrases or role_phrases()
    found, said = [], {"seeker": set[str](), "supporter": set[str]()}
    for turn in turns:
        role, plain = turn["role"], " ".join(re.findall(r"[\w']+", turn["text"].lower().translate(_PLAIN)))
        other = "supporter" if role == "seeker" else "seeker"
        if phrases[other].search(plain) or plain in said[other]:
            found.append(turn["text"])
        if len(plain.split()) >= ECHO_WORDS:
            said[role].add(plain)
    return found


def inconsistencies(
    turns: Sequence[Mapping[str, Any]], phrases: RolePhrases | None = None
) -> tuple[int, int, str | None, int, str | None]:
    """A conversation's row of ``SCHEMA``: facts, contradicted ones, the first; mixed-up utterances, the first."""
    by_role = [
        contradictions([turn["text"] for turn in turns if turn["role"] == role]) for role in ("seeker", "supporter")
    ]
    contradicted = [one for _, own in by_role for one in own]
    confused = role_confusions(turns, phrases)
    return (
        sum(number for number, _ in by_role), len(contradicted), _first(contradicted), len(confused), _first(confused),
    )  # fmt: skip


def inconsistent(phrases: RolePhrases) -> Callable[[Iterator[pd.Series]], Iterator[pd.DataFrame]]:
    """A pandas function over arrays of turns."""
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
