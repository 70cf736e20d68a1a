"""Reading in Spark on one core and on two: ``ingest_subtitles`` from a manifest to a Delta table.

    python -m tests.benchmarks.spark_reading [--megabytes N] [--rounds N] [--small]

Two sessions stay open, each in a process of its own that may use only its cores: one core, and all of them. They take
turns.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO

from tests.benchmarks.corpora import opus_files
from tests.benchmarks.harness import Progress, Result, Row, alternate, arguments, hand_in, without_slowing_variables
from tests.benchmarks.reading import laid_out
from tests.benchmarks.sessions import cores, local_session

AIM = 1.7
TIMES = 4  # the same files under other ids: with fewer, planning and committing take a third of the time
BEFORE = "1.54"
"""The ratio while Spark cut the tasks by rows, which gave one of four twice the bytes."""
CAUSE = "planning, counting and committing take about a second on any number of cores."
DONE = "round done"


def serve(source: Path, number: int, folder: Path) -> None:
    """Read the source once for each line on stdin, in a session on so many cores; say when each is done."""
    from etl.subtitles.ingest import ingest_subtitles
    from etl.subtitles.manifest import find_subtitles

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:number])
    spark, settings = local_session(folder, number)
    subtitles = settings.subtitles
    manifest = find_subtitles(spark, [str(source)], ["en"], subtitles.release).localCheckpoint()

    def read_once() -> None:
        read = ingest_subtitles(
            manifest,
            languages=["en"],
            sources=[str(source)],
            task_mb=subtitles.task_megabytes,
            max_bytes=subtitles.max_file_megabytes << 20,
            max_ratio=1000,
            truecase=subtitles.truecase,
        )
        target = folder / "files"
        shutil.rmtree(target, ignore_errors=True)
        read.rows.write.format("delta").save(str(target))
        spark.catalog.clearCache()

    for _ in range(2):
        read_once()
    print(DONE, flush=True)
    for _ in sys.stdin:
        read_once()
        print(DONE, flush=True)
    spark.stop()


def started(source: Path, number: int, folder: Path) -> "subprocess.Popen[str]":
    """A process that serves; returned once it is warm."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.spark_reading",
        "--serve",
        str(number),
        "--source",
        str(source),
        "--folder",
        str(folder),
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    wait(process.stdout)
    return process


def wait(lines: IO[str]) -> None:
    """Wait for a round's end."""
    for line in lines:
        if line.strip() == DONE:
            return
    raise SystemExit("a session ended before its round was done")


def one_round(process: "subprocess.Popen[str]") -> None:
    """Let a process read once."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("again\n")
    process.stdin.flush()
    wait(process.stdout)


def measured(files: list[bytes], rounds: int) -> list[Row]:
    """One core against all of them."""
    megabytes = sum(map(len, files)) / 1e6
    most = cores()
    progress = Progress("spark_reading", 2 * rounds)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as ends:
        source = laid_out(files, Path(scratch))["gzip folder"]
        processes = {}
        for number in dict.fromkeys((1, most)):
            folder = Path(scratch) / f"cores{number}"
            folder.mkdir()
            processes[f"{number} cores"] = started(source, number, folder)
            ends.callback(ended, processes[f"{number} cores"])
        took = alternate({name: partial(one_round, one) for name, one in processes.items()}, rounds, progress)
    one = took["1 cores"]
    all_of_them = took[f"{most} cores"]
    return [
        Row(
            f"gzip folder, {most} cores",
            f"{megabytes / all_of_them:.1f} MB/s",
            "itself on one core",
            f"{megabytes / one:.1f} MB/s",
            one / all_of_them,
            AIM,
            before=BEFORE,
        )
    ]


def ended(process: "subprocess.Popen[str]") -> None:
    """Let a process end by itself, and by force where it does not."""
    assert process.stdin is not None
    process.stdin.close()
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    process.kill()


def main() -> int:
    """Measure and hand in; or serve, in a process that `measured` started."""
    parser = arguments(__doc__)
    parser.add_argument("--megabytes", type=float, default=110, help="XML to read, about (default: all files)")
    parser.add_argument("--serve", type=int, help="used by the benchmark itself")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.serve:
        serve(given.source, given.serve, given.folder)
        return 0
    files, data = opus_files(2 if given.small else given.megabytes)
    files = files * (1 if given.small else TIMES)
    result = Result(
        "OPUS XML to rows in Spark",
        "Seconds of `ingest_subtitles` from a manifest to a Delta table, gzip folder, in warm local sessions. Each"
        " session (JVM and Python workers) is pinned to its cores; otherwise `local[1]` would use a second core "
        "for the JVM.",
        f"{data}, {TIMES} times under other ids",
        measured(files, given.rounds),
        CAUSE,
        ("delta-spark",),
    )
    return hand_in(result, given, "spark_reading")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
