"""Read labelled sets: CSV files, and the files that a setting names."""

import csv
import gzip
import io
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError


def read_csv(spark: SparkSession, paths: Sequence[str], setting: str) -> DataFrame:
    """Read CSV files (quoted cells may span lines; .gz too), every column as a string.

    Raises:
        InputError: no file is named, or one is not there.
    """
    if not paths:
        raise InputError(f"{setting} is empty: name one or more CSV files")
    for path in paths:
        if "://" not in path and not Path(path).exists():
            raise InputError(f"{setting}: {path} is not there")
    found = [str(Path(path).resolve()) if "://" not in path else path for path in paths]
    return spark.read.csv(found, header=True, multiLine=True, quote='"', escape='"', mode="PERMISSIVE")


def files_under(paths: Sequence[str], endings: Sequence[str], setting: str) -> list[str]:
    """Return the files that a setting names: each path, or the files with these endings in a folder.

    Raises:
        InputError: a path is not there, or is a folder without such files.
    """
    found: list[str] = []
    for path in paths:
        place = Path(path)
        if place.is_file():
            found.append(str(place.resolve()))
            continue
        inside = sorted(str(one.resolve()) for one in place.glob("*") if one.name.endswith(tuple(endings)))
        if not inside:
            raise InputError(f"{setting}: {path} is no file, and no folder with {', '.join(endings)} files")
        found += inside
    return found


def csv_rows(path: str, columns: Collection[str], setting: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file (.gz too), or of every CSV file in a folder that has the columns, sorted by name.

    Args:
        path: file or folder, read on the driver; meant for labelled sets, whose size is known.
        columns: required columns; in a folder, files without them are skipped.
        setting: the setting that names the path, for messages.

    Raises:
        InputError: nothing is there, no file has the columns, or one is not UTF-8 CSV.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{setting}: {path} is not there")
    files = [place] if place.is_file() else sorted(p for p in place.iterdir() if p.name.endswith((".csv", ".csv.gz")))
    fitting = 0
    for file in files:
        try:
            with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as content:
                reader = csv.DictReader(io.TextIOWrapper(content, encoding="utf-8", newline=""))
                if set(columns) <= set(reader.fieldnames or ()):
                    fitting += 1
                    yield from ({name: row[name] or "" for name in columns} for row in reader)
        except (csv.Error, UnicodeDecodeError, EOFError, zlib.error, OSError) as error:
            raise InputError(f"{setting}: {file.name} is not UTF-8 CSV: {error}") from None
    if not fitting:
        raise InputError(f"{setting}: no CSV file in {path} has the columns {', '.join(columns)}")
