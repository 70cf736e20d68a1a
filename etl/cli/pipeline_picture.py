"""Draw the pipeline as SVG: a panel for each data set, a card for each chapter of its stages."""

import importlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from conf.section import Counts
from etl.pipeline.planner import feeds
from etl.pipeline.stages import Model, Stage

WIDTH = 1000
CARD_GAP = 26
ROW_GAP = 14
PANEL_MARGIN = 20
PANEL_HEAD = 54
PANEL_GAP = 14
LEAST_COLUMNS = 3
_LETTER = 6.8
_CODE_LETTER = 6.8  # widths in px of the cards' fonts, a little above the usual ones
_OUTPUT_LINES = 2
_FILES = 4
_SANS = "font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"

THEMES: dict[str, dict[str, str]] = {
    "light": {
        "page": "#ffffff",
        "panel": "#f6f8fa",
        "card": "#ffffff",
        "line": "#8c959f",
        "text": "#1f2328",
        "soft": "#57606a",
        "subtitles": "#0550ae",
        "edos": "#8250df",
        "replies": "#116329",
        "emo_pillars": "#953800",
        "augesc": "#a40e26",
    },
    "dark": {
        "page": "#0d1117",
        "panel": "#161b22",
        "card": "#0d1117",
        "line": "#6e7681",
        "text": "#e6edf3",
        "soft": "#9da7b3",
        "subtitles": "#79c0ff",
        "edos": "#d2a8ff",
        "replies": "#7ee787",
        "emo_pillars": "#ffa657",
        "augesc": "#ff9492",
    },
}
"""Colours by the theme of the page that shows the picture; a data set's colour is under its folder's name."""


@dataclass(frozen=True)
class Chapter:
    """One module under ``jobs/``.

    Attributes:
        module: its dotted name.
        stages: in order.
        about: what its stages do, in one line.
        outputs: tables and models that other chapters read, or all it writes if none does.
    """

    module: str
    stages: tuple[Stage, ...]
    about: str
    outputs: tuple[str, ...]

    @property
    def group(self) -> str:
        return self.stages[0].group

    @property
    def title(self) -> str:
        return self.module.rpartition(".")[2].replace("_", " ").capitalize()


def chapters(stages: Sequence[Stage]) -> list[Chapter]:
    """Return the chapters of stages, in the order of their first stages."""
    own: dict[str, list[Stage]] = {}
    for stage in stages:
        own.setdefault(stage.module, []).append(stage)
    return [
        Chapter(module, tuple(members), about(module), tuple(_outputs(members, stages)))
        for module, members in own.items()
    ]


def about(module: str) -> str:
    """Return the first line of a module's docstring."""
    return (importlib.import_module(module).__doc__ or "").strip().partition("\n")[0]


def places(members: Sequence[Chapter]) -> dict[str, tuple[int, int]]:
    """Return (column, row) by module: each chapter right of those that it reads, level with the first if it can.

    Raises:
        ValueError: chapters read each other's tables or models, so that none is right of the other.
    """
    before = {chapter.module: [first.module for first in members if reads(chapter, first)] for chapter in members}
    column: dict[str, int] = {}
    while len(column) < len(members):
        left = [name for name in before if name not in column]
        ready = [name for name in left if set(before[name]) <= column.keys()]
        if not ready:
            raise ValueError(
                f"{', '.join(left)} cannot be ordered: some feed each other; move a stage to another module"
            )
        for module in ready:
            column[module] = max((column[first] + 1 for first in before[module]), default=0)
    placed: dict[str, tuple[int, int]] = {}
    for number in range(max(column.values()) + 1):
        own = [module for module in before if column[module] == number]
        near = [module for module in placed if placed[module][0] == number - 1]
        level = {
            module: min((placed[first][1] for first in near if first in before[module]), default=0) for module in own
        }
        placed |= {module: (number, row) for row, module in enumerate(sorted(own, key=lambda name: level[name]))}
    return placed


def reads(second: Chapter, first: Chapter) -> bool:
    """Return whether a stage of one chapter reads what a stage of another one writes."""
    return first.module != second.module and any(feeds(a, b) for a in first.stages for b in second.stages)


