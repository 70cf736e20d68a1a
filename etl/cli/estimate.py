"""``python -m jobs estimate``: predict time and storage of a larger run from the runs in ``ops.stage_runs``."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import linear_regression, mean
from typing import Any

from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.places import local_path
from conf.settings import Settings
from etl.cli.foreseen import FACTOR, Holdings, holdings, is_demo, seconds_of
from etl.cli.running import in_session, run_stages
from etl.pipeline.lineage import StageEvent
from etl.pipeline.locations import tracking_uri
from etl.pipeline.planner import PipelineContext, chosen, is_off, same_settings
from etl.pipeline.progress import duration
from etl.pipeline.spark_api import gpus_of_task
from etl.pipeline.stages import Model, Stage
from etl.pipeline.tables import Table
from etl.publishing.screen_tables import aligned, terminal_width
from jobs import all_stages

ALL_FILES = 3_700_000
"""Files of OpenSubtitles v2018 in all languages; 446,612 of them are English."""
SOURCE = "find_subtitles"
FILES = "ingest_subtitles"
FILE = "source_path"
"""The key of stages that process file by file."""
PILOT_SHARES = (0.25, 1.0) * 3
"""Shares of the sample's films that the pilots of a session process, one after the other."""


@dataclass(frozen=True)
class StageTiming:
    """A finished run of a stage: the units that it processed, its seconds, and those in which all cores had tasks.

    An older run, of whose tasks nothing is known, counts as busy all the time.
    """

    units: int
    seconds: float
    busy: float


@dataclass(frozen=True)
class Cost:
    """A stage's time as a straight line over its units.

    Attributes:
        fixed: seconds that do not depend on the data.
        per_unit: seconds for one unit.
        sizes: runs of different sizes behind the line; with one, the fixed time of its tasks counts in ``per_unit``.
    """

    fixed: float
    per_unit: float
    sizes: int

    def seconds(self, units: float) -> float:
        """Return the seconds that so many units take."""
        return self.fixed + self.per_unit * units


def measured(events: Sequence[StageEvent], grows: bool, cores: int) -> list[StageTiming]:
    """Return a stage's finished runs that processed something.

    Args:
        events: of one stage, oldest first.
        grows: an incremental stage processes only new units, unless its rules, settings or models changed.
        cores: of the session that they ran in.
    """
    runs: list[StageTiming] = []
    last: StageEvent | None = None
    for event in events:
        units = event.rows_in or 0
        if grows and last is not None and _same_rules(last, event):
            units -= last.rows_in or 0
        if units > 0:
            busy = event.seconds if event.task_seconds is None else min(event.seconds, event.task_seconds / cores)
            runs.append(StageTiming(units, event.seconds, busy))
        last = event
    return runs


def _same_rules(first: StageEvent, second: StageEvent) -> bool:
    same = first.stage_version == second.stage_version and first.models == second.models
    return same and same_settings(first, second.settings_hash, second.settings or {})


def fitted(runs: Sequence[StageTiming]) -> Cost:
    """Fit a straight line with no negative part to the busy time of a stage's runs.

    Where a size was run again, its first run is left out of the line: Java had not compiled everything. The rest of
    the very first run's time is fixed: it has what only the first run in a session takes.
    """
    by_size: dict[int, list[float]] = {}
    for run in runs:
        by_size.setdefault(run.units, []).append(run.busy)
    busy = {units: mean(times[1:] or times) for units, times in by_size.items()}
    per_unit = sum(units * taken for units, taken in busy.items()) / sum(units**2 for units in busy)
    if len(busy) > 1:
        per_unit = min(per_unit, max(0.0, linear_regression(list(busy), list(busy.values())).slope))
    return Cost(max(0.0, runs[0].seconds - per_unit * runs[0].units), per_unit, len(busy))


def grown(sizes: Sequence[tuple[int, int]], files: int) -> float:
    """Return a stage's units for a number of files, as a power from 0 to 1 of the files: distinct words grow slower.

    Args:
        sizes: (files, units) of the pilots, the largest last; with one size, units grow as files do.
    """
    (first_files, first_units) = sizes[0]
    (last_files, last_units) = sizes[-1]
    power = 1.0
    if first_files < last_files and first_units > 0 and last_units > 0:
        power = min(1.0, max(0.0, math.log(last_units / first_units) / math.log(last_files / first_files)))
    return float(last_units * (files / last_files) ** power)


def sizes_of(events: Sequence[StageEvent], ingested: Sequence[StageEvent]) -> list[tuple[int, int]]:
    """Return (files, units) of a stage's runs: files as listed, or as read by the last ingestion before each."""
    return sorted((_files_of(event, ingested), event.rows_in or 0) for event in events)


