"""OPUS XML as release v2018 writes it, with the oddities of real files where they are asked for."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from etl.demo.cues import Cue, Style

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


@dataclass
class Meta:
    """What stands in a file's `<meta>`; an empty value leaves the element out."""

    source: dict[str, str] = field(default_factory=dict)
    subtitle: dict[str, str] = field(default_factory=dict)
    conversion: dict[str, str] = field(default_factory=dict)


@dataclass
class Oddities:
    """What is odd in one file's times and ids."""

    short_seconds: bool = False  # 00:57:1,901
    negative_start: bool = False
    document_id: str | None = None
    advert_9999: bool = False


def clock(ms: int, short_seconds: bool = False) -> str:
    """``HH:MM:SS,mmm``; with ``short_seconds`` a second below ten loses its zero, as in 1% of real tags."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    seconds, rest = divmod(ms, 1000)
    second = str(seconds % 60) if short_seconds else f"{seconds % 60:02d}"
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{second},{rest:03d}"


class _Tags:
    """The time tags of a file's blocks, some of them lost; counts what it plants."""

    def __init__(self, times: Sequence[tuple[int, int]], style: Style, odd: Oddities, rng: random.Random) -> None:
        self.counts: dict[str, int] = {}
        self._values: dict[tuple[int, str], str | None] = {}
        for block, (start, end) in enumerate(times, 1):
            if rng.random() < style.backwards:
                start, end = end, start
                self._count("backwards_time")
            if block == 1 and odd.negative_start:
                start = -368
                self._count("negative_time")
            for edge, ms in (("S", start), ("E", end)):
                lost = rng.random() < style.missing_tags
                value = clock(ms, odd.short_seconds)
                if lost:
                    self._count("missing_time_tag")
                elif odd.short_seconds and len(value) < 12:
                    self._count("malformed_time")
                self._values[block, edge] = None if lost else value

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def tag(self, block: int, edge: str) -> str:
        value = self._values[block, edge]
        return "" if value is None else f'    <time id="T{block}{edge}" value="{value}" />\n'


def document(
    cues: Sequence[Cue],
    times: Sequence[tuple[int, int]],
    subtitle_id: str,
    meta: Meta,
    style: Style,
    odd: Oddities,
    rng: random.Random,
) -> tuple[str, dict[str, int]]:
    """The XML text of one upload, and how many of each odd time it has."""
    tags = _Tags(times, style, odd, rng)
    parts = [_HEAD, f"<document id={quoteattr(odd.document_id or subtitle_id)}>\n"]
    for number, cue in enumerate(cues, 1):
        parts.append(f'  <s emphasis="true" id="{number}">\n' if cue.emphasis else f'  <s id="{number}">\n')
        following = cues[number] if number < len(cues) else None
        previous = cues[number - 2] if number > 1 else None
        parts += _sentence(cue, number, _last_block(previous), _first_block(following), tags)
        if odd.advert_9999 and following is None:
            parts.append('    <time id="T9999S" value="00:00:0,500" />\n')
            parts.append('    <time id="T9999E" value="00:00:2,00" />\n')
        parts.append("  </s>\n")
    parts.append(_meta(meta))
    parts.append("</document>\n")
    return "".join(parts), tags.counts


def _first_block(cue: Cue | None) -> int:
    if cue is None:
        return 0
    return cue.words[0].block if cue.words else cue.block


def _last_block(cue: Cue | None) -> int:
    if cue is None:
        return 0
    return cue.words[-1].block if cue.words else cue.block


def _sentence(cue: Cue, number: int, before: int, after: int, tags: _Tags) -> list[str]:
    if not cue.words:
        return [tags.tag(cue.block, "S"), tags.tag(cue.block, "E")]
    parts, block = [], before
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
