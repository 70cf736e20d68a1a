"""Who speaks, by what a file of cues writes: labels in all their forms, names in brackets, colours (ours).

All become marks that the later rules know: ``NAME: `` at the start of a line, or ``>>`` where only the change is known.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from udfs.opus.cue_markup import COLOUR
from udfs.opus.cues import Cue
from udfs.opus.normal_form import marks
from udfs.vocabulary import english_words

_OPEN, _CLOSE = r"[\[(\u3010\uff08\uff3b\u3014\u300a\uff1c]", r"[\])\u3011\uff09\uff3d\u3015\u300b\uff1e]"
_CONTENT = rf"([^\W\d_][^\[\](){_OPEN[3:-1]}{_CLOSE[3:-1]}:\uff1a\n]{{0,40}})"
_DASH = r"(?:(?<![^\s])[-\u2010-\u2015\u2212]\s?)?"
_WITH_COLON = re.compile(rf"(?:(?<!\s)\s++)?({_DASH}){_OPEN}\s?{_CONTENT}\s?{_CLOSE}\s?[:\uff1a]\s*")
_BRACKETED = re.compile(
    rf"((?:^|(?<=[.?!\u3002\uff01\uff1f]\s)|(?<=[.?!\u3002\uff01\uff1f])){_DASH}){_OPEN}\s?{_CONTENT}\s?{_CLOSE}\s?(?=[^\s:])"
)
_OF_TOOL = re.compile(r"^([A-Z]{2,20}_[0-9]{1,3}):\s*")
_WIDE_COLON = re.compile(r"^([^\W\d_a-zA-Z][\w\u30fb\u00b7]{0,11})\uff1a\s*(?=\S)")
_OWN_LINE = re.compile(rf"([^\W\d_][\w{marks()}.'\u2019-]*(?: [\w{marks()}.'\u2019#\u2116-]+){{0,3}})\s?:")
_ANY_LABEL = re.compile(rf"{_DASH}([^\W\d_][\w{marks()}.'\u2019 #\u2116&-]{{0,40}}?)\s?:(?=\s|$)")
_PERSON = re.compile(
    r"(?i)(?:(?:the|young|old|little|male|female|first|second|third|other|another|1st|2nd|3rd)\s)*"
    r"(?:man|men|woman|women|boys?|girls?|guys?|lady|ladies|voices?|narrator|speaker|person|child|kid|guard|officer|cop|doctor"
    r"|nurse|teacher|student|reporter|soldier|driver|waiter|waitress|clerk|host|announcer|interviewer|crowd|all|both|everyone)"
    r"(?:\s?(?:#|\u2116|no\.?)?\s?([0-9]{1,2}))?"
)
_NUMBER = re.compile(r"(?:#|\u2116|no\.)?\s?(?<![0-9])[0-9]++$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[\[(][^\[\]()]{0,100}[\])]")
_ACTION = re.compile(r"(?i)(?:ing|s|ed|ly)$")
"""Ends of what a person does, in ``Clears Throat`` and ``Crowd Laughing``."""
_SPOKEN_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_FEWEST = 2
_SECOND_COLOUR = 0.05
_MOST_WITHIN = 0.25
"""The least share of the second colour, and the largest of changes within a sentence, which stress words."""


def mark_speakers(cues: list[Cue], language: str | None) -> None:
    """Rewrite the labels, names and colours of a file's lines."""
    _colours(cues)
    for cue in cues:
        lines = []
        for line in cue.lines:
            line = line.replace("\u226b", ">>").replace("\uff1e\uff1e", ">>")
            line = _OF_TOOL.sub(lambda match: f"{match[1].replace('_', ' ')}: ", _WIDE_COLON.sub(r"\1: ", line))
            named = _ANY_LABEL.match(line) if ":" in line else None
            if named is not None and (person := _PERSON.fullmatch(named[1])) is not None and person[1]:
                line = line.replace(named[1], named[1].upper(), 1)
            lines += _WITH_COLON.sub(_with_colon, line).strip("\n").split("\n")
        cue.lines = lines
    names = _bracketed_names(cues, language)
    if names:
        for cue in cues:
            lines = [
                _BRACKETED.sub(lambda match: _label(match) if match[2] in names else match[0], one) for one in cue.lines
            ]
            cue.lines = [part for line in lines for part in line.strip("\n").split("\n")]
    _own_lines(cues)


def _with_colon(match: re.Match[str]) -> str:
    before = match.string[: match.start()].rsplit(maxsplit=1)[-1:]
    # TOM (ON RADIO): the brackets are a part of the label
    return match[0] if before and before[0][:1].isupper() and before[0][-1].isalnum() else _label(match)


