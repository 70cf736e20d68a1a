"""Self-contained HTML pages: no scripts, no network, all text escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from conf import resources

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, description: str, body: str) -> str:
    """Return a page with the style of ``conf/reports/report.css``; title and description are text, body is HTML."""
    style = resources.text("reports/report.css")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="description" content="{escape(description)}">\n<title>{escape(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def report(
    title: str, description: str, heading: str, lead: str, head: str, sections: Iterable[tuple[str, str, str]]
) -> str:
    """Return a page of sections with links to them, without sections that have no content.

    Args:
        title, description: of the page, as text.
        heading, lead: first heading and paragraph, as text.
        head: HTML below them.
        sections: (anchor, title, content as HTML).
    """
    filled = [(anchor, name, content) for anchor, name, content in sections if content]
    links = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name, _ in filled)
    body = [
        f"<header><h1>{escape(heading)}</h1>",
        paragraph(lead, "lead"),
        head,
        f'</header><nav aria-label="Sections"><ul>{links}</ul></nav><main>',
        *(
            f'<section id="{escape(anchor)}">\n<h2>{escape(name)}</h2>\n{content}\n</section>'
            for anchor, name, content in filled
        ),
        "</main>",
    ]
    return page(title, description, "\n".join(body))


def tiles(facts: Iterable[tuple[str, str, str]]) -> str:
    """Return the key numbers of a report: (name, value, note)."""
    made = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(beside)}</small></dd></div>"
        for name, value, beside in facts
    )
    return f'<dl class="tiles">{made}</dl>'


def framed(title: str, body: str, height: int) -> str:
    """Return an iframe with a page, for a notebook whose style must not change."""
    whole = escape(page(title, title, body))
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<div><iframe title="{escape(title)}" sandbox style="{style}" srcdoc="{whole}"></iframe></div>'


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of text."""
    return f"<p{_class(style)}>{escape(text)}</p>"


def limits(texts: Iterable[str]) -> str:
    """Return the list of a data set's limitations."""
    return '<div class="limits"><ul>' + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul></div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table: numbers are right-aligned, null is a dash, the first cell of a row is its heading."""
    lines = [tuple(row) for row in rows]
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(head)
    numeric = [
        any(map(is_number, column)) and all(value is None or is_number(value) for value in column) for column in columns
    ]

    def cells(row: Sequence[object], scopes: Sequence[str]) -> str:
        made = ""
        for value, scope, right in zip(row, scopes, numeric, strict=True):
            tag, attribute = ("th", f' scope="{scope}"') if scope else ("td", "")
            made += f"<{tag}{attribute}{_class('n' if right else '')}>{escape(shown(value))}</{tag}>"
        return f"<tr>{made}</tr>"

    body = "".join(cells(row, ["row"] + [""] * (len(row) - 1)) for row in lines)
    header = cells(head, ["col"] * len(head))
    return f'<div class="wide"><table><thead>{header}</thead><tbody>{body}</tbody></table></div>'


def records(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str] | Iterable[str]) -> str:
    """Return a table of some columns of rows; without titles a column's name is its title."""
    titles = columns if isinstance(columns, Mapping) else {name: name.replace("_", " ") for name in columns}
    return table(list(titles.values()), [[row[name] for name in titles] for row in rows])


def compared(rows: Iterable[Mapping[str, Any]], column: str, title: str = "") -> str:
    """Return a table of values beside the paper's; ``column`` names the rows."""
    return records(rows, {column: title or column, "value": "here", "paper": "paper"})


def chart(
    head: Sequence[str], rows: Iterable[tuple[str, str, Iterable[str]]], widths: tuple[str, str] = ("name", "share")
) -> str:  # fmt: skip
    """Return a table whose second column has bars.

    Args:
        head: titles of the first column and of the columns of numbers.
        rows: (name as HTML, bars as HTML, numbers as text).
        widths: CSS classes of the first column and of the columns of numbers.
    """
    first, *numbers = head
    columns = f'<col class="{widths[0]}"/><col/>' + f'<col class="{widths[1]}"/>' * len(numbers)
    titles = "".join(f'<th scope="col" class="n">{escape(name)}</th>' for name in numbers)
    body = ""
    for name, drawn, values in rows:
        cells = "".join(f'<td class="n">{escape(value)}</td>' for value in values)
        body += f'<tr><th scope="row">{name}</th><td>{drawn}</td>{cells}</tr>'
    return (
        f'<table class="chart"><colgroup>{columns}</colgroup><thead><tr><th scope="col">{escape(first)}</th><td></td>'
        f"{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def details(summary: str, content: str) -> str:
    """Return content (HTML) that is folded under a summary."""
    return f"<details><summary>{escape(summary)}</summary>\n{content}\n</details>"


def key(entries: Iterable[tuple[str, str]]) -> str:
    """Return the legend of the colours: (class, text) pairs."""
    swatch = '<svg width="12" height="12" aria-hidden="true"><rect class="{}" width="12" height="12" rx="2"/></svg>'
    entry = "".join(f"<li>{swatch.format(style)}{escape(text)}</li>" for style, text in entries)
    return f'<ul class="key">{entry}</ul>'


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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


def _class(style: str) -> str:
    return f' class="{escape(style)}"' if style else ""
