"""What a night of 0.1 % more files reads of a large lakehouse, and how long its plan and its maintenance take.

    python -m tests.benchmarks.growth [--files 20000,100000] [--sentences 60] [--nights 2] [--small]

The lakehouse is made of rows, without subtitle files: 60 sentences a file, three uploads a film, 500 files in each
stored one. The stages from ``choose_uploads`` to ``segment_dialogues`` run over it, then over 0.1 % of films that are
new, and over as many again, in a session in which Java has compiled everything. The bytes are those that Spark's tasks
count. What a night takes is held against its share of what all files before took.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import Settings, load_settings
from etl.cli.maintain import maintained
from etl.cli.running import run_stages
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.planner import PipelineContext
from etl.pipeline.session import close_session, spark_session
from etl.pipeline.spark_api import java
from etl.pipeline.stages import Stage
from etl.subtitles.turn_features import FeatureSpace
from etl.subtitles.turn_segmenter import TurnSegmenter
from etl.subtitles.uploads import speaker_marks
from etl.tables import Table
from etl.tables.subtitles import FILES
from jobs import all_stages
from tests.benchmarks.harness import Progress, Result, Row, arguments, hand_in, without_slowing_variables

STAGES = ("choose_uploads", "lemmatize_words", "score_turns", "segment_dialogues")
"""Stages whose work is that of the new files. `clean_dialogues`, after them, looks for duplicates in all dialogues."""
SENTENCES = 60
"""Of a file, unless another number is given."""
UPLOADS = 3
"""Of a film."""
FILES_STORED_TOGETHER = 500
"""Subtitle files in a stored file."""
GROWTH = 0.001
PLAN_AIM = 20.0
READ_AIM = 1.2
SIZES = (446_612, 3_700_000)
"""English alone, and all languages."""
CAUSE = (
    "`choose_uploads`, `score_turns` and `segment_dialogues` each scan the narrow columns of all of `subtitles.files` "
    "to find the films that grew, so a night reads 1.6 kB for each file of the lakehouse; no stage reads the sentences "
    "of other films. A compact table of those columns is not built. With 12 sentences a file the narrow columns weigh "
    "some 100 times as much beside the sentences as in films of 1,300. The machine was busy with other work in the "
    "first part: compare bytes, not seconds."
)


@dataclass(frozen=True)
class Cost:
    """What the tasks of a run did.

    Attributes:
        seconds: of the processors, in all processes of the session.
        read, sent: bytes that tasks read from files, and sent to other tasks.
    """

    seconds: float
    read: int
    sent: int


@dataclass(frozen=True)
class Night:
    """The figures of one size.

    Attributes:
        files, added: files of the lakehouse, and those of a night.
        stored, stored_added: bytes of their rows of ``subtitles.files``.
        sentences: of a file.
        nights: what each stage took for the files of each night.
        whole: what each stage took for all files before.
        plan: seconds to plan these stages.
        maintenance: seconds to join the stored files of ``subtitles.files`` and to look for old ones.
        heap: bytes that the driver holds after the night, when all that can be freed is freed.
    """

    files: int
    added: int
    stored: int
    stored_added: int
    sentences: int
    whole: dict[str, Cost]
    nights: list[dict[str, Cost]]
    plan: float
    maintenance: float
    heap: int

    @property
    def last(self) -> dict[str, Cost]:
        """What the last night took."""
        return self.nights[-1]


def made(spark: SparkSession, first: int, last: int, table: Table, sentences: int = SENTENCES) -> DataFrame:
    """Return rows of ``subtitles.files`` numbered from ``first`` up to ``last``, each with so many sentences."""
    digest = "translate(md5(concat(id, '/', i)), '0123456789abcdef', 'abcdefghijklmnop')"
    words = ", ' ', ".join(f"substr({digest}, {1 + 4 * place}, {3 + place % 2})" for place in range(6))
    sentence = (
        "struct(i AS index, i AS block_first, i AS block_last, i * 2000 + (i div 8) * 6000 AS start_ms, "
        "i * 2000 + (i div 8) * 6000 + 1500 AS end_ms, "
        f"concat(if(pmod(hash(id, i), 9) = 0, '- ', ''), {words}, ' .') AS text)"
    )
    known = {
        "source_path": f"concat('xml/en/', 1930 + id div {UPLOADS} % 90, '/', id div {UPLOADS}, '/', id, '.xml.gz')",
        "subtitle_id": "cast(id AS string)",
        "movie_id": f"cast(id div {UPLOADS} AS string)",
        "release": "'v2018'",
        "language": "'en'",
        "year": f"1930 + id div {UPLOADS} % 90",
        "genres": "array('Drama')",
        "sentence_count": str(sentences),
        "token_count": str(7 * sentences),
        "quirks": "map()",
        "content_hash": "xxhash64(id)",
        "work_version": "xxhash64(id)",
        "sentences": f"transform(sequence(0, {sentences - 1}), i -> {sentence})",
    }
    rows = spark.range(first, last)
    columns = [
        F.expr(known.get(field.name, "null")).cast(field.dataType).alias(field.name)
        for field in table.schema
        if field.name != "speaker_marks"
    ]
    return rows.select(*columns).withColumn("speaker_marks", speaker_marks(F.col("sentences.text")))


def counted(spark: SparkSession) -> tuple[int, int]:
    """Return the bytes that the session's tasks have read, and sent to other tasks, so far."""
    kind = java(spark, "a benchmark").java.lang.Class.forName("org.apache.spark.status.ExecutorSummaryWrapper")
    found = spark.sparkContext._jsc.sc().statusStore().store().view(kind).closeableIterator()  # type: ignore[union-attr]
    read = sent = 0
    while found.hasNext():
        info = found.next().info()
        read += info.totalInputBytes()
        sent += info.totalShuffleWrite()
    found.close()
    return read, sent


