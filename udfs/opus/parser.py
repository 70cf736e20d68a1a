"""Parser of subtitle files in OPUS XML, with libxml2 (lxml) in strict mode: no recovery, DTD, entities or network."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from lxml import etree

from udfs.opus.fast_parser import cut_regular
from udfs.opus.files import UnreadableError
from udfs.opus.meta import meta_columns
from udfs.opus.sentences import Mark, Sentences, sentences_of

_WRONG_ENCODING = frozenset({9, 31, 32, 81})  # libxml2: invalid char, unknown/unsupported/invalid encoding
_STRICT: dict[str, Any] = {
    "resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False, "recover": False,
    "collect_ids": False,
}  # fmt: skip
_OUTSIDE: Any = etree.XPath("//w[not(ancestor::s)] | //time[not(ancestor::s)]")
_TRUECASED: Any = etree.XPath("//w[@alternative]")


@dataclass
class Subtitles:
    """A parsed file; ``meta`` has the columns of ``subtitles.files`` from ``<meta>``."""

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
        truecase: use a word's ``alternative``, the truecased form of shouted text.

    Raises:
        UnreadableError: doctype, bad_encoding, not_xml, no_sentences.
    """
    _refuse_doctype(data)
    quirks: Counter[str] = Counter()
    quirks["word_corrected"] = data.count(b" initial=")
    quirks["emphasis"] = data.count(b" emphasis=")
    document_id: str | None
    cut = cut_regular(data, truecase) if _is_well_formed_utf8(data) else None
    if cut is not None:
        document_id, sentences, tokens, meta = cut.document_id, cut.sentences, cut.token_count, _fragment(cut.meta)
        quirks += cut.quirks
    else:
        document_id, found, meta = _from_tree(data, truecase, quirks)
        sentences, tokens = sentences_of(found, quirks)
    columns, language_name = meta_columns(meta, quirks)
    return Subtitles(document_id, sentences, tokens, columns, language_name, +quirks)


class _NoTree:
    """A parser target that lets libxml2 check a file without building a tree."""

    def close(self) -> None: ...


def _is_well_formed_utf8(data: bytes) -> bool:
    """Return whether libxml2 can read the whole file; the tree parser reports the error."""
    try:
        etree.fromstring(data, etree.XMLParser(target=_NoTree(), **_STRICT))  # type: ignore[arg-type]
        return data.startswith(b"<?xml")
    except etree.XMLSyntaxError:
        return False


def _fragment(meta: str | None) -> Any:
    return None if meta is None else etree.fromstring(meta, etree.XMLParser(**_STRICT))


def _from_tree(
    data: bytes, truecase: bool, quirks: Counter[str]
) -> tuple[str | None, list[tuple[list[str], list[Mark]]], Any]:
    """Return document id, sentences and ``<meta>`` of a file in any form."""
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
        reason = "bad_encoding" if code in _WRONG_ENCODING and not _is_decodable(data) else "not_xml"
        raise UnreadableError(reason, error.msg or "not well-formed") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise UnreadableError("doctype", "a document type declaration; entities are not resolved")
    return root


def _is_decodable(data: bytes) -> bool:
    """Return whether the bytes are valid in the declared encoding; if so, the file has a forbidden character."""
    declared = re.match(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""", data.removeprefix(b"\xef\xbb\xbf"))
    try:
        data.decode(declared.group(1).decode() if declared else "utf-8")
    except (LookupError, UnicodeDecodeError):
        return False
    return True


def _regularise(root: Any, quirks: Counter[str]) -> None:
    """Convert a tree to the form document/s/(time|w): remove stray words and flatten nested elements."""
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
