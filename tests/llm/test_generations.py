"""Requests by content, answers in executors, and the view over all steps' answers."""

import re

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.llm_settings import DecodingSettings, LlmSettings, ServerSettings
from conf.settings import LakehouseSettings
from conf.taxonomy import load_taxonomy
from etl.emo_pillars.settings import EmoPillarsSettings
from etl.emo_pillars.steps import soft_labels
from etl.llm.requests import distinct_requests, parameters_hash, with_answers, with_requests
from etl.llm.tables import generations
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.model_loader import resolve
from etl.pipeline.tables import TABLES, View
from etl.pipeline.tables.model import AND_ALSO
from etl.publishing.views import all_views
from tests.llm_servers import RecordedServer, as_the_dialect_answers, prompt_of
from udfs.generate import SCHEMA, generate_answers, source_of
from udfs.llm_kinds import ModelSource
from udfs.llm_requests import UNAVAILABLE

GREEDY = DecodingSettings(max_new_tokens=20, repetition_penalty=1.03)


def test_requests_are_keyed_by_all_that_the_model_reads(spark: SparkSession) -> None:
    units = spark.createDataFrame(
        [("a", "p", ""), ("b", "p", ""), ("c", "p", "1"), ("d", "p1", "")], "u string, p string, s string"
    )
    asked = with_requests(units, F.col("p"), GREEDY, F.col("s"), samples=2)
    assert asked.count() == 8
    ids = {(row.u, row.sample): row.request_id for row in asked.collect()}
    assert ids["a", 0] == ids["b", 0]
    assert len(set(ids.values())) == 6
    warmer = with_requests(units, F.col("p"), DecodingSettings(temperature=0.5), F.col("s"), samples=2)
    assert not {row.request_id for row in warmer.collect()} & set(ids.values())
    assert distinct_requests(asked).count() == 6


def test_parameters_are_hashed_in_one_order() -> None:
    assert parameters_hash(DecodingSettings(top_p=0.9, temperature=1)) == parameters_hash(
        DecodingSettings(temperature=1.0, top_p=0.9)
    )
    assert parameters_hash(GREEDY) != parameters_hash(DecodingSettings(max_new_tokens=21, repetition_penalty=1.03))


def test_answers_stored_before_there_were_grammars_keep_their_hash() -> None:
    assert parameters_hash(GREEDY) == "ed1f5d920f5302fc"
    under = GREEDY.model_copy(update={"grammar": 'root ::= "yes"'})
    assert parameters_hash(under) != parameters_hash(GREEDY)
    assert DecodingSettings.model_validate_json(under.text()) == under


def test_answers_come_back_to_their_units(spark: SparkSession) -> None:
    def reply(body: dict) -> str | tuple[int, str]:
        return (400, "too long") if prompt_of(body) == "bad" else f"{prompt_of(body)} {body['max_tokens']}"

    units = spark.createDataFrame([("a", "p"), ("b", "p"), ("c", "bad"), ("d", "q")], "u string, p string")
    with RecordedServer(reply).running() as server:
        settings = LlmSettings(server=ServerSettings(url=server.url))
        source = source_of("", "openai:recorded", settings)
        asked = with_requests(units, F.col("p"), GREEDY, F.lit("1."))
        other = with_requests(units.where("u = 'd'"), F.col("p"), DecodingSettings(max_new_tokens=9), F.lit("1."))
        said = generate_answers(distinct_requests(asked.unionByName(other)), source, 2).persist()
        rows = said.collect()
        assert len(rows) == len(server.asked) == 4
    assert said.columns == [column.split()[0] for column in SCHEMA.split(",")]
    assert {row.model for row in rows} == {"openai:recorded"}
    found = {row.u: (row.answer, row.error) for row in with_answers(asked, said, "openai:recorded").collect()}
    assert found["a"] == found["b"] == ("1.p 20", None)
    assert found["d"] == ("1.q 20", None)
    assert found["c"][0] is None
    assert "too long" in found["c"][1]
    others = with_answers(asked, said, "openai:another").collect()
    assert {(row.answer, row.error) for row in others} == {(None, "never asked")}
    said.unpersist()


@pytest.mark.parametrize(
    "dialect", ["vllm", *(pytest.param(one, marks=pytest.mark.long) for one in ("llama.cpp", "openai"))]
)
def test_a_dictated_start_gives_equal_labels_in_every_dialect(spark: SparkSession, dialect: str) -> None:
    units = spark.createDataFrame(
        [("u", "I see the ship!", "joy")], "utterance_id string, utterance string, label string"
    )
    settings = EmoPillarsSettings()
    step = soft_labels.STEP
    asked = step.requests(soft_labels.ask(units, 5, settings.taxonomy), settings.steps.soft_labels)
    with RecordedServer(as_the_dialect_answers).running() as server:
        source = source_of("", "openai:recorded", LlmSettings(server=ServerSettings(url=server.url, dialect=dialect)))
        said = generate_answers(distinct_requests(asked), source, 1).persist()
        rules = step.rules(quality=settings.quality, taxonomy=settings.taxonomy)
        labels = step.rows(with_answers(asked, said, "openai:recorded"), rules).rows.orderBy("place").collect()
        assert len(server.asked) == 1
    assert [(row.raw_label, row.level) for row in labels] == [("joy", 0.9), ("fear", 0.4), ("hope", 0.3)]
    said.unpersist()


