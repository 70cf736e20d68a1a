"""Self-contained HTML pages from templates: nothing from outside, all text escaped, one script that the page names."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from conf import resources
from etl.publishing.templates import joined, part, rendered

if TYPE_CHECKING:
    from markupsafe import Markup

PARTS = "parts.html"
_WORDS = re.compile(r"(?<=[a-z]{4})(?=[A-Z][a-z]{3})|(?<=[a-z0-9]{3}[._])(?=[a-z])")
"""Where a name of joined words, or of a table, may break."""


def page(title: str, description: str, body: "Markup", script: str = "") -> str:
    """Return a page with the style of ``conf/reports/report.css``.

    Args:
        script: the only code that the page's policy lets run; "" for none.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    source = f"'sha256-{digest}'" if script else "'none'"
    style = resources.text("reports/report.css")
    return rendered(
        "page.html", title=title, description=description, body=body, style=style, script=script, script_source=source
    )


def report(
    title: str, description: str, heading: str, lead: str, head: "Markup", sections: Iterable[tuple[str, str, str]]
) -> str:
    """Return a page of sections with links to them, without sections that have no content.

    Args:
        heading, lead: first heading and paragraph, as text.
        sections: (anchor, title, parts).
    """
    filled = [section for section in sections if section[2]]
    body = part(PARTS, "report", heading, lead, head, filled)
    return page(title, description, body, resources.text("reports/report.js"))


def tiles(facts: Iterable[tuple[str, str, str]]) -> "Markup":
    """Return the key numbers of a report: (name, value, note)."""
    return part(PARTS, "tiles", facts)


def framed(title: str, body: "Markup", height: int) -> "Markup":
    """Return an iframe with a page, for a notebook whose style must not change."""
    return part(PARTS, "framed", title, height, page(title, title, body))


def paragraph(text: str, style: str = "") -> "Markup":
    """Return a paragraph of text."""
    return part(PARTS, "paragraph", text, style)


def heading(text: str) -> "Markup":
    """Return a heading within a section."""
    return part(PARTS, "heading", text)


def limits(texts: Iterable[str]) -> "Markup":
    """Return the list of a data set's limitations."""
    return part(PARTS, "limits", texts)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> "Markup":
    """Return a table: numbers are right-aligned, null is a dash, the first cell of a row is its heading."""
    lines = [tuple(row) for row in rows]
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(head)
    numeric = [
        any(map(is_number, column)) and all(value is None or is_number(value) for value in column) for column in columns
    ]
    return part(PARTS, "table", head, [[breakable(shown(value)) for value in row] for row in lines], numeric)


def records(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str] | Iterable[str]) -> "Markup":
    """Return a table of some columns of rows; without titles a column's name is its title."""
    titles = columns if isinstance(columns, Mapping) else {name: name.replace("_", " ") for name in columns}
    return table(list(titles.values()), [[row[name] for name in titles] for row in rows])


def explained(rows: Sequence[Mapping[str, Any]], text: str, columns: Mapping[str, str]) -> "Markup | str":
    """Return a paragraph and a table of records under it; "" without rows."""
    return paragraph(text) + records(rows, columns) if rows else ""


def compared(rows: Iterable[Mapping[str, Any]], column: str, title: str = "") -> "Markup":
    """Return a table of values beside the paper's; ``column`` names the rows."""
    return records(rows, {column: title or column, "value": "here", "paper": "paper"})


def chart(
    head: Sequence[str],
    rows: Iterable[tuple[str, "Markup", Iterable[str]]],
    widths: tuple[str, str] = ("name", "share"),
) -> "Markup":
    """Return a table whose second column has bars.

    Args:
        head: titles of the first column and of the columns of numbers.
        rows: (name, bars, numbers as text).
        widths: CSS classes of the first column and of the columns of numbers.
    """
    return part(PARTS, "chart", list(head), rows, widths)


def details(summary: str, content: "Markup") -> "Markup":
    """Return a part that is folded under a summary."""
    return part(PARTS, "details", summary, content)


def key(entries: Iterable[tuple[str, str]]) -> "Markup":
    """Return the legend of the colours: (class, text) pairs."""
    return part(PARTS, "key", entries)


def figure(picture: "Markup", title: str = "", caption: str = "", scrolls: bool = False) -> "Markup":
    """Return a picture with a heading and a caption; one that scrolls keeps its width on narrow screens."""
    return part(PARTS, "figure", picture, title, caption, scrolls)


def beside(blocks: Iterable[str]) -> "Markup":
    """Return parts beside each other where the page is wide enough."""
    return part(PARTS, "beside", blocks)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def breakable(text: str) -> "Markup":
    """Return a cell's text whose names may break between words: EmpatheticDialogues, subtitles.clean_dialogues."""
    from markupsafe import Markup

    return Markup("<wbr/>").join(_WORDS.split(text))


def shown(value: object) -> str:
    """Return a cell's text: numbers with thousands separators, floats with at most four decimals."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{int(value):,}" if value == int(value) else f"{value:,.4f}".rstrip("0").rstrip(".")
    return str(value)


def percent(share: float | None) -> str:
    """Return a share as a percentage with one decimal."""
    return "–" if share is None else f"{100 * share:.1f}%"


__all__ = [
    "beside",
    "chart",
    "compared",
    "details",
    "figure",
    "framed",
    "heading",
    "is_number",
    "joined",
    "key",
    "limits",
    "page",
    "paragraph",
    "part",
    "percent",
    "records",
    "report",
    "shown",
    "table",
    "tiles",
]
