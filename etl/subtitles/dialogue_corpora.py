"""DailyDialog as transcripts: two speakers alternate, so every line is a new turn (ground truth for EDOS 3.1).

The dialogues are written, not from films, so they supplement the transcripts of series with less weight.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from conf.errors import InputError

DAILYDIALOG = "dailydialog"
UTTERANCE_COLUMNS = ("scene", "position", "speaker", "utterance")
_END_OF_TURN = "__eou__"
_GLUED = re.compile(r"(?<=[a-z][.?!])(?=[A-Z])")
_APART = re.compile(r"(?<=\w) ?['\u2019] ?(?=(?:t|s|re|ve|ll|d|m)\b)", re.IGNORECASE)


def mended(utterance: str) -> str:
    """Return an utterance with a blank between glued sentences and no blanks around a contraction's apostrophe."""
    return _APART.sub("'", _GLUED.sub(" ", utterance)).strip()


def turns_of_lines(lines: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
    """Yield each dialogue of DailyDialog's text, one per line, as (speaker, utterance) pairs of two speakers."""
    for line in lines:
        turns = [part.strip() for part in line.split(_END_OF_TURN)]
        if turns := turns if turns[-1] else turns[:-1]:
            yield [("AB"[number % 2], turn) for number, turn in enumerate(turns)]


def turns_of_reccon(dialogues: Any, name: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each dialogue of RECCON's DailyDialog JSON (``{id: [[turn, ...]]}``) as (speaker, utterance) pairs.

    Args:
        dialogues: the JSON's content.

    Raises:
        InputError: The JSON has another shape, or a turn has no speaker or utterance.
    """
    if not isinstance(dialogues, Mapping):
        raise InputError(f"dialogues {name}: not an object of dialogues by id; RECCON's annotation is")
    for key, parts in dialogues.items():
        if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
            raise InputError(f"dialogues {name}: {str(key)[:40]!r} is not a list of lists of turns")
        turns: list[tuple[str, str]] = []
        for turn in (turn for part in parts for turn in part):
            speaker, text = (turn.get(at) if isinstance(turn, Mapping) else None for at in ("speaker", "utterance"))
            if not isinstance(speaker, str) or not isinstance(text, str):
                raise InputError(f"dialogues {name}: a turn of {str(key)[:40]!r} has no speaker or no utterance")
            turns.append((speaker, text))
        if turns:
            yield turns


def dialogue_utterances(dialogues: Iterable[Sequence[tuple[str, str]]]) -> pd.DataFrame:
    """Return the distinct dialogues as utterances of a transcript.

    Args:
        dialogues: the (speaker, utterance) pairs of each, in order.

    Returns:
        scene (a digest of the letters and digits), position, speaker, utterance, ordered by scene and position.
    """
    distinct: dict[str, list[tuple[str, str]]] = {}
    for dialogue in dialogues:
        turns = [(speaker, mended(utterance)) for speaker, utterance in dialogue]
        letters = "\n".join("".join(re.findall(r"\w", utterance.lower())) for _, utterance in turns)
        scene = hashlib.sha256(letters.encode()).hexdigest()[:16]
        distinct[scene] = min(distinct.get(scene, turns), turns)
    rows = [
        (scene, position, speaker, utterance)
        for scene, turns in sorted(distinct.items())
        for position, (speaker, utterance) in enumerate(turns)
    ]
    return pd.DataFrame(rows, columns=list(UTTERANCE_COLUMNS))