def arrows(members: Sequence[Chapter]) -> list[tuple[str, str]]:
    """Return (from, to) of chapters, without those that follow from two or more others."""
    direct = {(a.module, b.module) for a in members for b in members if reads(b, a)}
    further = set(direct)
    for _ in members:
        further |= {(a, d) for a, b in further for c, d in direct if b == c}
    return sorted((a, c) for a, c in direct if not any((a, b) in further and (b, c) in further for _, b in direct))


def pipeline_svg(stages: Sequence[Stage], titles: Mapping[str, str], theme: str) -> str:
    """Return the picture of all stages.

    Args:
        stages: in order.
        titles: of the data sets, by folder under ``jobs/``, in the order of the panels.
        theme: a key of :data:`THEMES`.
    """
    colours = THEMES[theme]
    everything = chapters(stages)
    svg = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
    ElementTree.SubElement(svg, "title").text = "Chapters of the pipeline, by data set, with the tables they write"
    background = _add(svg, "rect", x=0, y=0, width=WIDTH, fill=colours["page"])
    top = 0
    for group, title in titles.items():
        members = [chapter for chapter in everything if chapter.group == group]
        if members:
            panel = _Panel(svg, colours, members, top)
            top += panel.draw(title, _sources(members, everything, titles)) + PANEL_GAP
    note = "Solid border: part of `python -m jobs run`. Dashed border: runs when a stage is named."
    _text(svg, (PANEL_MARGIN, top + 10), note.replace("`", ""), f"{_SANS};font-size:13px;fill:{colours['soft']}")
    height = top + 22
    background.set("height", str(height))
    svg.set("viewBox", f"0 0 {WIDTH} {height}")
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


class _Panel:
    """Draws the chapters of one data set.

    Args:
        svg: the picture.
        colours: of the theme.
        members: its chapters.
        top: y of the panel's upper edge.
    """

    def __init__(
        self, svg: ElementTree.Element, colours: Mapping[str, str], members: Sequence[Chapter], top: int
    ) -> None:
        self.svg = svg
        self.colours = colours
        self.members = members
        self.top = top
        self.group = members[0].group
        self.places = places(members)
        number = max(LEAST_COLUMNS, 1 + max(column for column, _ in self.places.values()))
        self.width = (WIDTH - 2 * PANEL_MARGIN - (number - 1) * CARD_GAP) // number
        texts = [(self._about(chapter), self._outputs(chapter)) for chapter in members]
        self.about_lines = max(len(about_lines) for about_lines, _ in texts)
        self.card_height = 36 + 15 * self.about_lines + 16 * max(len(outputs) for _, outputs in texts)

    def draw(self, title: str, sources: str) -> int:
        """Draw title, inputs, cards and arrows; return the panel's height."""
        depth = 1 + max(row for _, row in self.places.values())
        height = PANEL_HEAD + depth * self.card_height + (depth - 1) * ROW_GAP + 14
        _add(self.svg, "rect", x=0, y=self.top, width=WIDTH, height=height, rx=8, fill=self.colours["panel"])
        head = f"{_SANS};font-size:17px;font-weight:600;fill:{self.colours[self.group]}"
        _text(self.svg, (PANEL_MARGIN, self.top + 24), title, head)
        soft = f"{_SANS};font-size:13px;fill:{self.colours['soft']}"
        _text(self.svg, (PANEL_MARGIN, self.top + 43), sources, soft)
        for first, second in arrows(self.members):
            self._arrow(self._corner(first), self._corner(second))
        for chapter in self.members:
            self._card(chapter, self._corner(chapter.module))
        return height

    def _corner(self, module: str) -> tuple[int, int]:
        column, row = self.places[module]
        x = PANEL_MARGIN + column * (self.width + CARD_GAP)
        return x, self.top + PANEL_HEAD + row * (self.card_height + ROW_GAP)

    def _about(self, chapter: Chapter) -> list[str]:
        """Return the lines of a chapter's description up to its first colon or bracket."""
        short = re.split(r"[:(]", chapter.about)[0].strip().rstrip(".")
        return textwrap.wrap(short, int((self.width - 16) / _LETTER))

    def _outputs(self, chapter: Chapter) -> list[str]:
        """Return the lines of a chapter's outputs; the last one ends in dots where some are left out."""
        names = ", ".join(name.replace(" ", "\u00a0") for name in chapter.outputs)
        width = int((self.width - 16) / _CODE_LETTER)
        return textwrap.wrap(names, width, max_lines=_OUTPUT_LINES, placeholder=" ...", break_long_words=False)

    def _card(self, chapter: Chapter, corner: tuple[int, int]) -> None:
        x, y = corner
        box = _add(self.svg, "rect", x=x, y=y, width=self.width, height=self.card_height, rx=6)
        box.attrib |= {"fill": self.colours["card"], "stroke": self.colours[self.group], "stroke-width": "1.5"}
        if all(stage.manual for stage in chapter.stages):
            box.set("stroke-dasharray", "5 4")
        bold = f"{_SANS};font-size:14px;font-weight:600;fill:{self.colours['text']}"
        _text(self.svg, (x + 10, y + 20), chapter.title, bold)
        plain = f"{_SANS};font-size:12px;fill:{self.colours['soft']}"
        for line, words in enumerate(self._about(chapter)):
            _text(self.svg, (x + 10, y + 37 + 15 * line), words, plain)
        code = f"{_MONO};font-size:10.5px;fill:{self.colours[self.group]}"
        for line, names in enumerate(self._outputs(chapter)):
            _text(self.svg, (x + 10, y + 41 + 15 * self.about_lines + 16 * line), names, code)

    def _arrow(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        """Draw a line from the right side of a card to the left side of a later one, with a head."""
        x1 = first[0] + self.width
        y1 = first[1] + 28
        x2 = second[0]
        y2 = second[1] + 28
        line = _add(self.svg, "path", d=f"M{x1} {y1} H{x2 - CARD_GAP // 2} V{y2} H{x2 - 6}", fill="none")
        line.attrib |= {"stroke": self.colours["line"], "stroke-width": "1.5"}
        _add(self.svg, "path", d=f"M{x2 - 8} {y2 - 5} L{x2} {y2} L{x2 - 8} {y2 + 5} Z", fill=self.colours["line"])


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {key: str(value) for key, value in attributes.items()})


