"""``check``: what it finds in the log and in tables, its exit status and its JSON."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from conf.maintenance_settings import CheckSettings
from conf.settings import load_settings
from etl.cli import check as module
from etl.cli.check import FOUND, check, of_log
from etl.pipeline.lineage import StageEvent
from jobs import all_stages

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
STAGES = [stage for stage in all_stages() if stage.name in ("ingest_subtitles", "label_weakly")]


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


def test_the_exit_status_and_the_json_tell_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(event(30), event(1))
    context = SimpleNamespace(of=lambda stage: SimpleNamespace(log=log))
    monkeypatch.setattr(module, "spark_session", lambda settings: None)
    monkeypatch.setattr(module, "close_session", lambda spark, settings: None)
    monkeypatch.setattr(module, "PipelineContext", lambda spark, settings: context)
    settings = load_settings("local", [], {"checks.max_age_hours": None})
    assert check(settings, STAGES, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    log.events = (event(30), event(1, rows_in=60, rows_out=50))
    assert check(settings, STAGES, as_json=True) == FOUND
    told = json.loads(capsys.readouterr().out)
    assert [one["check"] for one in told["checks"] if not one["ok"]] == ["rows"]
    assert check(settings, STAGES) == FOUND
    assert "rows" in capsys.readouterr().out
