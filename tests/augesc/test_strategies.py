"""ESConv's support strategies: read from each form, learned from by setting, told from words, and counted."""

import json
from io import BytesIO
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from etl.analysis.duckdb_sql import duckdb_view
from etl.analysis.views import sql_views
from etl.analysis.without_spark import add_empty
from etl.augesc.conversation_texts import instruction, parse, training_text, with_strategy
from etl.augesc.measures import measure
from etl.augesc.sessions import training_draw, with_named_strategies
from udfs.session_files import STRATEGIES, sessions_in, strategy_of

TASK = instruction()

VIEW = "analysis.augesc_strategies"


@pytest.mark.parametrize(
    ("turn", "strategy"),
    [
        ({"annotation": {"strategy": "Question", "feedback": "5"}}, "Question"),
        ({"annotation": {"feedback": "5"}, "strategy": "Question"}, None),
        ({"annotation": {}}, None),
        ({"annotation": "Question"}, None),
        ({"strategy": "[Self-disclosure]"}, "Self-disclosure"),
        ({"strategy": ["Others", "Question"]}, "Others"),
        ({"strategy": "questions"}, "Question"),
        ({"annotation": {"strategy": "Other"}}, "Others"),
        ({"strategy": "Humming"}, "Humming"),
        ({"strategy": []}, None),
        ({"strategy": 4}, None),
        ({"strategy": " \n"}, None),
        ({"strategy": "a" * 500}, "a" * 60),
        ({}, None),
    ],
)
def test_a_turns_strategy(turn: dict[str, Any], strategy: str | None) -> None:
    assert strategy_of(turn) == strategy


def test_each_form_of_files_keeps_them_beside_its_turns() -> None:
    said = [
        {"speaker": "seeker", "content": "My cat is ill.", "annotation": {"strategy": "Question"}},
        {"speaker": "supporter", "content": " ", "annotation": {"strategy": "Others"}},
        {"speaker": "supporter", "content": "Since when?", "annotation": {"strategy": "Question"}},
        {"speaker": "supporter", "content": "Poor cat."},
    ]
    (esconv,) = sessions_in("x.json", BytesIO(json.dumps([{"dialog": said}]).encode()))
    assert esconv["strategies"] == [None, "Question", None]
    assert len(esconv["turns"]) == 3
    line = "0 0 0 My cat is ill. EOS 1 1 [Question] Since when?"
    (rolling,) = sessions_in("x.tsv", BytesIO(line.encode()))
    assert rolling["strategies"] == [None, "Question"]
    assert [turn["text"] for turn in rolling["turns"]] == ["My cat is ill.", "Since when?"]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("form", ["[{}] Go on.", "({}) Go on.", "**[{}]** Go on.", "[{}]: Go on."])
def test_a_strategy_before_a_turn_is_none_of_its_words(name: str, form: str) -> None:
    written = form.format(name)
    assert with_strategy("supporter", written) == (name, "Go on.")
    assert with_strategy("supporter", written.replace(name, name.upper())) == (name, "Go on.")
    assert with_strategy("seeker", written) == (None, written)


@pytest.mark.parametrize(
    "text", ["[laughs] Go on.", "Question: why?", "[Question", "(I see) Go on.", "Go on [Others]."]
)
def test_other_words_in_brackets_stay(text: str) -> None:
    assert with_strategy("supporter", text) == (None, text)


def test_a_text_is_measured_without_its_strategies() -> None:
    text = "Human: I failed.\nAI: [Question] In what?\nHuman: (sighs) Maths.\nAI: [Information]\nAI: Oh."
    faulty, first, _, turns, strategies = measure(text, TASK)
    assert (faulty, first) == (1, "AI: [Information]")
    assert [turn["text"] for turn in turns] == ["I failed.", "In what?", "(sighs) Maths.", "Oh."]
    assert strategies == [None, "Question", None, None]


def test_answers_in_json_lose_them_too() -> None:
    said = [{"speaker": "Human", "text": "I failed."}, {"speaker": "AI", "text": "[Question] In what?"}]
    parsed = parse(json.dumps({"conversation": said}), TASK)
    assert [(turn.text, turn.strategy) for turn in parsed.turns] == [("I failed.", None), ("In what?", "Question")]


SESSION = (
    "session_id string, problem string, contrast boolean, turns array<struct<role: string, text: string>>, "
    "strategies array<string>"
)


def test_a_model_learns_from_turns_that_name_them(spark: SparkSession) -> None:
    turns = [("supporter", "Hello."), ("seeker", "My cat is ill."), ("supporter", "Since when?"), ("supporter", "Oh.")]
    rows = [("s1", "pets", False, turns, ["Others", None, "Question", None])]
    drawn = training_draw(spark.createDataFrame(rows, SESSION), 5, 13).rows
    (row,) = with_named_strategies(drawn).collect()
    _, text = training_text([turn.asDict() for turn in row.turns], "<end>", TASK)
    assert text == "Human: My cat is ill.\nAI: [Question] Since when?\nAI: Oh.<end>"
    assert [turn.strategy for turn in parse(text.removesuffix("<end>"), TASK).turns] == [None, "Question", None]


def test_sessions_without_strategies_are_refused_in_one_line(spark: SparkSession) -> None:
    none = spark.createDataFrame([("s1", "pets", False, [("seeker", "Hm.")], [None])], SESSION)
    with pytest.raises(InputError, match=r"augesc\.generation\.strategies: no session names a strategy"):
        with_named_strategies(none)


def test_the_view_counts_them() -> None:
    _, sql = sql_views()[VIEW]
    with duckdb.connect() as connection:
        for table in ("augesc.sessions", "augesc.conversations"):
            add_empty(connection, table)
        connection.execute(
            "INSERT INTO augesc.sessions BY NAME "
            "SELECT false AS contrast, ['Others', NULL, 'Question', NULL] AS strategies, "
            "[{'role': 'supporter', 'text': 'a'}, {'role': 'seeker', 'text': 'b'}, {'role': 'supporter', 'text': 'c'}, "
            "{'role': 'supporter', 'text': 'd'}] AS turns"
        )
        connection.execute(
            "INSERT INTO augesc.conversations BY NAME SELECT ['Information'] AS strategies, "
            "[{'role': 'supporter', 'text': 'b', 'tokens': 1}] AS turns"
        )
        found = connection.execute(duckdb_view(VIEW, sql)).fetchall()
    assert sorted(found, key=str) == [
        ("augesc", "Information", 1, 1.0, 1.0),
        ("esconv", "Others", 1, 0.3333, 0.5),
        ("esconv", "Question", 1, 0.3333, 0.5),
        ("esconv", "none named", 1, 0.3333, None),
    ]
