"""Read stories from files: CSV with a column of plots, or WikiPlots' pair of files."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TextIO

from conf.errors import InputError
from etl.emo_pillars.plots import Story

MOST_CHARACTERS = 1 << 24
"""Greatest length of a CSV cell, which is far more than any plot's."""
END = "<EOS>"
_SETTING = "emo_pillars.plots"


def read_stories(path: str) -> Iterator[Story]:
    """Yield the stories of a file, or of all files with stories in a folder, in order of name.

    Files are streamed on the driver. The paper's whole corpus is some 600 MB.

    Raises:
        InputError: the path is missing, no file has stories, or a file is unreadable.
    """
    place = Path(path)
    if not place.exists():
        raise InputError(f"{_SETTING}: {path} is not there")
    found = 0
    for file in [place] if place.is_file() else sorted(item for item in place.iterdir() if item.is_file()):
        try:
            inside = _stories(file)
            first = next(inside, None)
            if first is not None:
                found += 1
                yield from chain([first], inside)
        except (csv.Error, UnicodeDecodeError, EOFError, zlib.error, OSError) as error:
            raise InputError(f"{_SETTING}: {file.name} cannot be read: {error}") from None
    if not found:
        raise InputError(f"{_SETTING}: {path} holds no CSV with a column plot, and no WikiPlots file `plots`")


def _stories(file: Path) -> Iterator[Story]:
    name = file.name.removesuffix(".gz")
    if name.endswith(".csv"):
        return _from_csv(file)
    return _from_wikiplots(file) if name == "plots" else iter(())


def _from_csv(file: Path) -> Iterator[Story]:
    """Yield the rows of a CSV with columns ``plot`` and optionally ``title``, in any case."""
    before = csv.field_size_limit(MOST_CHARACTERS)
    try:
        with _opened(file) as content:
            reader = csv.DictReader(content)
            names = {(name or "").strip().lower(): name for name in reader.fieldnames or ()}
            if "plot" not in names:
                return
            for number, row in enumerate(reader, 1):
                title = row.get(names.get("title", "")) or ""
                yield Story(f"{file.name}:{number}", title.strip(), row[names["plot"]] or "")
    finally:
        csv.field_size_limit(before)


def _from_wikiplots(file: Path) -> Iterator[Story]:
    """Yield the stories of a file with one sentence per line and ``<EOS>`` after each, with titles of another file."""
    others = [file.with_name(name) for name in ("titles", "titles.gz")]
    titles = next((other for other in others if other.is_file()), None)
    if titles is None:
        raise InputError(f"{_SETTING}: {file} has no file `titles` beside it")
    with _opened(file) as lines, _opened(titles) as names:
        sentences: list[str] = []
        number = 0
        for line in lines:
            if line.strip() != END:
                sentences.append(line.rstrip("\r\n"))
                continue
            number += 1
            yield Story(f"{file.name}:{number}", next(names, "").strip(), "\n".join(sentences))
            sentences = []
        if any(sentence.strip() for sentence in sentences):
            yield Story(f"{file.name}:{number + 1}", next(names, "").strip(), "\n".join(sentences))


@contextmanager
def _opened(file: Path) -> Iterator[TextIO]:
    """Open a text file, .gz too."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as content:
        yield io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