def _label(match: re.Match[str]) -> str:
    return f"\n{match[1]}{match[2].strip().replace('_', ' ').upper()}: "


def _bracketed_names(cues: list[Cue], language: str | None) -> set[str]:
    lines = [line for cue in cues for line in cue.lines]
    found = Counter(match[2] for line in lines for match in _BRACKETED.finditer(line))
    return names_among(found, lines, language) if found else set()


def names_among(found: Counter[str], lines: Sequence[str], language: str | None) -> set[str]:
    """Return what is a name among the texts in brackets that stand before words, and is no sound and no manner.

    A number makes a person a name. Others must come back; capitalised words are a name if the film speaks of it or has
    it as a label with a colon, or if a dictionary does not have it in small letters.

    Args:
        found: the texts, with how often each stands before words.
        lines: all that the film says.
        language: its language; only English has the dictionary.
    """
    text = _IN_BRACKETS.sub(" ", "\n".join(lines))
    known = {name.upper() for name in _SPOKEN_NAME.findall(text)}
    known |= {match[1].upper() for line in text.split("\n") if (match := _ANY_LABEL.match(line.lstrip()))}
    return {name for name, times in found.items() if _is_name(name, times, known, language)}


def _is_name(name: str, times: int, known: set[str], language: str | None) -> bool:
    person = _PERSON.fullmatch(name)
    if person is not None:
        return person[1] is not None or times >= _FEWEST
    words = _NUMBER.sub("", name.replace(" '", "'")).split()
    if times < _FEWEST or len(words) > 3 or any(word[:1].islower() or not word[:1].isalpha() for word in words):
        return False
    if name.upper() in known or any(word.upper() in known and not _ACTION.search(word) for word in words):
        return not any(_ACTION.search(word) and word.upper() not in known for word in words)
    if not words[0][:1].isupper():  # a script without capitals
        return len(words) == 1
    return language == "en" and not any(word.lower().removesuffix("'s") in english_words() for word in words)


def _own_lines(cues: list[Cue]) -> None:
    """Put a label on a line of its own before the words of the next line.

    Where at least two lines of a file are names alone before a colon, those of two and more capitalised words are
    labels, and others that come back.
    """
    pairs = [
        (cue, at, match[1])
        for cue in cues
        for at, line in enumerate(cue.lines[:-1])
        if (match := _OWN_LINE.fullmatch(line))
    ]
    times = Counter(_NUMBER.sub("", name) for _, _, name in pairs)
    for cue, at, name in reversed(pairs):
        words = name.split()
        capitalised = all(word[:1].isupper() or not word[:1].isalpha() for word in words)
        if len(pairs) >= _FEWEST and capitalised and (len(words) > 1 or times[_NUMBER.sub("", name)] >= _FEWEST):
            cue.lines[at : at + 2] = [f"{name.upper()}: {cue.lines[at + 1]}"]


def _colours(cues: list[Cue]) -> None:
    """Replace the colours of spans: where they tell speakers apart, a change of colour is ``>>``."""
    if not any(COLOUR in line for cue in cues for line in cue.lines):
        return
    spans = [_spans(cue.lines) for cue in cues]
    times = Counter(colour for parts in spans for colour, _, _ in parts)
    pairs = [pair for parts in spans for pair in pairwise(parts) if pair[0][0] != pair[1][0]]
    within = sum(one[1][-1].isalnum() and other[2] for one, other in pairs)
    second = times.most_common(2)[-1][1] if len(times) > 1 else 0
    told = second >= max(_FEWEST, _SECOND_COLOUR * times.total()) and within <= max(1, _MOST_WITHIN * len(pairs))
    last: str | None = None
    for cue, parts in zip(cues, spans, strict=True):
        if not told:
            bare = (" ".join("".join(line.split(COLOUR)[::2]).split()) for line in cue.lines)
            cue.lines = [line for line in bare if line]
            continue
        cue.lines = []
        for colour, text, _ in parts:
            changed = last is not None and colour != last and not text.startswith((">>", "-"))
            cue.lines.append(f">> {text}" if changed else text)
            last = colour


def _spans(lines: list[str]) -> list[tuple[str, str, bool]]:
    """Return colour and text of a cue's spans, and whether each begins within a line; lines share colours."""
    found = []
    colour = ""
    for line in lines:
        first, *rest = line.split(COLOUR)
        begun = False
        for one, text in [(colour, first), *zip(rest[::2], rest[1::2], strict=True)]:
            colour = one
            if text.strip():
                found.append((colour, text.strip(), begun))
                begun = True
    return found
