"""Charts as inline SVG: bars, histograms and Sankey diagrams.

Widths are percentages and heights are pixels, so that a chart fills any width and its text keeps its size. Colours are
CSS classes of the page (``emotion``, ``intent``, ``neutral``, ``paper``, ...). ``conf/reports/pictures.svg`` draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from etl.analysis.templates import part

if TYPE_CHECKING:
    from markupsafe import Markup

FILE = "pictures.svg"


@dataclass(frozen=True)
class Bar:
    """One bar: its length as a share of the available length (0 to 1), its CSS class and its tooltip."""

    share: float
    style: str
    title: str


@dataclass(frozen=True)
class Node:
    """A label at one position of the flow: its key, text and CSS class."""

    key: str
    text: str
    style: str


@dataclass(frozen=True)
class Link:
    """The number of dialogues from a node at ``position`` (from 0) to one at the next position."""

    position: int
    source: str
    target: str
    value: float


def number(value: float) -> str:
    """Return a length for SVG: at most two decimals, without an exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value == value else "0"


def bars(rows: Sequence[Bar], thickness: int = 6, gap: int = 2) -> "Markup":
    """Return bars below each other, hidden from screen readers because numbers are beside them."""
    height = len(rows) * (thickness + gap) - gap
    drawn = [
        (bar.style, place * (thickness + gap), number(100 * min(max(bar.share, 0.0), 1.0)), bar.title)
        for place, bar in enumerate(rows)
    ]
    return part(FILE, "bars", drawn, thickness, max(height, 1))


def anchored(at: float) -> str:
    """Return how a text at a position from 0 to 1 is aligned, so that it stays within the picture."""
    return "start" if at < 0.04 else "end" if at > 0.96 else "middle"


def histogram(
    columns: Sequence[Bar],
    ticks: Sequence[tuple[float, str]],
    marks: Sequence[tuple[float, str]],
    levels: Sequence[tuple[float, str]],
    title: str,
    x_name: str,
    y_name: str,
    height: int = 256,
) -> "Markup":
    """Return columns above an axis.

    Args:
        columns: shares of the height, in order.
        ticks: (position on the axis from 0 to 1, text) below the axis.
        marks: (position, text) of vertical lines.
        levels: (share of the height, text) of horizontal lines.
        title: description for screen readers.
        x_name, y_name: titles of the axes; together they are at most as wide as the narrowest picture, 288 px.
    """
    top = 22
    bottom = 40
    inner = height - top - bottom
    width = 100 / max(len(columns), 1)
    drawn = []
    for place, column in enumerate(columns):
        tall = inner * min(max(column.share, 0.0), 1.0)
        x = number(place * width + width * 0.06)
        y = number(top + inner - tall)
        drawn.append((column.style, x, number(width * 0.88), y, number(tall), column.title))
    return part(
        FILE,
        "histogram",
        title,
        height,
        top,
        top + inner,
        [(number(top + inner * (1 - share)), text) for share, text in levels],
        drawn,
        [(number(100 * at), anchored(at), text) for at, text in ticks],
        [(number(100 * at), text) for at, text in marks],
        x_name,
        y_name,
    )


