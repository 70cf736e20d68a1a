"""The eight requirements for conversations (AugESC 4.3), on texts of our own and on real sessions."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.augesc.conversation_texts import instruction, prompt
from etl.augesc.measures import TEXTS, measure, measured_texts, session_texts, texts_from_files
from etl.augesc.requirements import REQUIREMENTS, kept_conversations, violations
from etl.augesc.sessions import read_sessions, usable_sessions
from etl.augesc.settings import FilterSettings, UtteranceLengths
from tests.stand_ins import StandIns

TASK = instruction()

LIMITS = FilterSettings()
Lines = list[tuple[str, str]]
SEEKER = "I keep thinking about the exam that I failed last week at school"
SUPPORTER = "That sounds hard , and I wonder what it means for the plans that you had"


def good(pairs: int = 6) -> Lines:
    return [("Human", SEEKER), ("AI", SUPPORTER)] * pairs


def text_of(lines: Lines) -> str:
    (_, query), *rest = lines
    body = "\n".join(f"{name}: {said}" for name, said in rest)
    return prompt(query, TASK).removesuffix("AI:") + body


def replaced(place: int, name: str, said: str) -> Lines:
    lines = good()
    lines[place] = (name, said)
    return lines


SHORT = "No , not really"
EACH: dict[str, list[Lines]] = {
    "format": [[*good(), ("Narrator", "They part")], [*good(), ("AI", "")], [*good(), ("human", SEEKER)]],
    "utterances": [good(4), [*good(25), ("Human", SEEKER)]],
    "continuous": [[*good(), *[("AI", SUPPORTER)] * 3], [*[("Human", SEEKER)] * 3, *good()]],
    "balance": [[pair for _ in range(5) for pair in (("Human", SEEKER), *[("AI", SUPPORTER)] * 3)]],
    "role_words": [replaced(3, "AI", f"{SUPPORTER} , dear Human"), replaced(2, "Human", f"{SEEKER} says the AI !")],
    "seeker_length": [
        [(name, SHORT if name == "Human" and at in (0, 2) else said) for at, (name, said) in enumerate(good())],
        replaced(2, "Human", "word " * 101),
        [(name, "word " * 51 if name == "Human" else said) for name, said in good()],
        [(name, "seven is too few for that" if name == "Human" else said) for name, said in good()],
    ],
    "supporter_length": [
        [(name, "one word below the nine that count" if name == "AI" else said) for name, said in good()],
        replaced(3, "AI", "word " * 101),
    ],
}
FINE = {
    "twelve": good(),
    "ten": good(5),
    "fifty": good(25),
    "three_in_a_row": [*good(), *[("AI", SUPPORTER)] * 2],
    "two_and_a_half": [pair for _ in range(4) for pair in (("Human", SEEKER), *[("AI", SUPPORTER)] * 2)]
    + [("AI", SUPPORTER), ("Human", SEEKER)]
    + [("AI", SUPPORTER)] * 3,
    "human_kind": replaced(3, "AI", f"{SUPPORTER} : to be human is to fail , aim high and AIR it"),
    "a_quarter_short": [(name, SHORT if at in (2, 3) else said) for at, (name, said) in enumerate(good(6))],
    "hundred": replaced(2, "Human", "word " * 100),
}


def frame(spark: SparkSession, texts: dict[str, tuple[str, int | None]]) -> DataFrame:
    rows = [
        (name, "augmenter", "ed", name, 0, None, text, tokens, None, None) for name, (text, tokens) in texts.items()
    ]
    return spark.createDataFrame(rows, TEXTS)


def test_each_violation_trips_its_own_requirement_alone(spark: SparkSession) -> None:
    texts = {f"{name}/{n}": (text_of(lines), None) for name, all_ in EACH.items() for n, lines in enumerate(all_)}
    texts |= {f"fine/{name}": (text_of(lines), 1_450) for name, lines in FINE.items()}
    texts["session_length/0"] = (text_of(good()), 1_451)
    measured = measured_texts(frame(spark, texts), TASK).cache()
    checked = violations(measured, LIMITS).cache()
    found = {row.text_id: row.violated for row in checked.collect()}
    assert {name: list(found[name]) for name in found if not name.startswith("fine/")} == {
        name: [name.split("/")[0]] for name in texts if not name.startswith("fine/")
    }
    assert [name for name in found if name.startswith("fine/") and found[name]] == []
    assert {name.split("/")[0] for name in found} == {*REQUIREMENTS, "fine"}
    outcome = kept_conversations(measured, checked)
    assert {row.conversation_id for row in outcome.rows.collect()} == {f"fine/{name}" for name in FINE}
    assert outcome.dropped is not None
    assert {(row.id, row.reason) for row in outcome.dropped.collect()} == {
        (name, name.split("/")[0]) for name in texts if not name.startswith("fine/")
    }


def test_a_text_that_is_no_conversation_is_judged_no_further(spark: SparkSession) -> None:
    texts = {
        "nothing": ("", None),
        "lines": ("Once upon a time\nthere was", None),
        "endless": ("word " * 100_000, None),
    }
    found = {
        row.text_id: set(row.violated)
        for row in violations(measured_texts(frame(spark, texts), TASK), LIMITS).collect()
    }
    assert found == {name: {"format"} for name in texts}


def test_the_papers_reading_rejects_what_the_lenient_one_parts(spark: SparkSession, stand_ins: StandIns) -> None:
    spoken = [{"role": name, "content": said} for name, said in good()[1:]]
    by_line = text_of(good())
    query, rest = by_line[: by_line.index("\nAI:")], by_line[by_line.index("\nAI:") :]
    texts = {
        "lines": (by_line, None),
        "one_line": (query + "\n" + rest.replace("\n", " . ").removeprefix(" . "), None),
        "json": (f"{query}\nAI: {json.dumps(spoken, indent=1)}", None),
    }
    rows = frame(spark, texts).cache()
    lenient, strict = (violations(measured_texts(rows, TASK, one), LIMITS).cache() for one in ("lenient", "paper"))
    assert {row.text_id: row.violated for row in lenient.collect()} == {name: [] for name in texts}
    found = {row.text_id: row.violated for row in strict.collect()}
    assert (found["lines"], found["json"]) == ([], ["format"])
    assert "role_words" in found["one_line"]
    assert "format" not in found["one_line"]
    stand_ins.give("augesc.violations", lenient)
    stand_ins.give("augesc.paper_reading", strict)
    table = {row.requirement: row for row in stand_ins.ask("augesc_table_1") if row.paper_name == "GPT-J (ED)"}
    kept = table["final_retention"]
    assert (kept.number, kept.percent, kept.strict_number, kept.strict_percent) == (3, 100.0, 1, 33.3)
    assert (table["format"].strict_number, table["role_words"].strict_number) == (1, 1)


def test_thresholds_are_settings(spark: SparkSession) -> None:
    measured = measured_texts(frame(spark, {"one": (text_of(good(4)), None)}), TASK)
    other = LIMITS.model_copy(update={"least_utterances": 8, "role_words": ("exam",), "balance": 1.0})
    (row,) = violations(measured, other).collect()
    assert row.violated == ["role_words"]
    assert not row.kept


def test_a_text_is_measured() -> None:
    faulty, first, words, turns, strategies = measure("Human: I can't sleep .\nno one\nAI: Oh ?\n???", TASK)
    assert (faulty, first, words) == (2, "no one", 16)
    assert [(turn["role"], turn["tokens"]) for turn in turns] == [("seeker", 5), ("supporter", 2)]
    assert strategies == [None, None]


def test_texts_from_elsewhere_and_what_is_wrong_with_some(spark: SparkSession, tmp_path: Path) -> None:
    line = {"text_id": "a", "source": "ed", "text": text_of(good()), "sample": 2, "tokens": 300}
    lines = [
        json.dumps(line),
        json.dumps({**line, "text": "Z"}),
        '{"text_id": "b", "sour',
        "[3]",
        json.dumps({"text": "x"}),
        json.dumps({**line, "text_id": "c", "source": "twitter"}),
        json.dumps({**line, "text_id": "d", "text": " "}),
        json.dumps({**line, "text_id": "e", "method": "untuned"}),
        json.dumps({**line, "text_id": "f", "method": "people"}),
        json.dumps({**line, "text_id": "g", "tokens": "many"}),
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join([*lines, ""]), "utf-8")
    outcome = texts_from_files(spark, [str(path)])
    rows = {row.text_id: row for row in outcome.rows.collect()}
    assert outcome.dropped is not None
    left = outcome.dropped.collect()
    assert set(rows) == {"a", "e"}
    assert rows["a"].text == text_of(good())
    assert rows["a"].sample == 2
    assert (rows["a"].method, rows["e"].method, rows["a"].tokens) == ("augmenter", "untuned", 300)
    assert outcome.rows_in == 10 == len(rows) + sum(row.units for row in left)
    assert sorted(row.reason for row in left).count("repeated_id") == 1


def test_table_1_counts_what_is_violated(spark: SparkSession, stand_ins: StandIns) -> None:
    texts = {"a": (text_of(good()), None), "b": (text_of(good(4)), None), "c": (text_of(good()), 2_000)}
    stand_ins.give("augesc.violations", violations(measured_texts(frame(spark, texts), TASK), LIMITS))
    rows = stand_ins.ask("augesc_table_1")
    assert len(rows) == 27
    ours = {
        row.requirement: (row.number, row.percent, row.paper_percent) for row in rows if row.paper_name == "GPT-J (ED)"
    }
    assert ours["utterances"] == (*ours["session_length"][:2], 17.8) == (1, 33.3, 17.8)
    assert ours["final_retention"] == (1, 33.3, 49.1)
    assert ours["format"] == (0, 0.0, 0.3)
    assert {row.texts for row in rows if row.source == "reddit"} == {row.strict_number for row in rows} == {None}


@pytest.fixture(scope="module")
def checked_sessions(spark: SparkSession, shared_data: Path) -> Callable[..., dict[str, float]]:
    def shares(name: str, limits: FilterSettings = LIMITS) -> dict[str, float]:
        sessions = usable_sessions(read_sessions(spark, [str(shared_data / "esconv" / name)], []), 60_000).rows
        checked = violations(measured_texts(session_texts(sessions, TASK), TASK), limits)
        row = checked.agg(*(F.avg(F.col(one).cast("int")).alias(one) for one in (*REQUIREMENTS, "kept"))).collect()[0]
        return {key: round(value, 3) for key, value in row.asDict().items()}

    return shares


@pytest.mark.slow
def test_real_sessions_meet_what_is_asked_of_machines_but_for_short_utterances(
    checked_sessions: Callable[..., dict[str, float]],
) -> None:
    merged, unmerged, failed = (
        checked_sessions(name) for name in ("multiesc_valid.jsonl", "ppdpp_valid.jsonl", "FailedESConv.json")
    )
    few = ("format", "session_length", "utterances", "continuous", "balance", "role_words")
    assert max(merged[name] for name in few) <= 0.02
    assert max(unmerged[name] for name in few if name != "continuous") <= 0.04 < unmerged["continuous"] < 0.2
    # People's talks have short greetings, generated ones begin with the query: the minima are one higher (AugESC 4.3).
    assert 0.6 < merged["kept"] < 0.7
    assert 0.4 < unmerged["kept"] < 0.6
    assert failed["kept"] < 0.2
    # What ESConv's makers asked for: averages of 6 and 8, nothing about the share of short utterances.
    theirs = LIMITS.model_copy(
        update={
            "seeker": UtteranceLengths(least_average=6, most_short=1),
            "supporter": UtteranceLengths(least_average=8, most_short=1),
        }
    )
    kept = {name: checked_sessions(name, theirs) for name in ("multiesc_valid.jsonl", "FailedESConv.json")}
    assert kept["multiesc_valid.jsonl"]["kept"] > 0.8
    assert kept["FailedESConv.json"]["kept"] < 0.5
