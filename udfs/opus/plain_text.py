"""Sentences of SubRip and WebVTT files, parted and tokenised as OPUS parts and tokenises them."""

import re
from collections import Counter

from udfs.opus.cues import Cue, cues_of
from udfs.opus.encodings import as_text
from udfs.opus.files import UnreadableError
from udfs.opus.meta import meta_columns
from udfs.opus.parser import Subtitles
from udfs.opus.sentences import Mark, sentences_of
from udfs.opus.tokens import opus_tokens, split_sentences

MOST_BYTES = 3_000_000
MOST_CUES = 100_000
"""Most bytes and cues of a file; a film has about 100,000 bytes and 500 to 3,000 cues."""
_DASH = re.compile("[-\u2010-\u2015](?![-\u2010-\u2015])")
_ENDED = re.compile(r"(?<![.])[.?!][\"')\]]*$|[?!][.\"')\]]*$")


def parse_plain_text(data: bytes, language: str | None) -> Subtitles:
    """Parse the bytes of a ``.srt`` or ``.vtt`` file.

    A sentence ends at an end mark before a capital, and before a line that opens with a dash. At the border of two cues
    it goes on if it has no end mark and the next cue opens with a small letter, and ends otherwise, which is what OPUS
    does at all but 43 of 4,264 such borders in 27 files. Cues are numbered from 1 in their order.

    Raises:
        UnreadableError: bad_encoding, no_cues, too_large.
    """
    if len(data) > MOST_BYTES:
        raise UnreadableError("too_large", f"{len(data)} bytes of plain text, more than {MOST_BYTES}")
    text, codec = as_text(data, language)
    cues = cues_of(text)
    if not cues:
        raise UnreadableError("no_cues", "no line of the form 00:01:02,345 --> 00:01:04,000")
    if len(cues) > MOST_CUES:
        raise UnreadableError("too_large", f"{len(cues)} cues, more than {MOST_CUES}")
    quirks = Counter(plain_text=1, cue_without_text=sum(not cue.lines for cue in cues))
    sentences, tokens = sentences_of(_sentences(cues, language), quirks)
    columns, _ = meta_columns(None, Counter())
    columns |= {"encoding": codec, "blocks": len(cues)}
    return Subtitles(None, sentences, tokens, columns, None, +quirks)


def _sentences(cues: list[Cue], language: str | None) -> list[tuple[list[str], list[Mark]]]:
    """Return words and time marks of each sentence."""
    found: list[tuple[list[str], list[Mark]]] = []
    last = ""
    for number, cue in enumerate(cues, 1):
        parts = [part for unit in _units(cue.lines) for part in split_sentences(unit, language)]
        if not parts:
            continue
        words = [opus_tokens(part, language).split(" ") for part in parts]
        if found and not _ENDED.search(last[-8:]) and words[0][0][:1].islower():
            sentence = found[-1]
        else:
            sentence = ([], [])
            found.append(sentence)
        sentence[1].append((len(sentence[0]), f"T{number}S", cue.start))
        sentence[0].extend(words[0])
        for further in words[1:]:
            sentence = (further, [])
            found.append(sentence)
        sentence[1].append((len(sentence[0]), f"T{number}E", cue.end))
        last = parts[-1]
    return found


def _units(lines: list[str]) -> list[str]:
    """Return the lines of a cue, joined but where a line opens with a dash."""
    units: list[list[str]] = []
    for line in lines:
        if not units or _DASH.match(line):
            units.append([])
        units[-1].append(line)
    return [" ".join(unit) for unit in units]
