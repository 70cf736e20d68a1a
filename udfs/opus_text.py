"""The quick way through a file in OPUS's own regular writing: libxml2 checks it whole, the text is then cut.

What is not written exactly so (comments, CDATA, character references, other attributes' forms, stray or
nested elements, another encoding) is left to the tree in ``udfs.opus_xml``, with the same result.
"""

import re
from dataclasses import dataclass
from xml.sax.saxutils import unescape

_HEAD = re.compile(r'<\?xml version="1\.0" encoding="(?:utf|UTF)-8" ?\?>\s*<document id="([^"<>&]*)">\s*')
_WORD = re.compile(r"<w [^<>]*>([^<]*)</w>")
_ALTERNATIVE = re.compile(r' alternative="([^"<>]*)"')
_WORD_WITH_ATTRIBUTES = re.compile(r"<w( [^<>]*)>([^<]*)</w>")
_TIME = re.compile(r'id="([^"<>&]*)" value="([^"<>&]*)" ?/>')
_QUOTES = {"&quot;": '"', "&apos;": "'"}
Mark = tuple[int, str, str]  # words before it, id, value


@dataclass
class Cut:
    """A file cut into sentences, each its words and time tags; and its ``<meta>`` as it stands."""

    document_id: str
    sentences: list[tuple[list[str], list[Mark]]]
    truecased: int
    meta: str | None


def cut_regular(data: bytes, truecase: bool) -> Cut | None:
    """Cut a well-formed file; None when any of it is not in the regular writing."""
    if b"<!" in data or b"&#" in data or b"\r" in data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    head = _HEAD.match(text)
    if head is None:
        return None
    end = text.rfind("<meta>")
    if end < 0:
        end = text.rfind("</document>")
    body = text[head.end() : end]
    if "<?" in body:
        return None
    escaped, shouted = "&" in body, "alternative=" in body
    sentences: list[tuple[list[str], list[Mark]]] = []
    tags = truecased = 0
    first, *rest = body.split("<s ")
    if first:
        return None
    for piece in rest:
        words: list[str] = []
        marks: list[Mark] = []
        inside, closed, after = piece.partition("</s>")
        if not closed or (after and not after.isspace()) or inside[inside.find(">") - 1] == "/":
            return None
        untimed, *timed = inside.split("<time ")
        for number, part in enumerate((untimed, *timed)):
            if number:
                match = _TIME.match(part)
                if match is None:
                    return None
                marks.append((len(words), match[1], match[2]))
            if shouted and "alternative=" in part:
                for attributes, word in _WORD_WITH_ATTRIBUTES.findall(part):
                    other = _ALTERNATIVE.search(attributes)
                    truecased += other is not None
                    words.append(other[1] if other and truecase and other[1].strip() else word)
            else:
                words += _WORD.findall(part)
        tags += 2 + 2 * len(words) + len(marks)
        if escaped and "&" in inside:
            words = [unescape(word, _QUOTES) for word in words]
        sentences.append((words, marks))
    if tags != body.count("<"):
        return None
    meta = text[end : text.rfind("</document>")] if text.startswith("<meta>", end) else None
    return Cut(head[1], sentences, truecased, meta)
