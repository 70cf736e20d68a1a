"""Two language models that talk with each other, each tuned on one speaker's utterances (AugESC 6.1).

All talks of a batch advance together, an utterance at a time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from pyspark.sql import DataFrame

from conf.llm_settings import DecodingSettings
from udfs.generate import GATHERED_ROWS, Source
from udfs.llm_requests import Generator, Request
from udfs.predict import gathered
from udfs.session_files import one_line

FIRST, SECOND = "seeker", "supporter"
BYE = re.compile(r"\b(?:good)?bye\b", re.IGNORECASE)
SCHEMA = "play_id string, turns array<struct<role: string, text: string>>, ended string, error string"

Prompt = Callable[[Sequence[Mapping[str, str]], str], str]
"""From what was said and whose turn it is to what that speaker's model goes on from."""


@dataclass
class Talk:
    """One talk under way.

    Attributes:
        play_id: of the randomness, with each utterance's place.
        ended: why no more is said: bye, length or silence.
        error: why a model said nothing.
    """

    play_id: str
    turns: list[dict[str, str]] = field(default_factory=list)
    ended: str | None = None
    error: str | None = None


def talks(
    queries: Mapping[str, str],
    speakers: Mapping[str, Generator],
    prompt: Prompt,
    decoding: DecodingSettings,
    most: int,
) -> list[Talk]:
    """Talks that begin with the seeker's query, until ``most`` utterances or a bye.

    Args:
        queries: by play_id.
        speakers: a generator for each role.
        prompt: see ``Prompt``.
    """
    under_way = [Talk(play_id, [{"role": FIRST, "text": one_line(text)}]) for play_id, text in queries.items()]
    begun, role = list(under_way), SECOND
    while under_way:
        asked = [Request(prompt(talk.turns, role), "", talk.play_id, len(talk.turns)) for talk in under_way]
        for talk, answer in zip(under_way, speakers[role].answers(asked, decoding), strict=True):
            said = one_line(answer.text or "")
            if said:
                talk.turns.append({"role": role, "text": said})
                talk.ended = "bye" if BYE.search(said) else "length" if len(talk.turns) >= most else None
            else:
                talk.ended, talk.error = "silence", answer.error
        under_way = [talk for talk in under_way if talk.ended is None]
        role = FIRST if role == SECOND else SECOND
    return begun


def role_plays(
    plays: DataFrame,
    sources: Mapping[str, Source],
    prompt: Prompt,
    decoding: DecodingSettings,
    most: int,
    partitions: int = 0,
) -> DataFrame:
    """Let two models talk, a batch of talks at a time.

    Args:
        plays: play_id, query.
        sources: of each role's model.
        prompt, decoding, most: see ``talks``.
        partitions: spread the talks over so many tasks; 0 leaves them as they are.

    Returns:
        The columns of ``SCHEMA``.
    """
    pair = tuple(sorted(sources.items()))

    def play(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in gathered(frames, GATHERED_ROWS):
            queries = dict(zip(frame["play_id"], frame["query"], strict=True))
            done = talks(queries, _speakers(pair), prompt, decoding, most)
            yield pd.DataFrame([vars(talk) for talk in done], columns=["play_id", "turns", "ended", "error"])

    asked = plays.select("play_id", "query")
    spread = asked.repartition(partitions, "play_id") if partitions > 0 else asked
    return spread.mapInPandas(play, SCHEMA)


@lru_cache(maxsize=1)
def _speakers(pair: tuple[tuple[str, Source], ...]) -> dict[str, Generator]:
    return {role: source.own_generator() for role, source in pair}
