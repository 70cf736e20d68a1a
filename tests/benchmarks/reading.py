"""Reading speed: bytes on disk to Arrow rows on one core, against lxml, OpusTools and gunzip.

    python -m tests.benchmarks.reading [--megabytes N] [--rounds N] [--small]

The same files are laid out as a folder of .xml, a folder of .xml.gz and a zip. A round times ours and each peer, one
after the other, in CPU seconds of one core.
"""

import gzip
import io
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from lxml import etree

from tests.benchmarks.corpora import opus_files
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.subtitles.marked_files import SENTENCE
from udfs.opus.batches import parsed_batches
from udfs.opus.files import Caps
from udfs.opus.listing import list_piece, pieces_of

OURS = "ours"
ITERPARSE = "lxml iterparse"
OPUSTOOLS = "OpusTools' parser"
GUNZIP = "gunzip alone"
AIMS = {ITERPARSE: 2.0, OPUSTOOLS: 8.0, GUNZIP: None}
BEFORE = {("plain folder", ITERPARSE): "1.38", ("gzip folder", ITERPARSE): "1.50", ("zip", ITERPARSE): "1.29"}
CAUSE = (
    "in a short profile on a busy machine, about a third of our time went into libxml2's check for well-formedness"
    " and about half into cutting out the tags as arrays."
)
FAULT = pa.struct(
    [("reason", pa.string()), ("times", pa.int32()), ("lines", pa.list_(pa.int32())), ("example", pa.string())]
)
STRINGS = (
    "source source_path release language movie_id subtitle_id document_id country original cds"
    " subtitle_date encoding form reason detail"
)
INTEGERS = "directory_year year duration_ms subtitle_duration_ms blocks sentence_count token_count"
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in STRINGS.split()),
        *((name, pa.int32()) for name in INTEGERS.split()),
        ("machine_translated", pa.bool_()),
        ("encoding_confidence", pa.float64()),
        ("faults", pa.list_(FAULT)),
        ("genres", pa.list_(pa.string())),
        ("quirks", pa.map_(pa.string(), pa.int32())),
        ("sentences", pa.list_(SENTENCE)),
    ]
)
MANIFEST = [
    "source",
    "source_path",
    "container",
    "offset",
    "stored_bytes",
    "bytes",
    "method",
    "crc",
    "gzipped",
    "tag",
    "release",
    "language",
    "movie_id",
    "directory_year",
    "subtitle_id",
    "member",
    "fault",
]


def laid_out(files: list[bytes], folder: Path) -> dict[str, Path]:
    """Write the files as a plain folder, a gzip folder and a zip."""
    for kind in ("plain", "gzip"):
        (folder / kind / "xml" / "en" / "1999" / "1").mkdir(parents=True)
    with zipfile.ZipFile(folder / "en.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(files):
            name = f"xml/en/1999/1/{number}.xml"
            (folder / "plain" / name).write_bytes(data)
            (folder / "gzip" / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))
            archive.writestr(name, data)
    return {"plain folder": folder / "plain", "gzip folder": folder / "gzip", "zip": folder / "en.zip"}


def unpacked_files(place: Path) -> Iterator[bytes]:
    """The files' bytes, as briefly as Python can say it."""
    if place.suffix == ".zip":
        with zipfile.ZipFile(place) as archive:
            for name in archive.namelist():
                yield archive.read(name)
        return
    for path in sorted(place.rglob("*.xml*")):
        yield gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def by_iterparse(place: Path) -> int:
    """Unpack, and let iterparse make and clear each element: no times, no texts, no rows."""
    count = 0
    for data in unpacked_files(place):
        for _, element in etree.iterparse(io.BytesIO(data)):
            element.clear()
        count += 1
    return count


def by_opustools(place: Path) -> int:
    """Unpack, and read sentences with their time tags by OpusTools' parser."""
    from opustools.parse.sentence_parser import SentenceParser

    count = 0
    for data in unpacked_files(place):
        parser = SentenceParser(io.BytesIO(data), preprocessing="xml", preserve=True, doc_level=True)
        parser.store_sentences(set(), doc_size=len(data))
        count += bool(parser.sentences)
    return count


def by_gunzip(place: Path) -> int:
    """Unpack and do nothing."""
    return sum(1 for data in unpacked_files(place) if data)


def by_us(manifest: pa.RecordBatch) -> int:
    """The reader of ``ingest_subtitles``, from a manifest's rows to rows of ``subtitles.files``."""
    count = 0
    for batch in parsed_batches(iter([manifest]), SCHEMA, Caps(64 << 20, 1000), truecase=True, range_bytes=64 << 20):
        if batch.column("reason").null_count != batch.num_rows:
            raise SystemExit("a file could not be read: the figures would mean nothing")
        count += batch.num_rows
    return count


def manifest_rows(place: Path) -> pa.RecordBatch:
    """The manifest of a folder or zip."""
    rows: list[dict[str, Any]] = [
        dict(zip(MANIFEST, row, strict=True))
        for piece in pieces_of(str(place), ["en"], 1)
        for row in list_piece(piece, ["en"], "v0")
    ]
    return pa.RecordBatch.from_pylist(rows)


def checked(work: Callable[[Any], int], given: object, expected: int) -> None:
    """Run a work and stop where it did not read every file."""
    if work(given) != expected:
        raise SystemExit(f"{work.__name__}: not every file was read")


def compared(files: list[bytes], rounds: int) -> list[Row]:
    """A row for each layout and peer."""
    megabytes = sum(map(len, files)) / 1e6
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        places = laid_out(files, Path(folder))
        progress = Progress("reading", rounds * (4 * len(places) - 1))
        for name, place in places.items():
            peers: dict[str, Callable[[Any], int]] = {ITERPARSE: by_iterparse, OPUSTOOLS: by_opustools}
            if name != "plain folder":
                peers[GUNZIP] = by_gunzip
            works = {OURS: partial(checked, by_us, manifest_rows(place), len(files))}
            works |= {peer: partial(checked, work, place, len(files)) for peer, work in peers.items()}
            checked(by_us, manifest_rows(place), len(files))  # once, to load what is loaded once
            took = alternate(works, rounds, progress, time.process_time)
            rows += [
                Row(
                    name,
                    f"{megabytes / took[OURS]:.1f} MB/s",
                    peer,
                    f"{megabytes / took[peer]:.1f} MB/s",
                    took[peer] / took[OURS],
                    AIMS[peer],
                    before=BEFORE.get((name, peer), ""),
                )
                for peer in peers
            ]
    return rows


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__)
    parser.add_argument("--megabytes", type=float, default=30, help="XML to read, about (default 30)")
    given = parser.parse_args()
    files, data = opus_files(1 if given.small else given.megabytes)
    result = Result(
        "OPUS XML to rows, one core",
        "CPU seconds of one process, from files on disk to Arrow rows of `subtitles.files` (`parsed_batches`, as "
        "in `ingest_subtitles`). The peers do less: iterparse only creates and clears elements, OpusTools reads "
        "sentences with their time tags, and gunzip only unpacks, which is the upper limit.",
        data,
        compared(files, given.rounds),
        CAUSE,
        ("lxml", "opustools"),
    )
    return hand_in(result, given, "reading")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
