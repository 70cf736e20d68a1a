"""One subtitle file in OPUS XML -> one record, a sentence's fields in parallel lists.

The parser is libxml2 (lxml) in its strict mode: no recovery, no DTD, no entities, no network.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lxml import etree

from udfs.opus_files import UnreadableError
from udfs.opus_text import Mark, cut_regular

ADVERT_BLOCK = 9999
FIRST_YEAR, LAST_YEAR = 1874, 2100
_WRONG_ENCODING = frozenset({9, 31, 32, 81})  # libxml2: invalid char, unknown/unsupported/invalid encoding
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[,.]([0-9]{1,3}))?", re.ASCII)
_TIME_ID = re.compile(r"T([0-9]{1,9})([SE])")
_TWO_DIGITS_EACH = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})")
_MINUTES = re.compile(r"(?:([0-9]{1,2}) ?h(?:ours?)?\.? ?)?(?:([0-9]{1,4}) ?(?:m|min|mins|minutes)?\.?)?", re.ASCII)
_Tag = tuple[int, bool, int, int | None]  # words before it, is a start, block, milliseconds
_STRICT: dict[str, Any] = {
    "resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "recover": False,
    "collect_ids": False,
}  # fmt: skip
_FRACTIONS = {f",{ms:03}": ms for ms in range(1000)}
_OUTSIDE: Any = etree.XPath("//w[not(ancestor::s)] | //time[not(ancestor::s)]")
_TRUECASED: Any = etree.XPath("//w[@alternative]")


@dataclass
class Sentences:
    """A file's sentences, one list a field; times in milliseconds."""

    block_first: list[int | None] = field(default_factory=list)
    block_last: list[int | None] = field(default_factory=list)
    start_ms: list[int | None] = field(default_factory=list)
    end_ms: list[int | None] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


@dataclass
class Subtitles:
    """A parsed file: ``meta`` has the columns of ``subtitles.files`` that ``<meta>`` gives."""

    document_id: str | None
    sentences: Sentences
    token_count: int
    meta: dict[str, object]
    language_name: str | None
    quirks: Counter[str]


def parse_subtitles(data: bytes, truecase: bool = True) -> Subtitles:
    """Parse one file.

    Args:
        data: the unpacked XML.
        truecase: take a word's ``alternative``, the truecased form of shouted text, as the word.

    Raises:
        UnreadableError: doctype, bad_encoding, not_xml, no_sentences.
    """
    _refuse_doctype(data)
    quirks: Counter[str] = Counter()
    if b"initial=" in data:
        quirks["word_corrected"] = data.count(b" initial=")
    if b"emphasis=" in data:
        quirks["emphasis"] = data.count(b" emphasis=")
    cut = cut_regular(data, truecase) if _is_well_formed_utf8(data) else None
    if cut is not None:
        document_id, found, meta = cut.document_id, cut.sentences, _fragment(cut.meta)
        quirks["word_truecased"] = cut.truecased
    else:
        document_id, found, meta = _from_tree(data, truecase, quirks)  # type: ignore[assignment]
    sentences, tokens = _sentences(found, quirks)
    columns, language_name = _meta(meta, quirks)
    return Subtitles(document_id, sentences, tokens, columns, language_name, +quirks)


class _Nothing:
    """A target that keeps nothing: libxml2 then checks the file without building a tree."""

    def close(self) -> None:
        return None


def _is_well_formed_utf8(data: bytes) -> bool:
    """Whether libxml2 reads the file to its end; what is wrong with it, the tree's parser says."""
    try:
        etree.fromstring(data, etree.XMLParser(target=_Nothing(), **_STRICT))  # type: ignore[arg-type]
        return data.startswith(b"<?xml")
    except etree.XMLSyntaxError:
        return False


def _fragment(meta: str | None) -> Any:
    return None if meta is None else etree.fromstring(meta, etree.XMLParser(**_STRICT))


def _from_tree(
    data: bytes, truecase: bool, quirks: Counter[str]
) -> tuple[str | None, list[tuple[list[str], list[Mark]]], Any]:
    """Document id, sentences and ``<meta>`` of a file in any writing."""
    root = _document(data)
    _regularise(root, quirks)
    if b"alternative=" in data:
        _use_alternatives(root, truecase, quirks)
    sentences: list[tuple[list[str], list[Mark]]] = []
    for element in root.iter("s", "w", "time"):
        if element.tag == "s":
            sentences.append(([], []))
        elif element.tag == "w":
            sentences[-1][0].append(element.text or "")
        else:
            sentences[-1][1].append((len(sentences[-1][0]), element.get("id") or "", element.get("value") or ""))
    if not sentences:
        raise UnreadableError("no_sentences", f"<{root.tag}> without a single <s>")
    return root.get("id"), sentences, root.find("meta")


def _refuse_doctype(data: bytes) -> None:
    head = data[: 1 << 16]
    if b"<!DOCTYPE" in data or "<!DOCTYPE".encode("utf-16-le") in head or "<!DOCTYPE".encode("utf-16-be") in head:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")


