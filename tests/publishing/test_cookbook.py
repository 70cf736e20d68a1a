"""The cookbook's queries, and the views that they read, give the same rows in Spark SQL and in DuckDB."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from conf.taxonomy import load_taxonomy
from etl.common.spelling import detokenised_text
from etl.pipeline.tables import TABLES
from etl.publishing.views import all_views
from etl.publishing.without_spark import connect, connected
from tests.stand_ins import StandIns

COOKBOOK = (Path(__file__).resolve().parents[2] / "docs" / "cookbook.md").read_text("utf-8")
QUESTIONS = re.findall(r"^## (\d+\. .+?)\n(.*?)(?=^## |\Z)", COOKBOOK, re.DOTALL | re.MULTILINE)

TEXTS = [
    "You never listen ! I 'm done .",
    "I 'm sorry . It 's all right .",
    "Don 't go , Jim ... please .",
    "( Well ) , $ 5 .",
    "Wait , . what ? !",
    "They 've said \" no \" , and she 'd know .",
    "",
    "100 % sure ; really : yes …",
    "don't touch",
    "We'RE here",
    "He 'S late ! ?",
    "a  b   c ,d",
]
VIEWS = ("edos.turns", "analysis.model_disagreement", "analysis.films", "analysis.turn_genres", "analysis.dropped")
LABELS = ["angry", "consoling", "sad", "furious", "sympathizing", "neutral"]
FILMS = [("0001", 1994, ["Drama", "Crime"]), ("0002", 2008, ["Comedy"]), ("0003", None, None), ("0004", 1999, [])]


def dialogues() -> Iterator[tuple[str, tuple[str, int | None, list[str] | None], list[tuple[str, str, float]]]]:
    """Dialogues of one to four turns: id, film, and (text, label, confidence) of each turn."""
    for number in range(12):
        turns = [
            (TEXTS[at % len(TEXTS)], LABELS[(number + 1) * (at - number) % len(LABELS)], (at % 9 + 0.5) / 10)
            for at in range(number, number + number % 4 + 1)
        ]
        yield f"77-{number}", FILMS[number % len(FILMS)], turns


def history_hash(turns: list[str]) -> str:
    hashes = "".join(hashlib.sha256(turn.encode()).hexdigest() for turn in turns)
    return hashlib.sha256(hashes.encode()).hexdigest()


def rows() -> dict[str, list[dict[str, Any]]]:
    """Rows of the tables that the cookbook reads; columns that they lack are null."""
    found: dict[str, list[dict[str, Any]]] = {
        name: []
        for name in (
            "edos.dialogues",
            "edos.initial",
            "edos.weak_labels",
            "edos.dialogue_scores",
            "subtitles.clean_dialogues",
            "subtitles.files",
            "edos.annotations",
            "edos.crowd_labels",
            "ops.dropped",
            "ops.stage_runs",
        )
    }
    scores = set()
    for dialogue_id, (movie_id, year, genres), turns in dialogues():
        keys = {"dialogue_id": dialogue_id, "movie_id": movie_id}
        texts = [text for text, _, _ in turns]
        finished = [{"text": text, "label": label, "confidence": sure} for text, label, sure in turns]
        spoken = [
            {
                "text": text,
                "start_ms": 1000 * place,
                "end_ms": 1000 * place + 900,
                "sentence_first": place,
                "sentence_last": place,
            }
            for place, text in enumerate(texts)
        ]
        found["edos.dialogues"].append({**keys, "turns": finished})
        found["edos.initial"].append({**keys, "turns": texts})
        source = {"source_path": f"xml/en/{movie_id}/77.xml", "year": year, "genres": genres, "language": "en"}
        certain = {
            "certainties": [0.9 - place / 10 for place in range(len(texts))],
            "borders": ["silence", *["model"] * (len(texts) - 1)],
            "border_certainties": [1.0, *[0.8] * (len(texts) - 1)],
            "speakers": ["ANNA", *[None] * (len(texts) - 1)],
            "certainty": 0.5,
        }
        found["subtitles.clean_dialogues"].append({**keys, **source, **certain, "turns": spoken})
        for turn in range(0, len(texts), 2):  # the other turns have no weak label
            weak = {"dialogue_id": dialogue_id, "turn": turn, "label": LABELS[turn % 3], "confidence": 0.5}
            found["edos.weak_labels"].append(weak)
        for turn in range(len(texts)):
            for model, label in (("models:/c/1", LABELS[turn % 4]), ("models:/c/2", LABELS[turn % 3]), ("m", None)):
                scores.add((history_hash(texts[: turn + 1]), model, label))
    found["edos.dialogue_scores"] = [
        {"history_hash": key, "model": model, "label": label, "confidence": 0.5}
        for key, model, label in sorted(scores, key=str)
    ]
    found["subtitles.files"] = [
        {
            "source_path": f"xml/en/{film}/{number}.xml",
            "subtitle_id": f"{number}",
            "movie_id": film,
            "year": year,
            "genres": genres,
            "language": "en",
        }
        for number, (film, year, genres) in enumerate(FILMS)
    ]
    found["edos.crowd_labels"] = [
        {"dialogue_id": f"9-{number}", "turn": 0, "label": LABELS[number % 3] if number < 5 else None}
        for number in range(6)
    ]
    found["edos.annotations"] = [
        {"dialogue_id": f"9-{number}", "turn": 0, "worker_id": f"{worker}", "label": LABELS[(number + worker // 2) % 3]}
        for number in range(6)
        for worker in range(3)
    ]
    found["ops.dropped"] = [
        {"stage": stage, "unit": "turn", "id": f"{number}-{number}/0", "reason": reason, "detail": f"{number}"}
        for number, (stage, reason) in enumerate([("clean_dialogues", "too_long")] * 2 + [("score_turns", "other")])
    ]
    found["ops.stage_runs"] = [
        {"stage": "clean_dialogues", "run_id": f"{number}", "event": event, "seconds": 2.0, "rows_in": 5, "rows_out": 3}
        for number, event in enumerate(("started", "done", "done"))
    ]
    return found


@pytest.fixture(scope="module")
def engines(spark: SparkSession) -> Iterator[tuple[StandIns, Any]]:
    """The same rows in Spark and in DuckDB."""
    stand_ins = StandIns(spark, all_views(load_taxonomy("edos")))
    given = {}
    for name, own in rows().items():
        columns = [field for field in TABLES[name].schema if any(field.name in row for row in own)]
        frame = spark.createDataFrame(
            [tuple(row.get(field.name) for field in columns) for row in own], TABLES[name].schema.__class__(columns)
        )
        stand_ins.give(name, frame)
        whole = spark.sql(stand_ins.sql(f"SELECT * FROM {name}"))
        given[name] = pa.Table.from_batches(whole._collect_as_arrow())
    duck = connected(given)
    yield stand_ins, duck
    duck.close()
    stand_ins.drop()


def in_spark(stand_ins: StandIns, query: str) -> list[tuple[Any, ...]]:
    return [tuple(map(plain, row)) for row in stand_ins.spark.sql(stand_ins.sql(query).strip().rstrip(";")).collect()]


def in_duckdb(duck: Any, query: str) -> list[tuple[Any, ...]]:
    return [tuple(map(plain, row)) for row in duck.execute(query).fetchall()]


def plain(value: Any) -> Any:
    return round(float(value), 5) if isinstance(value, int | float) or hasattr(value, "quantize") else value


def test_there_are_fourteen_questions() -> None:
    assert len(QUESTIONS) == 14
    assert all(re.search(r"^```sql\n", text, re.MULTILINE) for _, text in QUESTIONS)


@pytest.mark.slow
def test_each_question_has_one_answer_in_both_engines(engines: tuple[StandIns, Any]) -> None:
    stand_ins, duck = engines
    for title, text in QUESTIONS:
        spark_sql = re.findall(r"^```sql\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        duck_sql = re.findall(r"^```sql duckdb\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) or spark_sql
        assert len(spark_sql) == len(duck_sql) == 1, title
        # The page's dialogue is the demo's; its second set is here the first one again.
        both = (query.replace("_trusted.", ".") for query in (spark_sql[0], duck_sql[0]))
        ours, theirs = (re.sub(r"'\d+-\d+'", "'77-3'", query) for query in both)
        answer = in_spark(stand_ins, ours)
        assert answer, title
        assert in_duckdb(duck, theirs) == answer, title


def test_views_are_the_same_in_both_engines(engines: tuple[StandIns, Any]) -> None:
    stand_ins, duck = engines
    for view in VIEWS:
        query = f"SELECT * FROM {view}"
        assert stand_ins.spark.sql(stand_ins.sql(query)).columns == [one[0] for one in duck.execute(query).description]
        answer = sorted(in_spark(stand_ins, query), key=str)
        assert len(answer) >= 3, view
        assert sorted(in_duckdb(duck, query), key=str) == answer


def test_turns_without_quotations_are_spelled_as_everywhere(engines: tuple[StandIns, Any]) -> None:
    stand_ins, _ = engines
    turns = in_spark(stand_ins, "SELECT text, plain_text FROM edos.turns")
    assert {text for text, _ in turns} == set(TEXTS)
    plain = [(text, plain_text) for text, plain_text in turns if '"' not in text]
    assert [(text, plain_text) for text, plain_text in plain if detokenised_text(text) != plain_text] == []


def test_each_film_is_in_one_split_and_turns_without_a_weak_label_stay(engines: tuple[StandIns, Any]) -> None:
    _, duck = engines
    assert in_duckdb(
        duck, "SELECT max(n) FROM (SELECT count(DISTINCT split) AS n FROM edos.turns GROUP BY movie_id)"
    ) == [(1,)]
    ((labelled, turns),) = in_duckdb(duck, "SELECT count(weak_label), count(*) FROM edos.turns")
    assert turns == sum(len(turns) for _, _, turns in dialogues()) > labelled > 0


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"lakehouse\.root"):
        connect(tmp_path)


def test_a_folder_of_delta_tables_is_opened(tmp_path: Path) -> None:
    import deltalake

    table = pa.table({"reason": ["a", "b"]})
    deltalake.write_deltalake(str(tmp_path / "ops" / "dropped"), table)
    assert connect(tmp_path).execute("SELECT reason FROM ops.dropped ORDER BY 1").fetchall() == [("a",), ("b",)]


def test_a_quarantine_that_is_not_there_is_empty(tmp_path: Path) -> None:
    import deltalake

    deltalake.write_deltalake(str(tmp_path / "edos" / "seeds"), pa.table({"label": ["sad"]}))
    duck = connect(tmp_path)
    assert duck.execute("SELECT source_path, reason FROM subtitles.quarantine").fetchall() == []
    assert duck.execute("SELECT stage, rows FROM analysis.dropped_by_reason").fetchall() == []
