"""Time each stage of the demo on tiny tables, in one warm session. Stages that train a model are left out.

python -m tests.benchmarks.stages [--rounds N] [--small]
"""

import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path

from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.cli.running import in_session, run_stages
from etl.pipeline.planner import chosen
from etl.pipeline.stages import setting
from etl.tables import Table
from jobs import all_stages
from tests.benchmarks.harness import Progress, Result, Row, arguments, hand_in, without_slowing_variables
from tests.corpora import write_small_corpus

AIM = 2.5
BEFORE = {
    "ingest_subtitles": "4.6 s",
    "clean_dialogues": "3.3 s",
    "score_weakly": "2.8 s",
    "score_turns": "2.4 s",
    "gather_training_dialogues": "2.2 s",
}
"""Seconds before tiny tables were read as one partition, each stage in a run of its own."""
CAUSE = "the times of one machine vary by a fifth from hour to hour."


def tiny_settings(folder: Path) -> Settings:
    """The demo's settings over a corpus of 12 films under a folder, which becomes the working folder."""
    os.chdir(folder)
    write_small_corpus(Path("demo/corpus"))
    with as_file(files("conf").joinpath("demo", "settings.yaml")) as own:
        return load_settings("local", [str(own)], {"edos.top_n": 20})


class Begun(list[str]):
    """The names of the stages that a run begins, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, name: str) -> None:
        super().append(name)
        self.times.append(time.perf_counter())


def measured(settings: Settings, rounds: int) -> dict[str, list[float]]:
    """Run all stages, and then those that train nothing so many times; returns their seconds, planning included."""
    everything = chosen(all_stages())
    kept = [
        stage
        for stage in everything
        if isinstance(stage.writes, Table) and (stage.enabled_if is None or setting(settings, stage.enabled_if))
    ]
    progress = Progress("stages", 1 + rounds)
    found: dict[str, list[float]] = {}

    def work(spark: SparkSession, running: list[str]) -> None:
        run_stages(spark, settings, everything, running)
        progress.step("first run")
        for number in range(rounds):
            begun = Begun()
            with contextlib.redirect_stdout(io.StringIO()):
                run_stages(spark, settings, kept, begun, again=True)
            for name, first, last in zip(begun, begun.times, [*begun.times[1:], time.perf_counter()], strict=True):
                found.setdefault(name, []).append(last - first)
            progress.step(f"round {number + 1}")

    in_session(settings, work)
    return found


def rows(found: dict[str, list[float]]) -> list[Row]:
    """The slowest stage, the middle one, and how many keep to the aim, by each stage's median."""
    medians = sorted((statistics.median(times), name) for name, times in found.items())
    middle = statistics.median(seconds for seconds, _ in medians)
    within = sum(seconds <= AIM for seconds, _ in medians)
    slowest = [
        Row(f"`{name}`", f"{seconds:.1f} s", "", "", seconds, most=AIM, before=BEFORE.get(name, ""))
        for seconds, name in reversed(medians[-5:])
    ]
    return [
        Row(f"the middle one of {len(medians)} stages", f"{middle:.1f} s", "", "", middle, most=AIM),
        Row(f"stages within {AIM:g} s", f"{within} of {len(medians)}", "", "", within),
        *slowest,
    ]


def main() -> int:
    """Measure and hand in."""
    parser = arguments(__doc__, rounds=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        found = measured(tiny_settings(Path(folder)), 1 if given.small else given.rounds)
        os.chdir(here)
    result = Result(
        "A stage on a tiny table",
        "Seconds of each stage of the demo that trains nothing, in runs of all of them again from their inputs, in a "
        "warm short session (the one that `run` takes for small sources), from its plan to that of the next stage: the "
        f"median of {given.rounds} runs. The five slowest are listed.",
        "the demo's corpus with 12 films",
        rows(found),
        CAUSE,
        ("delta-spark",),
    )
    return hand_in(result, given, "stages")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
