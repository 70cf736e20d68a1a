"""Parser of CSV (RFC 4180) in which one bad row does not affect the rows after it."""

import csv
import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from udfs.text_files import MAX_ROW, Row, fault_of, shown

_SEPARATORS: Final = (",", ";", "\t")
_SEPARATOR: Final = re.compile(r"(?i)\"?sep=([,;\t|])\"?\s*")
MAX_LINES: Final = 100_000
"""Greatest number of lines that the quoted cells of a record span."""


class Records:
    """The records of a CSV file. A quote that is not closed makes only its own line unreadable.

    The first line tells what parts the cells: the commonest of comma, semicolon and tab, or Excel's ``sep=;``.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._separator = ","
        self._lines = lines
        self._waiting = deque[str]()
        self.number = 0

    def read(self, width: int | None) -> Row | None:
        """Return the next record's cells, or its fault; None at the end.

        A record ends at a line after which its number of quotes is even. If these lines are no record of ``width``
        cells, the first line alone is at fault, and reading goes on after it.
        """
        taken = [*self._next()]
        if taken and self.number == 1:
            named = _SEPARATOR.fullmatch(taken[0])
            self._separator = named[1] if named else max(_SEPARATORS, key=taken[0].count)
            taken = [*self._next()] if named else taken
        if not taken:
            return None
        start = self.number
        quotes = taken[0].count('"')
        size = len(taken[0])
        while quotes % 2 and size <= MAX_ROW and len(taken) < MAX_LINES and (more := [*self._next()]):
            taken += more
            quotes = quotes + more[0].count('"')
            size = size + len(more[0])
        cells, used = _parsed(taken, width, self._separator)
        self._back(taken[used:])
        if fault := fault_of("".join(taken[:used]) if used > 1 else taken[0]):
            return Row(start, None, fault, shown(taken[0]))
        if cells is None:
            return Row(start, None, "open_quote" if taken[0].count('"') % 2 else "bad_quotes", shown(taken[0]))
        if not cells or (len(cells) == 1 != width and not cells[0].strip()):
            return Row(start, [])
        if width is not None and len(cells) != width:
            reason = "too_few_cells" if len(cells) < width else "too_many_cells"
            return Row(start, None, reason, shown(f"{len(cells)} of {width}: {taken[0]}"))
        return Row(start, cells)

    def _next(self) -> Iterator[str]:
        line = self._waiting.popleft() if self._waiting else next(self._lines, None)
        if line is not None:
            self.number += 1
            yield line

    def _back(self, lines: list[str]) -> None:
        self._waiting.extendleft(reversed(lines))
        self.number -= len(lines)


def _parsed(lines: list[str], width: int | None, separator: str) -> tuple[list[str] | None, int]:
    """Return the cells of the record that some lines start with, and the number of its lines; (None, 1) without one."""
    if '"' not in lines[0]:
        line = lines[0].rstrip("\r\n")
        return line.split(separator) if line else [], 1
    before = csv.field_size_limit(MAX_ROW)
    reader = csv.reader(iter(lines), strict=True, delimiter=separator)
    try:
        cells = next(reader)
    except csv.Error:
        return None, 1
    finally:
        csv.field_size_limit(before)
    if reader.line_num > 1 and width is not None and len(cells) != width:
        return None, 1
    return cells, reader.line_num
