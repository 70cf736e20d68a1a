"""Read files of labelled texts with one row per line. They have some MB each and are read on the driver."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conf.errors import InputError
from etl.common.labelled_files import drop_fault
from etl.pipeline.outcome import LocalOutcome
from udfs.labelled_files import texts_of

Lines = list[str | None]
"""The lines of a file; None for one that cannot be read."""


@dataclass(frozen=True)
class Parts:
    """The lines of each part of a set, and the ledger rows of files and lines that cannot be read."""

    lines: dict[str, Lines] = field(default_factory=dict)
    unread: LocalOutcome = field(default_factory=LocalOutcome)


def read_lines(file: Path, unit: str, unread: LocalOutcome, setting: str) -> Lines:
    """Read the lines of a UTF-8 file (.gz too), and add those that cannot be read to a ledger.

    Args:
        file: path of the file. Only newlines end a line.

    Raises:
        InputError: no line can be read.
    """
    lines: Lines = []
    with file.open("rb") as stream:
        for row in texts_of(file.name, stream):
            if row.line:
                lines.append(row.value)
            if row.fault is not None:
                drop_fault(unread, file.name, row, unit)
    if unread.dropped and not any(line is not None for line in lines):
        *_, reason, detail, _ = unread.dropped[-1]
        raise InputError(f"{setting}: {file.name} cannot be read: {reason}: {detail}")
    return lines


def parts_of(
    path: str | None, endings: Sequence[str], needed: Sequence[str], more: Sequence[str], *, unit: str, setting: str
) -> Parts:
    """Read the lines of each part of a set. A part's file is its name with one of the endings, optionally .gz.

    Args:
        path: the folder; None if it is not set.
        endings: endings of its files, such as ``.tsv``.
        needed, more: required and optional parts.

    Raises:
        InputError: no folder is set, or a required part is missing.
    """
    if path is None:
        raise InputError(f"{setting} is not set: name its folder")
    found = Parts()
    read = set[str]()
    for part in (*needed, *more):
        names = [f"{part}{ending}{packed}" for ending in endings for packed in ("", ".gz")]
        file = next((place for name in names if (place := Path(path, name)).is_file()), None)
        if file is not None:
            read.add(file.name)
            found.lines[part] = read_lines(file, unit, found.unread, setting)
        elif part in needed:
            raise InputError(f"{setting}: {path} has no {' or '.join(names)}")
    for name in sorted(one.name for one in Path(path).iterdir() if one.is_file() and one.name not in read):
        found.unread.drop("file", name, "unknown_file", f"no part of {setting}", 0)
    return found


def one_file(path: str | None, names: Sequence[str], *, unit: str, setting: str) -> Parts:
    """Read the lines of a file, or of the first of ``names`` in a folder, as the part ``""``.

    Raises:
        InputError: no path is set, or the file is missing.
    """
    if path is None:
        raise InputError(f"{setting} is not set: name its file")
    place = Path(path)
    places = [place] if place.is_file() else [inside for name in names if (inside := place / name).is_file()]
    if not places:
        raise InputError(f"{setting}: {path} is not a file, and has no {' or '.join(names)}")
    found = Parts()
    found.lines[""] = read_lines(places[0], unit, found.unread, setting)
    return found


def cells_of(lines: Iterable[str | None], columns: Sequence[str]) -> Iterator[tuple[int, Sequence[str] | None, str]]:
    """Yield (line number, cells in the order of ``columns``, line) of a TSV without quotes.

    The cells are None in a line with another number of cells than the header, or than columns where no header is.
    """
    order = list(range(len(columns)))
    width = len(columns)
    for number, line in enumerate(lines, 1):
        if line is None:
            continue
        cells = [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
        names = [cell.lower() for cell in cells]
        if number == 1 and set(columns) <= set(names):
            order = [names.index(column) for column in columns]
            width = len(names)
            continue
        yield number, [cells[at] for at in order] if len(cells) == width else None, line