def test_a_repeated_start_of_a_stored_answer_counts_once(spark: SparkSession) -> None:
    asked = with_requests(spark.createDataFrame([("a",)], "u string"), F.lit("p"), GREEDY, F.lit("1. joy"))
    stored = asked.select(
        "request_id",
        F.lit("m").alias("model"),
        F.lit(" 1. Joy (0.9)").alias("text"),
        F.lit("stop").alias("finish_reason"),
        F.lit(None).cast("string").alias("error"),
    )
    assert [row.answer for row in with_answers(asked, stored, "m").collect()] == [" 1. Joy (0.9)"]


@pytest.mark.parametrize(
    ("text", "answer", "error"),
    [
        ("<think>High.</think> (0.9)", "1. joy (0.9)", None),
        ("<think>Is it", None, "cut_off_in_thought (finish_reason length)"),
        ("", None, "empty_answer (finish_reason length)"),
        (None, None, "refused"),
    ],
)
def test_thoughts_are_no_answers(spark: SparkSession, text: str | None, answer: str | None, error: str | None) -> None:
    asked = with_requests(spark.createDataFrame([("a",)], "u string"), F.lit("p"), GREEDY, F.lit("1. joy"))
    stored = asked.select(
        "request_id",
        F.lit("m").alias("model"),
        F.lit(text).cast("string").alias("text"),
        F.lit("length").alias("finish_reason"),
        F.lit("refused" if text is None else None).cast("string").alias("error"),
    )
    (row,) = with_answers(asked, stored, "m").collect()
    assert (row.answer, row.error) == (answer, error)


def test_a_server_that_goes_away_keeps_the_answers_that_it_gave(spark: SparkSession) -> None:
    given: list[str] = []

    def reply(body: dict) -> str | tuple[int, str]:
        if len(given) >= 12:
            return 503, "going away"
        given.append(prompt_of(body))
        return "paid"

    units = spark.createDataFrame([(f"prompt {n}",) for n in range(40)], "p string")
    with RecordedServer(reply).running() as server:
        settings = LlmSettings(server=ServerSettings(url=server.url, retries=0, concurrency=2))
        source = source_of("", "openai:recorded", settings)
        said = generate_answers(distinct_requests(with_requests(units, F.col("p"), GREEDY)), source, 2)
        rows = said.collect()
    assert len(rows) == 40
    assert sorted(row.prompt for row in rows if row.text == "paid") == sorted(given)
    assert all(row.error.startswith(UNAVAILABLE) and "503" in row.error for row in rows if row.text is None)


def test_the_key_is_the_environments_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_LLM_KEY", "s3cret")
    with RecordedServer(lambda body: "x").running() as server:
        settings = LlmSettings(server=ServerSettings(url=server.url, key_variable="TEST_LLM_KEY"))
        source = source_of("", "openai:recorded", settings)
        source.generator().answers([], GREEDY)
        assert source.key == "s3cret"
        assert "s3cret" not in repr(source)


def test_a_server_that_is_away_stops_the_stage_before_its_work() -> None:
    settings = LlmSettings(server=ServerSettings(url="http://127.0.0.1:9/v1"))
    with pytest.raises(InputError, match="no language model at"):
        source_of("", "openai:m", settings)


def test_a_served_model_is_its_name(tmp_path) -> None:
    resolved = resolve("openai:org/model-7b", tmp_path)
    assert resolved.identity == "openai:org/model-7b"
    assert not ModelSource("", resolved.identity).kind.in_files
    assert ModelSource("", "pkg:x==1#sha256:0").kind.in_files
    with pytest.raises(InputError, match="not a model URI"):
        resolve("openai:", tmp_path)


def test_the_view_of_answers_has_every_step() -> None:
    steps = {name for name in TABLES if name.startswith("llm.")}
    assert set(re.findall(r"FROM (llm\.\w+)", all_views(load_taxonomy("edos"))["llm.generations"].sql)) == steps


def test_a_union_shows_the_tables_that_are_there(spark: SparkSession, tmp_path) -> None:
    here = generations("here", "x")
    away = generations("away", "x")
    lakehouse = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)))
    lakehouse.ensure(here)
    parts = ["SELECT 'here' AS step, text FROM llm.here"]
    told = {"step": "the table", "text": "the answer"}
    views = {
        "llm.every": View("Every answer.", parts[0], told),
        "llm.both": View(
            "Both.", AND_ALSO.join([parts[0], "SELECT 'files' AS step, release AS text FROM subtitles.files"]), told
        ),
        "llm.none": View("None.", "SELECT release FROM subtitles.files", {"release": "of the file"}),
        "llm.on_none": View("On none.", "SELECT * FROM llm.none", {"release": "of the file"}),
    }
    statements = [text for text in lakehouse.catalog_statements(views, [here, away]) if "VIEW" in text]
    assert len(statements) == 2
    assert "subtitles.files" not in "".join(statements)
    assert "UNION" not in "".join(statements)
