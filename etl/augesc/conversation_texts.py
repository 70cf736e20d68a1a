"""Convert conversations to text for a language model and back, without Spark (AugESC 4.1, Figure 2).

    <instruction>
    Human: <query>
    AI:

A model continues this text. It contains no support strategies (AugESC 4.1). A strategy in brackets that begins a
supporter's turn is none of its words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from conf import resources
from etl.augesc.json_turns import json_turns
from etl.augesc.settings import Reading
from udfs.answer_texts import answer_in
from udfs.session_files import STRATEGY_NAMES, one_line

INSTRUCTION = "prompts/augesc.txt"
NAMES = {"seeker": "Human", "supporter": "AI"}
ROLES = {name: role for role, name in NAMES.items()}
END_TOKENS = ("<|endoftext|>", "<|im_end|>", "</s>")
"""End-of-text tokens of GPT-J, SmolLM2 and others."""

_LINE_END = re.compile(r"\r\n?|\n|\x0b|\x0c|\x85|\u2028|\u2029|\\n")
_OPENING = re.compile(r"[\W_]+")
_NAMED_LINE = re.compile(r"[\W_]*(Human|AI):(.*)", re.DOTALL)
"""A line that begins with a speaker's name after punctuation (AugESC 4.3)."""
_SPEAKER = re.compile(r"(Human|AI)[ \t*_]*[:：][*_]*")
_WITHIN = re.compile(
    r"(?:(?<=\s)|(?<=[.!?…\"”|]))[*_\"“(\[|/–—-]{0,3}(?P<name>Human|AI)[*_]{0,2}\s?[:：][*_]{0,2}(?=\s*\S)"
)
"""A speaker's name and a colon in the middle of a line."""
_ON_NEXT_LINE = re.compile(r"\nAI:[ \t]*+\n++(?=\s*+\S)(?!\W*+(?:Human|AI)[ \t*_]*+[:：])")
"""The prompt's last line, where the answer begins on the next one, as it does after a thought."""
_SEPARATOR = re.compile(r"(?:(?<!\s)\s++)?(?:[|/]|[–—-]{1,2})\s*+$")
_SENTENCE_ENDS = re.compile(r"^[\s*_]*$|(?:[.!?…~|/\"”’')\]*]|[^\x00-\u2fff])\s*$")
"""What may stand before the next speaker's name: the end of a sentence, a separator, an emoji."""
_LOOKED_BACK = 200


_TAG = re.compile(r"[*_]{0,2}[\[(](?P<name>[A-Za-z][A-Za-z -]{2,40})[\])][*_]{0,2}\s*[:：-]?\s*")


@dataclass(frozen=True)
class Turn:
    """An utterance, without the strategy that a model named before it."""

    role: str
    text: str
    strategy: str | None = None


@dataclass(frozen=True)
class ParsedConversation:
    """A parsed conversation.

    Attributes:
        faulty: other non-blank lines, without a speaker or without a text.
    """

    turns: tuple[Turn, ...]
    faulty: tuple[str, ...]


def instruction(own: str = "") -> str:
    """Return the task description (AugESC 4.1) on one line, the user's or ours (``conf/prompts/augesc.txt``).

    Args:
        own: ``augesc.prompt.text``.
    """
    return one_line(own or resources.text(INSTRUCTION))


def prompt(query: str, task: str) -> str:
    """Return a model's prompt: the task, the seeker's query, and the next speaker's name (AugESC Figure 2).

    Args:
        query: the seeker's first utterance.
        task: result of ``instruction``, from the driver: executors read no files.
    """
    return f"{task}\n{_line('seeker', query)}\n{NAMES['supporter']}:"


def conversation(turns: Sequence[Turn | Mapping[str, str]]) -> str:
    """Return the utterances, one per line."""
    return "\n".join(
        _line(turn.role, turn.text) if isinstance(turn, Turn) else _line(turn["role"], turn["text"]) for turn in turns
    )


def training_text(turns: Sequence[Turn | Mapping[str, str]], end: str, task: str) -> tuple[str, str]:
    """Return a training session as (text outside the loss, text inside the loss) (AugESC 4.1).

    Args:
        turns: turns without the supporter's leading greetings.
        end: the tokenizer's end-of-text token, with which a model learns to stop.
        task: result of ``instruction``.
    """
    return f"{task}\n", f"{conversation(turns)}{end}"


def learned_session(turns: Sequence[Turn | Mapping[str, str]], task: str) -> list[tuple[str, bool]]:
    """Return ``training_text`` without an end token as (piece, whether it is in the loss)."""
    before, text = training_text(turns, "", task)
    return [(before, False), (text, True)]


def learned_role(turns: Sequence[Turn | Mapping[str, str]], role: str) -> list[tuple[str, bool]]:
    """Return a session for a model of one role as (piece, whether it is in the loss) (AugESC 6.1, 7.1).

    The role's utterances are in the loss without the name, but with the line's end, with which a model learns to stop.
    """
    pieces = []
    for line in conversation(turns).split("\n"):
        name, _, text = line.partition(":")
        pieces += [(f"{name}:", False), (f"{text}\n", ROLES[name] == role)]
    return pieces


def next_prompt(turns: Sequence[Turn | Mapping[str, str]], role: str) -> str:
    """Return the prompt of a model of ``learned_role``: the conversation so far and the role's name."""
    return f"{conversation(turns)}\n{NAMES[role]}:"


