"""Reading speed: bytes on disk to Arrow rows, against bare lxml iterparse over the same files in the same call.

    python -m tests.benchmarks.bench_reading [--files FOLDER] [--repeat N] [--megabytes N]

The same files are laid out as a folder of .xml, a folder of .xml.gz and a zip in a temporary folder. Each
round times iterparse and ours, one after the other, in CPU seconds of one core; medians over the rounds.
Exit status 1 when a ratio is under 0.9, or the zip under 0.9 of the gzip folder.
"""

import argparse
import gzip
import io
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from lxml import etree

from udfs.opus_batches import parsed_batches
from udfs.opus_files import Caps, gzip_bytes
from udfs.opus_listing import list_piece, pieces_of

LEAST, LEAST_ZIP = 0.9, 0.9
SENTENCE = pa.struct([
    ("index", pa.int32()), ("block_first", pa.int32()), ("block_last", pa.int32()),
    ("start_ms", pa.int32()), ("end_ms", pa.int32()), ("text", pa.string()),
])  # fmt: skip
STRINGS = ("source source_path release language movie_id subtitle_id document_id country original cds"
           " subtitle_date encoding reason detail")  # fmt: skip
INTEGERS = "directory_year year duration_ms subtitle_duration_ms blocks sentence_count token_count"
SCHEMA = pa.schema([
    *((name, pa.string()) for name in STRINGS.split()), *((name, pa.int32()) for name in INTEGERS.split()),
    ("machine_translated", pa.bool_()), ("genres", pa.list_(pa.string())),
    ("quirks", pa.map_(pa.string(), pa.int32())), ("sentences", pa.list_(SENTENCE)),
])  # fmt: skip
MANIFEST = [
    "source", "source_path", "container", "offset", "stored_bytes", "bytes", "method", "crc", "gzipped", "tag",
    "release", "language", "movie_id", "directory_year", "subtitle_id",
]  # fmt: skip


def made_file(number: int) -> bytes:
    """A file in OPUS form of the usual size, for where no real ones are at hand."""
    sentences = []
    for index in range(1, 1301):
        spoken = "".join(f'\n    <w id="{index}.{at}">word{(index * at + number) % 997}</w>' for at in range(1, 9))
        clock = f"00:{index // 60:02}:{index % 60:02}"
        sentences.append(
            f'  <s id="{index}">\n    <time id="T{index}S" value="{clock},100" />{spoken}'
            f'\n    <time id="T{index}E" value="{clock},900" />\n  </s>\n'
        )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<document id="{number}">\n{"".join(sentences)}</document>\n'.encode()
    )


def corpus(folder: Path | None, megabytes: float) -> list[bytes]:
    """Up to so many MB of XML, spread over the folder's files."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data" / "opensubtitles2018_xml"
    folder = folder or (default if default.is_dir() else None)
    if folder is None:
        return [made_file(number) for number in range(max(1, int(megabytes / 0.45)))]
    paths = sorted([*folder.rglob("*.xml.gz"), *folder.rglob("*.xml")])
    if not paths:
        raise SystemExit(f"no .xml or .xml.gz under {folder}: correct --files")
    sizes = sum(path.stat().st_size * (8 if path.suffix == ".gz" else 1) for path in paths)
    step = max(1, round(sizes / (megabytes * 1e6)))
    return [gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data for data in map(Path.read_bytes, paths[::step])]


def laid_out(files: list[bytes], folder: Path) -> dict[str, Path]:
    """The files as a plain folder, a gzip folder and a zip."""
    for kind in ("plain", "gzip"):
        (folder / kind / "xml" / "en" / "1999" / "1").mkdir(parents=True)
    with zipfile.ZipFile(folder / "en.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(files):
            name = f"xml/en/1999/1/{number}.xml"
            (folder / "plain" / name).write_bytes(data)
            (folder / "gzip" / f"{name}.gz").write_bytes(gzip_bytes(data))
            archive.writestr(name, data)
    return {"plain folder": folder / "plain", "gzip folder": folder / "gzip", "zip": folder / "en.zip"}


def bare_files(place: Path) -> Iterator[bytes]:
    if place.suffix == ".zip":
        with zipfile.ZipFile(place) as archive:
            for name in archive.namelist():
                yield archive.read(name)
        return
    for path in sorted(place.rglob("*.xml*")):
        yield gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def bare(place: Path) -> int:
    """The yardstick: unpack, and let iterparse make and clear each element."""
    count = 0
    for data in bare_files(place):
        for _, element in etree.iterparse(io.BytesIO(data)):
            element.clear()
        count += 1
    return count


def manifest_rows(place: Path) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [
        dict(zip(MANIFEST, row, strict=True))
        for piece in pieces_of(str(place), ["en"], 1)
        for row in list_piece(piece, ["en"], "v0")
    ]
    return pa.RecordBatch.from_pylist(rows)


def ours(manifest: pa.RecordBatch) -> int:
    count = 0
    for batch in parsed_batches(iter([manifest]), SCHEMA, Caps(64 << 20, 1000), truecase=True, range_bytes=64 << 20):
        if batch.column("reason").null_count != batch.num_rows:
            raise SystemExit("a file could not be read: the figures would mean nothing")
        count += batch.num_rows
    return count


def seconds(work: Callable[[Any], int], given: object, expected: int) -> float:
    started = time.process_time()
    if work(given) != expected:
        raise SystemExit("not every file was read")
    return time.process_time() - started


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--files", type=Path, help="a folder of .xml or .xml.gz")
    arguments.add_argument("--repeat", type=int, default=5)
    arguments.add_argument("--megabytes", type=float, default=30, help="XML to read, about")
    given = arguments.parse_args()
    files = corpus(given.files, given.megabytes)
    megabytes = sum(map(len, files)) / 1e6
    print(f"{len(files)} files, {megabytes:.1f} MB of XML, medians of {given.repeat} rounds, one core")
    speeds: dict[str, float] = {}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, place in laid_out(files, Path(folder)).items():
            manifest = manifest_rows(place)
            rounds = [
                (seconds(bare, place, len(files)), seconds(ours, manifest, len(files))) for _ in range(given.repeat)
            ]
            theirs, mine = (statistics.median(times) for times in zip(*rounds, strict=True))
            speeds[name] = megabytes / mine
            failed |= theirs / mine < LEAST
            print(f"{name:13} iterparse {megabytes / theirs:5.1f} MB/s   ours {speeds[name]:5.1f} MB/s   "
                  f"ratio {theirs / mine:.2f} (at least {LEAST})")  # fmt: skip
    ratio = speeds["zip"] / speeds["gzip folder"]
    print(f"zip against gzip folder: {ratio:.2f} (at least {LEAST_ZIP})")
    return int(failed or ratio < LEAST_ZIP)


if __name__ == "__main__":
    sys.exit(main())