def _document(data: bytes) -> Any:
    parser = etree.XMLParser(remove_blank_text=True, remove_comments=True, remove_pis=True, **_STRICT)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        code = getattr(error, "code", None)
        reason = "bad_encoding" if code in _WRONG_ENCODING and _not_in_its_encoding(data) else "not_xml"
        raise UnreadableError(reason, error.msg or "not well-formed") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")
    return root


def _not_in_its_encoding(data: bytes) -> bool:
    """Whether the bytes are no text in the encoding that the file declares (else: a forbidden character)."""
    declared = re.match(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""", data.removeprefix(b"\xef\xbb\xbf"))
    try:
        data.decode(declared.group(1).decode() if declared else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return True
    return False


def _regularise(root: Any, quirks: Counter[str]) -> None:
    """Bring an odd tree into the form document/s/(time|w): stray words go, nesting is flattened."""
    for stray in _OUTSIDE(root):
        quirks[f"{stray.tag}_outside_sentence"] += 1
        stray.getparent().remove(stray)
    for sentence in [s for s in root.iter("s") if next(s.iterancestors("s"), None) is None]:
        nested = sum(1 for _ in sentence.iterdescendants("s"))
        if nested:
            quirks["sentence_nested"] += nested
            etree.strip_tags(sentence, "s")
    for word in [w for w in root.iter("w") if len(w)]:
        quirks["word_with_markup"] += 1
        text = "".join(word.itertext())
        for child in list(word):
            word.remove(child)
        word.text = text


def _use_alternatives(root: Any, truecase: bool, quirks: Counter[str]) -> None:
    for word in _TRUECASED(root):
        quirks["word_truecased"] += 1
        alternative = word.get("alternative")
        if truecase and alternative.strip():
            word.text = alternative


def _sentences(found: list[tuple[list[str], list[Mark]]], quirks: Counter[str]) -> tuple[Sentences, int]:
    """Times, blocks and text of the sentences as they were found; and how many words they have."""
    out = Sentences()
    open_block: int | None = None
    tokens = backwards = latest = 0
    for words, marks in found:
        if not all(words) or any(map(str.isspace, words)):
            words, marks = _without_empty(words, marks, quirks)
        tags: list[_Tag] = []
        for at, name, value in marks:
            known = _side_and_block(name)
            ms = time_ms(value, quirks)
            if ms is not None:
                backwards += ms < latest
                latest = ms
            if known is None:
                quirks["time_odd_id"] += 1
            else:
                tags.append((at, *known, ms))
                if known == (True, ADVERT_BLOCK):
                    quirks["advert_block"] += 1
        open_block = _close(out, words, tags, open_block, quirks)
        tokens += len(words)
    quirks["time_backwards"] += backwards
    quirks["sentence_without_start"] += out.start_ms.count(None)
    quirks["sentence_without_end"] += out.end_ms.count(None)
    quirks["sentence_without_block"] += out.block_first.count(None)
    return out, tokens


def _without_empty(words: list[str], marks: list[Mark], quirks: Counter[str]) -> tuple[list[str], list[Mark]]:
    """Leave out words without text; time tags keep their place among the others."""
    full = [bool(word) and not word.isspace() for word in words]
    quirks["word_empty"] += len(full) - sum(full)
    return (
        [word for word, stays in zip(words, full, strict=True) if stays],
        [(sum(full[:at]), name, value) for at, name, value in marks],
    )


@lru_cache(maxsize=1 << 14)
def _side_and_block(name: str) -> tuple[bool, int] | None:
    """``T4S`` -> (True, 4); None for an id of another form."""
    match = _TIME_ID.fullmatch(name)
    return (match.group(2) == "S", int(match.group(1))) if match else None


@lru_cache(maxsize=1 << 14)
def _whole_seconds(clock: str) -> int | None:
    """``01:02:03`` -> milliseconds; None for another form."""
    match = _TWO_DIGITS_EACH.fullmatch(clock)
    return ((int(match[1]) * 60 + int(match[2])) * 60 + int(match[3])) * 1000 if match else None


def time_ms(value: str, quirks: Counter[str]) -> int | None:
    """Milliseconds of a time value.

    ``00:57:1,901`` is 1.901 s past 57 min: a second's leading zero got lost; ``00:00:2,00`` is 2 s: what
    follows the comma is a decimal fraction. Negative and other forms give None. Each is counted.
    """
    seconds, fraction = _whole_seconds(value[:8]), _FRACTIONS.get(value[8:])
    if seconds is not None and fraction is not None:
        return seconds + fraction
    if value.lstrip()[:1] == "-":
        quirks["time_negative"] += 1
        return None
    match = _CLOCK.fullmatch(value.strip())
    if match is None:
        quirks["time_malformed"] += 1
        return None
    quirks["time_odd_form"] += 1
    minutes = int(match[1]) * 60 + int(match[2])
    return minutes * 60_000 + int(match[3]) * 1000 + int((match[4] or "0").ljust(3, "0"))


def _close(
    out: Sentences, words: list[str], tags: list[_Tag], open_block: int | None, quirks: Counter[str]
) -> int | None:
    """Append a finished sentence; gives the block that is still open after it."""
    if not tags:
        start = end = None
        first = last = still_open = open_block
    elif len(tags) == 2 and words and tags[0][:2] == (0, True) and tags[1][:2] == (len(words), False):
        (_, _, first, start), (_, _, _, end) = tags
        last, still_open = first, None
    else:
        start, end = _start_and_end(tags, len(words))
        first, last, still_open = _blocks(tags, len(words), open_block)
        if len(tags) > 2:
            quirks["sentence_with_more_than_one_pair"] += 1
    out.text.append(_text(words, quirks))
    out.start_ms.append(start)
    out.end_ms.append(end)
    out.block_first.append(first)
    out.block_last.append(last)
    return still_open


def _text(words: list[str], quirks: Counter[str]) -> str:
    """Words joined by one space; white space within a word becomes a no-break space, so that split counts."""
    if not words:
        quirks["sentence_without_words"] += 1
        return ""
    text = " ".join(words)
    if text.count(" ") == len(words) - 1 and "\n" not in text and "\t" not in text and "\r" not in text:
        return text
    joined = ["\u00a0".join(word.split()) for word in words]
    quirks["word_with_space"] += sum(word != plain for word, plain in zip(joined, words, strict=True))
    return " ".join(joined)


def _start_and_end(tags: list[_Tag], words: int) -> tuple[int | None, int | None]:
    """The last start before the first word, the first end after the last one."""
    starts = [ms for at, is_start, _, ms in tags if is_start and at == 0]
    ends = [ms for at, is_start, _, ms in tags if not is_start and at == words]
    if not words:
        return (starts[0] if starts else None), (ends[0] if ends else None)
    return (starts[-1] if starts else None), (ends[0] if ends else None)


def _blocks(tags: list[_Tag], words: int, open_block: int | None) -> tuple[int | None, int | None, int | None]:
    """Blocks of the first and the last word, and the one still open at the sentence's end.

    A word stands in the block that was opened last and not closed, in an earlier sentence perhaps; where
    none is open, in the one whose end tag comes next (its start tag is missing).
    """
    still_open: int | None = open_block
    first = last = None
    have_first = have_last = False
    for at, is_start, number, _ in tags:
        closing = None if is_start else number
        if at > 0 and not have_first:
            first, have_first = still_open if still_open is not None else closing, True
        if words and at >= words and not have_last:
            last, have_last = still_open if still_open is not None else closing, True
        still_open = number if is_start else None
    if not words:
        first = last = tags[0][2] if open_block is None or tags[0][1] else open_block
        return first, last, still_open
    return (first if have_first else still_open), (last if have_last else still_open), still_open


def _meta(meta: Any, quirks: Counter[str]) -> tuple[dict[str, object], str | None]:
    """Columns from ``<meta>``, null where it does not say; and its language's name."""
    if meta is None:
        quirks["no_meta"] += 1

    def said(path: str) -> str | None:
        text = None if meta is None else meta.findtext(path)
        text = " ".join(text.split()) if text else ""
        return None if text in ("", "N/A") else text

    columns: dict[str, object] = {
        "year": year_of_cinema(said("source/year"), quirks),
        "genres": genre_list(said("source/genre")),
        "country": said("source/country"),
        "original": said("source/original"),
        "duration_ms": duration_ms(said("source/duration"), quirks),
        "subtitle_duration_ms": duration_ms(said("subtitle/duration"), quirks),
        "blocks": _int(said("subtitle/blocks")),
        "cds": said("subtitle/cds"),
        "subtitle_date": said("subtitle/date"),
        "encoding": said("conversion/encoding"),
        "machine_translated": (said("subtitle/machine_translated") or "0").lower() in ("1", "true", "yes"),
    }
    return columns, said("subtitle/language")


def genre_list(text: str | None) -> list[str]:
    """``Crime,Drama`` (v2018) and ``Action, Adventure, Sci-Fi`` (v2016), each genre once."""
    return list(dict.fromkeys(genre for part in (text or "").split(",") if (genre := part.strip())))


def year_of_cinema(text: str | None, quirks: Counter[str]) -> int | None:
    """The year, None when it is none of cinema: 0, 666 and 1191 occur."""
    year = _int(text)
    if year is not None and not FIRST_YEAR <= year <= LAST_YEAR:
        quirks["year_not_of_cinema"] += 1
        return None
    return year


def duration_ms(text: str | None, quirks: Counter[str]) -> int | None:
    """A film's or an upload's length: ``101`` and ``90 min`` are minutes, ``1 h 41 min``, ``00:00:2,00``."""
    if text is None:
        return None
    if ":" in text:
        return time_ms(text, Counter())
    match = _MINUTES.fullmatch(text.lower())
    if match is None or not any(match.groups()):
        quirks["duration_malformed"] += 1
        return None
    minutes = int(match.group(1) or 0) * 60 + int(match.group(2) or 0)
    return minutes * 60_000 or None


def _int(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and text.isascii() and len(text) < 10 else None
