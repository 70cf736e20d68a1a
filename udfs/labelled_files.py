"""Reader of labelled files: CSV, JSON Lines and JSON, each also .gz, row by row; input is untrusted.

A file's own header names its columns. What cannot be read is a row with a fault: a row of the file, or the file itself
(line 0). One bad row does not affect the rows after it. A row with several values under one name is a fault, too: none
of them wins unseen.
"""

import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final, TextIO

from udfs.csv_records import Records
from udfs.json_texts import JsonError, list_elements, parsed_json
from udfs.text_files import UNSEEN, FileError, Row, fault_of, lines_of, opened, plain_name, shown

MAX_DOCUMENT: Final = 256 << 20
"""Greatest number of characters of a file that is one JSON document."""
MAX_COLUMNS: Final = 2_000
_PACKED: Final = (OSError, EOFError, zlib.error)
_NUMBER: Final = re.compile(r"(?:'|=\")?(?P<first>\d)(?:[.,](?P<rest>\d{1,20}))?[eE]\+?(?P<power>\d{1,3})\"?")
_WHOLE: Final = re.compile(r"=\"(?P<quoted>[^\"]*)\"|(?P<whole>\d+)\.0+")
MISSING: Final = frozenset(
    ("nan", "-nan", "nat", "<na>", "null", "#n/a", "n/a", "#na", "#name?", "#value!", "#ref!", "#num!", "#null!")
)
"""How spreadsheets and pandas write a missing value, in lower case; an empty cell is missing as well."""
ROUNDED: Final = "rounded_id"
"""Fault of a row with an id of which digits are lost."""


def rows_of(name: str, stream: BinaryIO, columns: Collection[str] = (), ids: Collection[str] = ()) -> Iterator[Row]:
    """Yield the rows of a labelled file as dicts of strings. Files of unknown endings are read as CSV.

    Args:
        name: the file's name; its ending determines the format.
        columns: required columns. A CSV file without one is a fault, and so is a JSON object. With none, all are used:
            a row whose columns of one name differ is a fault.
        ids: columns of ids: each is read by `whole_id`; a row with one that has lost digits is a fault.
    """
    for row in _rows_of(name, stream, columns):
        whole, lost = whole_ids(row.value, ids) if ids and row.fault is None else ({}, None)
        if lost is not None:
            yield Row(row.line, None, ROUNDED, shown(lost))
        else:
            yield row._replace(value=row.value | whole) if whole else row


def whole_ids(cells: Mapping[str, str], ids: Iterable[str]) -> tuple[dict[str, str], str | None]:
    """Return the ids of a row by `whole_id`, and which one has lost digits, if one has; columns may be missing."""
    whole = {}
    for column in ids:
        if column in cells:
            found = whole_id(cells[column])
            if found is None:
                return {}, f"{column} {cells[column]}: a spreadsheet made a number of it"
            whole[column] = found
    return whole, None


def whole_id(cell: str) -> str | None:
    """Return an id as it was before a spreadsheet or pandas made a number of it; None where digits are lost.

    ``1.09012E+05`` has all digits of 109012, ``1.09E+05`` and ``####`` have not. ``="109012"`` and ``109012.0`` are
    109012. Outer blanks of any kind and unseen characters do not count.
    """
    cell = UNSEEN.sub("", cell).strip()
    if len(cell) > 1 and not cell.strip("#"):
        return None
    number = _NUMBER.fullmatch(cell)
    if number is not None and ("." in cell or "," in cell or "+" in cell):
        rest, power = number["rest"] or "", int(number["power"])
        return None if len(rest) < power or rest[power:].strip("0") else number["first"] + rest[:power]
    whole = _WHOLE.fullmatch(cell)
    if whole is not None:
        return whole["quoted"] if whole["whole"] is None else whole["whole"]
    return "" if cell.lower() in MISSING else cell


def _rows_of(name: str, stream: BinaryIO, columns: Collection[str]) -> Iterator[Row]:
    form = name.lower().removesuffix(".gz")
    if not form.endswith((".json", ".jsonl", ".ndjson")):
        yield from _guarded(lambda: _csv_rows(name, stream, columns))
        return
    for row in documents_of(name, stream):
        if row.fault is not None:
            yield row
        elif not isinstance(row.value, dict):
            yield Row(row.line, None, "no_object", shown(str(row.value)))
        elif missing := [column for column in columns if column not in (names := [*map(plain_name, row.value)])]:
            yield Row(row.line, None, "no_column", _lacking(missing, names))
        else:
            yield Row(row.line, {plain_name(key): _cell(value) for key, value in row.value.items()})


def _lacking(missing: Sequence[str], names: Iterable[str]) -> str:
    """Return which columns are not there, and which are."""
    return shown(f"{', '.join(missing)}; it has {', '.join(filter(None, names)) or 'none'}")


