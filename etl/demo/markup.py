"""OPUS XML in the form of release v2018, with optional oddities of real files."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from etl.demo.cues import Cue, Style

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass
class Meta:
    """The elements of a file's `<meta>`; empty ones are omitted."""

    source: dict[str, str] = field(default_factory=dict)
    subtitle: dict[str, str] = field(default_factory=dict)
    conversion: dict[str, str] = field(default_factory=dict)


@dataclass
class Oddities:
    """Oddities in one file's times and ids."""

    short_seconds: bool = False  # 00:57:1,901
    negative_start: bool = False
    document_id: str | None = None
    advert_9999: bool = False


def clock(ms: int, short_seconds: bool = False) -> str:
    """Return ``HH:MM:SS,mmm``; ``short_seconds`` omits the zero of seconds below ten, as in 1% of real tags."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    seconds, rest = divmod(ms, 1000)
    second = str(seconds % 60) if short_seconds else f"{seconds % 60:02d}"
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{second},{rest:03d}"


class TimeTags:
    """The time tags of a file's blocks, some of them missing, with counts of the odd ones."""

    def __init__(self, times: Sequence[tuple[int, int]], style: Style, odd: Oddities, rng: random.Random) -> None:
        self.counts = Counter[str]()
        self._values: dict[tuple[int, str], str | None] = {}
        for block, (start, end) in enumerate(times, 1):
            if rng.random() < style.backwards:
                start, end = end, start
                self.counts["backwards_time"] += 1
            if block == 1 and odd.negative_start:
                start = -368
                self.counts["negative_time"] += 1
            for edge, ms in (("S", start), ("E", end)):
                lost = rng.random() < style.missing_tags
                value = clock(ms, odd.short_seconds)
                if lost:
                    self.counts["missing_time_tag"] += 1
                elif odd.short_seconds and len(value) < 12:
                    self.counts["malformed_time"] += 1
                self._values[block, edge] = None if lost else value

    def tag(self, block: int, edge: str) -> str:
        """Return the tag of a block's start (S) or end (E); empty if it is missing."""
        value = self._values[block, edge]
        return "" if value is None else f'    <time id="T{block}{edge}" value="{value}" />\n'


def document(cues: Sequence[Cue], tags: TimeTags, document_id: str, meta: Meta, advert_9999: bool) -> str:
    """Return the XML of one upload."""
    parts = [HEAD, f"<document id={quoteattr(document_id)}>\n"]
    for number, cue in enumerate(cues, 1):
        parts.append(f'  <s emphasis="true" id="{number}">\n' if cue.emphasis else f'  <s id="{number}">\n')
        before = cues[number - 2].last_block if number > 1 else 0
        after = cues[number].first_block if number < len(cues) else 0
        parts += _sentence(cue, number, before, after, tags)
        if advert_9999 and number == len(cues):
            parts.append('    <time id="T9999S" value="00:00:0,500" />\n')
            parts.append('    <time id="T9999E" value="00:00:2,00" />\n')
        parts.append("  </s>\n")
    return "".join([*parts, _meta(meta), "</document>\n"])


def _sentence(cue: Cue, number: int, before: int, after: int, tags: TimeTags) -> list[str]:
    if not cue.words:
        return [tags.tag(cue.block, "S"), tags.tag(cue.block, "E")]
    parts = []
    block = before
    for position, word in enumerate(cue.words, 1):
        if word.block != block:
            if position > 1:
                parts.append(tags.tag(block, "E"))
            parts.append(tags.tag(word.block, "S"))
            block = word.block
        attributes = sorted({**word.attributes, "id": f"{number}.{position}"}.items())
        written = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes)
        parts.append(f"    <w {written}>{escape(word.text)}</w>\n")
    if after != block:
        parts.append(tags.tag(block, "E"))
    return parts


def _meta(meta: Meta) -> str:
    parts = ["  <meta>\n"]
    for name in ("subtitle", "source", "conversion"):
        values: dict[str, str] = getattr(meta, name)
        filled = {key: value for key, value in values.items() if value}
        if filled:
            parts.append(f"    <{name}>\n")
            parts += [f"      <{key}>{escape(value)}</{key}>\n" for key, value in filled.items()]
            parts.append(f"    </{name}>\n")
    return "".join([*parts, "  </meta>\n"])
