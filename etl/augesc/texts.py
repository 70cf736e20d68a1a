"""Conversations as text for a language model, and back (AugESC 4.1, Figure 2): pure functions, no Spark.

    <instruction>
    Human: <query>
    AI:

A model goes on from there. No support strategies are written into the text (AugESC 4.1).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conf import resources
from udfs.session_files import one_line

INSTRUCTION = "prompts/augesc.txt"
NAMES = {"seeker": "Human", "supporter": "AI"}
ROLES = {name: role for role, name in NAMES.items()}
END_TOKENS = ("<|endoftext|>", "<|im_end|>", "</s>")
"""What tokenizers of GPT-J, SmolLM2 and others call the end of a text."""

_LINE_END = re.compile(r"\r\n?|\n|\x0b|\x0c|\x85|\u2028|\u2029|\\n")
_OPENING = re.compile(r"[\W_]+")
_SPEAKER = re.compile(r"(Human|AI)[ \t*_]*[:：][*_]*")


@dataclass(frozen=True)
class Turn:
    role: str
    text: str


@dataclass(frozen=True)
class Parsed:
    """A text read as a conversation.

    Attributes:
        turns: the lines that are utterances, in order.
        faulty: the other lines that are not blank: nobody speaks there, or nothing is said.
    """

    turns: tuple[Turn, ...]
    faulty: tuple[str, ...]


def instruction() -> str:
    """The task in words (AugESC 4.1), our own wording: ``conf/prompts/augesc.txt``."""
    return one_line(resources.text(INSTRUCTION))


def prompt(query: str, task: str | None = None) -> str:
    """What a model is given: the task, the query as the seeker's, and who is next (AugESC Figure 2).

    Args:
        query: of the seeker.
        task: of ``instruction``, for an executor, which reads no file.
    """
    return f"{task or instruction()}\n{_line('seeker', query)}\n{NAMES['supporter']}:"


def conversation(turns: Sequence[Turn | Mapping[str, str]]) -> str:
    """The utterances, one a line."""
    said = [turn if isinstance(turn, Turn) else Turn(turn["role"], turn["text"]) for turn in turns]
    return "\n".join(_line(turn.role, turn.text) for turn in said)


def training_text(turns: Sequence[Turn | Mapping[str, str]], end: str) -> tuple[str, str]:
    """A session to tune on, as (what the loss leaves out, what it is averaged over) (AugESC 4.1).

    Args:
        turns: without the supporter's leading greetings.
        end: the tokenizer's end-of-text token, so that a model learns to stop.
    """
    return f"{instruction()}\n", f"{conversation(turns)}{end}"


def learned_session(turns: Sequence[Turn | Mapping[str, str]]) -> list[tuple[str, bool]]:
    """``training_text`` in pieces, each with whether it is learned; the end of the text is the model's own token."""
    task, said = training_text(turns, "")
    return [(task, False), (said, True)]


def learned_role(turns: Sequence[Turn | Mapping[str, str]], role: str) -> list[tuple[str, bool]]:
    """A session for a model that says one speaker's utterances, given what was said before (AugESC 6.1, 7.1).

    Of that speaker's lines all but the name is learned, with the line's end, so that a model learns to stop.
    """
    pieces = []
    for line in conversation(turns).split("\n"):
        name, _, said = line.partition(":")
        own = ROLES[name] == role
        pieces += [(f"{name}:", False), (f"{said}\n", own)]
    return pieces


def next_prompt(turns: Sequence[Turn | Mapping[str, str]], role: str) -> str:
    """What a model of ``learned_role`` goes on from: what was said, and whose turn it is."""
    return f"{conversation(turns)}\n{NAMES[role]}:"


def parse(text: str, end_tokens: Sequence[str] = END_TOKENS, task: str | None = None) -> Parsed:
    """The utterances of a text, prompt and all (AugESC 4.3, Format).

    Each line must begin with ``Human:`` or ``AI:`` once the punctuation at its beginning is removed. Tolerated beside
    that, ours: blank lines, the instruction as first line, line breaks of all kinds and those that a model spells as a
    backslash and an n, stars around the name, a blank or a wide colon after it, whatever follows the end of the text.

    Args:
        text: prompt and answer joined, or a conversation alone.
        end_tokens: the text ends at the first of them.
        task: of ``instruction``, for an executor, which reads no file.
    """
    for token in end_tokens:
        text = text.partition(token)[0]
    lines = [line.strip() for line in _LINE_END.split(text)]
    if lines and one_line(lines[0]) == (task or instruction()):
        lines = lines[1:]
    turns, faulty = [], []
    for line in filter(None, lines):
        match = _SPEAKER.match(_OPENING.sub("", line, count=1) if _OPENING.match(line) else line)
        said = one_line(match.string[match.end() :]) if match else ""
        if match and said:
            turns.append(Turn(ROLES[match[1]], said))
        else:
            faulty.append(line)
    return Parsed(tuple(turns), tuple(faulty))


def _line(role: str, text: str) -> str:
    return f"{NAMES[role]}: {one_line(text)}"