def _text(svg: ElementTree.Element, place: tuple[int, int], words: str, style: str) -> None:
    _add(svg, "text", x=place[0], y=place[1], style=style).text = words


def _outputs(members: Sequence[Stage], stages: Sequence[Stage]) -> list[str]:
    """Return what other chapters read of these stages, or all that they write."""
    written = [stage for stage in members if stage.writes is not None]
    module = members[0].module
    read = [stage for stage in written if any(feeds(stage, other) for other in stages if other.module != module)]
    return [_named(stage, module.split(".")[-2]) for stage in (read or written)]


def _named(stage: Stage, group: str) -> str:
    """Return a table's name without its data set, or ``model`` and a model's."""
    if isinstance(stage.writes, Model):
        return f"model {re.sub(f'^({group}|reply|augesc)_', '', stage.writes.name)}"
    return stage.writes.name.removeprefix(f"{group}.") if stage.writes is not None else ""


def _sources(members: Sequence[Chapter], everything: Sequence[Chapter], titles: Mapping[str, str]) -> str:
    """Return which tables of other data sets, and which outside files these chapters read."""
    mine = [stage for chapter in members for stage in chapter.stages]
    found = []
    for group, title in titles.items():
        others = [stage for chapter in everything if chapter.group == group for stage in chapter.stages]
        given = [] if group == members[0].group else [one for one in others if any(feeds(one, stage) for stage in mine)]
        found += [f"{', '.join(_named(stage, group) for stage in given)} of {title}"] if given else []
    keys = ["sources"] if any(stage.fingerprint for stage in mine) else []
    keys += [
        key.removeprefix(f"{members[0].group}.")
        for stage in mine
        for key in stage.keys(Counts.FILES)
        if key.count(".") == 1
    ]
    files = list(dict.fromkeys(keys))
    more = ", ..." if len(files) > _FILES else ""
    found += [f"files of {', '.join(files[:_FILES])}{more}"] if files else []
    return f"reads {'; '.join(found)}"