def processor_seconds() -> float:
    """Return the seconds that this process and all that it started have had of the processors so far."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents[int(stat.parent.name)] = int(fields[1])
            ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))  # its own, and of its children that ended
    own = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(one, 0) for one in own) / os.sysconf("SC_CLK_TCK")


def stored_bytes(rows: DataFrame) -> int:
    """Return the size of the stored files that rows are read from."""
    return sum(Path(name.removeprefix("file:")).stat().st_size for name in rows.inputFiles())


def heap_bytes(spark: SparkSession) -> int:
    """Return what the driver's Java process holds after it has freed what it can."""
    runtime = java(spark, "a benchmark").java.lang.Runtime.getRuntime()
    runtime.gc()
    return int(runtime.totalMemory() - runtime.freeMemory())


def stages() -> list[Stage]:
    """Return the stages that run, in order."""
    return [stage for stage in all_stages() if stage.name in STAGES]


def costs(spark: SparkSession, settings: Settings, progress: Progress) -> dict[str, Cost]:
    """Run the stages one after the other; return what each took."""
    found = {}
    for stage in stages():
        began = processor_seconds()
        (read, sent) = counted(spark)
        with contextlib.redirect_stdout(io.StringIO()):
            run_stages(spark, settings, [stage], [])
        (read_after, sent_after) = counted(spark)
        found[stage.name] = Cost(round(processor_seconds() - began, 1), read_after - read, sent_after - sent)
        progress.step(f"{stage.name}: {json.dumps(asdict(found[stage.name]))}")
    return found


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that a call took."""
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 1)


def measured(files: int, sentences: int, nights: int) -> Night:
    """Make a lakehouse of so many files, let it grow for some nights, and return the figures."""
    progress = Progress(f"growth of {files:,} files", (1 + nights) * len(STAGES) + 3)
    with tempfile.TemporaryDirectory() as folder:
        choose = np.random.default_rng(5)
        TurnSegmenter(choose.normal(size=512), 0.0, FeatureSpace(512, True)).save(Path(folder, "segmenter"))
        given = {
            "lakehouse.root": f"{folder}/lakehouse",
            "models.turn_segmenter": f"file:{folder}/segmenter",
            "subtitles.lemmatizer": "simplemma",
            "spark.short_session": False,
        }
        settings = load_settings("local", [], given)
        spark = spark_session(settings, "growth")
        try:
            lakehouse = Lakehouse(spark, settings.lakehouse)
            parts = max(1, files // FILES_STORED_TOGETHER)
            added = UPLOADS * max(1, round(files * GROWTH / UPLOADS))
            lakehouse.append(
                FILES, made(spark, 0, files, FILES, sentences).repartitionByRange(parts, "source_path"), {}
            )
            stored = stored_bytes(lakehouse.read(FILES))
            progress.step(f"{stored / 1e6:.0f} MB made")
            whole = costs(spark, settings, progress)
            took = []
            for night in range(nights):
                start = files + night * added
                lakehouse.append(FILES, made(spark, start, start + added, FILES, sentences).coalesce(1), {})
                took.append(costs(spark, settings, progress))
            stored_added = (stored_bytes(lakehouse.read(FILES)) - stored) // nights
            plan = timed(lambda: [PipelineContext(spark, settings).plan(stage) for stage in stages()])
            heap = heap_bytes(spark)
            progress.step(f"planned in {plan} s")
            names = [stage.name for stage in all_stages()]
            maintenance = timed(lambda: maintained(lakehouse, FILES, settings.maintenance, names, False))
            progress.step(f"maintained in {maintenance} s")
            return Night(files, added, stored, stored_added, sentences, whole, took, plan, maintenance, heap)
        finally:
            close_session(spark, settings)


def total(costs: dict[str, Cost]) -> Cost:
    """Return what several stages took together."""
    return Cost(*(sum(getattr(one, name) for one in costs.values()) for name in ("seconds", "read", "sent")))


def rows(nights: list[Night]) -> list[Row]:
    """Return the page's rows: of each size, and of the sizes that those of the two largest foretell."""
    found = [row for one in nights for row in rows_of(one)]
    if len(nights) > 1:
        (small, large) = (total(one.last) for one in nights[-2:])
        step = nights[-1].files - nights[-2].files
        for files in SIZES:
            beyond = (files - nights[-1].files) / step
            (read, sent) = (
                getattr(large, name) + beyond * (getattr(large, name) - getattr(small, name))
                for name in ("read", "sent")
            )
            work = f"{files:,} files and {round(files * GROWTH):,} more, extrapolated"
            found.append(Row(work, f"{read / 1e6:.0f} MB read, {sent / 1e6:.1f} MB sent", "", "", read / 1e6))
    return found


