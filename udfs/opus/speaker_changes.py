"""Changes of the speaker within a sentence of OPUS XML: ``Help ? - By the gate .``, ``I say , Tom : Come in .``

OPUS parts most of them, but not after an ellipsis or an interruption, nor before a label. What opens a turn at the
start of a line of plain text does so here, too.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from udfs.opus.speaker_labels import begins_sentence, is_shouted, label_of, labels_among

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\uff0d\ufe63"
_ENDS = ".?!\u2026\u061f\u06d4\u0964\u0965\u3002\uff01\uff1f;"
_CLOSING = "\"'\u201d\u2019\u00bb)\\]"
_CANDIDATE = re.compile(rf"[{_ENDS}{_DASHES[1:]}-][{_CLOSING} ]* [{_DASHES[1:]}/-]|[^>\s] > ?>")
_BEGINS = frozenset([*_DASHES, "/", ">"])
MOST_CHARACTERS = 2_000
"""A longer sentence is left out before any rule sees it (ours): the longest of 347,540 has 344. A line of dashes
without end overflows the stack of Java's regular expressions, and takes squared time of others."""
_MARK, _COLON = 1, 2
# What a byte may begin after a blank.
_FIRST_BYTES = np.zeros(256, dtype=np.uint8)
_FIRST_BYTES[[mark.encode()[0] for mark in _BEGINS]] = _MARK
_FIRST_BYTES[ord(":")] = _COLON
_ENDED = re.compile(rf"\S*[{_ENDS}][{_CLOSING}]*+")
_ONLY_CLOSING = re.compile(rf"[{_CLOSING}]+")
_INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}")
_SPEAKS = re.compile(rf"[{_DASHES}](?:[^{_DASHES}].*)?", re.DOTALL)
_OPENING = "-/>\"'([\u201c\u201e\u00ab\u00bf\u00a1" + _DASHES
_MARKS = frozenset([*_DASHES, "/", ">>"])
_MOST_NAME_TOKENS = 6
_CALLS = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "ask",
        "asked",
        "asks",
        "by",
        "call",
        "called",
        "dear",
        "for",
        "from",
        "in",
        "is",
        "like",
        "named",
        "of",
        "on",
        "or",
        "said",
        "say",
        "says",
        "tell",
        "tells",
        "than",
        "that",
        "the",
        "this",
        "told",
        "to",
        "was",
        "with",
    ]
)
"""Words after which a name before a colon is spoken of: ``I told Tom : ...``"""


def changes_of_speaker(texts: pa.Array) -> dict[int, list[int]]:
    """Return where the speaker changes within the sentences of a file.

    The mark of a new speaker is a dash or a slash after the end of a sentence or an interruption (``--``) and before a
    word that is not in small letters; ``>>``; and a label, ``TOM :`` or ``TOM ( ON RADIO ) :``, of a name that is a
    label of the file (``labels_among``), or in capitals behind a punctuation mark. These rules are ours.

    Args:
        texts: the file's sentences, tokens separated by blanks.

    Returns:
        for each sentence with a change, the numbers of the tokens that open a new one.
    """
    found: dict[int, list[int]] = {}
    with_mark, with_colon = _rows_with(texts, _MARK, _COLON)
    for row, text in with_mark.items():
        tokens = text.split(" ") if len(text) <= MOST_CHARACTERS and _CANDIDATE.search(text) else []
        places = [at for at in range(1, len(tokens)) if tokens[at][:1] in _BEGINS and _changes(tokens, at)]
        if places:
            found[row] = places
    if with_colon:
        _add_labels(with_colon, found, len(texts))
    return found


