"""Names and categories of topics out of answers as models give them, good and bad; which topics are asked about."""

from types import SimpleNamespace

import pytest
from pyspark.sql import SparkSession

from conf.prompts import prompt
from conf.settings import load_settings
from etl.emo_pillars.settings import EmoPillarsSettings
from etl.emo_pillars.step import NAMER
from etl.emo_pillars.steps import topic_categories, topic_names
from etl.emo_pillars.steps.topic_categories import parse_categories
from etl.emo_pillars.steps.topic_names import parse_topic_name
from etl.llm.requests import with_answers
from etl.pipeline.model_loader import ResolvedModel
from tests.stages import stage_run

NAME = prompt("emo_pillars/topic_names")
CATEGORIES = prompt("emo_pillars/topic_categories")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Music and concerts", "Music and concerts"),
        ('"Music and concerts."', "Music and concerts"),
        ("Topic: Music and concerts.", "Music and concerts"),
        ("The topic is: **a first love**", "a first love"),
        ("The common topic of these utterances is music at night.", "music at night"),
        ("Here is the topic:\n\n- Children's games\n", "Children's games"),
        ("Winning\n\nThis covers all of them.", "Winning"),
        ("one two three four five six seven eight nine ten", "one two three four five six seven eight nine ten"),
    ],
)
def test_a_name_is_read(answer: str, name: str) -> None:
    parsed = parse_topic_name(answer, NAME)
    assert [one.text for one in parsed.items] == [name]
    assert parsed.rejected == []


@pytest.mark.parametrize(
    ("answer", "cut", "reason"),
    [
        ("", False, "no_words"),
        ("12 34", False, "no_words"),
        ("Here is the topic:", False, "no_words"),
        ("one two three four five six seven eight nine ten eleven", False, "too_long"),
        ("I'm sorry, but as an AI language model I cannot say.", False, "refusal"),
        ("What is the topic? Answer with the topic alone, in at most ten words.", False, "repeats_prompt"),
        ("Music and the", True, "cut_off"),
    ],
)
def test_what_is_no_name_is_told(answer: str, cut: bool, reason: str) -> None:
    parsed = parse_topic_name(answer, NAME, cut)
    assert parsed.items == []
    assert [one.reason for one in parsed.rejected] == [reason]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("1. Arts\n2. Human Relationships\n3. Food", [(1, "Arts"), (2, "Human Relationships"), (3, "Food")]),
        ('Categories:\n1) **Arts**\n(2) "Nature".', [(1, "Arts"), (2, "Nature")]),
        ("1. Music and concerts: Arts\n2. A first love - Love & Family", [(1, "Arts"), (2, "Love & Family")]),
        ("1. Music -> Arts\n2. Self-care", [(1, "Arts"), (2, "Self-care")]),
    ],
)
def test_categories_are_read(answer: str, found: list[tuple[int, str]]) -> None:
    parsed = parse_categories(answer, CATEGORIES)
    assert [tuple(one) for one in parsed.items] == found
    assert parsed.rejected == []


def test_what_is_no_category_is_told() -> None:
    answer = "1. Arts\n1. Nature\n2. Things that people do\n3. 77\nAll are broad.\n4. Hu"
    parsed = parse_categories(answer, CATEGORIES, cut_off=True)
    assert [tuple(one) for one in parsed.items] == [(1, "Arts")]
    assert [one.reason for one in parsed.rejected] == ["too_long", "no_words", "no_list_item", "cut_off", "repeated"]


def test_large_topics_alone_are_asked_about(spark: SparkSession) -> None:
    topics = spark.createDataFrame(
        [("joy", 1, 30, ["We won!", "<|end|> hooray"]), ("joy", 2, 20, ["So warm."]), ("joy", 3, 19, ["Tea."])],
        "emotion string, topic int, utterances int, examples array<string>",
    )
    run = stage_run(spark, load_settings(), models={NAMER: ResolvedModel(None, "openai:m")})
    requests = topic_names.STEP.requests(topic_names.ask(topics, 20, run), EmoPillarsSettings().steps.topic_names)
    asked = requests.orderBy("topic").collect()
    assert [(row.topic_id, row.sample) for row in asked] == [("joy-1", 0), ("joy-2", 0)]
    assert "- We won!\n- <| end|> hooray\n" in asked[0].prompt


def test_categories_find_their_topics_by_number(spark: SparkSession) -> None:
    names = spark.createDataFrame(
        [("joy", 7, "Tea"), ("joy", 2, "Music"), ("fear", 1, "The dark")], "emotion string, topic int, name string"
    )
    step = topic_categories.STEP
    run = stage_run(spark, load_settings(), models={NAMER: ResolvedModel(None, "openai:m")})
    asked = step.requests(topic_categories.ask(names, run), EmoPillarsSettings().steps.topic_categories)
    answers = {"joy": "1. Arts\n2. Food\n3. Sea\n0. Air", "fear": "Nothing here."}
    rows = [(row.request_id, "m", answers[row.emotion], "stop", None) for row in asked.collect()]
    said = spark.createDataFrame(
        rows, "request_id string, model string, text string, finish_reason string, error string"
    )
    outcome = step.rows(with_answers(asked, said, "m"), step.rules())
    assert {tuple(row) for row in outcome.rows.collect()} == {("joy", 2, "Arts"), ("joy", 7, "Food")}
    left = [SimpleNamespace(**row.asDict()) for row in outcome.dropped.collect()]
    assert {(one.unit, one.reason, one.detail, one.units) for one in left} == {
        ("emotion", "nothing_read", "Nothing here.", 1),
        ("line", "no_list_item", "Nothing here.", 0),
        ("line", "no_such_topic", "Sea", 0),
        ("line", "no_such_topic", "Air", 0),
    }
