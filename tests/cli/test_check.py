"""``check``: what it finds in the log and in tables, its exit status and its JSON."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.care_settings import CheckSettings
from conf.settings import load_settings
from etl.cli import check as module
from etl.cli.check import FOUND, check, distance, of_log, of_tables
from etl.pipeline.lineage import StageEvent
from etl.pipeline.planner import PipelineContext
from etl.tables import TABLES
from jobs import all_stages

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
STAGES = [stage for stage in all_stages() if stage.name in ("ingest_subtitles", "label_weakly")]
LABELS = TABLES["edos.weak_labels"]


def event(hours_ago: float, kind: str = "done", **values: Any) -> StageEvent:
    facts: dict[str, Any] = {
        "stage": "ingest_subtitles",
        "run_id": f"r{hours_ago}",
        "event": kind,
        "started": NOW - timedelta(hours=hours_ago),
        "seconds": 0.0,
        "slices": 1,
        "unit": "files",
        "rows_in": 100,
        "rows_out": 90,
        "rows_dropped": 5,
        "rows_quarantined": 5,
        "input_versions": {},
        "settings_hash": "",
        "stage_version": 1,
        "models": {},
        "output_version": None,
        "package_version": "",
    }
    return StageEvent(**facts | values)


class Log:
    def __init__(self, *events: StageEvent) -> None:
        self.events = events

    def done(self, stage: str) -> list[StageEvent]:
        return [one for one in self.events if one.stage == stage and one.event == "done"]

    def newest(self, stage: str) -> StageEvent | None:
        return next((one for one in reversed(self.events) if one.stage == stage), None)

    def state(self, stage: str) -> str:
        newest = self.newest(stage)
        kinds = {"done": "done", "failed": "failed", "refused": "failed"}
        return "never" if newest is None else kinds.get(newest.event, "stopped")


@pytest.mark.parametrize(
    ("events", "bad"),
    [
        ((), []),
        ((event(1),), []),
        ((event(50),), ["age"]),
        ((event(30), event(1)), []),
        ((event(30), event(1, rows_in=60, rows_out=50)), ["rows"]),
        ((event(30), event(1, rows_in=300, rows_out=280, rows_quarantined=15)), []),
        ((event(1, rows_out=60, rows_quarantined=35),), ["quarantined"]),
        ((event(30), event(1, rows_in=200, rows_out=120, rows_dropped=75)), ["dropped"]),
        ((event(30), event(1, kind="failed", detail="no space is left")), ["state"]),
        ((event(30), event(1, kind="began")), ["state"]),
        ((event(1, rows_in=0, rows_out=0, rows_dropped=0, rows_quarantined=0),), []),
        ((event(30), event(1, rows_in=0, rows_out=0, rows_dropped=0, rows_quarantined=0)), ["rows"]),
    ],
)
def test_the_log_is_checked(events: tuple[StageEvent, ...], bad: list[str]) -> None:
    log: Any = Log(*events)
    found = list(of_log(lambda stage: log, STAGES, CheckSettings(), NOW))
    assert [one.check for one in found if not one.ok] == bad
    off = CheckSettings(max_age_hours=None, max_shrink_share=None, max_quarantined_share=None, max_dropped_change=None)
    assert [one.check for one in of_log(lambda stage: log, STAGES, off, NOW)] == [
        name for name in bad if name == "state"
    ]


def test_a_failed_run_is_found_with_its_line() -> None:
    log: Any = Log(event(30), event(1, kind="failed", detail="no space is left"))
    (found,) = [one for one in of_log(lambda stage: log, STAGES, CheckSettings(), NOW) if not one.ok]
    assert found.detail == "failed: no space is left"


@pytest.mark.parametrize(
    ("first", "second", "far"),
    [
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}, 0.0),
        ({"a": 1.0}, {"b": 1.0}, 1.0),
        ({"a": 0.5, "b": 0.5}, {"a": 0.7, "b": 0.3}, 0.2),
        ({"a": 1.0}, {"a": 0.9, "c": 0.1}, 0.1),
    ],
)
def test_the_distance_of_label_shares(first: dict[str, float], second: dict[str, float], far: float) -> None:
    assert distance(first, second) == pytest.approx(far)


@pytest.mark.slow
def test_nulls_and_labels_are_compared_with_the_run_before(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})

    def wrote(*labels: str | None) -> None:
        place = PipelineContext(spark, settings)
        rows = [(f"d{number}", 0, label, 0.5) for number, label in enumerate(labels)]
        frame = spark.createDataFrame(rows, "dialogue_id string, turn int, label string, confidence float")
        missing = {f.name: f.dataType for f in LABELS.schema if f.name not in frame.columns}
        for name, kind in missing.items():
            frame = frame.selectExpr("*", f"cast(null AS {kind.simpleString()}) AS {name}")
        place.lakehouse.replace(LABELS, frame, {})
        counts = {"stage": "label_weakly", "rows_in": 4, "rows_out": 4, "rows_dropped": 0, "rows_quarantined": 0}
        version = place.lakehouse.identity(LABELS)
        place.log.add(event(0, started=datetime.now(UTC), run_id=version, output_version=version, **counts))

    def bad() -> list[tuple[str, str]]:
        (stage,) = [one for one in STAGES if one.name == "label_weakly"]
        return [(one.check, one.detail) for one in of_tables(PipelineContext(spark, settings), stage) if not one.ok]

    wrote("sad", "sad", "glad", "glad")
    assert bad() == []
    wrote("sad", "glad", "glad", "sad")
    assert bad() == []
    monkeypatch.setattr(module, "spark_session", lambda settings: spark)
    monkeypatch.setattr(module, "close_session", lambda spark, settings: None)
    assert check(settings, STAGES, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    wrote("sad", "sad", "sad", None)
    assert [name for name, _ in bad()] == ["nulls", "labels"]
    assert "nulls in edos.weak_labels.label: 0.0% before, 25.0% now" in bad()[0][1]
    assert check(settings, STAGES, as_json=True) == FOUND
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert {one["check"] for one in told["checks"] if not one["ok"]} == {"nulls", "labels"}
    assert check(settings, STAGES) == FOUND
    assert "nulls" in capsys.readouterr().out
