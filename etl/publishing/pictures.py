"""Charts as inline SVG: bars and histograms.

Widths are percentages and heights are pixels, so that a chart fills any width and its text keeps its size. Colours are
CSS classes of the page (``emotion``, ``intent``, ``neutral``, ``paper``, ...). ``conf/reports/pictures.svg`` draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from etl.publishing.templates import part

if TYPE_CHECKING:
    from markupsafe import Markup

FILE = "pictures.svg"


@dataclass(frozen=True)
class Bar:
    """One bar: its length as a share of the available length (0 to 1), its CSS class and its tooltip."""

    share: float
    style: str
    title: str


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