def rows_of(one: Night) -> list[Row]:
    """Return the rows of one size."""
    work = f"{one.files:,} files and {one.added:,} more"
    share = one.added / one.files
    (night, whole) = (total(one.last), total(one.whole))
    stages = [
        Row(
            f"{work}: `{name}`",
            f"{cost.seconds:.0f} s of processors, {cost.read / 1e6:.1f} MB read, {cost.sent / 1e6:.2f} MB sent",
            "all files before",
            f"{before.seconds:.0f} s, {before.read / 1e6:.0f} MB, {before.sent / 1e6:.1f} MB",
            cost.read / max(before.read, 1),
        )
        for name, cost in one.last.items()
        if (before := one.whole[name])
    ]
    fair = f"{share * whole.read / 1e6:.1f} MB read, {share * whole.sent / 1e6:.2f} MB sent"
    return [
        *stages,
        Row(
            f"{work}: all four",
            f"{night.read / 1e6:.1f} MB read, {night.sent / 1e6:.2f} MB sent",
            "their share of all files",
            fair,
            night.read / max(share * whole.read, 1),
            most=READ_AIM,
        ),
        Row(f"{one.files:,} files: plan", f"{one.plan:.1f} s", "", "", one.plan, most=PLAN_AIM),
        Row(f"{one.files:,} files: `subtitles.files` maintained", f"{one.maintenance:.0f} s", "", "", one.maintenance),
        Row(f"{one.files:,} files: the driver's heap", f"{one.heap / 2**20:.0f} MiB", "", "", one.heap / 2**20),
    ]


def main() -> int:
    """Measure each size."""
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--files", default="20000,100000", help="sizes, parted by commas")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="of a file")
    parser.add_argument("--nights", type=int, default=2, help="of growth; the last one counts")
    given = parser.parse_args()
    sizes = [3_000] if given.small else [int(size) for size in given.files.split(",")]
    nights = [measured(size, given.sentences, given.nights) for size in sizes]
    for one in nights:
        print(json.dumps(asdict(one)), file=sys.stderr, flush=True)
    result = Result(
        "Growth of a large lakehouse",
        "What a night of 0.1 % more files makes the tasks read from files and send to each other.",
        f"rows of `subtitles.files`, made: {given.sentences} sentences a file, {UPLOADS} uploads a film, "
        f"{FILES_STORED_TOGETHER} files in a stored one",
        rows(nights),
        CAUSE,
        ("delta-spark",),
    )
    return hand_in(result, given, "growth")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
