"""Parser of subtitle files in OPUS XML, with libxml2 (lxml) in strict mode: no recovery, DTD, entities or network."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lxml import etree

from udfs.opus.cues import Fault, fault_rows
from udfs.opus.encodings import as_utf8
from udfs.opus.fast_parser import Cut, attribute_quirks, cut_regular, has_regular_head
from udfs.opus.files import UnreadableError
from udfs.opus.meta import meta_columns
from udfs.opus.normal_form import normal_form
from udfs.opus.sentences import Sentences, TimeMark, parted, sentences_of
from udfs.opus.speaker_changes import MOST_CHARACTERS
from udfs.opus.tokens import opus_tokens, straight

_WRONG_ENCODING = frozenset({9, 31, 32, 81})  # libxml2: invalid char, unknown/unsupported/invalid encoding
MOST_MARKS = 1_000_000
"""Most tags and attributes of a file for which a tree is built; each takes up to 240 bytes."""
_WORD = b"<w"
MOST_RAW_BYTES = 16_000_000
"""Most bytes of a file whose text is tokenised here; a film has about 200,000."""
_STRICT: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "recover": False,
    "collect_ids": False,
}
_OUTSIDE: Any = etree.XPath("//w[not(ancestor::s)] | //time[not(ancestor::s)]")
_TRUECASED: Any = etree.XPath("//w[@alternative]")
_NOT_META: Any = etree.XPath("/*/*[position() > 1 or not(self::meta)] | //s | //w | //time")


@dataclass
class Subtitles:
    """A parsed file; ``meta`` has the columns of ``subtitles.files`` from ``<meta>``."""

    document_id: str | None
    sentences: Sentences
    token_count: int
    meta: dict[str, object]
    language_name: str | None
    quirks: Counter[str]


def parse_subtitles(data: bytes, truecase: bool = True, language: str | None = None) -> Subtitles:
    """Parse one file.

    Words are brought into normal form, and a sentence in which the speaker changes becomes several
    (``udfs.opus.speaker_changes``). A file without a ``<w>`` is in OPUS's ``raw`` form: the text of its sentences is
    tokenised here.

    Args:
        truecase: use a word's ``alternative``, the truecased form of shouted text.
        language: whose abbreviations the tokens of the ``raw`` form follow.

    Raises:
        UnreadableError: doctype, bad_encoding, not_xml, no_sentences, too_large.
    """
    data = as_utf8(data)
    return without_endless(_by_arrays(data, truecase) or _by_tree(data, truecase, language))


def without_endless(file: Subtitles, lines: Mapping[int, int] | None = None) -> Subtitles:
    """Return a file without the sentences of more than ``MOST_CHARACTERS``, which become faults.

    Args:
        lines: the line in which each block begins; without them a fault has the number of the sentence.
    """
    lengths = pc.utf8_length(file.sentences.text).to_numpy(zero_copy_only=False)  # type: ignore[attr-defined]
    endless = np.flatnonzero(lengths > MOST_CHARACTERS).tolist()
    if not endless:
        return file
    texts = [file.sentences.text[at].as_py() for at in endless]
    blocks = [file.sentences.block_first[at].as_py() for at in endless]
    places = [at + 1 if lines is None else lines.get(block, 0) for at, block in zip(endless, blocks, strict=True)]
    faults = [Fault("sentence_too_long", *found) for found in zip(places, texts, strict=True)]
    kept = pa.array(lengths <= MOST_CHARACTERS)
    file.sentences = Sentences(*(getattr(file.sentences, one.name).filter(kept) for one in fields(Sentences)))
    file.token_count -= sum(text.count(" ") + 1 for text in texts)
    file.meta["faults"] = [*file.meta.get("faults", ()), *fault_rows(faults)]  # type: ignore[misc]
    file.quirks["sentence_too_long"] = len(faults)
    return file


def parse_by_tree(data: bytes, truecase: bool = True) -> Subtitles:
    """Parse one file as ``parse_subtitles`` does, with the tree parser alone, which defines what each file holds."""
    return _by_tree(as_utf8(data), truecase, None)


def _by_arrays(data: bytes, truecase: bool) -> Subtitles | None:
    """Parse a file with the fast parser; None for one that is not in the regular form or not well-formed."""
    if _WORD not in data or not has_regular_head(data) or not _is_well_formed(data):
        return None
    cut = cut_regular(data, truecase)
    if cut is None:
        return None
    tail = _tail(cut)
    if tail is None or _NOT_META(tail):
        return None
    return _subtitles(cut.document_id, cut.sentences, cut.token_count, tail.find("meta"), cut.quirks)


def _by_tree(data: bytes, truecase: bool, language: str | None) -> Subtitles:
    _refuse_doctype(data)
    quirks = attribute_quirks(data)
    document_id, found, meta = _from_tree(data, truecase, language, quirks)
    return _subtitles(document_id, *sentences_of(parted(found, quirks), quirks), meta, quirks)


def _subtitles(
    document_id: str | None, sentences: Sentences, tokens: int, meta: Any, quirks: Counter[str]
) -> Subtitles:
    columns, language_name = meta_columns(meta, quirks)
    return Subtitles(document_id, sentences, tokens, columns, language_name, +quirks)


class _NoTree:
    """A parser target that lets libxml2 check a file without building a tree."""

    def close(self) -> None: ...


def _is_well_formed(data: bytes) -> bool:
    """Return whether libxml2 can read the whole file; the tree parser reports the error."""
    try:
        etree.fromstring(data, etree.XMLParser(target=_NoTree(), **_STRICT))  # type: ignore[arg-type]
    except etree.XMLSyntaxError:
        return False
    return True


def _tail(cut: Cut) -> Any:
    """Return what follows the sentences as a document of its own; None if it has an error, such as of a namespace."""
    try:
        return etree.fromstring(b"<document>" + cut.tail, _tree_parser())
    except etree.XMLSyntaxError:
        return None


def _tree_parser() -> etree.XMLParser:
    return etree.XMLParser(remove_blank_text=True, remove_comments=True, remove_pis=True, encoding="utf-8", **_STRICT)


def _from_tree(
    data: bytes, truecase: bool, language: str | None, quirks: Counter[str]
) -> tuple[str | None, list[tuple[list[str], list[TimeMark]]], Any]:
    """Return document id, sentences and ``<meta>`` of a file in any form."""
    root = _document(data)
    _regularise(root, quirks)
    if b"alternative=" in data:
        _use_alternatives(root, truecase, quirks)
    sentences: list[tuple[list[str], list[TimeMark]]] = []
    is_raw = _WORD not in data
    quirks["plain_text"] += is_raw
    if is_raw:
        if len(data) > MOST_RAW_BYTES:
            raise UnreadableError("too_large", f"{len(data)} bytes without a <w>, more than {MOST_RAW_BYTES}")
        markup = {element.tag for element in root.iterdescendants() if isinstance(element.tag, str)}
        for sentence in root.iter("s"):
            etree.strip_tags(sentence, *(markup - {"s", "time"}))
    for element in root.iter("s", "time") if is_raw else root.iter("s", "w", "time"):
        if is_raw:
            _add_raw(element, sentences, language)
        elif element.tag == "s":
            sentences.append(([], []))
        elif element.tag == "w":
            sentences[-1][0].append(element.text or "")
        else:
            sentences[-1][1].append((len(sentences[-1][0]), element.get("id") or "", element.get("value") or ""))
    if not sentences:
        raise UnreadableError("no_sentences", f"<{root.tag}> without a single <s>")
    return root.get("id"), sentences, root.find("meta")


def _add_raw(element: Any, sentences: list[tuple[list[str], list[TimeMark]]], language: str | None) -> None:
    """Add a sentence with the words before its first time tag, or a time tag with the words after it."""
    if element.tag == "s":
        sentences.append(([], []))
        text = element.text
    else:
        sentences[-1][1].append((len(sentences[-1][0]), element.get("id") or "", element.get("value") or ""))
        text = element.tail
    if text and not text.isspace():
        sentences[-1][0].extend(opus_tokens(straight(normal_form(text)), language).split(" "))


def _refuse_doctype(data: bytes) -> None:
    if b"<!DOCTYPE" in data:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")


def _document(data: bytes) -> Any:
    if data.count(b"<") + data.count(b"=") > MOST_MARKS:
        raise UnreadableError("too_large", f"more than {MOST_MARKS} tags and attributes")
    try:
        root = etree.fromstring(data, _tree_parser())
    except etree.XMLSyntaxError as error:
        code = getattr(error, "code", None)
        reason = "bad_encoding" if code in _WRONG_ENCODING and not _is_utf8(data) else "not_xml"
        raise UnreadableError(reason, error.msg or "not well-formed") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")
    return root


def _is_utf8(data: bytes) -> bool:
    """Return whether the bytes are valid UTF-8; if so, the file has a forbidden character."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _regularise(root: Any, quirks: Counter[str]) -> None:
    """Convert a tree to the form document/s/(time|w): remove stray words and flatten nested elements."""
    if root.tag in ("w", "time"):
        raise UnreadableError("no_sentences", f"<{root.tag}> without a single <s>")
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
