"""The benchmarks' data: the real files beside the checkout, else the demo generator's."""

import csv
import gzip
import hashlib
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.benchmarks.harness import REPOSITORY

SHARED = REPOSITORY.parent / "shared" / "data"
EDOS_CSVS = {
    "mturk_groundtruth_labels_9k.csv.gz": ("Dialog",),
    "similar_dialogs_3k.csv.gz": ("amt_dialog", "os_dialog"),
    "self_labeled_dialogs_4k.csv.gz": ("os_dialog",),
    "similar_self_labeled_dialogs_2k.csv.gz": ("high_dialog", "os_dialog"),
}


def opus_files(megabytes: float) -> tuple[list[bytes], str]:
    """Up to so many MB of OPUS XML, spread over the files at hand, and what they are."""
    files, origin = opus_tree()
    step = max(1, round(sum(len(data) for _, data in files) / (megabytes * 1e6)))
    chosen = [data for _, data in files[::step]]
    return chosen, f"{len(chosen)} {origin}, {sum(map(len, chosen)) / 1e6:.1f} MB of XML"


def opus_tree(folder: Path | None = SHARED / "opensubtitles2018_xml") -> tuple[list[tuple[str, bytes]], str]:
    """All files of a folder with their place in the OPUS tree (``xml/en/YEAR/FILM/ID.xml``), and what they are.

    Without a folder, or where it has none, the demo's.
    """
    real = _real_files(folder) if folder else []
    files = real or _demo_files()
    return files, "real OPUS OpenSubtitles v2018 files" if real else "files of the demo generator"


def dialogues() -> tuple[list[list[str]], str]:
    """Dialogues as lists of turns, and what they are."""
    folder = SHARED / "edos"
    if folder.is_dir():
        return list(_edos_dialogues(folder)), "dialogues of the four released EDOS files"
    found = [lines for _, data in _demo_files() for lines in _windows(spoken_lines(data), 3)]
    return found, "dialogues of the demo generator's films"


def film_lines(most: int) -> tuple[list[str], str]:
    """About so many lines: all uploads of whole films, spread over the films at hand; and what they are."""
    files, origin = opus_tree()
    films: dict[str, list[str]] = {}
    for name, data in files:
        films.setdefault(name.split("/")[-2], []).extend(spoken_lines(data))
    # In an order of their own, so that no year comes first; films that alone are too many are left out.
    chosen: list[list[str]] = []
    for name in sorted(films, key=lambda name: hashlib.sha256(name.encode()).digest()):
        if sum(map(len, chosen)) + len(films[name]) <= 1.2 * most:
            chosen.append(films[name])
    lines = [line for film in chosen for line in film]
    return lines, f"{len(lines):,} lines: all uploads of {len(chosen)} films out of {len(files)} {origin}"


def film_windows(lines: int) -> tuple[list[tuple[str, str]], str]:
    """(film, text of so many neighbouring lines) over all uploads at hand, and what they are."""
    files, origin = opus_tree()
    found = [
        (name.split("/")[-2], " ".join(window))
        for name, data in files
        for window in _windows(spoken_lines(data), lines)
    ]
    return found, f"{len(found):,} runs of {lines} lines out of {len(files)} {origin}"


def spoken_lines(data: bytes) -> list[str]:
    """The sentences of a file as text, by the project's own reader."""
    from udfs.opus.files import UnreadableError
    from udfs.opus.parser import parse_subtitles

    try:
        return [text for text in parse_subtitles(data).sentences.text.to_pylist() if text]
    except UnreadableError:
        return []


def _windows(lines: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(lines) - size + 1, size):
        yield lines[start : start + size]


def _edos_dialogues(folder: Path) -> Iterator[list[str]]:
    for name, columns in EDOS_CSVS.items():
        with gzip.open(folder / name, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                for column in columns:
                    turns = [re.sub(r"^(- )+", "", line.strip()) for line in row[column].split("\n")]
                    if any(turns):
                        yield [turn for turn in turns if turn]


def _real_files(folder: Path) -> list[tuple[str, bytes]]:
    # Files without a film's folder have no place in a tree.
    paths = sorted((folder / "xml").rglob("*.xml.gz")) if folder.is_dir() else []
    return [(path.relative_to(folder).as_posix().removesuffix(".gz"), _unpacked(path)) for path in paths]


def _demo_files() -> list[tuple[str, bytes]]:
    from etl.cli.demo import write_corpus

    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder))
        found = [
            ("xml/" + path.as_posix().split("/xml/")[-1].removesuffix(".gz"), _unpacked(path))
            for path in sorted((Path(folder) / "opus").rglob("*.xml*"))
        ]
        for path in Path(folder).rglob("en.zip"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    with suppress(zipfile.BadZipFile, zlib.error):  # the demo's damaged member
                        found.append((name.split("OpenSubtitles/")[-1], archive.read(name)))
    readable = {name: data for name, data in found if data.rstrip().endswith(b"</document>") and name.count("/") == 4}
    return sorted(readable.items())


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    try:
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError):
        return b""
