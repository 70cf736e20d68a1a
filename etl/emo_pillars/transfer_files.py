"""Read files of labelled texts with one row per line. They have some MB each and are read on the driver."""

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

from conf.errors import InputError

MOST_BYTES = 256 << 20


def lines_of(file: Path, setting: str) -> list[str]:
    """Read the lines of a UTF-8 file (.gz too). Only newlines end a line.

    Raises:
        InputError: the file is unreadable, not UTF-8, or larger than ``MOST_BYTES``.
    """
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as content:
            read = content.read(MOST_BYTES + 1)
        if len(read) > MOST_BYTES:
            raise InputError(f"{setting}: {file.name} is more than {MOST_BYTES >> 20} MiB unpacked")
        return list(io.StringIO(read.decode("utf-8-sig"), newline="\n"))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{setting}: {file.name} cannot be read: {error}") from None


def parts_of(
    path: str | None, endings: Sequence[str], needed: Sequence[str], more: Sequence[str], setting: str
) -> dict[str, list[str]]:
    """Read the lines of each part of a set. A part's file is its name with one of the endings, optionally .gz.

    Args:
        path: the folder; None if it is not set.
        endings: endings of its files, such as ``.tsv``.
        needed, more: required and optional parts.
        setting: the setting's name for error messages.

    Raises:
        InputError: no folder is set, or a required part is missing.
    """
    if path is None:
        raise InputError(f"{setting} is not set: name its folder")
    found = {}
    for part in (*needed, *more):
        names = [f"{part}{ending}{packed}" for ending in endings for packed in ("", ".gz")]
        file = next((place for name in names if (place := Path(path, name)).is_file()), None)
        if file is not None:
            found[part] = lines_of(file, setting)
        elif part in needed:
            raise InputError(f"{setting}: {path} has no {' or '.join(names)}")
    return found


def one_file(path: str | None, names: Sequence[str], setting: str) -> list[str]:
    """Read the lines of a file, or of the first of ``names`` in a folder.

    Raises:
        InputError: no path is set, or the file is missing.
    """
    if path is None:
        raise InputError(f"{setting} is not set: name its file")
    place = Path(path)
    places = [place] if place.is_file() else [inside for name in names if (inside := place / name).is_file()]
    if not places:
        raise InputError(f"{setting}: {path} is no file, and has no {' or '.join(names)}")
    return lines_of(places[0], setting)
