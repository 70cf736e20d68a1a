"""Estimate the seconds of stages before a first run, from a stored table, the number of films and the cores."""

import csv
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from conf import resources
from conf.settings import Settings
from etl.cli.demo import FOLDER as DEMO
from etl.pipeline.planner import PipelineContext, feeds, given_model
from etl.pipeline.stages import Model, Stage
from udfs.opus.paths import is_subtitle_name, is_zip_name, read_folder, upload_of

MEASURED_CORES = 2
FACTOR = 2
"""Most runs take between a half and twice of what the table says."""


@dataclass(frozen=True)
class StoredRate:
    """A stage's seconds on two cores of the machine of docs/results.md, without other work.

    Attributes:
        fixed: what does not depend on the films; of a training, all of it.
        per_film: for a film of some 1,200 cues.
    """

    fixed: float
    per_film: float

    def seconds(self, films: float, cores: int, training: bool) -> float:
        """Return the seconds for films on so many cores: the fixed part of a stage has hardly any tasks."""
        share = MEASURED_CORES / cores
        return self.fixed * (share if training else 1) + self.per_film * films * share


@cache
def stored_rates(demo: bool = False) -> Mapping[str, StoredRate]:
    """Return the rates of ``conf/stage_rates.csv`` by stage: those of films, or of the demo's corpus and settings."""
    lines = (line for line in resources.text("stage_rates.csv").splitlines() if not line.startswith("#"))
    rows = (row for row in csv.DictReader(lines) if (row["corpus"] == "demo") == demo)
    return {row["stage"]: StoredRate(float(row["fixed"]), float(row["per_film"])) for row in rows}


def is_demo(settings: Settings) -> bool:
    """Return whether the sources are the demo's corpus."""
    return bool(settings.subtitles.sources) and all(
        Path(source).is_relative_to(DEMO) for source in settings.subtitles.sources
    )


class Holdings(NamedTuple):
    """The number of subtitle files and of films that the sources hold."""

    files: int
    films: int


def holdings(settings: Settings) -> Holdings | None:
    """Return what the sources hold by the names of their files; None: nothing, or one is not on this machine."""
    films: set[str] = set()
    files = 0
    for source in settings.subtitles.sources:
        try:
            for path in filter(is_subtitle_name, _paths(Path(source))):
                folder = read_folder(source, path.rpartition("/")[0])
                films.add(upload_of(path, folder)[1])
                files += 1
        except (OSError, zipfile.BadZipFile):
            return None
    share = settings.subtitles.sample
    return Holdings(max(1, round(files * share)), max(1, round(len(films) * share))) if files else None


def _paths(source: Path) -> Iterator[str]:
    """Yield the paths of a source's files, as seen from it, and those in its zips."""
    if not source.exists():
        raise FileNotFoundError(source)
    whole = [(source, source.name)] if source.is_file() else _files_below(source)
    for path, name in whole:
        if is_zip_name(name):
            with zipfile.ZipFile(path) as opened:
                yield from opened.namelist()
        else:
            yield name


def _files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    for above, _, names in os.walk(folder):
        for name in names:
            path = Path(above, name)
            yield path, path.relative_to(folder).as_posix()


def seconds_of(stage: Stage, films: float, cores: int, demo: bool = False) -> float | None:
    """Return the seconds of a stage by the stored table; None where the table does not have it."""
    rate = stored_rates(demo).get(stage.name)
    return None if rate is None else rate.seconds(films, cores, isinstance(stage.writes, Model))


def seconds_ahead(context: PipelineContext, stages: Sequence[Stage]) -> dict[str, float]:
    """Return the seconds of the stages that will run: those of their last run, else those of the stored table.

    Returns:
        {} where the time of one of them is not known, so that nothing is said of the whole.
    """
    settings = context.settings
    held = cache(partial(holdings, settings))  # reads all names of the sources, which only a first run needs
    found: dict[str, float] = {}
    ahead: list[Stage] = []
    for stage in stages:
        before = context.log.done(stage.name)
        again = not before or any(feeds(first, stage) for first in ahead)
        if not again or context.is_off(stage) or given_model(stage, settings) is not None:
            continue
        seconds: float | None
        if before:
            seconds = before[-1].seconds
        else:
            known = held()
            seconds = None if known is None else seconds_of(stage, known.films, context.cores, is_demo(settings))
        if seconds is None:
            return {}
        ahead.append(stage)
        found[stage.name] = seconds
    return found
