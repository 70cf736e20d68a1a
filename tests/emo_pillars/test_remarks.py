"""Whether parsers tell models' remarks from what a character says and from stories."""

import pytest

from conf.prompts import prompt
from etl.emo_pillars.answers import Parsed
from etl.emo_pillars.prose import LEAST_WORDS, parse_prose
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps.actors import parse_actors
from etl.emo_pillars.steps.clean_contexts import parse_cleaned
from etl.emo_pillars.steps.rewrites import parse_rewrite
from etl.emo_pillars.steps.utterances import labelled_utterances, parse_utterances
from tests.emo_pillars.remarks import KINDS, half, remarks


@pytest.mark.parametrize("kind", KINDS)
def test_every_remark_is_in_one_half(kind: str) -> None:
    lines = remarks(kind)
    tuning = half(kind, held_out=False)
    held_out = half(kind, held_out=True)
    assert sorted(tuning + held_out) == sorted(set(lines))
    assert min(len(tuning), len(held_out)) >= len(lines) / 3
    assert all(line == line.strip() for line in lines)


CONTEXT, CLEAN, REWRITE, ACTORS = (
    prompt(f"emo_pillars/{name}") for name in ("contexts", "clean_contexts", "rewrites", "actors")
)
UTTERANCES = prompt("emo_pillars/utterances")
WORDS = (
    "The lamp is out.",
    "I can see the harbour from here.",
    "Why would he write to me now?",
    "Not a single word from him since spring!",
    "We had better close the shutters.",
    "He came back, as he said he would.",
    "Look at the sea, how still it lies tonight.",
)
STORY = "Ada had kept the lamp alone since her uncle sailed. A letter came that named the day of his return."


def texts(parsed: Parsed) -> list[str]:
    return [one.text for one in parsed.items]


@pytest.mark.parametrize("constant", [True, False])
def test_a_constant_answer_is_wrong_on_half_of_the_lines(constant: bool) -> None:
    """The floor: parsers that keep every text, or none."""
    errors = [len(half(kind, held_out=True)) for kind in KINDS[constant::2]]
    assert min(errors) > 10


def is_refused(line: str) -> bool:
    parsed = (
        parse_rewrite(line, REWRITE),
        parse_prose(line, CONTEXT),
        parse_actors(line, ACTORS),
        labelled_utterances(line, UTTERANCES, False, OURS.known_names),
    )
    return not any(one.items for one in parsed)


def is_said(line: str) -> bool:
    labelled = [one.utterance for one in parse_utterances(f'1. (Anger) "{line}"', UTTERANCES).items]
    return labelled == [line] and is_kept(line)


def is_kept(line: str) -> bool:
    short = len(line.split()) < LEAST_WORDS
    return texts(parse_rewrite(line, REWRITE)) == [line] and (short or texts(parse_prose(line, CONTEXT)) == [line])


def is_removed(opening: str) -> bool:
    words = WORDS[len(opening) % len(WORDS)]
    answers = {f"{opening}\n{words}": words, f'{opening}\n\n"{words}"': words}
    if opening.endswith(":"):
        answers[f'{opening} "{words}"'] = words
    found = [texts(parse_rewrite(answer, REWRITE)) == [text] for answer, text in answers.items()]
    spaces = ("\n", "\n\n", " ") if opening.endswith(":") else ("\n", "\n\n")
    return all(found) and all(texts(parse_prose(f"{opening}{space}{STORY}", CONTEXT)) == [STORY] for space in spaces)


def is_unchanged(line: str) -> bool:
    return [one.unchanged for one in parse_cleaned(line, CLEAN).items] == [True]


def is_told(line: str) -> bool:
    return [(one.text, one.unchanged) for one in parse_cleaned(line, CLEAN).items] == [(line, False)]


def is_cut(closing: str) -> bool:
    return texts(parse_cleaned(f"{STORY}\n\n{closing}", CLEAN)) == [STORY]


def is_continued(paragraph: str) -> bool:
    return texts(parse_prose(f"{STORY}\n\n{paragraph}", CONTEXT)) == [f"{STORY} {paragraph}"]


CHECKS = dict(
    zip(KINDS, (is_refused, is_said, is_removed, is_kept, is_unchanged, is_told, is_cut, is_continued), strict=True)
)
MOST_ERRORS = 0.02
"""Share of wrong lines; one line in the small lists."""


@pytest.mark.parametrize("held_out", [False, True], ids=["tuning", "held_out"])
@pytest.mark.parametrize("kind", KINDS)
def test_remarks_are_told_from_stories_and_speech(kind: str, held_out: bool) -> None:
    lines = half(kind, held_out=held_out)
    wrong = [line for line in lines if not CHECKS[kind](line)]
    assert len(wrong) <= max(1, MOST_ERRORS * len(lines)), f"{len(wrong)} of {len(lines)}: {'' if held_out else wrong}"