def by_files(events: Sequence[StageEvent], ingested: Sequence[StageEvent]) -> list[StageEvent]:
    """Return a stage's events with files as units, for a stage that looks for new units in all rows of its input."""
    return [replace(event, rows_in=_files_of(event, ingested)) for event in events]


def _files_of(event: StageEvent, ingested: Sequence[StageEvent]) -> int:
    if event.stage == SOURCE:
        return event.rows_in or 1
    before = [one.rows_in for one in ingested if one.started <= event.started and one.rows_in]
    return before[-1] if before else ingested[0].rows_in or 1


def estimate(settings: Settings, stages: list[Stage], files: int | None, pilot: bool) -> int:
    """Print the time, core-hours or GPU-hours and bytes of each stage for a number of files.

    The time of a stage's tasks grows with its units, the rest of its time does not. Runs of two sizes
    (``subtitles.sample``) also tell the fixed part of its tasks' time. Trainings do not grow with the files.
    Stages that call models count in GPU-hours where the session has GPUs.

    Args:
        files: size of the larger run; None: those in the sources, or `ALL_FILES` where these are elsewhere.
        pilot: measure first: run the stages, trainings aside, on the sample and on a quarter of it, in tables under
            ``_pilot``. Each size runs three times in one session, since Java's first runs of anything are slow.

    Where nothing was measured yet, a stored table tells the time alone.

    Raises:
        InputError: no files.
        RunError: a pilot failed.
    """
    if files is not None and files < 1:
        raise InputError(f"--files={files}: must be at least 1")
    held = holdings(settings)
    files = files or (held.files if held is not None else ALL_FILES)
    root = local_path(settings.lakehouse.root)
    if not pilot and settings.lakehouse.catalog is None and root is not None and not Path(root, "ops").exists():
        print("\n".join(stored_lines(settings, stages, files, held, os.cpu_count() or 1)))
        return 0
    measured_in = pilot_settings(settings) if pilot else settings

    def work(spark: SparkSession, running: list[str]) -> None:
        before = _run_pilots(spark, measured_in, stages, running) if pilot else None
        context = PipelineContext(spark, measured_in)
        if before is None and not context.log.done(FILES):
            print("\n".join(stored_lines(settings, stages, files, held, context.cores)))
        else:
            _print_estimate(context, stages, files, before)

    return in_session(measured_in, work)


def stored_lines(
    settings: Settings, stages: Sequence[Stage], files: int, held: Holdings | None, cores: int
) -> list[str]:
    """Return the lines of an estimate from the stored table: the seconds of each stage, and how sure their sum is.

    Args:
        held: what the sources hold, whose share of films among files is taken; None: a film in each file.
    """
    films = files if held is None else files * held.films / held.files
    on = [one for one in stages if not is_off(one, settings)]
    known = {one.name: seconds_of(one, films, cores, is_demo(settings)) for one in on}
    rows = [(name, round(seconds)) for name, seconds in known.items() if seconds is not None]
    total = sum(seconds for _, seconds in rows)
    unknown = [name for name, seconds in known.items() if seconds is None]
    left_out = [f"Not in the table: {', '.join(unknown)}."] if unknown else []
    return [
        f"nothing measured in {settings.lakehouse.root} yet: a stored table, for {files:,} files of {films:,.0f} films "
        f"on {cores} cores\n",
        *aligned(("stage", "seconds"), [*rows, ("all", total)], terminal_width()),
        f"\nAbout {duration(total)}, most likely {duration(total / FACTOR)} to {duration(total * FACTOR)}: the table "
        "is of two cores without a graphics card or other work.",
        *left_out,
        "After a run of some of your files, or with --pilot, this command tells what was measured here.",
    ]


def _run_pilots(spark: SparkSession, settings: Settings, stages: list[Stage], running: list[str]) -> dict[str, int]:
    """Run the stages that write tables on ``PILOT_SHARES``; returns how many runs of each stage the log had before."""
    log = PipelineContext(spark, settings).log
    before = {stage.name: len(log.done(stage.name)) for stage in all_stages()}
    tables = [stage for stage in stages if isinstance(stage.writes, Table)]
    for share in PILOT_SHARES:
        subtitles = settings.subtitles.model_copy(update={"sample": settings.subtitles.sample * share})
        run_stages(spark, settings.model_copy(update={"subtitles": subtitles}), tables, running, again=True)
    return before