def texts_of(name: str, stream: BinaryIO) -> Iterator[Row]:
    """Yield the lines of a text file without their ends. Only newlines end a line."""
    return _guarded(lambda: _text_rows(lines_of(opened(stream, "\n"))))


def documents_of(name: str, stream: BinaryIO) -> Iterator[Row]:
    """Yield the documents of a JSON file: its lines, the elements of its list, or its one object."""
    return _guarded(lambda: _documents(name, opened(stream, "\n")))


def columns_of(name: str, stream: BinaryIO, columns: Collection[str]) -> Row:
    """Return the names of a CSV file's columns, or the fault by which it has none of use.

    A JSON file has no header. The names in its first object are returned, whether the columns are among them or not.
    """
    if name.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson")):
        return Row(0, next((list(row.value) for row in rows_of(name, stream) if row.value), []))

    def read() -> Iterator[Row]:
        yield Row(0, _header(Records(lines_of(opened(stream, "", table=True))), columns))

    return next(_guarded(read))


def _guarded(rows: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """Yield rows, and the fault that ends the file, if any."""
    line = 0
    try:
        for row in rows():
            line = row.line
            yield row
    except FileError as fault:
        yield Row(0, None, fault.reason, shown(fault.detail))
    except _PACKED as error:
        reason = "unreadable" if isinstance(error, OSError) and error.errno else "bad_gzip"
        yield Row(0, None, reason, shown(f"after line {line}: {type(error).__name__}: {error}"))


def _text_rows(lines: Iterator[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        text = line.removesuffix("\n").removesuffix("\r")
        fault = fault_of(text)
        yield Row(number, text) if fault is None else Row(number, None, fault, shown(text))


def _documents(name: str, text: TextIO) -> Iterator[Row]:
    form = _whole_form(name, text)
    if form is None:
        yield from (_document(number, line) for number, line in enumerate(lines_of(text), 1) if line.strip())
        return
    whole = text.read(MAX_DOCUMENT + 1)
    if len(whole) > MAX_DOCUMENT:
        raise FileError("too_large", f"one JSON document of more than {MAX_DOCUMENT >> 20} MiB")
    if form == "{":
        yield _document(1, whole)
        return
    for number, element in enumerate(list_elements(whole.removeprefix("\ufeff"), unique=True), 1):
        fault = element.reason if isinstance(element, JsonError) else None
        yield Row(number, element) if fault is None else Row(number, None, fault, shown(str(element)))


def _whole_form(name: str, text: TextIO) -> str | None:
    """Return ``[`` or ``{`` for a file that is one list or one object of several lines; None for JSON Lines."""
    if name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        return None
    content: Any = text.buffer
    start = content.peek(1).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "["
    line, end, _ = start.partition(b"\n")
    if not end or not line.startswith(b"{"):
        return None
    return "{" if _document(1, line.decode(errors="replace")).fault == "not_json" else None


def _document(number: int, text: str) -> Row:
    fault = fault_of(text)
    if fault is None:
        try:
            return Row(number, parsed_json(text, unique=True))
        except JsonError as error:
            fault = error.reason
    return Row(number, None, fault, shown(text))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _header(records: Records, columns: Collection[str]) -> list[str]:
    row = records.read(None)
    while row is not None and row.fault is None and not row.value:
        row = records.read(None)
    if row is None or row.fault is not None:
        raise FileError("no_header", row.detail if row else "the file is empty")
    names = [plain_name(name) for name in row.value]
    if len(names) > MAX_COLUMNS:
        raise FileError("no_header", f"{len(names)} columns")
    if missing := [column for column in columns if column not in names]:
        raise FileError("no_column", _lacking(missing, names))
    if repeated := [column for column in columns if names.count(column) > 1]:
        raise FileError("repeated_column", ", ".join(repeated))
    return names


def _csv_rows(name: str, stream: BinaryIO, columns: Collection[str]) -> Iterator[Row]:
    records = Records(lines_of(opened(stream, "", table=True)))
    names = _header(records, columns)
    while (row := records.read(len(names))) is not None:
        if row.fault is not None:
            yield row
        elif len(names) > 1 and sorted(found := [plain_name(cell) for cell in row.value]) == sorted(names):
            names = found  # files that were joined: what follows is read by its own header
            yield Row(row.line, None, "repeated_header", shown(", ".join(names)))
        elif row.value:
            cells = dict(zip(names, row.value, strict=True))
            twice = {name: None for name, cell in zip(names, row.value, strict=True) if name and cells[name] != cell}
            if columns:  # one that nobody asked for costs no row
                yield Row(row.line, {name: cell for name, cell in cells.items() if name not in twice})
            elif twice:
                yield Row(
                    row.line, None, "repeated_column", shown(f"{next(iter(twice))} has other values in two columns")
                )
            else:
                yield Row(row.line, cells)
