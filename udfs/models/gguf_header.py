"""The header of a GGUF file, read within bounds: a damaged or hostile file is refused before llama.cpp opens it.

``gguf.GGUFReader`` takes 7.6 s of CPU for a vocabulary of 150,000 tokens and as many merges, this module 0.2 s. It does
not end on a file whose array of tokens is one of arrays. llama.cpp itself checks the tensors.
"""

import mmap
import struct
from pathlib import Path
from typing import Any, NamedTuple

from conf.errors import InputError, message_line

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_KEYS = 10_000
MOST_TENSORS = 100_000
STRING = 8
ARRAY = 9
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Struct formats of the scalar types, by their number in the file."""
CONTROL = 3
ADDED = 4
"""Types of the tokens that are no text: markers of a chat, and others that were added to the vocabulary."""
TOKENS = "tokenizer.ggml.tokens"
TOKEN_TYPES = "tokenizer.ggml.token_type"


class GgufHeader(NamedTuple):
    """Description of a model in the header of its GGUF file.

    Attributes:
        architecture: such as ``llama`` or ``qwen2``.
        context: tokens of the context that the model was trained with; None if the file does not say.
        marks: tokens with a meaning of their own, such as ``<|im_end|>``.
        chat: whether the file has a chat template.
    """

    architecture: str
    context: int | None
    marks: tuple[str, ...]
    chat: bool


def gguf_file(folder: Path) -> Path:
    """Return the only GGUF file of a folder.

    Raises:
        InputError: the folder has none, or several.
    """
    found = sorted(folder.glob("*.gguf"))
    if len(found) != 1:
        raise InputError(f"{folder}: {len(found)} .gguf files, where llama.cpp needs one")
    return found[0]


def read_header(path: Path) -> GgufHeader:
    """Return a GGUF file's header, after a look at each of its values.

    Raises:
        InputError: the file is not GGUF, is cut off in its header, or gives counts outside itself.
    """
    try:
        with path.open("rb") as content, mmap.mmap(content.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _header(_Cursor(data))
    except (ValueError, struct.error, OSError) as error:
        raise InputError(f"{path}: not a usable GGUF file ({message_line(error)}): fetch it again") from None


class _Cursor:
    """A place in a file's bytes, which never passes its end."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.place = 0

    def take(self, size: int) -> bytes:
        end = self.place + size
        if end > len(self.data):
            raise ValueError(f"it ends at byte {len(self.data)}, where {size} bytes more are announced")
        taken = self.data[self.place : end]
        self.place = end
        return taken

    def scalar(self, format: str) -> Any:
        return struct.unpack(f"<{format}", self.take(struct.calcsize(f"<{format}")))[0]

    def text(self) -> str:
        return self.take(self.scalar("Q")).decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """Return a value of the type with this number; an array of scalars as a tuple."""
        if kind == STRING:
            return self.text()
        if kind in FORMATS:
            return self.scalar(FORMATS[kind])
        if kind != ARRAY:
            raise ValueError(f"type {kind} of a value is not known")
        inner = self.scalar("I")
        length = self.scalar("Q")
        if inner == STRING:
            return [self.text() for _ in self._bounded(length)]
        if inner not in FORMATS:
            raise ValueError(f"type {inner} of an array's values is not known")
        format = FORMATS[inner]
        taken = self.take(length * struct.calcsize(format))
        return struct.unpack(f"<{length}{format}", taken)

    def _bounded(self, length: int) -> range:
        """Return a range over texts; each takes the eight bytes of its length at least."""
        if length * 8 > len(self.data) - self.place:
            raise ValueError(f"an array of {length} texts does not fit into it")
        return range(length)


def _header(at: _Cursor) -> GgufHeader:
    if at.take(4) != MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = at.scalar("I")
    tensors = at.scalar("Q")
    keys = at.scalar("Q")
    if version not in VERSIONS:
        raise ValueError(f"version {version}, not 2 or 3")
    if not 0 < tensors <= MOST_TENSORS or not 0 < keys <= MOST_KEYS:
        raise ValueError(f"{keys} keys and {tensors} tensors are announced")
    values = {at.text(): at.value(at.scalar("I")) for _ in range(keys)}
    architecture = values.get("general.architecture")
    tokens = values.get(TOKENS)
    types = values.get(TOKEN_TYPES, ())
    if not isinstance(architecture, str) or not isinstance(tokens, list) or not tokens:
        raise ValueError("it names no architecture, or has no vocabulary")
    if not isinstance(types, tuple) or len(types) not in (0, len(tokens)):
        raise ValueError(f"the types of {len(tokens)} tokens do not fit")
    context = values.get(f"{architecture}.context_length")
    marks = tuple(
        token for token, kind in zip(tokens, types, strict=False) if kind in (CONTROL, ADDED) and len(token) > 1
    )
    chat = isinstance(values.get("tokenizer.chat_template"), str)
    return GgufHeader(architecture, context if isinstance(context, int) and context > 0 else None, marks, chat)
