"""A language model's server that a worker starts: who starts it, what a dead one costs, and when it ends."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, EngineSettings, LlmSettings
from etl.llm.requests import distinct_requests, with_requests
from etl.pipeline.model_loader import resolve
from tests.udfs.model_folders import model_folder
from udfs.generate import generate_answers, source_of
from udfs.llm_engine import EngineGenerator, filled_command, visible_gpus
from udfs.llm_requests import UNAVAILABLE, Request, UnavailableError

COMMAND = (sys.executable, "-m", "tests.engine_server", "{model}", "{name}", "{port}", "{gpus}")
GREEDY = DecodingSettings(max_new_tokens=20)


def settings(**engine: Any) -> LlmSettings:
    return LlmSettings(engine=EngineSettings(**{"command": COMMAND, "start_seconds": 60, **engine}))


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "asked").read_text().splitlines()]


def requests(number: int) -> list[Request]:
    return [Request(f"prompt {n}", prompt_hash=str(n)) for n in range(number)]


def runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_server_answers_all_frames_in_order(tmp_path: Path) -> None:
    engine = EngineGenerator(str(tmp_path), settings())
    for _ in range(2):
        found = engine.answers(requests(30), GREEDY)
        assert [answer.text for answer in found] == [f"PROMPT {n}" for n in range(30)]
    assert Counter(one["event"] for one in events(tmp_path)) == {"starts": 1, "answers": 60}
    (started,) = {one["pid"] for one in events(tmp_path)}
    engine.stop()
    assert not runs(started)


def test_a_proxy_of_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    engine = EngineGenerator(str(tmp_path), settings(start_seconds=20))
    found = engine.answers(requests(2), GREEDY)
    engine.stop()
    assert [answer.text for answer in found] == ["PROMPT 0", "PROMPT 1"]


def test_a_server_that_dies_is_started_anew_and_asked_for_the_missing_answers_alone(tmp_path: Path) -> None:
    (tmp_path / "dies").write_text("7")
    engine = EngineGenerator(str(tmp_path), settings(concurrency=2))
    found = engine.answers(requests(30), GREEDY)
    engine.stop()
    assert [answer.text for answer in found] == [f"PROMPT {n}" for n in range(30)]
    noted = events(tmp_path)
    assert [one["event"] for one in noted].count("starts") == 2
    asked = Counter(one["prompt"] for one in noted if one["event"] == "answers")
    # Only what was under way when the server died may have been asked twice.
    assert set(asked) == {f"prompt {n}" for n in range(30)}
    assert sum(asked.values()) <= 31


def test_a_server_that_dies_too_often_keeps_what_it_answered(tmp_path: Path) -> None:
    (tmp_path / "dies").write_text("7")
    with pytest.raises(UnavailableError, match="unreachable") as error:
        EngineGenerator(str(tmp_path), settings(concurrency=1, restarts=0)).answers(requests(30), GREEDY)
    kept = [answer.text for answer in error.value.answers if answer is not None]
    assert kept == [f"PROMPT {n}" for n in range(7)]
    assert len(error.value.all_answers(30)) == 30


@pytest.mark.parametrize(
    ("engine", "refusal", "message"),
    [
        (
            {"command": ("no-such-vllm", "serve")},
            None,
            "no-such-vllm does not start on .*: install it there, or change",
        ),
        ({}, "no room for the model\n", r"ended with 1 \(last line: no room for the model\): check llm.engine"),
        ({"command": ("sleep", "60"), "start_seconds": 1}, None, r"does not answer after 1 s \(last line: none\)"),
    ],
)
def test_a_server_that_does_not_start_is_told_in_one_line(
    tmp_path: Path, engine: dict[str, Any], refusal: str | None, message: str
) -> None:
    if refusal:
        (tmp_path / "refuses").write_text(refusal)
    with pytest.raises(UnavailableError, match=message) as error:
        EngineGenerator(str(tmp_path), settings(**engine)).answers(requests(2), GREEDY)
    assert "\n" not in str(error.value)


def test_the_server_ends_with_its_worker_however_that_ends(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from tests.udfs.test_llm_engine import GREEDY, requests, settings\n"
        "from udfs.llm_engine import EngineGenerator\n"
        "engine = EngineGenerator(sys.argv[1], settings())\n"
        "engine.answers(requests(1), GREEDY)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        (server,) = {one["pid"] for one in events(tmp_path)}
        assert runs(server)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    until = time.monotonic() + 20
    while runs(server) and time.monotonic() < until:
        time.sleep(0.1)
    assert not runs(server)


def test_each_task_has_its_server_and_one_that_dies_stops_no_other(spark: SparkSession, tmp_path: Path) -> None:
    model = resolve(f"vllm:file:{model_folder(tmp_path / 'm')}", tmp_path / "cache")
    (model.path / "dies").write_text("5")
    source = source_of(str(model.path), model.identity, settings(concurrency=2))
    units = spark.createDataFrame([(f"prompt {n}",) for n in range(60)], "p string")
    asked = distinct_requests(with_requests(units, F.col("p"), GREEDY))
    rows = generate_answers(asked, source, 2).collect()
    assert {row.prompt: row.text for row in rows} == {f"prompt {n}": f"PROMPT {n}" for n in range(60)}
    assert {row.model for row in rows} == {model.identity}
    noted = events(model.path)
    answers = [one for one in noted if one["event"] == "answers"]
    assert len({one["pid"] for one in answers}) >= 2
    assert len(answers) <= 61


def test_rows_of_a_server_that_never_starts_are_asked_in_the_next_run(spark: SparkSession, tmp_path: Path) -> None:
    source = source_of(str(tmp_path), "vllm:file:m", settings(command=("no-such-vllm",)))
    units = spark.createDataFrame([(f"prompt {n}",) for n in range(4)], "p string")
    rows = generate_answers(distinct_requests(with_requests(units, F.col("p"), GREEDY)), source, 2).collect()
    assert len(rows) == 4
    assert all(row.error.startswith(f"{UNAVAILABLE}no-such-vllm does not start") for row in rows)


def test_the_command_is_filled_word_by_word() -> None:
    words = {"model": "/models/a b;c", "port": "81", "name": "model", "gpus": "2"}
    assert filled_command(("vllm", "serve", "{model}", "--port={port}"), words) == [
        "vllm",
        "serve",
        "/models/a b;c",
        "--port=81",
    ]
    assert filled_command(('{"other": 1}', "{gpus}"), words) == ['{"other": 1}', "2"]


class Resources:
    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses

    def resources(self) -> dict[str, "Resources"]:
        return {"gpu": self} if self.addresses else {}


@pytest.mark.parametrize(
    ("addresses", "visible", "expected"),
    [
        ([], None, []),
        ([], "0,1", []),
        (["1"], None, ["1"]),
        (["0", "1"], None, ["0", "1"]),
        (["0"], "3", ["3"]),
        (["1"], "2,3", ["3"]),
        (["3"], "3", ["3"]),
        (["GPU-1f"], "GPU-1f,GPU-2c", ["GPU-1f"]),
    ],
)
def test_the_server_sees_the_gpus_of_its_task_alone(
    addresses: list[str], visible: str | None, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskContext, "get", lambda: Resources(addresses))
    assert visible_gpus({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}) == expected


def test_the_server_is_started_with_these_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskContext, "get", lambda: Resources(["2", "5"]))
    engine = EngineGenerator(str(tmp_path), settings())
    engine.answers(requests(1), GREEDY)
    engine.stop()
    assert {(one["gpus"], one["visible"]) for one in events(tmp_path)} == {("2", "2,5")}


@pytest.mark.parametrize("uri", ["vllm:openai:m", "vllm:gguf:file:m", "vllm:vllm:file:m", "gguf:openai:m"])
def test_only_a_folder_of_weights_is_served(uri: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is followed by hf:, pkg:, file: or models:/"):
        resolve(uri, tmp_path)


def test_the_identity_is_the_models_and_the_engines(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "m")
    plain = resolve(f"file:{folder}", tmp_path)
    served = resolve(f"vllm:file:{folder}", tmp_path)
    assert served.path == plain.path
    assert served.identity == f"vllm:{plain.identity}"
