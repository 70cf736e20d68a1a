"""Scatter plots and line charts as inline SVG; see ``etl.analysis.pictures``."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from etl.analysis.pictures import number

TOP, BOTTOM = 12, 40


@dataclass(frozen=True)
class Series:
    """Points in the order of x, with their CSS class and title."""

    points: Sequence[tuple[float, float]]
    style: str
    title: str


def scatter(
    series: Series, x_name: str, y_name: str, mean: float | None, limits: tuple[float, float], height: int = 260
) -> str:
    """Return a scatter plot with a horizontal line at the mean.

    Args:
        series: points; those beyond the limits are drawn at the edge.
        x_name, y_name: titles of the axes.
        limits: maxima of x and y.
    """
    most_x, most_y = (max(limit, 1e-9) for limit in limits)
    inner = height - TOP - BOTTOM
    parts = _frame(series.title, most_x, most_y, x_name, y_name, height)
    drawn = "".join(
        f'<circle cx="{number(100 * min(x / most_x, 1))}%" cy="{number(_down(y, most_y, inner))}" r="1.6"/>'
        for x, y in series.points
    )
    parts.append(f'<g class="dots {escape(series.style)}">{drawn}</g>')
    if mean is not None:
        y = number(_down(mean, most_y, inner))
        parts.append(f'<line class="mark" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="mark" x="100%" y="{y}" dy="-5" text-anchor="end">mean {mean:.1f}</text>')
    return "".join([*parts, "</svg>"])


def lines(series: Sequence[Series], x_name: str, y_name: str, title: str, height: int = 300) -> str:
    """Return a line chart whose axes begin at 0."""
    most_x = max((x for one in series for x, _ in one.points), default=0) or 1.0
    most_y = max((y for one in series for _, y in one.points), default=0) or 1.0
    inner = height - TOP - BOTTOM
    parts = _frame(title, most_x, most_y, x_name, y_name, height)
    parts.append(
        f'<svg y="{TOP}" width="100%" height="{inner}" viewBox="0 0 100 {inner}" preserveAspectRatio="none" '
        'overflow="visible">'
    )
    for one in series:
        path = "L".join(f"{number(100 * x / most_x)},{number(inner * (1 - y / most_y))}" for x, y in one.points)
        if path:
            parts.append(
                f'<path class="drawn {escape(one.style)}" d="M{path}"><title>{escape(one.title)}</title></path>'
            )
    return "".join([*parts, "</svg></svg>"])


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


def _frame(title: str, most_x: float, most_y: float, x_name: str, y_name: str, height: int) -> list[str]:
    """Return an unclosed SVG element with its axes."""
    inner = height - TOP - BOTTOM
    parts = [f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">']
    for value in ticks(most_y):
        y = number(_down(value, most_y, inner))
        parts.append(f'<line class="{"level" if value else "axis"}" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
        if value:
            parts.append(f'<text class="scale" x="0" y="{y}" dy="-3">{_shown(value)}</text>')
    for value in ticks(most_x, 4):
        at = value / most_x
        anchor = "start" if at < 0.04 else "end" if at > 0.96 else "middle"
        place = f'x="{number(100 * at)}%" y="{height - 24}" text-anchor="{anchor}"'
        parts.append(f'<text class="scale" {place}>{_shown(value)}</text>')
    parts.append(f'<text class="head" x="100%" y="{height - 6}" text-anchor="end">{escape(x_name)} →</text>')
    parts.append(f'<text class="head" x="0" y="{height - 6}">↑ {escape(y_name)}</text>')
    return parts