def without_thoughts(text: str) -> str:
    """Return a text without a model's thoughts, which follow the first name of the supporter."""
    head, name, rest = text.partition(f"\n{NAMES['supporter']}:")
    said = answer_in(rest or head)
    if not said.thought:
        return text
    return f"{head}{name}{said.text or ''}" if rest else said.text or ""


def parse(text: str, task: str, reading: Reading = "lenient") -> ParsedConversation:
    """Parse the utterances of a text with its prompt (AugESC 4.3, Format).

    Each line must begin with ``Human:`` or ``AI:``, after optional punctuation. Blank lines, the instruction as first
    line and any text after an end token are left out. The lenient reading (ours) also accepts all kinds of line breaks
    including a literal backslash and n, stars around the name, and a blank or a wide colon after it. It reads an answer
    in JSON as ``etl.augesc.json_turns`` says, and several speakers on one line as ``spoken_on`` does.

    Args:
        text: prompt and answer joined, or a conversation alone.
        task: result of ``instruction``, from the driver: executors read no files.
        reading: ``augesc.reading``.
    """
    for token in END_TOKENS:
        text = text.partition(token)[0]
    if reading == "paper":
        return _line_by_line(text, task)
    text = _ON_NEXT_LINE.sub(f"\n{NAMES['supporter']}: ", text, count=1)
    head, name, rest = text.partition(f"\n{NAMES['supporter']}:")
    found = json_turns(rest or head)
    if found is not None:
        return _with_turns(parse(head, task).turns if name else (), found)
    lines = [line.strip() for line in _LINE_END.split(text)]
    if lines and one_line(lines[0]) == task:
        lines = lines[1:]
    turns: list[Turn] = []
    faulty = []
    for line in filter(None, lines):
        match = _SPEAKER.match(_OPENING.sub("", line, count=1) if _OPENING.match(line) else line)
        if match is None:
            faulty.append(line)
            continue
        for speaker, words in spoken_on(match[1], match.string[match.end() :]):
            strategy, spoken = with_strategy(ROLES[speaker], one_line(words))
            if spoken:
                turns.append(Turn(ROLES[speaker], spoken, strategy))
            else:
                faulty.append(line)
    return ParsedConversation(tuple(turns), tuple(faulty))


def _line_by_line(text: str, task: str) -> ParsedConversation:
    """Parse a text in which each line is one utterance, with all that follows its speaker's name."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if lines and one_line(lines[0]) == task:
        del lines[0]
    found = [(line, _NAMED_LINE.match(line)) for line in lines]
    said = [(line, match and (ROLES[match[1]], one_line(match[2]))) for line, match in found]
    turns = tuple(Turn(*spoken) for _, spoken in said if spoken and spoken[1])
    return ParsedConversation(turns, tuple(line for line, spoken in said if not (spoken and spoken[1])))


def with_strategy(role: str, text: str) -> tuple[str | None, str]:
    """Return the strategy that begins a supporter's utterance in brackets, and the rest (ours).

    Words in brackets that are no known name of a strategy are the utterance's own.
    """
    tag = _TAG.match(text) if role == "supporter" else None
    name = None if tag is None else STRATEGY_NAMES.get(" ".join(tag["name"].lower().split()))
    return (None, text) if tag is None or name is None else (name, text[tag.end() :])


def spoken_on(speaker: str, line: str) -> list[tuple[str, str]]:
    """Return the utterances of a line as (speaker, words), in which others may begin without a new line (ours).

    A name and a colon begin an utterance after the end of a sentence. If there are several and the names alternate from
    the line's own on, each begins one. "I said Human: twice" is one utterance.

    Args:
        speaker: whose name the line begins with.
        line: the rest of it.
    """
    marks = list(_WITHIN.finditer(line))
    names = [speaker, *(mark["name"] for mark in marks)]
    alternate = len(marks) > 1 and all(one != other for one, other in pairwise(names))
    before = (line[max(0, mark.start() - _LOOKED_BACK) : mark.start()] for mark in marks)
    begun = [mark for mark, said in zip(marks, before, strict=True) if alternate or _SENTENCE_ENDS.search(said)]
    if begun and not line[: begun[0].start()].strip(" \t*_"):  # the name is repeated
        return spoken_on(begun[0]["name"], line[begun[0].end() :])
    starts = [0, *(mark.end() for mark in begun)]
    ends = [*(mark.start() for mark in begun), len(line)]
    speakers = [speaker, *(mark["name"] for mark in begun)]
    pieces = [line[start:end] for start, end in zip(starts, ends, strict=True)]
    pieces[:-1] = [_SEPARATOR.sub("", piece) for piece in pieces[:-1]]
    return list(zip(speakers, pieces, strict=True))


def _with_turns(before: tuple[Turn, ...], found: Sequence[tuple[str | None, str]]) -> ParsedConversation:
    """Return the turns of a prompt and of an answer in JSON, which may repeat the prompt's."""
    known = [(role, with_strategy(role, one_line(text))) for role, text in found if role is not None]
    turns = [Turn(role, text, strategy) for role, (strategy, text) in known if text]
    faulty = [one_line(text) or role or "" for role, text in found if role is None or not one_line(text)]
    if [_words_of(turn) for turn in turns[: len(before)]] == [_words_of(turn) for turn in before]:
        turns = turns[len(before) :]
    return ParsedConversation((*before, *turns), tuple(faulty))


def _words_of(turn: Turn) -> tuple[str, list[str]]:
    return turn.role, re.findall(r"\w+", turn.text.lower())


def _line(role: str, text: str) -> str:
    return f"{NAMES[role]}: {one_line(text)}"
