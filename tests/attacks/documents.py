"""Generated OPUS documents and mutations of them; every text is made up from a seed."""

import random
from collections.abc import Callable

_SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "so", "vel", "ash", "or")
_ODD_WORDS = (
    "\u00e9t\u00e9",
    "\u4f60\u597d",
    "a\u00a0b",
    "\U0001f600",
    "&amp;",
    "&lt;i&gt;",
    "&#233;",
    "&quot;",
    "-",
    "...",
    " x",
    "x\ny",
    "",
    "alternative",
    "xmlns",
    "&amp;#38;",
    "\u2028",
    "\u0085",
    "'",
    "]]&gt;",
    "/",
    ">",
    "=",
    "\u00ad",
    "a\u200bb",
    "e\u0301",
    "\u0081",
    "\u2800",
)
_SPOKEN = (" . - ", " ? -", " - - - ", " &gt;&gt; ", " &gt; &gt; ", " . / ", " Ka : ", " ... \u2013 ", " ' - ' ")
"""Words of which the next but one may be another speaker's."""
_OTHER_ATTRIBUTES = (
    ' emphasis="true"',
    ' initial="l"',
    ' alternative="{word}"',
    ' alternative="{word}" emphasis="box"',
    ' alternative=""',
    ' initial="&amp;" alternative="a&amp;{word}"',
)
_TIMES = (
    "{h:02}:{m:02}:{s:02},{f:03}",
    "{h:02}:{m:02}:{s},{f:03}",
    "-{h:02}:{m:02}:{s:02},{f:03}",
    "{h}:{m}:{s}.{f}",
    "{h:02}:{m:02}:{s:02}",
    "soon",
    "{h:02}:{m:02}:{s:02},{f}",
    " {h:02}:{m:02}:{s:02},{f:03} ",
)
_METAS = (
    "<meta></meta>",
    "<meta><source><genre>Drama</genre><year>1999</year></source></meta>",
    "",
    "<meta/>",
    "<meta>\n<subtitle><language>English</language><blocks>12</blocks><cds>1/2</cds></subtitle></meta>",
    "<meta><source><duration>90 min</duration><year>666</year></source><conversion/></meta>",
)
ATTRIBUTES = (
    ' alternative="no"',
    " alternative='no'",
    ' alternative = "no"',
    ' alternative="n o"',
    '\nalternative="no"',
    ' alternative=""',
    ' alternative="&#32;"',
    ' alternative="\u00a0"',
    ' xmlns="u"',
    ' xmlns:a="u"',
    ' xml:lang="en"',
    ' xml:id="a"',
    ' a:b="c"',
    ' a=" alternative=" b=""',
    " a=' alternative=\"x\"'",
    ' Alternative="no"',
    ' x=""',
    ' x="/"',
    ' x=">"',
    ' x="&lt;"',
    " ",
    "\n",
)
"""Attributes, and blanks, of which most leave a tag well-formed."""
CONTENTS = (
    ' alternative="no" ',
    " initial=",
    " xmlns= ",
    "text",
    "&amp;",
    "&#233;",
    "&#10;",
    "<!-- x -->",
    "<![CDATA[<w>]]>",
    "<?x y?>",
    "<?x <meta></document> ?>",
    "<w>no</w>",
    '<w id="1">no</w>',
    "<w/>",
    "<w></w>",
    "<w> </w>",
    "<w>a<i>b</i></w>",
    '<w id="1" alternative="x">no</w>',
    "<s/>",
    '<s id="1"></s>',
    '<s id="1"><w id="2">no</w></s>',
    "<time/>",
    "<p/>",
    '<time id="T1S" value="00:00:01,000" />',
    '<time id="T1E" value="00:00:01,000"/>',
    '<time id="T9999S" value="x"/>',
    '<time value="00:00:01,000" id="T1S" />',
    '<time id="T1234567890S" value="00:00:01,000" />',
    "<a:b/>",
    "<meta/>",
    "<meta></meta>",
    "<meta><s><w>x</w></s></meta>",
    "<meta><year>1</year></meta>",
    "<document/>",
    "\u00a0",
    "\u2028",
)
"""Contents of an element, of which most leave a document well-formed."""
_PIECES = (
    "<",
    ">",
    "&",
    '"',
    "'",
    "=",
    "/",
    " ",
    "\n",
    "\t",
    "\r",
    "\r\n",
    ";",
    ":",
    "!",
    "?",
    "-",
    "\0",
    "\x01",
    "\ufffe",
    "\ud800",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE d>",
    "&#0;",
    "&#xD800;",
    "&x;",
    "&#13;",
    "<w>",
    "</w>",
    "<s>",
    "</s>",
    "<meta>",
    "</meta>",
    "</document>",
    "</document >",
    "<document>",
    "<i>",
    "</i>",
    "\u3000",
    "\ufeff",
    "T1S",
    "T-1S",
    "1e9",
    'encoding="utf-16"',
    'encoding="punycode"',
    "encoding='utf-7'",
    "T123456789S",
)
_BYTES = (b"\xff", b"\xc3", b"\xe9", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xff\xfe", b"\x80")
SNIPPETS = (*_BYTES, *(text.encode("utf-8", "surrogatepass") for text in (*_PIECES, *ATTRIBUTES, *CONTENTS)))
_HEADS = (
    b'<?xml version="1.0" encoding="utf-8"?>\n',
    b'<?xml version="1.0" encoding="UTF-8"?>',
    b"",
    b"\xef\xbb\xbf",
    b'<?xml version="1.1" encoding="utf-8"?>',
    b'<?xml version="1.0" encoding="latin1"?>',
    b'<?xml version="1.0" encoding="undefined"?>',
    b'<?xml version="1.0" encoding="gbk"?>',
)


def document(rng: random.Random, odd: float = 0.04) -> bytes:
    """Return a document as OPUS writes them, with a share of odd words, attributes and times."""
    parts = []
    block = 0
    clock = 0
    for number in range(1, rng.randint(1, 9) + 1):
        emphasis = ' emphasis="true"' if rng.random() < odd else ""
        parts.append(f'  <s id="{number}"{emphasis}>\n')
        said = [_word(rng, odd) for _ in range(rng.randint(0 if rng.random() < odd else 1, 6))]
        if rng.random() < 2 * odd:
            at = rng.randint(0, len(said))
            said[at:at] = f"{rng.choice(_SPOKEN)}Ka".split() + rng.choice(([], ["."]))
        for word, text in enumerate(said, 1):
            if rng.random() < 0.3:
                clock += rng.choice((900, 4000, 0, -500 if rng.random() < odd else 700))
                block += rng.random() < 0.6
                parts.append(_time(rng, block, clock, odd))
            parts.append(f'    <w id="{number}.{word}"{_attributes(rng, odd)}>{text}</w>\n')
        if rng.random() < 0.6:
            parts.append(_time(rng, block, clock + 800, odd))
        parts.append("  </s>\n")
    head = b"".join(rng.choice(_HEADS) if rng.random() < odd else _HEADS[0] for _ in range(1))
    body = f'<document id="{rng.randint(1, 99)}">\n{"".join(parts)}{_odd_one(rng, _METAS, odd)}\n</document>\n'
    return head + body.encode()


def _odd_one(rng: random.Random, choices: tuple[str, ...], odd: float) -> str:
    return rng.choice(choices if rng.random() < 4 * odd else choices[:2])


def _word(rng: random.Random, odd: float) -> str:
    if rng.random() < odd:
        return rng.choice(_ODD_WORDS)
    return "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 3)))


def _attributes(rng: random.Random, odd: float) -> str:
    return rng.choice(_OTHER_ATTRIBUTES).format(word=_word(rng, odd)) if rng.random() < 2 * odd else ""


def _time(rng: random.Random, block: int, clock: int, odd: float) -> str:
    clock = max(0, clock)
    form = rng.choice(_TIMES) if rng.random() < odd else _TIMES[0]
    value = form.format(h=clock // 3_600_000, m=clock // 60_000 % 60, s=clock // 1000 % 60, f=clock % 1000)
    return f'    <time id="T{block}{rng.choice("SE")}" value="{value}" />\n'


def _flipped(rng: random.Random, data: bytearray, at: int) -> None:
    data[at] ^= 1 << rng.randrange(8)


def _replaced(rng: random.Random, data: bytearray, at: int) -> None:
    data[at] = rng.choice(b"<>&\"'=/ \n\t:;!?-[]0T\x00\x80\xff")


def _removed(rng: random.Random, data: bytearray, at: int) -> None:
    del data[at : at + rng.choice((1, 1, 2, 5, 20))]


def _repeated(rng: random.Random, data: bytearray, at: int) -> None:
    data[at:at] = data[at : at + rng.choice((1, 8, 40, 200))]


def _moved(rng: random.Random, data: bytearray, at: int) -> None:
    piece = data[at : at + rng.randint(1, 60)]
    place = rng.randrange(len(data))
    data[place:place] = piece


def _inserted(rng: random.Random, data: bytearray, at: int) -> None:
    data[at:at] = rng.choice(SNIPPETS)


def _in_a_tag(rng: random.Random, data: bytearray, at: int) -> None:
    """Insert an attribute before the end of a tag."""
    end = data.find(b">", at)
    if end > 0:
        place = end - (data[end - 1] == ord("/"))
        data[place:place] = rng.choice(ATTRIBUTES).encode()


def _between(rng: random.Random, data: bytearray, at: int) -> None:
    """Insert contents behind a tag."""
    end = data.find(b">", at)
    if end > 0:
        data[end + 1 : end + 1] = rng.choice(CONTENTS).encode()


def _without_an_element(rng: random.Random, data: bytearray, at: int) -> None:
    """Remove a word or a time, or repeat it elsewhere between two tags."""
    name = rng.choice((b"w", b"time", b"s"))
    start = data.find(b"<" + name + b" ", at)
    end = data.find(b"/>" if name == b"time" else b"</" + name + b">", start)
    if 0 <= start < end:
        stop = data.find(b">", end) + 1
        element = data[start:stop]
        if rng.random() < 0.5:
            del data[start:stop]
        else:
            place = data.find(b">", rng.randrange(len(data))) + 1
            data[place:place] = element


def _requoted(rng: random.Random, data: bytearray, at: int) -> None:
    first = data.find(b'"', at)
    second = data.find(b'"', first + 1)
    if 0 <= first < second:
        data[first] = data[second] = ord("'")


MUTATIONS: tuple[Callable[[random.Random, bytearray, int], None], ...] = (
    _flipped,
    _replaced,
    _removed,
    _repeated,
    _moved,
    _inserted,
    *[_in_a_tag] * 4,
    *[_between] * 4,
    *[_without_an_element] * 3,
    *[_requoted] * 2,
)


def mutated(rng: random.Random, data: bytes, most: int = 3) -> bytes:
    """Return the data with one or a few mutations."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, most)):
        if changed:
            rng.choice(MUTATIONS)(rng, changed, rng.randrange(len(changed)))
    return bytes(changed)
