"""Two models that talk with each other: whose turn it is, when they end, and that neighbours do not matter."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from conf.llm_settings import DecodingSettings
from etl.augesc.conversation_texts import learned_role, next_prompt
from etl.augesc.settings import DialogueDecoding
from tests.udfs.tiny_models import tiny_language_model
from udfs.llm_requests import Answer, Request
from udfs.models.language.generator import LocalGenerator
from udfs.role_play import BYE, talks

DECODING = DialogueDecoding(max_new_tokens=6)


class Script:
    """A speaker who says one line after the other, whoever asks."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.asked = []  # type: ignore[var-annotated]

    def answers(self, requests: Sequence[Request], decoding: DecodingSettings) -> list[Answer]:
        self.asked.append([request.prompt for request in requests])
        line = self.lines.pop(0)
        return [Answer(line, error=None if line else "broken") for _ in requests]


def test_they_take_turns_until_a_bye() -> None:
    seeker = Script(" I am sad .\n")
    supporter = Script(" why ?", "well , goodbye !")
    (talk,) = talks({"p": "my dog\nis gone"}, {"seeker": seeker, "supporter": supporter}, next_prompt, DECODING, 30)
    assert [(turn["role"], turn["text"]) for turn in talk.turns] == [
        ("seeker", "my dog is gone"),
        ("supporter", "why ?"),
        ("seeker", "I am sad ."),
        ("supporter", "well , goodbye !"),
    ]
    assert (talk.ended, talk.error) == ("bye", None)
    assert seeker.asked == [["Human: my dog is gone\nAI: why ?\nHuman:"]]


def test_they_end_at_the_longest_talk_or_in_silence() -> None:
    speakers = {"seeker": Script("so"), "supporter": Script("yes", "no")}
    (long,) = talks({"p": "hello"}, speakers, next_prompt, DECODING, 4)
    assert (len(long.turns), long.ended) == (4, "length")
    (silent,) = talks({"p": "hello"}, {"seeker": Script(), "supporter": Script(None)}, next_prompt, DECODING, 4)
    assert (len(silent.turns), silent.ended, silent.error) == (1, "silence", "broken")


@pytest.mark.parametrize(
    ("text", "ends"),
    [("Bye!", True), ("good-bye then", True), ("GOODBYE", True), ("bye-bye", True), ("a byelaw", False), ("by", False)],
)
def test_bye_is_a_word(text: str, ends: bool) -> None:
    assert bool(BYE.search(text)) == ends


def test_a_talk_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    seeds = {"seeker": 1, "supporter": 2}
    models = {role: LocalGenerator.load(tiny_language_model(tmp_path / role, seed)) for role, seed in seeds.items()}
    queries = {f"p{n}": f"i lost my {what}" for n, what in enumerate(("dog", "cat and my home", "money"))}
    together = talks(queries, models, next_prompt, DECODING, 6)
    alone = [talks({name: text}, models, next_prompt, DECODING, 6)[0] for name, text in queries.items()]
    assert [talk.turns for talk in together] == [talk.turns for talk in alone]
    assert len({str(talk.turns[1:]) for talk in together}) > 1


def test_one_speakers_utterances_are_learned_and_the_prompt_is_what_was_read() -> None:
    turns = [{"role": role, "text": text} for role, text in (("seeker", "a"), ("supporter", "b"), ("seeker", "c: d"))]
    pieces = learned_role(turns, "seeker")
    assert [text for text, learned in pieces if learned] == [" a\n", " c: d\n"]
    whole = "".join(text for text, _ in pieces)
    assert whole == "Human: a\nAI: b\nHuman: c: d\n"
    assert whole.startswith(next_prompt(turns[:2], "seeker"))
