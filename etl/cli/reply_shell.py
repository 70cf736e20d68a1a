"""``python -m jobs reply``: a response generator that replies to typed lines, with a chosen intent (EDOS 5, 6).

The safety gate is that of ``chat``: after a line of danger no model answers until the shell ends, ``/new`` or not.
"""

import sys

from conf.errors import InputError
from conf.settings import Settings
from etl.cli.chat import typed_lines
from etl.cli.safety import safe_conversation
from etl.pipeline.locations import model_at
from etl.replies.settings import ReplyDecoding
from etl.safety.conversation import SafeConversation
from udfs.devices import set_threads
from udfs.models.language.causal_reply_generator import load_generator
from udfs.models.language.reply_decoding import write_replies
from udfs.models.language.reply_generator import ReplyGenerator

MOST_CHARACTERS = 100_000
"""Longest line; the rest of it is not read."""
HELP = "Type a line. /intent LABEL asks for one, /intent for none, /new forgets what was said, /quit leaves."


class Conversation:
    """Turns and replies so far.

    Args:
        intent: of the replies; None for any.
        gate: the safety gate; None for a new one with the lists alone.

    Raises:
        InputError: an intent that is not known, or a model that was not trained with intents.
    """

    def __init__(
        self,
        model: ReplyGenerator,
        decoding: ReplyDecoding,
        threads: int = 1,
        intent: str | None = None,
        gate: SafeConversation | None = None,
    ) -> None:
        self.model = model
        self.decoding = decoding
        self.threads = threads
        self.gate = gate or SafeConversation()
        self.turns: list[str] = []
        self.intent: str | None = None
        self.choose(intent)

    def choose(self, intent: str | None) -> None:
        """Select an intent, in any case; None for any."""
        chosen = " ".join(intent.split()).lower() if intent else None
        self.model.tokenizer.start_of(chosen)
        if chosen is not None and not self.model.steered:
            raise InputError("this generator was not trained with intents: --model models:/edos-reply-steered@champion")
        self.intent = chosen

    def answer(self, line: str) -> str:
        """Return the reply to a line with its intent, or the result of a command.

        Raises:
            InputError: the line has no text, or names no intent that is known.
        """
        text = " ".join(line.split())
        if text.startswith("/"):
            return self._command(*text[1:].split(maxsplit=1))
        if not text:
            raise InputError("nothing was said: type a line, or /quit")
        fixed = self.gate.answer_to(text)
        if fixed is not None:
            return fixed
        self.turns = [*self.turns, text][-self.model.max_tokens :]
        set_threads(self.threads)
        seeds = [len(self.turns)]
        (written,) = write_replies(self.model, [self.turns], [self.intent], self.decoding, 1, seeds)
        said, withheld = self.gate.screened(written.text)
        if withheld is not None:
            self.turns.pop()
            return said
        self.turns.append(written.text)
        (read,) = self.model.tokenizer.contexts([[text]], self.model.max_tokens)
        cut = f" [only the last {len(read)} tokens were read]" if len(read) == self.model.max_tokens else ""
        return f"({self.intent or 'any intent'}) {written.text or '...'}{cut}"

    def _command(self, name: str = "", value: str = "") -> str:
        if name == "intent":
            self.choose(value or None)
            return f"intent: {self.intent or 'any'}"
        if name == "new":
            self.turns = []
            return "forgotten"
        return HELP


def open_replies(settings: Settings, uri: str, intent: str | None) -> int:
    """Reply to the lines of standard input until it ends; return the exit status.

    Args:
        intent: of the replies; None for any.

    Raises:
        InputError: there is no such model, or no such intent.
    """
    conversation = _opened(settings, uri, intent)
    if conversation.gate.notice is not None:
        print(conversation.gate.notice)
    print(HELP)
    try:
        for line in typed_lines(sys.stdin):
            if line.strip() == "/quit":
                break
            try:
                print(conversation.answer(line[:MOST_CHARACTERS]))
            except InputError as error:
                print(f"! {error}")
    except KeyboardInterrupt:
        pass
    return 0


def _opened(settings: Settings, uri: str, intent: str | None) -> Conversation:
    model = load_generator(model_at(uri, settings).path)
    threads = settings.models.training_threads
    return Conversation(model, settings.replies.decoding, threads, intent, safe_conversation(settings))
