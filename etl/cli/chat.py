"""``python -m jobs chat``: a talk with a support chatbot, for the interactive study (AugESC 7.2).

A line that speaks of danger gets a fixed answer, no model sees it, and no model answers for the rest of the talk. What
the model says is screened as well.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any, BinaryIO

from conf.errors import InputError
from conf.settings import Settings
from etl.augesc.conversation_texts import next_prompt
from etl.cli.safety import safe_conversation
from etl.pipeline.locations import model_at
from etl.safety.answers import chat_notice
from etl.safety.conversation import SafeConversation
from udfs.answer_texts import answer_in
from udfs.generate import source_of
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import Request
from udfs.session_files import one_line

BOTS = {"esconv": "chatbot", "augesc": "augmented_chatbot"}
"""The two bots of the study, and their keys under ``models``."""
ENDS = ("/quit", "/exit")
LONGEST = 4_000
"""Characters of a line that a model is shown; for danger it is read whole."""
HINT = "Type a line and press Enter; /quit ends the talk."

Turns = list[dict[str, Any]]
Reply = Callable[[Sequence[dict[str, Any]]], str]


def open_chat(
    settings: Settings,
    bot: str,
    lines: Iterable[str],
    model: str | None = None,
    save: str | None = None,
    pair: str | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Converse until the lines end; append each turn to a file where one is named.

    Args:
        bot: esconv or augesc.
        model: URI of another model than the bot's.
        save: JSON Lines, as ``augesc.evaluation.comparisons.chats`` reads them.
        pair: which participant and problem, the same for both bots.

    Raises:
        InputError: there is no such model, or the file cannot be written.
    """
    if save is not None and not pair:
        raise InputError("chat --save needs --pair: the name under which both bots' talks are compared")
    uri = model or getattr(settings.models, BOTS[bot])
    found = model_at(uri, settings)
    source = source_of(str(found.path), found.identity, settings.llm, settings.models.training_threads)
    gate = safe_conversation(settings)
    saved = None
    if save is not None:
        saved = talk_file(save)
    say(chat_notice(settings.safety.country))
    say(gate.notice)
    if save is not None:
        say(f"The talk is saved in {save} after each turn.")
    say(HINT)
    turns: Turns = []
    try:
        for _ in converse(turns, replies(source, settings, pair or ""), lines, say, gate):
            if saved is not None:
                write_talk(saved, {"pair_id": pair, "bot": bot, "model": found.identity, "turns": turns})
    except KeyboardInterrupt:
        pass
    finally:
        if saved is not None:
            saved.close()
    return 0


def talk_file(file: str) -> BinaryIO:
    """Return a file, readable by its owner alone, at its end, where a new line begins.

    Raises:
        InputError: it cannot be written.
    """
    try:
        stream = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        os.fchmod(stream.fileno(), 0o600)
        if stream.seek(0, os.SEEK_END):
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":  # a crash left the last line open
                stream.write(b"\n")
    except OSError as error:
        raise InputError(f"chat --save {file}: cannot be written ({error.strerror})") from None
    return stream


def write_talk(stream: BinaryIO, talk: dict[str, Any]) -> None:
    """Write a talk's line at a file's place, over what it had after an earlier turn, and have it on the disk."""
    begin = stream.tell()
    stream.write(f"{json.dumps(talk, ensure_ascii=False)}\n".encode("utf-8", "replace"))
    stream.flush()
    os.fsync(stream.fileno())
    stream.seek(begin)


def converse(
    turns: Turns, reply: Reply, lines: Iterable[str], say: Callable[[str], None], gate: SafeConversation
) -> Iterator[None]:
    """Answer line after line, and keep both in ``turns``; yield after each turn, before its answer is said.

    A turn of the bot has ``fixed`` where no model wrote it, and ``reason`` where the gate has one.
    """
    for typed in lines:
        line = one_line(typed)
        if line.lower() in ENDS:
            return
        if not line:
            continue
        turns.append({"role": "seeker", "text": line[:LONGEST]})
        yield
        fixed = gate.answer_to(line)
        answer, reason = (fixed, gate.alarm) if fixed is not None else gate.screened(reply(turns))
        said = {"role": "supporter", "text": one_line(answer), "fixed": reason is not None}
        turns.append(said if reason is None else {**said, "reason": reason})
        yield
        say(answer)


def replies(source: ModelSource, settings: Settings, seed: str) -> Reply:
    """Return a function that gives a model's next reply; the same words get the same reply in one talk.

    Raises:
        InputError: the model has no answer.
    """
    wanted = settings.augesc.chat
    digest = hashlib.sha256(f"{seed}\n{source.identity}".encode()).hexdigest()

    def reply(turns: Sequence[dict[str, Any]]) -> str:
        prompt = next_prompt(turns[-wanted.most_turns :], "supporter")
        (answer,) = source.generator().answers([Request(prompt, "", digest, len(turns))], wanted.decoding)
        if answer.error is not None:
            raise InputError(f"the chatbot cannot answer: {answer.error}")
        return one_line(answer_in(answer.text or "").text or "") or "..."

    return reply


def typed_lines(stream: IO[str]) -> Iterator[str]:
    """Yield lines as they are typed, whatever bytes they hold, to the end of the stream."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    while True:
        print("> ", end="", flush=True)
        line = stream.readline()
        if not line:
            print()
            return
        yield line
