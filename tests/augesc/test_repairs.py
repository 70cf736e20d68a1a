"""Texts that fail one requirement, continued from their last good turn."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.augesc_settings import Augmenting, FilterSettings
from conf.settings import load_settings
from etl.augesc.conversation_texts import Turn, instruction, parse
from etl.augesc.repairs import first_kept, good_turns, repair_prompt, repair_requests
from etl.pipeline.planner import PipelineContext, chosen
from etl.tables import TABLES
from jobs import all_stages
from tests.llm_servers import RecordedServer, Reply, prompt_of
from tests.stages import run_stages
from tests.stand_ins import StandIns

TASK = instruction()

QUERY = "I was let go last week and I do not know how to tell my family"
SEEKER = "I keep thinking about it every night and cannot rest"
SUPPORTER = "That sounds hard, and it is good that you tell somebody about it"
LIMITS = FilterSettings()


def talk(*utterances: tuple[str, str]) -> str:
    names = {"seeker": "Human", "supporter": "AI"}
    return "\n".join([instruction(), *(f"{names[role]}: {text}" for role, text in utterances)])


def turns(number: int) -> list[tuple[str, str]]:
    """The first so many good utterances, the query first."""
    pair = [("seeker", SEEKER), ("supporter", SUPPORTER)]
    return [("seeker", QUERY), *(pair[(place + 1) % 2] for place in range(number - 1))]


@pytest.mark.parametrize(
    ("text", "violated", "good"),
    [
        (f"{talk(*turns(4))}\nand then he left\nHuman: yes", "format", 4),
        (f"{talk(*turns(4))}\nAI:", "format", 4),
        (f"{talk(*turns(1))}\nnobody says this\nAI: yes", "format", 0),
        (talk(*turns(3), ("seeker", "One"), ("seeker", "Two"), ("seeker", "Three")), "continuous", 5),
        (talk(*turns(5), ("seeker", "Are you an AI ?"), *turns(2)), "role_words", 5),
        (talk(("seeker", "A Human wrote this"), *turns(3)), "role_words", 0),
        (talk(*turns(4), ("supporter", "well " * 101)), "supporter_length", 4),
        (talk(*turns(4), ("seeker", "well " * 101)), "supporter_length", 0),
        (talk(*turns(4), ("seeker", "well " * 101)), "seeker_length", 4),
        (talk(*turns(4), ("seeker", "No")), "seeker_length", 0),
        (talk(*turns(6)), "utterances", 6),
        (talk(*turns(51)), "utterances", 0),
        (talk(*turns(6)), "balance", 0),
        (talk(*turns(6)), "session_length", 0),
        ('[{"role": "user", "content": "a"}]', "format", 0),
    ],
)
def test_what_is_good_before_a_fault(text: str, violated: str, good: int) -> None:
    assert len(good_turns(text, violated, LIMITS, TASK)) == good


def test_thoughts_are_no_fault_and_no_turn() -> None:
    text = f"{talk(*turns(1))}\nAI: <think>what to say\nhm</think>{SUPPORTER}\nHuman: {SEEKER}\nwho is this"
    assert [turn.text for turn in good_turns(text, "format", LIMITS, TASK)] == [QUERY, SUPPORTER, SEEKER]


def test_the_prompt_is_the_beginning_with_its_strategies_and_the_next_speaker() -> None:
    said = [Turn("seeker", "Hi"), Turn("supporter", "Why?", "Question")]
    prompt = repair_prompt(said, "Task.")
    assert prompt == "Task.\nHuman: Hi\nAI: [Question] Why?\nHuman:"
    assert parse(f"{prompt} because", "Task.").turns == (*said, Turn("seeker", "because"))


TEXTS = "text_id string, origin_id string, source string, text string"
JUDGED = "text_id string, method string, violated array<string>"


def test_texts_with_one_fault_are_continued_and_one_beginning_once(spark: SparkSession) -> None:
    faulty = talk(*turns(5), ("seeker", "Are you an AI ?"))
    rows = [(name, "ed/1", "ed", faulty) for name in ("t1", "t2", "t3", "t4")]
    rows += [("t5", "ed/2", "ed", talk(*turns(6)))]
    checked = [
        ("t1", "augmenter", ["role_words"]),
        ("t2", "augmenter", ["role_words"]),
        ("t3", "augmenter", ["role_words", "balance"]),
        ("t4", "augmenter", []),
        ("t5", "augmenter", ["utterances"]),
        ("t5", "untuned", ["format"]),
    ]
    asked = repair_requests(
        spark.createDataFrame(rows, TEXTS), spark.createDataFrame(checked, JUDGED), Augmenting(), LIMITS, 3
    ).collect()
    assert sorted((row.repaired_id, row.sample, row.from_turn) for row in asked) == [
        *(("t1", sample, 5) for sample in range(3)),
        *(("t5", sample, 6) for sample in range(3)),
    ]
    assert len({row.request_id for row in asked}) == 6


def test_the_first_attempt_that_is_kept_counts(spark: SparkSession) -> None:
    rows = [("t1", 0, False), ("t1", 2, True), ("t1", 1, True), ("t2", 0, False)]
    found = first_kept(spark.createDataFrame(rows, "text_id string, attempt int, kept boolean")).collect()
    assert [(row.text_id, row.attempt) for row in found] == [("t1", 1)]


def whole(number: int, last: str = "") -> str:
    """An answer to a query that makes ``number`` utterances with it, and a last one that is no good."""
    lines = talk(*turns(number)).split("\nAI:", 1)[1]
    return f"{lines}\n{last}" if last else lines


def say(body: dict[str, Any]) -> Reply:
    """A model whose first text about each query has a fault; one it cannot continue well."""
    prompt = prompt_of(body)
    lines = prompt.split("\n")[1:]
    if len(lines) > 2:
        rest = " well" if "stubborn" in prompt else whole(12).split("\n", len(lines) - 2)[-1].partition(":")[2]
        return {"text": rest, "finish": "stop"}
    faults = {"stubborn": whole(6), "strange": whole(6, "and then he left"), "balanced": whole(12)}
    return {"text": next(text for word, text in faults.items() if word in prompt), "finish": "stop"}


STAGES = (
    "augesc_ask_augmenter",
    "augesc_measure_texts",
    "augesc_check_texts",
    "augesc_ask_repairs",
    "augesc_check_repairs",
    "augesc_keep_conversations",
)


@pytest.mark.slow
def test_stages_keep_repaired_texts_once_and_add_up(spark: SparkSession, stand_ins: StandIns, tmp_path: Path) -> None:
    stages = [one for one in chosen(all_stages(), to=STAGES[-1]) if one.name in STAGES]
    with RecordedServer(say).running() as server:
        values = {
            "lakehouse.root": str(tmp_path),
            "llm.server.url": server.url,
            "llm.server.retries": 0,
            "models.augmenter": "openai:recorded",
            "models.augmenter_base": "openai:recorded",
            "augesc.generation.methods": ["augmenter"],
            "augesc.samples_per_query": {"ed": 1, "reddit": 1},
        }
        plain = PipelineContext(spark, load_settings("local", [], values))
        queries = [
            (f"ed/{word}", "ed", None, "sad", f"{QUERY} {word}", 15, None, None, None, [])
            for word in ("stubborn", "strange", "balanced")
        ]
        plain.lakehouse.replace(
            TABLES["augesc.queries"], spark.createDataFrame(queries, TABLES["augesc.queries"].schema), {}
        )
        plain.lakehouse.replace(TABLES["augesc.sessions"], stand_ins.none_of("augesc.sessions"), {})
        run_stages(plain, stages)
        before = plain.lakehouse.read(TABLES["augesc.conversations"]).collect()
        assert [(row.query_id, row.repaired) for row in before] == [("ed/balanced", None)]
        place = PipelineContext(spark, load_settings("local", [], values | {"augesc.repair.attempts": 2}))
        assert run_stages(place, stages) == list(STAGES[3:])
        assert run_stages(place, stages) == []
    kept = place.lakehouse.read(TABLES["augesc.conversations"]).collect()
    assert {(row.query_id, row.repaired, len(row.turns)) for row in kept} == {
        ("ed/balanced", None, 12),
        ("ed/strange", 6, 12),
    }
    assert len({row.conversation_id for row in kept}) == 2
    done = [row for row in place.lakehouse.read(TABLES["ops.stage_runs"]).collect() if row.event == "done"]
    assert all(row.rows_in == row.rows_out + row.rows_dropped for row in done)
    for name in ("augesc.violations", "augesc.repairs", "augesc.conversations"):
        stand_ins.give(name, place.lakehouse.read(TABLES[name]))
    total = next(row for row in stand_ins.ask("augesc_repairs") if row.violated == "all")
    assert (total.texts, total.texts_continued, total.attempts, total.repaired) == (3, 2, 4, 1)
    assert (total.percent_kept, total.percent_kept_with_repairs) == (33.3, 66.7)