def pilot_settings(settings: Settings) -> Settings:
    """Return the settings of pilots: tables of their own, the same models, and a session as a large run has."""
    lakehouse = settings.lakehouse
    own = {"root": f"{lakehouse.root.rstrip('/')}/_pilot", "schema_prefix": f"pilot_{lakehouse.schema_prefix}"}
    changed = {
        "lakehouse": lakehouse.model_copy(update=own),
        "mlflow": settings.mlflow.model_copy(update={"tracking_uri": tracking_uri(settings)}),
        "spark": settings.spark.model_copy(update={"short_session": False}),
        # A pilot's smaller sample is no loss, and nobody waits for a trial of it.
        "pipeline": settings.pipeline.model_copy(update={"accept_loss": True}),
    }
    return settings.model_copy(update=changed)


def _print_estimate(
    context: PipelineContext, stages: list[Stage], files: int, before: Mapping[str, int] | None
) -> None:
    """Print the estimate from a lakehouse's finished runs, or from those of pilots: all but the first ``before``."""
    names = {FILES, *(stage.name for stage in stages)}
    events = {name: context.log.done(name)[(before or {}).get(name, 0) :] for name in names}
    ingested = events[FILES]
    if not ingested or not ingested[-1].rows_in:
        raise InputError("nothing measured: the sample has no file that can be read")
    gpus = gpus_at_once(context.cores, gpus_of_task(context.spark.conf.get))
    print(f"measured on {ingested[-1].rows_in:,} files and {context.cores} cores; estimated for {files:,} files\n")
    growing = _growing_stages()
    found = {}
    for stage in stages:
        incremental = stage.incremental
        ran = events[stage.name]
        # A pilot rebuilds what it measures; another run of an incremental stage processes what is new.
        grows = incremental is not None and before is None
        if incremental is not None and incremental.prepare and incremental.key != FILE and not stage.models:
            ran = by_files(ran, ingested)
            grows = False
        runs = measured(ran, grows, context.cores)
        if runs:
            sizes = sizes_of(ran, ingested) if stage.name in growing else None
            found[stage.name] = _stage_row(context, stage, runs, sizes, files, gpus)
    print("\n".join(table(found, gpus > 0, terminal_width())))
    if before is None:
        print("\nTasks take longer per unit in short runs than in long ones, so this estimate is too high.")
        print("--pilot runs a sample several times in one session, and measures the last runs.")


def gpus_at_once(tasks: int, of_task: float) -> int:
    """Return how many GPUs, of all executors, so many tasks use that take this part of one each."""
    return math.ceil(round(tasks * of_task, 6))


def _stage_row(
    context: PipelineContext,
    stage: Stage,
    runs: list[StageTiming],
    sizes: list[tuple[int, int]] | None,
    files: int,
    gpus: int,
) -> tuple[Cost, float, float, float, float]:
    """Return a stage's cost, seconds, core-hours, GPU-hours and gigabytes; a stage without ``sizes`` does not grow."""
    cost = fitted(runs)
    seconds = runs[-1].seconds
    factor = 1.0
    if sizes is not None:
        units = grown(sizes, files)
        seconds = cost.seconds(units)
        factor = units / max(1, sizes[-1][1])
    on_gpu = gpus > 0 and bool(stage.models)
    hours = seconds / 3600
    size = context.lakehouse.size(stage.writes) if isinstance(stage.writes, Table) else 0
    return (
        cost,
        seconds,
        0.0 if on_gpu else hours * context.cores,
        hours * gpus if on_gpu else 0.0,
        size * factor / 1e9,
    )


def _growing_stages() -> set[str]:
    """Return the stages that the subtitle files reach through tables, not through a trained model."""
    stages = [stage for stage in all_stages() if not isinstance(stage.writes, Model)]
    return {stage.name for stage in chosen(stages, start=SOURCE)}


def table(rows: Mapping[str, tuple[Cost, float, float, float, float]], gpus: bool, width: int | None) -> list[str]:
    """Return the lines of the estimate: a row for each stage, and their sum; without GPUs no column of theirs.

    Args:
        rows: by stage, its cost, seconds, core-hours, GPU-hours and gigabytes.
    """
    numbers = {name: row[1:] for name, row in rows.items()}
    total = [sum(row[place] for row in numbers.values()) for place in range(4)]
    lines: list[tuple[Any, ...]] = [
        (name, cost.sizes, round(cost.fixed, 1), *_rounded(numbers[name])) for name, (cost, *_) in rows.items()
    ]
    lines.append(("all", None, None, *_rounded(total)))
    names = ("stage", "runs", "fixed s", "seconds", "core-hours", "GPU-hours", "GB")
    shown = [place for place, name in enumerate(names) if gpus or name != "GPU-hours"]
    return aligned([names[place] for place in shown], [[line[place] for place in shown] for line in lines], width)


def _rounded(numbers: Sequence[float]) -> tuple[int, float, float, float]:
    seconds, cores, gpus, gigabytes = numbers
    return round(seconds), round(cores, 1), round(gpus, 1), round(gigabytes, 2)
