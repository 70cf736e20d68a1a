"""The instruction before each conversation, in a user's words."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.augesc.conversation_texts import instruction, learned_session, parse, prompt
from etl.augesc.generation import augmenter_requests
from etl.augesc.measures import measured_texts
from etl.augesc.settings import GenerationSettings, SamplesPerQuery
from etl.llm.requests import template_hash
from jobs import all_stages

OWN = "Two strangers talk on a night train.\nOne of them is worried."
ON_ONE_LINE = "Two strangers talk on a night train. One of them is worried."
AFFECTED = {
    "augesc_train_augmenter",
    "augesc_ask_augmenter",
    "augesc_ask_untuned",
    "augesc_measure_texts",
    "augesc_check_paper_reading",
}


@pytest.fixture()
def own(tmp_path: Path) -> Settings:
    file = tmp_path / "own.txt"
    file.write_text(OWN + "\n", "utf-8-sig")
    return load_settings("local", [], {"augesc.prompt": str(file)})


def test_the_file_stands_in_place_of_ours(own: Settings) -> None:
    assert instruction(own.augesc.prompt.text) == ON_ONE_LINE
    assert instruction(load_settings("local").augesc.prompt.text) == instruction()
    assert Settings.model_validate(own.model_dump()) == own


def test_the_stages_that_use_it_have_work_again_and_no_others(own: Settings) -> None:
    plain = load_settings("local")
    changed = {one.name for one in all_stages() if one.settings_hash(plain) != one.settings_hash(own)}
    assert changed == AFFECTED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Hello {query}", "has {query}, which nothing fills"),
        (" \n", "is empty"),
        (b"\xff\xfe\xff", "cannot be read as UTF-8"),
        ("x" * 100_001, "has more than 100,000 characters"),
        (None, "is not a file"),
    ],
)
def test_a_fault_of_the_file_is_named_before_a_request(tmp_path: Path, content: str | bytes | None, said: str) -> None:
    file = tmp_path / "own.txt"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as found:
        load_settings("local", [], {"augesc.prompt": str(file)})
    assert said in str(found.value)
    assert "\n" not in str(found.value)


def test_models_learn_and_continue_it_and_it_is_no_faulty_line(spark: SparkSession) -> None:
    task = instruction(OWN)
    assert learned_session([{"role": "seeker", "text": "Hi"}], task)[0] == (f"{ON_ONE_LINE}\n", False)
    queries = spark.createDataFrame([("ed/1", "ed", "I am lost")], "query_id string, source string, text string")
    asked = augmenter_requests(queries, GenerationSettings(), SamplesPerQuery(ed=1), task).first()
    assert asked is not None
    assert asked.prompt == prompt("I am lost", task) == f"{ON_ONE_LINE}\nHuman: I am lost\nAI:"
    assert asked.template_hash == template_hash(ON_ONE_LINE) != template_hash(instruction())
    text = f"{asked.prompt} Where to?\nHuman: Home"
    assert not parse(text, task).faulty
    rows = spark.createDataFrame([("t", text, None)], "text_id string, text string, tokens int")
    measured = measured_texts(rows, task).first()
    assert measured is not None
    assert (measured.faulty_lines, len(measured.turns)) == (0, 3)
