"""Pages of HTML that need nothing but themselves: no script, no network, every text escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from conf import resources

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, description: str, body: str) -> str:
    """A whole page with the style of ``conf/reports/report.css``.

    Args:
        title, description: plain text.
        body: HTML.
    """
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
    """A whole page of sections with links to them; a section without content is left out.

    Args:
        title, description: of the page, plain text.
        heading, lead: what it begins with, plain text.
        head: HTML below them.
        sections: (anchor, title, content as HTML).
    """
    told = [(anchor, name, content) for anchor, name, content in sections if content]
    links = "".join(f'<li><a href="#{anchor}">{escape(name)}</a></li>' for anchor, name, _ in told)
    body = [
        f"<header><h1>{escape(heading)}</h1>",
        paragraph(lead, "lead"),
        head,
        f'</header><nav aria-label="Sections"><ul>{links}</ul></nav><main>',
        *(section(anchor, name, content) for anchor, name, content in told),
        "</main>",
    ]
    return page(title, description, "\n".join(body))


def tiles(facts: Iterable[tuple[str, str, str]]) -> str:
    """The few numbers to remember: (name, value, what stands beside it)."""
    made = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(beside)}</small></dd></div>"
        for name, value, beside in facts
    )
    return f'<dl class="tiles">{made}</dl>'


def framed(title: str, body: str, height: int) -> str:
    """A page within another one, such as a notebook, so that its style stays its own; HTML."""
    whole = escape(page(title, title, body))
    style = f"width: 100%; height: {height}px; border: 0"
    return f'<div><iframe title="{escape(title)}" sandbox style="{style}" srcdoc="{whole}"></iframe></div>'


def section(anchor: str, title: str, *parts: str) -> str:
    """A section with a heading; ``parts`` are HTML."""
    return f'<section id="{escape(anchor)}">\n<h2>{escape(title)}</h2>\n' + "\n".join(parts) + "\n</section>"


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of plain text."""
    return f"<p{_class(style)}>{escape(text)}</p>"


def items(texts: Iterable[str], style: str = "") -> str:
    """A list of plain texts."""
    return f"<ul{_class(style)}>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand to the right, null is a dash, the first cell of a row is its heading."""
    lines = [tuple(row) for row in rows]
    numeric = [
        any(is_number(row[place]) for row in lines)
        and all(row[place] is None or is_number(row[place]) for row in lines)
        for place in range(len(head))
    ]

    def cells(row: Sequence[object], name: str) -> str:
        made = ""
        for place, value in enumerate(row):
            tag, scope = (name, ' scope="col"') if name == "th" else ("td", "")
            if name == "td" and place == 0:
                tag, scope = "th", ' scope="row"'
            made += f"<{tag}{scope}{_class('n' if numeric[place] else '')}>{escape(shown(value))}</{tag}>"
        return f"<tr>{made}</tr>"

    body = "".join(cells(row, "td") for row in lines)
    return f'<div class="wide"><table><thead>{cells(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def details(summary: str, content: str) -> str:
    """Content (HTML) that opens when asked for."""
    return f"<details><summary>{escape(summary)}</summary>\n{content}\n</details>"


def key(entries: Sequence[tuple[str, str]]) -> str:
    """What the colours mean: (class, text) pairs."""
    swatch = '<svg width="12" height="12" aria-hidden="true"><rect class="{}" width="12" height="12" rx="2"/></svg>'
    return (
        '<ul class="key">'
        + "".join(f"<li>{swatch.format(style)}{escape(text)}</li>" for style, text in entries)
        + "</ul>"
    )


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A cell as people read it: thousands split_kept_dropped, floats with at most four decimals."""
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
    """A share as people read it."""
    return "–" if share is None else f"{100 * share:.1f}%"


def _class(style: str) -> str:
    return f' class="{escape(style)}"' if style else ""
