"""The straight line behind ``estimate``."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli.estimate import (
    FILES,
    SOURCE,
    Cost,
    StageTiming,
    by_files,
    estimate,
    fitted,
    gpus_at_once,
    grown,
    measured,
    sizes_of,
    table,
)
from etl.pipeline.lineage import StageEvent
from etl.pipeline.planner import PipelineContext, chosen
from etl.pipeline.stages import Stage
from jobs import all_stages


def event(rows_in: int, seconds: float, settings_hash: str = "a", task_seconds: float | None = None) -> StageEvent:
    return StageEvent(
        stage="clean",
        run_id=f"{rows_in}",
        event="done",
        started=datetime(2026, 1, 1, tzinfo=UTC),
        seconds=seconds,
        slices=1,
        unit="turns",
        rows_in=rows_in,
        rows_out=rows_in,
        rows_dropped=0,
        rows_quarantined=0,
        input_versions={},
        settings_hash=settings_hash,
        stage_version=1,
        models={},
        output_version=None,
        package_version="tree",
        task_seconds=task_seconds,
    )


def test_an_incremental_stage_counts_only_what_a_run_added() -> None:
    runs = [event(100, 12.0), event(400, 32.0), event(400, 1.0), event(400, 41.0, "b")]
    units = [(run.units, run.seconds) for run in measured(runs, grows=True, cores=2)]
    assert units == [(100, 12.0), (300, 32.0), (400, 41.0)]
    assert [run.units for run in measured(runs, grows=False, cores=2)] == [100, 400, 400, 400]


def test_tasks_keep_all_cores_busy_at_most_all_the_time() -> None:
    runs = [event(10, 8.0, "a", 6.0), event(10, 8.0, "b", 20.0), event(10, 8.0, "c")]
    assert [run.busy for run in measured(runs, grows=True, cores=2)] == [3.0, 8.0, 8.0]


@pytest.mark.parametrize(
    ("runs", "cost"),
    [
        ([(100, 20.0, 20.0)], Cost(0.0, 0.2, 1)),  # nothing known of its tasks
        ([(100, 20.0, 5.0)], Cost(15.0, 0.05, 1)),
        ([(100, 20.0, 20.0), (300, 40.0, 40.0)], Cost(10.0, 0.1, 2)),
        ([(100, 20.0, 5.0), (300, 25.0, 11.0)], Cost(17.0, 0.03, 2)),
        ([(100, 32.0, 32.0), (100, 19.0, 19.0), (100, 21.0, 21.0), (300, 40.0, 40.0)], Cost(22.0, 0.1, 2)),
        ([(100, 20.0, 20.0), (300, 19.0, 19.0)], Cost(20.0, 0.0, 2)),  # no growth seen
        ([(100, 5.0, 5.0), (300, 30.0, 30.0)], Cost(0.0, 0.095, 2)),  # a negative fixed cost is not believed
    ],
)
def test_the_line_has_no_negative_part(runs: list[tuple[int, float, float]], cost: Cost) -> None:
    found = fitted([StageTiming(*run) for run in runs])
    assert (found.fixed, found.per_unit, found.sizes) == pytest.approx(
        (cost.fixed, cost.per_unit, cost.sizes), rel=0.01
    )


def test_the_first_run_of_a_session_has_the_fixed_time_and_the_last_ones_the_growth() -> None:
    cold = [(100, 20.0, 12.0), (400, 12.0, 9.0)]
    warm = [(100, 5.0, 3.0), (400, 9.0, 6.0)]
    found = fitted([StageTiming(*run) for run in cold + warm])
    assert (found.fixed, found.per_unit) == pytest.approx((19.0, 0.01))


@pytest.mark.parametrize(
    ("sizes", "units"),
    [
        ([(100, 500)], 5_000.0),
        ([(25, 125), (100, 500)], 5_000.0),
        ([(25, 250), (100, 500)], 500 * 10**0.5),  # distinct words: a power of one half
        ([(25, 100), (100, 500)], 5_000.0),  # no faster than the files
        ([(25, 500), (100, 500)], 500.0),
        ([(25, 0), (100, 500)], 5_000.0),
        ([(100, 400), (100, 500)], 5_000.0),
    ],
)
def test_units_grow_as_a_power_of_the_files(sizes: list[tuple[int, int]], units: float) -> None:
    assert grown(sizes, 1_000) == pytest.approx(units)


def test_files_of_a_run_are_those_that_were_read_before_it() -> None:
    at = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(6)]
    ingested = [
        replace(event(25, 1.0), stage=FILES, started=at[1]),
        replace(event(100, 1.0), stage=FILES, started=at[4]),
    ]
    words = [replace(event(250, 1.0), started=at[2]), replace(event(500, 1.0), started=at[5])]
    listed = [
        replace(event(25, 1.0), stage=SOURCE, started=at[0]),
        replace(event(100, 1.0), stage=SOURCE, started=at[3]),
    ]
    assert sizes_of(words, ingested) == [(25, 250), (100, 500)]
    assert sizes_of(listed, ingested) == [(25, 25), (100, 100)]
    assert [one.rows_in for one in by_files(words, ingested)] == [25, 100]


@pytest.mark.parametrize("gpus", [False, True])
def test_the_table_adds_up_and_fits_a_terminal(gpus: bool) -> None:
    rows = {
        "emo_pillars_train_contextual_rewritten": (Cost(12.34, 0.1, 2), 3600.4, 2.0, 0.5, 0.004),
        "clean_dialogues": (Cost(1.0, 0.1, 1), 1_000_000.0, 555.55, 0.0, 1.25),
    }
    lines = table(rows, gpus, 80)
    assert max(map(len, lines)) <= 80
    assert ("GPU-hours" in lines[0]) == gpus
    assert lines[-1].split() == ["all", "1,003,600", "557.5", *(["0.5"] if gpus else []), "1.25"]


@pytest.mark.usefixtures("tables_of_test")
def test_a_pilot_measures_in_tables_of_its_own(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"lakehouse.root": str(tmp_path), "subtitles.sample": 0.04, "spark.set_runtime": False}
    settings = load_settings("local", [], values)
    stages = chosen(all_stages(), to="score_turns")
    asked: list[tuple[str, float]] = []

    def ran(spark: SparkSession, settings: Settings, stages: list[Stage], running: list[str], again: bool) -> None:
        assert again
        assert settings.spark.short_session is False
        assert settings.mlflow.tracking_uri == f"sqlite:///{tmp_path}/mlflow.db"  # models are those of the lakehouse
        assert "train_turn_segmenter" not in [stage.name for stage in stages]
        asked.append((settings.lakehouse.root, settings.subtitles.sample))
        files = round(1_000 * settings.subtitles.sample)
        warm = len(asked) > 2
        seconds = 2.0 + files * 0.1 if warm else 30.0
        took = event(files, seconds, task_seconds=2 * seconds)
        PipelineContext(spark, settings).log.add(replace(took, stage=FILES))

    monkeypatch.setattr("etl.cli.estimate.run_stages", ran)
    for _ in range(2):  # pilots of an earlier call do not count
        asked.clear()
        assert estimate(settings, stages, 1_000, pilot=True) == 0
        assert asked == [(f"{tmp_path}/_pilot", share) for share in (0.01, 0.04) * 3]
        shown = capsys.readouterr().out
        assert re.search(r"^ingest_subtitles +2 +29 +129 ", shown, re.MULTILINE), shown  # sizes, fixed, all
    with pytest.raises(InputError, match="--files=-5: must be at least 1"):
        estimate(settings, stages, -5, pilot=False)
    assert estimate(settings, stages, 1_000, pilot=False) == 0
    assert "nothing measured in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tasks", "of_task", "gpus"),
    [(16, 1 / 16, 1), (64, 0.0625, 4), (4, 1, 4), (16, 0.0, 0), (16, 0.166667, 3), (8, 2, 16)],
)
def test_the_gpus_of_all_executors_count(tasks: int, of_task: float, gpus: int) -> None:
    assert gpus_at_once(tasks, of_task) == gpus