def sankey(
    columns: Sequence[Sequence[Node]],
    links: Sequence[Link],
    title: str,
    height: int = 680,
    gap: int = 15,
    heads: Sequence[str] = (),
) -> "Markup":
    """Return nodes in columns with their names and values, and bands between them whose widths are the links' values.

    The height of a node is the sum of its outgoing or of its incoming values, whichever is larger. With the default
    gap no two names overlap, however small the nodes are.

    Args:
        columns: the nodes of each position, from the top.
        links: between adjacent positions; the target "" is the end of a dialogue.
        title: description for screen readers.
        heads: titles of the columns.
    """
    top = 24
    node_width = 1.6
    sizes = [_sizes(column, links, position) for position, column in enumerate(columns)]
    fullest = max((sum(size.values()) for size in sizes), default=0.0)
    gaps = gap * max((len(column) - 1 for column in columns), default=0)
    scale = (height - top - max(gaps, 0)) / fullest if fullest else 0.0
    xs = [place * (100 - node_width) / max(len(columns) - 1, 1) for place in range(len(columns))]
    tops = [_stacked(column, size, scale, gap, top) for column, size in zip(columns, sizes, strict=True)]
    named = {(position, node.key): node for position, column in enumerate(columns) for node in column}
    bands = []
    for link, y0, y1, thick in _bands(columns, links, tops, scale):
        source = named[link.position, link.source]
        target = named[link.position + 1, link.target]
        path = _band(xs[link.position] + node_width, y0, xs[link.position + 1], y1, thick)
        bands.append((source.style, path, f"{source.text} → {target.text}: {link.value:,.0f}"))
    nodes = []
    titles = []
    for position, column in enumerate(columns):
        last = position == len(columns) - 1 and position > 0
        beside = {
            "x": number(xs[position]),
            "width": node_width,
            "anchor": "end" if last else "start",
            "dx": -5 if last else 5,
            "text_x": number(xs[position] if last else xs[position] + node_width),
        }
        if position < len(heads):
            titles.append(("100" if last else beside["x"], beside["anchor"], heads[position]))
        for node in column:
            size = sizes[position][node.key]
            y = tops[position][node.key]
            if size:
                nodes.append(
                    {
                        **beside,
                        "style": node.style,
                        "y": number(y),
                        "tall": number(max(size * scale, 1)),
                        "middle": number(y + size * scale / 2),
                        "text": node.text,
                        "value": f"{size:,.0f}",
                        "name": f"{node.text}: {size:,.0f}",
                    }
                )
    return part(FILE, "sankey", title, height, bands, nodes, titles)


def _sizes(column: Sequence[Node], links: Sequence[Link], position: int) -> dict[str, float]:
    out = {node.key: 0.0 for node in column}
    into = dict(out)
    for link in links:
        if link.position == position:
            out[link.source] += link.value
        elif link.position == position - 1 and link.target:
            into[link.target] += link.value
    return {key: max(out[key], into[key]) for key in out}


def _stacked(column: Sequence[Node], sizes: dict[str, float], scale: float, gap: int, top: float) -> dict[str, float]:
    places = {}
    y = top
    for node in column:
        places[node.key] = y
        y += sizes[node.key] * scale + (gap if sizes[node.key] else 0)
    return places


def _bands(
    columns: Sequence[Sequence[Node]], links: Sequence[Link], tops: Sequence[dict[str, float]], scale: float
) -> list[tuple[Link, float, float, float]]:
    """Return (link, top at its source, top at its target, thickness), ordered to reduce crossings."""
    order = [{node.key: place for place, node in enumerate(column)} for column in columns]
    drawn = [link for link in links if link.target and link.value > 0]
    starts = {}
    ends = {}
    leaving, arriving = ({(p, key): y for p, tall in enumerate(tops) for key, y in tall.items()} for _ in range(2))
    by_target = sorted(drawn, key=lambda one: (one.position, order[one.position + 1][one.target]))
    by_source = sorted(drawn, key=lambda one: (one.position, order[one.position][one.source]))
    for link in by_target:
        starts[link] = leaving[link.position, link.source]
        leaving[link.position, link.source] += link.value * scale
    for link in by_source:
        ends[link] = arriving[link.position + 1, link.target]
        arriving[link.position + 1, link.target] += link.value * scale
    return [(link, starts[link], ends[link], link.value * scale) for link in by_source]


def _band(x0: float, y0: float, x1: float, y1: float, thick: float) -> str:
    middle = number((x0 + x1) / 2)
    a = number(y0)
    b = number(y1)
    c = number(y1 + thick)
    d = number(y0 + thick)
    left = number(x0)
    right = number(x1)
    return f"M{left},{a}C{middle},{a} {middle},{b} {right},{b}V{c}C{middle},{c} {middle},{d} {left},{d}Z"
