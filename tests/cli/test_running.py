"""The session that a run takes: short where the sources are small."""

import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli import running
from etl.cli.running import are_small, gpus_here, idle_gpus, run
from etl.pipeline.planner import chosen
from etl.pipeline.session import shared_gpus
from jobs import all_stages


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "films/xml/en").mkdir(parents=True)
    (tmp_path / "films/xml/en/1.xml").write_bytes(b"x" * 600)
    (tmp_path / "en.zip").write_bytes(b"x" * 300)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "small"),
    [
        (["en.zip"], True),
        (["films"], True),
        (["films", "en.zip"], True),
        (["films", "en.zip", "en.zip"], False),
        (["no such file"], False),
        (["gone"], False),
        ([], False),
    ],
)
def test_sources_are_small_together(sources: Path, names: list[str], small: bool) -> None:
    assert are_small([str(sources / name) for name in names], 1_000) == small


def test_a_session_of_a_cluster_is_left_as_it_is(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(running, "in_session", lambda settings, work: seen.append(settings) or 0)
    values = {"subtitles.sources": [str(sources / "films")], "spark.master": "spark://host:7077"}
    assert run(load_settings("local", [], values), [], again=False) == 0
    assert seen[0].spark.short_session is None


@pytest.mark.parametrize(("given", "taken"), [(None, True), (False, False), (True, True)])
def test_a_run_decides_where_nothing_is_set(
    sources: Path, given: bool | None, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Settings] = []
    monkeypatch.setattr(running, "in_session", lambda settings, work: seen.append(settings) or 0)
    values = {"subtitles.sources": [str(sources / "films")], "spark.short_session": given}
    assert run(load_settings("local", [], values), [], again=False) == 0
    assert seen[0].spark.short_session is taken


def test_what_settings_name_is_looked_for_before_the_first_stage_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    given = {"train_weak_labeler": "file:mine"}
    context = SimpleNamespace(given_model=lambda stage: given.get(stage.name))
    monkeypatch.setattr(running, "events", lambda *_: [])
    monkeypatch.setattr(running, "PipelineContext", lambda *_: context)
    values = {
        "lakehouse.root": str(tmp_path),
        "subtitles.turn_examples": ["meld"],
        "edos.weak_label_examples": "/nowhere",
        "models.weak_labeler": "file:mine",
        "edos.crowd_votes": [str(tmp_path)],
    }
    stages = chosen(all_stages(), to="label_weakly,collect_annotations")
    with pytest.raises(InputError) as refused:
        running.run_stages(cast(Any, None), load_settings("local", [], values), stages, ran)
    assert ran == []
    assert str(refused.value) == (
        "subtitles.turn_examples names meld, which does not exist (seen from the folder that you are in)"
        ": mount or restore it, or name another; "
        "models.weak_labeler names file:mine, which does not exist (seen from the folder that you are in)"
        ": mount or restore it, or name another"
    )


def test_sources_that_are_not_there_are_named_before_the_first_stage_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    monkeypatch.setattr(running, "events", lambda *_: [])
    monkeypatch.setattr(running, "PipelineContext", lambda *_: SimpleNamespace(given_model=lambda stage: None))
    (tmp_path / "a file").write_text("")
    gone = [str(tmp_path / "gone"), str(tmp_path / "a file" / "below")]
    sources = [str(tmp_path), (tmp_path / "a file").as_uri(), "s3://bucket/en.zip", "n" * 5_000, "a\0b"]
    for name in gone:
        values = {"lakehouse.root": str(tmp_path), "subtitles.sources": [*sources, name]}
        with pytest.raises(InputError) as refused:
            running.run_stages(cast(Any, None), load_settings("local", [], values), chosen(all_stages()), ran)
        assert (
            str(refused.value)
            == f"subtitles.sources names {name}, which does not exist: mount or restore it, or name another"
        )
    assert ran == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_that_a_call_of_java_swallowed_is_an_interrupt(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = SimpleNamespace(sparkContext=SimpleNamespace(master="local[1]"))
    monkeypatch.setattr(running.session, "spark_session", lambda settings: local)
    monkeypatch.setattr(running.session, "close_session", lambda spark, settings: None)
    last = signal.signal(number, signal.default_int_handler)

    def work(spark: Any, stages: list[str]) -> None:
        stages.append("clean_dialogues")
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        raise RuntimeError("An error occurred while calling o1.persist")

    try:
        with pytest.raises(KeyboardInterrupt) as stop:
            running.in_session(Settings(), work)
        assert stop.value.args == (f"by {number.name}", "in clean_dialogues")
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        logging.disable(logging.NOTSET)
        signal.signal(number, last)


@pytest.mark.parametrize(
    ("local", "gpus", "said"), [(True, 1, "1 GPU,"), (True, 2, "2 GPUs,"), (True, 0, None), (False, 2, None)]
)
def test_a_local_session_says_that_its_tasks_get_no_gpu(local: bool, gpus: int, said: str | None) -> None:
    lines = idle_gpus(local, gpus)
    assert len(lines) == (said is not None)
    assert said is None or said in lines[0]


def test_gpus_are_counted_by_their_devices(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert gpus_here(tmp_path) == 2


@pytest.mark.parametrize(
    ("submitted", "own", "share"),
    [
        ({"spark.executor.resource.gpu.amount": "1", "spark.executor.cores": "16"}, {}, "0.062500"),
        ({"spark.executor.resource.gpu.amount": "4", "spark.executor.cores": "48"}, {}, "0.083333"),
        ({"spark.executor.cores": "16"}, {"spark.executor.resource.gpu.amount": "1"}, "0.062500"),
        ({"spark.executor.resource.gpu.amount": "1"}, {}, None),
        ({"spark.executor.cores": "16"}, {}, None),
        ({"spark.executor.resource.gpu.amount": "0", "spark.executor.cores": "16"}, {}, None),
        (
            {
                "spark.executor.resource.gpu.amount": "1",
                "spark.executor.cores": "16",
                "spark.task.resource.gpu.amount": "1",
            },
            {},
            None,
        ),
    ],
)
def test_tasks_share_the_gpus_of_an_executor_where_nothing_says_how(
    submitted: dict[str, str], own: dict[str, str], share: str | None
) -> None:
    conf = cast(Any, SimpleNamespace(get=lambda key, default: submitted.get(key, default)))
    found = shared_gpus(conf, own)
    assert found == ({} if share is None else {"spark.task.resource.gpu.amount": share})


@pytest.mark.parametrize(("profile", "again"), [("local", True), ("emr", False), ("databricks", False)])
def test_growth_trains_again_on_one_machine_alone(profile: str, again: bool) -> None:
    assert load_settings(profile).pipeline.retrain_on_growth is again