def _rows_with(texts: pa.StringArray, *kinds: int) -> list[dict[int, str]]:
    """Return the sentences in which a byte of each kind follows a blank, by their numbers."""
    _, bounds, packed = texts.buffers()
    if not len(texts) or packed is None:
        return [{} for _ in kinds]
    offsets = np.frombuffer(bounds, "<i4", len(texts) + 1)
    text = packed.to_pybytes()
    data = np.frombuffer(text, np.uint8)
    # Few bytes are one of "-/:>" or begin another dash: three comparisons are faster than a look into a table.
    near = ((data & 0xFD) == ord("-")) | ((data & 0xFB) == ord(":")) | (data >= 0xE2)
    places = np.flatnonzero(near[1:])
    places = places[data[places] == ord(" ")] + 1
    rows = np.searchsorted(offsets, places, side="right") - 1
    found = _FIRST_BYTES[data[places]]
    of_kinds = [dict.fromkeys(rows[found == kind].tolist()) for kind in kinds]
    return [{row: text[offsets[row] : offsets[row + 1]].decode() for row in chosen} for chosen in of_kinds]


def _changes(tokens: Sequence[str], at: int) -> bool:
    token = tokens[at]
    if token.startswith(">>") or (token == ">" and tokens[at + 1 : at + 2] == [">"]):
        return tokens[at - 1] != ">" and at + 1 + (token == ">") < len(tokens)
    is_slash = token.startswith("/")
    if not is_slash and not _SPEAKS.fullmatch(token):
        return False
    following = " ".join((token, *tokens[at + 1 : at + 4])).lstrip(f"{_OPENING} ")
    if len(token) == 1 and tokens[at + 1 : at + 2] and tokens[at + 1][:1] in _DASHES:
        return False
    first = following[:1]
    opens = first.isupper() if is_slash else first.isalnum() and (not first.islower() or following.startswith("l "))
    return opens and _ended(tokens, at)


def _ended(tokens: Sequence[str], at: int) -> bool:
    """Return whether a sentence ends, or breaks off with a doubled dash, before a token."""
    last = at - 1
    while last > 0 and _ONLY_CLOSING.fullmatch(tokens[last]):
        last -= 1
    token = tokens[last]
    if _ENDED.fullmatch(token):
        return last > 0 and not _INITIALS.fullmatch(token)
    doubled = len(token) > 1 and token[-1] in _DASHES and token[-2] in _DASHES
    return last > 0 and (doubled or (token in _DASHES and tokens[last - 1][-1:] in _DASHES and last > 1))


def _add_labels(sentences: dict[int, str], found: dict[int, list[int]], lines: int) -> None:
    """Add the places of labels within sentences to those of other marks."""
    labels = {row: label_of(text) for row, text in sentences.items()}
    known = labels_among(list(filter(None, labels.values())), lines)
    for row, text in sentences.items():
        tokens = text.split(" ") if len(text) <= MOST_CHARACTERS else []
        label = labels[row]
        first = tokens.index(":") + 1 if label is not None and label[0].upper() in known else 2
        places = [place for at in range(first, len(tokens) - 1) if (place := _label_before(tokens, at, known))]
        if places:
            found[row] = sorted({*found.get(row, ()), *places})


def _label_before(tokens: Sequence[str], colon: int, known: set[str]) -> int | None:
    """Return the token with which a known label before a colon begins, or None; a label at the start is none."""
    if tokens[colon] != ":" or (tokens[colon - 1][-1:].isdigit() and tokens[colon + 1][:1].isdigit()):
        return None
    end = colon
    if tokens[end - 1][-1:] in ")]":
        opening = [at for at in range(max(0, end - _MOST_NAME_TOKENS), end) if tokens[at][:1] in "(["]
        if not opening:
            return None
        end = opening[-1]
    for first in range(max(1, end - _MOST_NAME_TOKENS), end):
        name, before = " ".join(tokens[first:end]).replace(" '", "'"), tokens[first - 1]
        behind_mark = name[0].isalnum() and not before[-1:].isalnum()
        shouted = behind_mark and is_shouted(name, tokens) and not begins_sentence(name)
        if shouted or (name.upper() in known and not tokens[first][:1].islower()):
            if before[:1].isupper() or before.lower() in _CALLS:
                return None
            has_mark = before in _MARKS and (first < 2 or tokens[first - 2][-1:] not in _DASHES)
            return first - has_mark or None
    return None
