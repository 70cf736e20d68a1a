"""Charts as inline SVG: bars, histograms and Sankey diagrams.

Widths are percentages and heights are pixels, so that a chart fills any width and its text keeps its size. Colours are
CSS classes of the page (``emotion``, ``intent``, ``neutral``, ``paper``, ...). All text is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


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


def bars(rows: Sequence[Bar], thickness: int = 6, gap: int = 2) -> str:
    """Return bars below each other, hidden from screen readers because numbers are beside them."""
    height = len(rows) * (thickness + gap) - gap
    drawn = "".join(
        f'<rect class="{escape(bar.style)}" y="{place * (thickness + gap)}" height="{thickness}" rx="1" '
        f'width="{number(100 * min(max(bar.share, 0.0), 1.0))}%"><title>{escape(bar.title)}</title></rect>'
        for place, bar in enumerate(rows)
    )
    return f'<svg class="bars" width="100%" height="{max(height, 1)}" aria-hidden="true">{drawn}</svg>'


def histogram(
    columns: Sequence[Bar],
    ticks: Sequence[tuple[float, str]],
    marks: Sequence[tuple[float, str]],
    levels: Sequence[tuple[float, str]],
    title: str,
    height: int = 240,
) -> str:
    """Return columns above an axis.

    Args:
        columns: shares of the height, in order.
        ticks: (position on the axis from 0 to 1, text) below the axis.
        marks: (position, text) of vertical lines.
        levels: (share of the height, text) of horizontal lines.
        title: description for screen readers.
    """
    top, bottom = 22, 24
    inner = height - top - bottom
    parts = [f'<svg class="histogram" width="100%" height="{height}" role="img" aria-label="{escape(title)}">']
    scale = [(number(top + inner * (1 - share)), text) for share, text in levels]
    parts += [f'<line class="level" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for y, _ in scale]
    width = 100 / max(len(columns), 1)
    for place, column in enumerate(columns):
        tall = inner * min(max(column.share, 0.0), 1.0)
        parts.append(
            f'<rect class="{escape(column.style)}" x="{number(place * width + width * 0.06)}%" '
            f'width="{number(width * 0.88)}%" y="{number(top + inner - tall)}" height="{number(tall)}">'
            f"<title>{escape(column.title)}</title></rect>"
        )
    # Drawn after the columns, so that the last one does not hide them.
    parts += [
        f'<text class="scale" x="100%" y="{y}" dy="-3" text-anchor="end">{escape(text)}</text>' for y, text in scale
    ]
    parts.append(f'<line class="axis" x1="0" x2="100%" y1="{top + inner}" y2="{top + inner}"/>')
    for at, text in ticks:
        anchor = "start" if at < 0.04 else "end" if at > 0.96 else "middle"
        parts.append(f'<text x="{number(100 * at)}%" y="{height - 7}" text-anchor="{anchor}">{escape(text)}</text>')
    for at, text in marks:
        x = f"{number(100 * at)}%"
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="{top - 8}" y2="{top + inner}"/>')
        parts.append(f'<text class="mark" x="{x}" dx="5" y="{top - 8}" dy="4">{escape(text)}</text>')
    return "".join([*parts, "</svg>"])


def sankey(
    columns: Sequence[Sequence[Node]],
    links: Sequence[Link],
    title: str,
    height: int = 560,
    gap: int = 6,
    heads: Sequence[str] = (),
) -> str:
    """Return nodes in columns, and bands between them whose widths are the links' values.

    The height of a node is the sum of its outgoing or of its incoming values, whichever is larger.

    Args:
        columns: the nodes of each position, from the top.
        links: between adjacent positions; the target "" is the end of a dialogue.
        title: description for screen readers.
        heads: titles of the columns.
    """
    top, node_width = 24, 1.6
    sizes = [_sizes(column, links, position) for position, column in enumerate(columns)]
    fullest = max((sum(size.values()) for size in sizes), default=0.0)
    gaps = gap * max((len(column) - 1 for column in columns), default=0)
    scale = (height - top - max(gaps, 0)) / fullest if fullest else 0.0
    xs = [place * (100 - node_width) / max(len(columns) - 1, 1) for place in range(len(columns))]
    tops = [_stacked(column, size, scale, gap, top) for column, size in zip(columns, sizes, strict=True)]
    styles = {(position, node.key): node for position, column in enumerate(columns) for node in column}
    parts = [
        f'<svg class="sankey" width="100%" height="{height}" role="img" aria-label="{escape(title)}">',
        f'<svg width="100%" height="{height}" viewBox="0 0 100 {height}" preserveAspectRatio="none">',
    ]
    for link, y0, y1, thick in _bands(columns, links, tops, scale):
        source, target = styles[link.position, link.source], styles[link.position + 1, link.target]
        x0, x1 = xs[link.position] + node_width, xs[link.position + 1]
        parts.append(
            f'<path class="{escape(source.style)}" d="{_band(x0, y0, x1, y1, thick)}">'
            f"<title>{escape(f'{source.text} → {target.text}: {link.value:,.0f}')}</title></path>"
        )
    for position, column in enumerate(columns):
        for node in column:
            if size := sizes[position][node.key]:
                parts.append(
                    f'<rect class="{escape(node.style)}" x="{number(xs[position])}" width="{node_width}" '
                    f'y="{number(tops[position][node.key])}" height="{number(max(size * scale, 1))}">'
                    f"<title>{escape(f'{node.text}: {size:,.0f}')}</title></rect>"
                )
    parts.append("</svg>")
    for position, column in enumerate(columns):
        last = position == len(columns) - 1 and position > 0
        anchor, dx = ("end", -5) if last else ("start", 5)
        if position < len(heads):
            edge = "100%" if last else f"{number(xs[position])}%"
            text = f'text-anchor="{anchor}">{escape(heads[position])}</text>'
            parts.append(f'<text class="head" x="{edge}" y="13" {text}')
        x = number(xs[position] if last else xs[position] + node_width)
        for node in column:
            size = sizes[position][node.key] * scale
            y = f'y="{number(tops[position][node.key] + size / 2)}" dy="4"'
            if size >= 8:
                parts.append(f'<text x="{x}%" dx="{dx}" {y} text-anchor="{anchor}">{escape(node.text)}</text>')
    return "".join([*parts, "</svg>"])


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
    places, y = {}, top
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
    starts, ends = {}, {}
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
    a, b, c, d = number(y0), number(y1), number(y1 + thick), number(y0 + thick)
    left, right = number(x0), number(x1)
    return f"M{left},{a}C{middle},{a} {middle},{b} {right},{b}V{c}C{middle},{c} {middle},{d} {left},{d}Z"
