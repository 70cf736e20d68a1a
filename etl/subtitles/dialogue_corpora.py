"""DailyDialog as transcripts: two speakers who take turns, so every new line is a new turn (truth for EDOS 3.1).

They are written dialogues, not films: they add to transcripts of series (``transcripts``), with less weight.
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
    """An utterance with a blank where two sentences are glued, and none around the apostrophe of a contraction."""
    return _APART.sub("'", _GLUED.sub(" ", utterance)).strip()


def turns_of_lines(lines: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
    """The (speaker, utterance) of each dialogue of DailyDialog's text, one dialogue a line, two speakers in turn."""
    for line in lines:
        turns = [part.strip() for part in line.split(_END_OF_TURN)]
        if not turns[-1]:
            turns.pop()
        if turns:
            yield [("AB"[number % 2], turn) for number, turn in enumerate(turns)]


def turns_of_reccon(dialogues: Any, name: str) -> Iterator[list[tuple[str, str]]]:
    """The (speaker, utterance) of each dialogue of RECCON's JSON of DailyDialog (``{id: [[turn, ...]]}``).

    Args:
        dialogues: the JSON's content.
        name: the file, for messages.

    Raises:
        InputError: it is not of that shape, or a turn has no speaker or utterance.
    """
    if not isinstance(dialogues, Mapping):
        raise InputError(f"dialogues {name}: not an object of dialogues by id; RECCON's annotation is")
    for key, parts in dialogues.items():
        if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
            raise InputError(f"dialogues {name}: {str(key)[:40]!r} is no list of lists of turns")
        turns: list[tuple[str, str]] = []
        for turn in (turn for part in parts for turn in part):
            speaker, said = (turn.get(at) if isinstance(turn, Mapping) else None for at in ("speaker", "utterance"))
            if not isinstance(speaker, str) or not isinstance(said, str):
                raise InputError(f"dialogues {name}: a turn of {str(key)[:40]!r} has no speaker or no utterance")
            turns.append((speaker, said))
        if turns:
            yield turns


def dialogue_utterances(dialogues: Iterable[Sequence[tuple[str, str]]]) -> pd.DataFrame:
    """Dialogues as the utterances of a transcript, each distinct dialogue once.

    Args:
        dialogues: the (speaker, utterance) of each, in order.

    Returns:
        scene (a digest of what is said), position, speaker, utterance; in order of scene and position, whatever
        the order of the dialogues.
    """
    distinct: dict[str, list[tuple[str, str]]] = {}
    for dialogue in dialogues:
        turns = [(speaker, mended(utterance)) for speaker, utterance in dialogue]
        said = "\n".join("".join(re.findall(r"\w", utterance.lower())) for _, utterance in turns)
        scene = hashlib.sha256(said.encode()).hexdigest()[:16]
        distinct[scene] = min(distinct.get(scene, turns), turns)
    rows = [
        (scene, position, speaker, utterance)
        for scene, turns in sorted(distinct.items())
        for position, (speaker, utterance) in enumerate(turns)
    ]
    return pd.DataFrame(rows, columns=list(UTTERANCE_COLUMNS))


__all__ = [
    "DAILYDIALOG",
    "UTTERANCE_COLUMNS",
    "dialogue_utterances",
    "mended",
    "turns_of_lines",
    "turns_of_reccon",
]
