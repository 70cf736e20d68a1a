"""A canary secret in settings, addresses and answers is in no table, commit, run parameter or printed line."""

import io
import json
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, ServerSettings
from conf.settings import load_settings
from etl.cli import command_line
from etl.cli.command_line import main
from etl.pipeline.planner import PipelineContext
from etl.pipeline.tables import TABLES
from etl.subtitles.manifest import shown_sources
from jobs.subtitles.ingest import find_subtitles, ingest_subtitles
from tests.llm_servers import RecordedServer, asking
from tests.stages import run_stages
from udfs.llm_requests import Request

CANARY = "c4naryTweets"
FILM = "<document><s id='1'><time id='T1S' value='00:00:01,000' /><w id='1.1'>Rain</w></s></document>"


@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.long)], ids=["delta-rs", "Spark"])
def test_a_source_with_a_key_is_read_and_no_table_names_the_key(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], small: bool
) -> None:
    folders = [tmp_path / name / "xml/en/1999/1" for name in ("one", "two")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "5.xml").write_text(FILM, "utf-8")
        (folder / "6.xml").write_text("<document", "utf-8")
    sources = [f"file://AKIA:{CANARY}@{tmp_path}/{name}" for name in ("one", "two")]
    own = {"lakehouse.root": str(tmp_path / "lake"), "subtitles.sources": sources, "spark.short_session": small}
    settings = load_settings("local", [], own)
    context = PipelineContext(spark, settings)
    assert run_stages(context, [find_subtitles, ingest_subtitles]) == ["find_subtitles", "ingest_subtitles"]
    read = context.lakehouse.read
    # Both copies of the damaged film are tried.
    assert read(TABLES["subtitles.files"]).count() == 1
    assert read(TABLES["subtitles.quarantine"]).count() == 2
    assert {row.source for row in read(TABLES["subtitles.manifest"]).select("source").distinct().collect()} == {
        f"file://***@{tmp_path}/{name}" for name in ("one", "two")
    }
    written = [path.read_bytes() for path in (tmp_path / "lake").rglob("*") if path.is_file() and path.suffix != ".crc"]
    rows = [
        json.loads(line)
        for table in TABLES.values()
        if context.lakehouse.exists(table)
        for line in read(table).toJSON().collect()
    ]
    assert len(rows) > 6
    assert CANARY not in json.dumps(rows)
    assert len(written) >= 10
    assert not any(CANARY.encode() in content for content in written)
    assert run_stages(PipelineContext(spark, settings), [find_subtitles, ingest_subtitles]) == []
    assert CANARY not in capsys.readouterr().out


def test_two_sources_that_differ_only_in_their_keys_are_refused() -> None:
    sources = ["s3://a:b@bucket/x", "s3://bucket/x", "s3://a:b@bucket/y", "s3://a:b@bucket/x"]
    assert shown_sources(sources) == ["s3://***@bucket/x", "s3://bucket/x", "s3://***@bucket/y", "s3://***@bucket/x"]
    with pytest.raises(InputError, match=r"names s3://\*\*\*@bucket/x twice with different keys"):
        shown_sources([*sources, "s3://a:c@bucket/x"])


def test_a_server_that_echoes_the_key_leaves_it_in_no_answer() -> None:
    def reply(body: dict) -> str | tuple[int, str] | dict:
        prompt = body["messages"][0]["content"]
        return {
            "refused": (400, f"bad request with Authorization: Bearer {CANARY}"),
            "plain": (422, f"you are {CANARY}"),
            "odd": {"response": {"choices": CANARY}},
            "said": f"your key is {CANARY}, isn't it",
        }[prompt]

    with RecordedServer(reply).running() as server:
        generator = asking("recorded", ServerSettings(url=server.url, retries=0), CANARY)
        names = ("refused", "plain", "odd", "said")
        answers = generator.answers([Request(name) for name in names], DecodingSettings())
    assert server.keys, "the key was sent"
    assert all(answer.error for answer in answers[:3])
    assert answers[3].text == "your key is ***, isn't it"
    assert CANARY not in repr(answers)
    with pytest.raises(InputError, match=r"http://\*\*\*@127") as refused:
        load_settings("local", [], [f"llm.server.url=http://user:{CANARY}@127.0.0.1:9/v1"])
    away = asking("m", ServerSettings(url="http://127.0.0.1:9/v1", retries=0), CANARY)
    with pytest.raises(RuntimeError, match="unreachable") as later:
        away.answers([Request("p")], DecodingSettings())
    assert CANARY not in f"{refused.value}{later.value}"


@pytest.mark.parametrize("error", [InputError, RuntimeError])
@pytest.mark.parametrize("arguments", [["plan"], ["plan", "--traceback"]])
def test_no_printed_line_shows_a_secret(
    error: type[Exception], arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(given: list[str]) -> int:
        print(f"reads s3://AKIA:{CANARY}@bucket")
        sys.stderr.writelines([f"sends Authorization: Bearer {CANARY}\n"])
        raise error(f"denied for {given}: api_key={CANARY}")

    monkeypatch.setattr(command_line, "_main", fails)
    monkeypatch.setenv("OPENAI_API_KEY", f"key of {CANARY}")
    assert main(arguments) == (2 if error is InputError else 1)
    printed = "".join(capsys.readouterr())
    assert CANARY not in printed
    assert printed.count("***") >= 3
    assert "denied for" in printed


def test_run_parameters_and_tags_show_no_secret(tmp_path: Path) -> None:
    from etl.training.tracking import ModelStore, tracked_run

    store = ModelStore(f"sqlite:///{tmp_path}/mlflow.db", "x", str(tmp_path / "artifacts"))
    address = f"s3://AKIA:{CANARY}@bucket"
    with tracked_run(store, "run", {"examples": address, "token": f"Bearer {CANARY}"}, {"source": address}) as run:
        version = run.register("model", f"{tmp_path}/model", {"source": address})
    found = store.client().get_run(run.run_id).data
    about = store.client().get_model_version("model", version)
    assert found.params["examples"] == found.tags["source"] == about.tags["source"] == "s3://***@bucket"
    assert CANARY not in f"{found.params}{found.tags}{about.tags}"


def test_a_redacted_stream_is_a_stream() -> None:
    from etl.cli.redacted_output import RedactedStream

    out = io.StringIO()
    stream = RedactedStream(out)
    assert not stream.isatty()
    assert stream.write(f"password={CANARY}") == len(f"password={CANARY}")
    assert out.getvalue() == "password=***"
