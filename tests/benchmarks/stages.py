"""What a stage takes on a tiny table: each stage of the demo that trains nothing, again and again in one warm session.

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
from etl.demo.corpus import write_demo
from etl.pipeline.planner import chosen
from etl.pipeline.stages import Model
from jobs import all_stages
from tests.benchmarks.harness import Progress, Result, Row, arguments, hand_in, without_slowing_variables

AIM = 2.5
CAUSE = (
    "what is left is planning and running the queries of the stage itself, its ledger and its count, about ten of 0.1 "
    "to 0.3 s each; the plans of `ingest_subtitles`, `expand_labels` and `clean_dialogues` are the largest. Saving is "
    "a small part now: a replace took Spark 0.5 s and a first read after it 0.6 s, delta-rs takes 0.1 s for each, the "
    "query included."
)


def tiny_settings(folder: Path, films: int) -> Settings:
    """The demo's settings over a corpus of so many films under a folder, which becomes the working folder."""
    os.chdir(folder)
    write_demo(Path("demo/corpus"), films)
    with as_file(files("conf").joinpath("demo", "settings.yaml")) as own:
        return load_settings("local", [str(own)], {"edos.top_n": 20})


def measured(settings: Settings, rounds: int) -> dict[str, list[float]]:
    """Run all stages, and then each one that trains nothing so many times; returns its seconds, planning included."""
    everything = chosen(all_stages())
    kept = [stage for stage in everything if not isinstance(stage.writes, Model) and stage.writes is not None]
    progress = Progress("stages", 1 + rounds)
    found: dict[str, list[float]] = {}

    def work(spark: SparkSession, running: list[str]) -> None:
        run_stages(spark, settings, everything, running)
        progress.step("first run")
        for number in range(rounds):
            for stage in kept:
                began, said = time.perf_counter(), io.StringIO()
                with contextlib.redirect_stdout(said):
                    run_stages(spark, settings, [stage], running, again=True)
                if " in " in said.getvalue():  # not a stage that is off
                    found.setdefault(stage.name, []).append(time.perf_counter() - began)
            progress.step(f"round {number + 1}")

    in_session(settings, work)
    return found


def rows(found: dict[str, list[float]]) -> list[Row]:
    """The slowest stage, the middle one, and how many keep to the aim, by each stage's median."""
    medians = sorted((statistics.median(times), name) for name, times in found.items())
    middle = statistics.median(seconds for seconds, _ in medians)
    within = sum(seconds <= AIM for seconds, _ in medians)
    slowest = [
        Row(f"`{name}`", f"{seconds:.1f} s", "", "", seconds, most=AIM) for seconds, name in reversed(medians[-5:])
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
    films = 4 if given.small else 12
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        found = measured(tiny_settings(Path(folder), films), 1 if given.small else given.rounds)
        os.chdir(here)
    result = Result(
        "A stage on a tiny table",
        "Seconds of each stage of the demo that trains nothing, run again from its inputs in a warm short session (the "
        "one that `run` takes for small sources), from its plan to its entry in `ops.stage_runs`: the median of "
        f"{given.rounds} rounds. The five slowest are listed.",
        f"the demo's corpus with {films} films", rows(found), CAUSE, ("delta-spark",),
    )  # fmt: skip
    return hand_in(result, given, "stages")


if __name__ == "__main__":
    without_slowing_variables()
    sys.exit(main())
