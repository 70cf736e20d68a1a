"""Scatter plots and line charts as inline SVG; see ``etl.analysis.pictures``."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any

from etl.analysis.pictures import FILE, anchored, number
from etl.analysis.templates import part

if TYPE_CHECKING:
    from markupsafe import Markup

TOP = 12
BOTTOM = 40


@dataclass(frozen=True)
class Series:
    """Points in the order of x, with their CSS class and title."""

    points: Sequence[tuple[float, float]]
    style: str
    title: str


def scatter(
    series: Series, x_name: str, y_name: str, mean: float | None, limits: tuple[float, float], height: int = 260
) -> "Markup":
    """Return a scatter plot with a horizontal line at the mean.

    Args:
        series: points; those beyond the limits are drawn at the edge.
        x_name, y_name: titles of the axes.
        limits: maxima of x and y.
    """
    most_x, most_y = (max(limit, 1e-9) for limit in limits)
    inner = height - TOP - BOTTOM
    dots = [(number(100 * min(x / most_x, 1)), number(_down(y, most_y, inner))) for x, y in series.points]
    at = None if mean is None else number(_down(mean, most_y, inner))
    axes = _axes((most_x, most_y), x_name, y_name, height)
    return part(FILE, "scatter", series.title, axes, series.style, dots, at, "" if mean is None else f"mean {mean:.1f}")


def lines(series: Sequence[Series], x_name: str, y_name: str, title: str, height: int = 300) -> "Markup":
    """Return a line chart whose axes begin at 0."""
    most_x = max((x for one in series for x, _ in one.points), default=0) or 1.0
    most_y = max((y for one in series for _, y in one.points), default=0) or 1.0
    inner = height - TOP - BOTTOM
    paths = []
    for one in series:
        path = "L".join(f"{number(100 * x / most_x)},{number(inner * (1 - y / most_y))}" for x, y in one.points)
        if path:
            paths.append((one.style, f"M{path}", one.title))
    return part(FILE, "lines", title, _axes((most_x, most_y), x_name, y_name, height), TOP, inner, paths)


def ticks(most: float, wanted: int = 5) -> list[float]:
    """Return about `wanted` round numbers from 0 to `most`."""
    raw = most / wanted
    size = 10 ** floor(log10(raw)) if raw > 0 else 1.0
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * 0.999)
    return [place * step for place in range(int(most / step + 1e-9) + 1)]


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _down(y: float, most: float, inner: float) -> float:
    return TOP + inner * (1 - min(max(y / most, 0.0), 1.0))


def _axes(limits: tuple[float, float], x_name: str, y_name: str, height: int) -> dict[str, Any]:
    """Return the scales of a chart: (y, text) of its horizontal lines, (x, alignment, text) below it."""
    (most_x, most_y) = limits
    inner = height - TOP - BOTTOM
    return {
        "height": height,
        "x_name": x_name,
        "y_name": y_name,
        "levels": [(number(_down(value, most_y, inner)), _shown(value) if value else "") for value in ticks(most_y)],
        "ticks": [
            (number(100 * value / most_x), anchored(value / most_x), _shown(value)) for value in ticks(most_x, 4)
        ],
    }
