"""A page that searches all rows of a data set without a server, and the files beside it that have the rows.

The files are scripts, because a page that is opened from a folder may read no others. Each calls one function with JSON
in ASCII; the page puts its texts into text nodes alone, and its policy lets nothing but itself and these files run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conf import resources
from etl.analysis import pages
from etl.analysis.pages import part

ROWS_PER_FILE = 2_000


@dataclass(frozen=True)
class Item:
    """A text of a row, such as a turn, with its labels and their scores; a label may have no score."""

    text: str
    labels: Sequence[tuple[str, float | None]] = ()


@dataclass(frozen=True)
class Source:
    """Where a row comes from: a path, and (place, text) of the lines there."""

    path: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Row:
    """A row of a data set.

    Attributes:
        name: its id.
        about: a line about where it comes from, which is searched, too.
        items: its texts.
        choices: its values of each of the page's choices.
        year: None where it is not known.
        crude: whether it is only found when crude words are asked for.
        source: None where it is not shown.
    """

    name: str
    about: str
    items: Sequence[Item]
    choices: Sequence[Sequence[str]] = ()
    year: int | None = None
    crude: bool = False
    source: Source | None = None


@dataclass(frozen=True)
class SearchPage:
    """What a page of rows says, and how it is filtered.

    Attributes:
        title, heading, lead: texts.
        what: the rows in the plural.
        label_title: of the filter by label.
        score_title: of the filter by the labels' scores; "" for none.
        choice_titles: of further filters, of one value each.
        source_title: of the button that shows a row's source.
        back: file name of the report beside it.
    """

    title: str
    heading: str
    lead: str
    what: str
    label_title: str
    score_title: str = ""
    choice_titles: Sequence[str] = ()
    source_title: str = ""
    back: str = ""


@dataclass
class RowFiles:
    """Files of rows, and what the page has to know of them.

    Attributes:
        labels: names of labels, in the order of their numbers in the files.
        options: the same of each choice.
        files: (rows, first year, last year) of each file; None for years that are not known.
    """

    labels: dict[str, int] = field(default_factory=dict)
    options: list[dict[str, int]] = field(default_factory=list)
    files: list[tuple[int, int | None, int | None]] = field(default_factory=list)
    has_crude: bool = False

    @property
    def count(self) -> int:
        return sum(rows for rows, _, _ in self.files)

    @property
    def years(self) -> tuple[int, int] | None:
        """Return the first and the last year; None where none is known."""
        known = [year for _, *both in self.files for year in both if year is not None]
        return (min(known), max(known)) if known else None

    def add(self, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
        """Yield (name, text) of the files of the next rows: the rows, and their sources where there are any."""
        number = len(self.files)
        years = [row.year for row in rows if row.year is not None]
        self.files.append((len(rows), min(years, default=None), max(years, default=None)))
        yield f"rows-{number}.js", _call("rows", number, [self._row(row) for row in rows])
        sources = {row.name: [row.source.path, list(row.source.lines)] for row in rows if row.source is not None}
        if sources:
            yield f"sources-{number}.js", _call("sources", number, sources)

    def _row(self, row: Row) -> list[Any]:
        while len(self.options) < len(row.choices):
            self.options.append({})
        self.has_crude = self.has_crude or row.crude
        choices = [
            [known.setdefault(value, len(known)) for value in values]
            for known, values in zip(self.options, row.choices, strict=False)
        ]
        items = [[item.text, [[self._label(name), score] for name, score in item.labels]] for item in row.items]
        return [row.name, row.about, row.year, int(row.crude), choices, items, int(row.source is not None)]

    def _label(self, name: str) -> int:
        return self.labels.setdefault(name, len(self.labels))


def _call(function: str, number: int, content: Any) -> str:
    """Return a script that calls a function with JSON in ASCII, so that no text can end it."""
    return f"{function}({number}, {json.dumps(content, separators=(',', ':'))});\n"


def search_page(told: SearchPage, rows: RowFiles, folder: str) -> str:
    """Return the page of rows that were added.

    Args:
        told: what it says.
        rows: all rows.
        folder: name of the folder beside the page that has the files.
    """
    titles = list(told.choice_titles)[: len(rows.options)]
    about = {
        "folder": folder,
        "what": told.what,
        "sources": told.source_title,
        "count": rows.count,
        "labels": list(rows.labels),
        "choices": titles,
        "files": rows.files,
    }
    content: Mapping[str, Any] = {
        "heading": told.heading,
        "lead": told.lead,
        "back": told.back,
        "about": json.dumps(about, separators=(",", ":")),
        "label_title": told.label_title,
        "labels": _sorted(rows.labels),
        "score_title": told.score_title,
        "choices": [(title, _sorted(options)) for title, options in zip(titles, rows.options, strict=False)],
        "years": rows.years,
        "has_crude": rows.has_crude,
    }
    body = part(pages.PARTS, "searched", content)
    return pages.page(told.title, told.lead, body, resources.text("reports/search.js"), files=True)


def _sorted(numbers: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return (number, name) by name."""
    return sorted(((number, name) for name, number in numbers.items()), key=lambda one: one[1])
