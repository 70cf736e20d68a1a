"""Conversations between two language models, each tuned on one speaker's utterances (AugESC 6.1).

All talks of a batch advance together, one utterance at a time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from pyspark.sql import DataFrame

from conf.llm_settings import DecodingSettings
from udfs.answer_texts import answer_in
from udfs.generate import GATHERED_ROWS
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import Generator, Request
from udfs.predict import gathered
from udfs.session_files import one_line

FIRST = "seeker"
SECOND = "supporter"
BYE = re.compile(r"\b(?:good)?bye\b", re.IGNORECASE)
SCHEMA = "play_id string, turns array<struct<role: string, text: string>>, ended string, error string"

Prompt = Callable[[Sequence[Mapping[str, str]], str], str]
"""Returns the prompt for the next utterance, from the turns so far and the next speaker's role."""


@dataclass
class Talk:
    """A conversation of two models; its id and the number of an utterance seed the utterance."""

    play_id: str
    turns: list[dict[str, str]] = field(default_factory=list)
    ended: str | None = None  # bye, length or silence
    error: str | None = None


def talks(
    queries: Mapping[str, str], speakers: Mapping[str, Generator], prompt: Prompt, decoding: DecodingSettings, most: int
) -> list[Talk]:
    """Return talks that begin with the seeker's query and end after ``most`` utterances or a bye.

    Args:
        queries: query by play_id.
        speakers: generator by role.
    """
    all_talks = [Talk(play_id, [{"role": FIRST, "text": one_line(text)}]) for play_id, text in queries.items()]
    active = all_talks
    role = SECOND
    while active:
        asked = [Request(prompt(talk.turns, role), "", talk.play_id, len(talk.turns)) for talk in active]
        for talk, answer in zip(active, speakers[role].answers(asked, decoding), strict=True):
            said = answer_in(answer.text or "")
            text = one_line(said.text or "")
            if text:
                talk.turns.append({"role": role, "text": text})
                talk.ended = "bye" if BYE.search(text) else "length" if len(talk.turns) >= most else None
            else:
                talk.ended = "silence"
                talk.error = answer.error or said.fault
        active = [talk for talk in active if talk.ended is None]
        role = FIRST if role == SECOND else SECOND
    return all_talks


def role_plays(
    plays: DataFrame,
    sources: Mapping[str, ModelSource],
    prompt: Prompt,
    decoding: DecodingSettings,
    most: int,
    partitions: int = 0,
) -> DataFrame:
    """Return talks of two models as rows of ``SCHEMA``.

    Args:
        plays: play_id, query.
        sources: source by role.
        prompt, decoding, most: see ``talks``.
        partitions: number of tasks; 0 keeps the partitions.
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
def _speakers(pair: tuple[tuple[str, ModelSource], ...]) -> dict[str, Generator]:
    return {role: source.new_generator() for role, source in pair}
