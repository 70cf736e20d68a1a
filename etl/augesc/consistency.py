"""Find utterances in which a speaker of a conversation talks like the other role, by rules (AugESC 6.4).

The paper found inconsistencies by reading and gives no measure. These rules are ours: phrases that only the other role
uses (``conf/augesc/*_phrases.txt``), or a repeated utterance of the other speaker. The results compare methods and are
not rates of faults. Contradicted facts are left to an entailment model (``models.contradiction``).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from conf.wordlists import words

SCHEMA = "confused int, confusion string"
ECHO_WORDS = 6
"""Least number of words of an utterance whose repetition by the other speaker is counted."""

_PLAIN = str.maketrans({"’": "'", "‘": "'"})

RolePhrases = Mapping[str, re.Pattern[str]]


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


def confused(phrases: RolePhrases) -> Callable[[Iterator[pd.Series]], Iterator[pd.DataFrame]]:
    """Return a pandas function that computes ``SCHEMA`` of arrays of turns."""
    columns = [part.split()[0] for part in SCHEMA.split(", ")]

    def rows(batches: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            found = [role_confusions(turns, phrases) for turns in batch]
            yield pd.DataFrame([(len(one), one[0][:200] if one else None) for one in found], columns=columns)

    return rows


def role_phrases() -> RolePhrases:
    """Return the phrases that only one role uses, by role (``conf/augesc/*_phrases.txt``)."""
    found = {}
    for role in ("seeker", "supporter"):
        listed = "|".join(re.escape(phrase) for phrase in words(f"augesc/{role}_phrases"))
        found[role] = re.compile(rf"\b(?:{listed})\b")
    return found
