"""The response generator's tokenizer: one of the tokenizers library, with added tokens for turns and intents."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from conf.errors import InputError, message_line

FILE = "tokenizer.json"
INTENTS = "intents.json"
CHARACTERS_PER_TOKEN = 64
"""Upper bound on the length of a token: only the last characters of a turn that can fit are encoded."""


class ReplyTokenizer:
    """A tokenizer with added ids above its vocabulary: `pad`, `turn`, `end`, and a start token for each intent.

    Args:
        tokenizer: any of the tokenizers library; its special tokens are encoded as plain text.
        intents: labels that a reply can be conditioned on, in id order.
    """

    def __init__(self, tokenizer: Tokenizer, intents: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self.intents = tuple(intents)
        tokenizer.encode_special_tokens = True
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._first = tokenizer.get_vocab_size(with_added_tokens=True)
        self.pad, self.turn, self.end, self._start = range(self._first, self._first + 4)
        self.size = self._first + 4 + len(self.intents)

    @property
    def unwritten(self) -> list[int]:
        """Return the ids that never occur in a reply."""
        return [id_ for id_ in range(self._first, self.size) if id_ != self.end]

    def start_of(self, intent: str | None) -> int:
        """Return the start token of a reply with `intent`, or of any reply for None.

        Raises:
            InputError: an unknown intent.
        """
        if intent is None:
            return self._start
        try:
            return self._start + 1 + self.intents.index(intent)
        except ValueError:
            raise InputError(f"intent {intent!r} is not known: choose one of {', '.join(self.intents)}") from None

    def texts(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the ids of each text."""
        return [tuple(found.ids) for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def contexts(self, contexts: Sequence[Sequence[str]], max_tokens: int) -> list[tuple[int, ...]]:
        """Return each history's ids with a `turn` after each turn, truncated on the left to `max_tokens` (EDOS E).

        Raises:
            InputError: a history without a turn.
        """
        most = max_tokens * CHARACTERS_PER_TOKEN
        near = [[turn[-most:] for turn in turns[-max_tokens:]] for turns in contexts]
        if any(not turns for turns in near):
            raise InputError("a reply needs at least one turn before it")
        ids = iter(self.texts([turn for turns in near for turn in turns]))
        joined = [[id_ for _ in turns for id_ in (*next(ids), self.turn)] for turns in near]
        return [tuple(row[-max_tokens:]) for row in joined]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of a reply's ids up to the end token."""
        kept = list(ids[: ids.index(self.end)] if self.end in ids else ids)
        return str(self._tokenizer.decode([id_ for id_ in kept if id_ < self._first])).strip()

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json` and `intents.json`."""
        self._tokenizer.save(str(folder / FILE))
        (folder / INTENTS).write_text(json.dumps(self.intents) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, intents: Sequence[str] | None = None) -> "ReplyTokenizer":
        """Read a folder's `tokenizer.json`, with the folder's intents unless `intents` is given.

        Raises:
            InputError: the folder has no tokenizer that the library can read.
        """
        try:
            known = json.loads((folder / INTENTS).read_text(encoding="utf-8")) if intents is None else intents
            return cls(Tokenizer.from_file(str(folder / FILE)), known)
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{folder}: no {FILE} that the tokenizers library reads ({message_line(error)})") from None


def trained_tokenizer(texts: Iterable[str], vocabulary: int, intents: Sequence[str]) -> ReplyTokenizer:
    """Train a byte-level BPE like RoBERTa's, of at most `vocabulary` tokens, on texts (ours).

    A small vocabulary suits small machines: its embeddings are the widest matrix of a small model.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return ReplyTokenizer(tokenizer, intents)
