"""Files from outside the lakehouse that a stage reads whole: labelled sets, votes, transcripts."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError


def file_digests(path: str) -> list[tuple[str, str]]:
    """(relative name, sha256) of a file, or of every file in a folder, in order of name.

    Raises:
        InputError: nothing is there.
    """
    place = Path(path)
    if place.is_file():
        return [(place.name, _sha256(place))]
    if not place.is_dir():
        raise InputError(f"{path} is not there: check the settings that name it")
    found = sorted(item for item in place.rglob("*") if item.is_file())
    return [(item.relative_to(place).as_posix(), _sha256(item)) for item in found]


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def read_csv(spark: SparkSession, paths: Sequence[str], setting: str) -> DataFrame:
    """Rows of CSV files (quoted cells may span lines; .gz too), every column a string.

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
    """The files that a setting names: each path itself, or the files with such endings in the folder that it is.

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
