"""Files of labelled texts, a row a line, read whole on the driver: some MB each."""

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conf.errors import InputError
from etl.emo_pillars.transfer_sets import DROPPED
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Outcome

MOST_BYTES = 256 << 20


def lines_of(file: Path, setting: str) -> list[str]:
    """The lines of a UTF-8 file (.gz too); only newlines end them.

    Raises:
        InputError: it cannot be read, is not UTF-8, or is larger than any of these sets.
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
    """The lines of each part of a set in a folder, by the part's name: NAME with one of the endings, .gz too.

    Args:
        path: the folder; None where nobody named it.
        endings: of its files, as ``.tsv``.
        needed, more: parts that must and may be there.

    Raises:
        InputError: no folder is named, or a part is not there.
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
    """The lines of a file, or of the first of ``names`` in the folder that ``path`` is.

    Raises:
        InputError: nothing is named, or it is not there.
    """
    if path is None:
        raise InputError(f"{setting} is not set: name its file")
    place = Path(path)
    places = [place] if place.is_file() else [inside for name in names if (inside := place / name).is_file()]
    if not places:
        raise InputError(f"{setting}: {path} is no file, and has no {' or '.join(names)}")
    return lines_of(places[0], setting)


def set_rows(found: Any, schema: str, run: StageRun) -> Outcome:
    """Rows and ledger of a set that was read on the driver.

    Args:
        found: of one of the readers in ``etl.emo_pillars.transfer_sets``.
        schema: of its rows.
    """
    rows = run.spark.createDataFrame(found.rows, schema)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, DROPPED), rows_in=found.rows_in)
