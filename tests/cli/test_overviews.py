"""``plan``, ``status`` and completion, without Spark."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli import overviews
from etl.cli.overviews import STATUS, Planned, planned, states
from etl.pipeline.planner import chosen, why_off, without_set
from etl.pipeline.stages import Stage
from etl.pipeline.tables import in_set
from etl.pipeline.tables.ops import STAGE_RUNS
from jobs import all_stages

STAGES = chosen(all_stages(), to="segment_dialogues")
OFF = [stage for stage in all_stages() if stage.name in ("embed_turns", "search_similar")]


class Log:
    """Finished and stopped runs by stage."""

    def __init__(self, done: dict[str, Any], stopped: tuple[str, ...] = (), failed: tuple[str, ...] = ()) -> None:
        self._done = done
        self._stopped = stopped
        self._failed = failed

    def last(self, stage: str, event: str) -> Any:
        return self._done.get(stage)

    def state(self, stage: str) -> str:
        known = {"stopped": self._stopped, "failed": self._failed, "done": self._done}
        return next((name for name, stages in known.items() if stage in stages), "never")

    def newest(self, stage: str) -> Any:
        return SimpleNamespace(detail="no space is left on the disk")


class Context:
    """What ``plan`` asks of a lakehouse."""

    def __init__(self, *, why: dict[str, str | None], given: dict[str, str], off: tuple[str, ...], log: Log) -> None:
        self._why = why
        self._given = given
        self._off = off
        self.log = log
        self.settings = Settings()

    def of(self, stage: Stage) -> "Context":
        return self

    def given_model(self, stage: Stage) -> str | None:
        return self._given.get(stage.name)

    def is_off(self, stage: Stage) -> bool:
        return stage.name in self._off

    def plan(self, stage: Stage) -> Any:
        why = self._why.get(stage.name)
        if why is not None and why.startswith("!"):
            raise InputError(why[1:])
        return SimpleNamespace(why=why)


def event(rows_out: int | None = 7) -> Any:
    return SimpleNamespace(
        started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        seconds=62.25,
        unit="files",
        rows_in=10,
        rows_out=rows_out,
        rows_dropped=2,
        rows_quarantined=1,
    )


def test_plan_says_what_runs_and_why() -> None:
    context = Context(
        why={"ingest_subtitles": "its settings changed", "find_subtitles": None},
        given={"train_turn_segmenter": "file:mine"},
        off=("embed_turns",),
        log=Log({"find_subtitles": event()}),
    )
    found = {one.stage: one for one in planned(context, [*STAGES, OFF[0]])}
    assert list(found) == [*(stage.name for stage in STAGES), "embed_turns"]
    assert found["find_subtitles"] == Planned("find_subtitles", "done", "up to date")
    assert found["ingest_subtitles"] == Planned("ingest_subtitles", "run", "its settings changed")
    assert found["choose_uploads"].after == ("ingest_subtitles",)
    assert found["train_turn_segmenter"].action == "skip"
    assert "file:mine" in found["train_turn_segmenter"].reason
    assert found["embed_turns"] == Planned("embed_turns", "off", "edos.expands is false")
    assert set(found["score_turns"].after) == {"ingest_subtitles", "choose_uploads", "lemmatize_words"}
    assert found["segment_dialogues"].action == "run"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("embed_turns", "edos.expands is false"),
    ],
)
def test_a_stage_that_is_off_names_its_setting(name: str, said: str) -> None:
    (stage,) = [one for one in all_stages() if one.name == name]
    assert why_off(stage, load_settings("local")) == said


def test_plan_names_a_missing_file_although_stages_before_have_work_and_keeps_its_reasons_short() -> None:
    stages = chosen(all_stages(), to="score_turns")
    context = Context(why={"find_subtitles": "first run"}, given={}, off=(), log=Log({}))
    found = {one.stage: one for one in planned(context, stages)}
    assert found["score_turns"].reason == "after ingest_subtitles and 3 more"
    assert len(found["score_turns"].after) == 4
    context.settings = load_settings("local", [], {"subtitles.turn_examples": ["meld"]})
    found = {one.stage: one for one in planned(context, stages)}
    assert found["train_turn_segmenter"].reason == (
        "subtitles.turn_examples names meld, which does not exist (seen from the folder that you are in): "
        "mount or restore it, or name another"
    )
    assert found["train_turn_segmenter"].after == ("ingest_subtitles",)


def test_states_are_the_last_finished_runs() -> None:
    log = Log(
        {"find_subtitles": event(), "ingest_subtitles": event(rows_out=None)}, ("ingest_subtitles", "score_turns")
    )
    found = {one["stage"]: one for one in states(log, STAGES)}
    assert all(tuple(one) == STATUS for one in found.values())
    first = found["find_subtitles"]
    assert (first["state"], first["finished"], first["seconds"]) == ("done", "2026-01-02T03:05:07Z", 62.25)
    assert (first["rows_in"], first["rows_out"], first["rows_dropped"], first["rows_quarantined"]) == (10, 7, 2, 1)
    assert (found["ingest_subtitles"]["state"], found["ingest_subtitles"]["rows_in"]) == ("stopped", 10)
    assert (found["score_turns"]["state"], found["score_turns"]["finished"]) == ("stopped", None)
    assert found["choose_uploads"]["state"] == "never"
    assert found["choose_uploads"]["detail"] is None


def test_a_stage_that_never_ran_because_it_is_off_says_so() -> None:
    stages = [*STAGES, *OFF]
    off = [stage for stage in stages if stage.name in ("embed_turns", "search_similar", "find_subtitles")]
    found = {one["stage"]: one for one in states(Log({"find_subtitles": event()}, ("search_similar",)), stages, off)}
    assert found["embed_turns"]["state"] == "off"
    assert found["find_subtitles"]["state"] == "done"
    assert found["search_similar"]["state"] == "stopped"


def test_a_failed_run_says_its_one_line_beside_the_last_finished_run() -> None:
    log = Log({"find_subtitles": event()}, failed=("find_subtitles",))
    (found,) = states(log, STAGES[:1])
    assert found["state"] == "failed"
    assert found["detail"] == "no space is left on the disk"
    assert found["rows_out"] == 7


@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_printed(as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log({name: event() for name in ("find_subtitles", "ingest_subtitles")}, ("ingest_subtitles", "score_turns"))
    context = Context(why={}, given={}, off=(), log=log)
    monkeypatch.setattr(overviews, "spark_session", lambda settings: None)
    monkeypatch.setattr(overviews, "close_session", lambda spark, settings: None)
    monkeypatch.setattr(overviews, "PipelineContext", lambda spark, settings: context)
    monkeypatch.setattr(overviews, "log_on_disk", lambda settings: log)
    settings = Settings()
    assert overviews.plan(settings, STAGES, as_json) == 0
    plan = capsys.readouterr().out
    assert overviews.status(settings, STAGES, as_json) == 0
    status = capsys.readouterr().out
    if as_json:
        assert [one["stage"] for one in json.loads(plan)] == [one["stage"] for one in json.loads(status)]
        assert set(json.loads(plan)[0]) == {"stage", "action", "reason", "after"}
        return
    assert len(plan.splitlines()) == len(status.splitlines()) == len(STAGES) + 1
    assert "2026-01-02 03:05" in status
    lines = {line.split()[0]: line for line in status.splitlines()}
    assert lines["find_subtitles"].endswith("62.2")
    assert lines["ingest_subtitles"].endswith("stopped midway, done before at 2026-01-02 03:05"), (
        "no counts of the run before"
    )
    assert lines["score_turns"].endswith("stopped midway")
    assert "up to date" in plan


def test_the_log_of_a_folder_is_read_without_spark(tmp_path: Path) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path), "lakehouse.set": "mine"})
    for one in (settings, without_set(settings)):
        folder = tmp_path / in_set(STAGE_RUNS.name, one.lakehouse.set).replace(".", "/")
        stage = one.lakehouse.set or "find_subtitles"
        began = datetime(2026, 1, 2, tzinfo=UTC)
        write_deltalake(
            str(folder), pa.table({"stage": [stage], "event": ["done"], "run_id": ["a"], "started": [began]})
        )
    for one, stage in ((settings, "mine"), (without_set(settings), "find_subtitles")):
        log = overviews.log_on_disk(one)
        assert log is not None
        assert (log.state(stage), log.state("ingest_subtitles")) == ("done", "never")
    (folder / "_delta_log" / f"{0:020}.json").write_text("{")
    assert overviews.log_on_disk(without_set(settings)) is None
    nothing = overviews.log_on_disk(load_settings("local", [], {"lakehouse.root": str(tmp_path / "new")}))
    assert nothing is not None
    assert nothing.state("find_subtitles") == "never"
    for elsewhere in ({"lakehouse.root": "s3://bucket/lake"}, {"lakehouse.catalog": "main"}):
        assert overviews.log_on_disk(load_settings("local", [], elsewhere)) is None
