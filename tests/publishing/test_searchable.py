"""All rows of a data set as files beside a page: none lost, old files removed, sentences by their places."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row as SparkRow
from pyspark.sql import SparkSession

from conf.settings import load_settings
from etl.analysis.search_page import Item, Row
from etl.pipeline.lakehouse import Lakehouse
from etl.publishing import searchable
from etl.tables.edos import DIALOGUES
from etl.tables.subtitles import CLEAN_DIALOGUES, FILES
from jobs.edos.dataset import report_dataset
from tests.stages import stage_run


def content(path: Path) -> Any:
    return json.loads(re.sub(r"^\w+\(\d+, |\);\n$", "", path.read_text("ascii")))


@pytest.fixture()
def lakehouse(spark: SparkSession, tmp_path: Path) -> Lakehouse:
    """Five finished dialogues of two turns; the last one is in no table of clean dialogues."""
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    place = Lakehouse(spark, settings.lakehouse)

    def written(table: Any, rows: list[dict[str, Any]]) -> None:
        empty = spark.createDataFrame([], table.schema)
        given = spark.read.json(spark.sparkContext.parallelize([json.dumps(row) for row in rows]), empty.schema)
        given.write.format("delta").save(str(tmp_path / "lake" / table.name.replace(".", "/")))

    turns = [{"text": "I 'm sad .", "label": "sad", "confidence": 0.512}, {"text": "Why ?", "label": "questioning"}]
    labelled = [{"confidence": 0.9, **one} for one in turns]
    accepted = [[True, True], [True, False], [False, False], None, None]
    finished = [
        {"dialogue_id": f"7-{n}", "movie_id": f"00{n}", "turns": labelled, "accepted": accepted[n]} for n in range(5)
    ]
    written(DIALOGUES, finished)
    spans = [{"sentence_first": 1, "sentence_last": 2}, {"sentence_first": 4, "sentence_last": 4}]
    clean = [
        {
            "dialogue_id": f"7-{n}",
            "source_path": "a.xml" if n < 3 else "missing.xml",
            "year": None if n == 0 else 2000 - n,
            "genres": ["Drama"] if n else None,
            "profane": n == 2,
            "turns": spans,
        }
        for n in range(4)
    ]
    written(CLEAN_DIALOGUES, clean)
    sentences = [{"index": n, "text": f"said {n}", "start_ms": None if n == 2 else 61_000 * n} for n in range(6)]
    written(FILES, [{"source_path": "a.xml", "sentences": sentences}])
    return place


def test_dialogues_come_by_year_with_the_sentences_of_their_span(lakehouse: Lakehouse) -> None:
    rows = [searchable.edos_row(row) for row in searchable.edos_rows(lakehouse).collect()]
    assert [row.name for row in rows] == ["7-3", "7-2", "7-1", "7-0", "7-4"]
    by_name = {row.name: row for row in rows}
    assert by_name["7-1"].about == "film 001, 1999, Drama"
    assert by_name["7-0"].about == "film 000, year not known"
    assert by_name["7-2"].crude
    assert by_name["7-0"].choices == [[], ["all accepted", "some accepted"]]
    assert by_name["7-1"].choices == [["Drama"], ["some accepted"]]
    assert by_name["7-2"].choices == [["Drama"], ["none accepted"]]
    assert by_name["7-3"].choices == [["Drama"], []]
    assert by_name["7-1"].items == [Item("I'm sad.", [("sad", 0.51)]), Item("Why?", [("questioning", 0.9)])]
    source = by_name["7-1"].source
    assert source is not None
    assert source.lines == [
        ("1 0:01:01 turn 1", "said 1"),
        ("2 – turn 1", "said 2"),
        ("3 0:03:03 turn –", "said 3"),
        ("4 0:04:04 turn 2", "said 4"),
    ]
    assert by_name["7-3"].source is None
    assert by_name["7-4"].source is None


def test_no_row_is_lost_and_older_files_go(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchable, "ROWS_PER_FILE", 3)
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    said: list[str] = []
    run = stage_run(spark, settings, "", report_dataset, say=said.append)
    told = searchable.edos_page(7, "edos.html")

    def row_of(row: SparkRow) -> Row:
        return Row(f"d{row.id}", "", [Item(f"text {row.id}", [("sad", 0.5)])])

    def write(number: int) -> str | None:
        frame = spark.range(number).orderBy("id")
        return searchable.write_searchable(run, str(tmp_path), "all", told, frame, row_of)

    assert write(7) == "all.html"
    names = [f"d{n}" for n in range(7)]
    found = sorted((tmp_path / "all").glob("rows-*.js"))
    assert [row[0] for path in found for row in content(path)] == names
    assert [len(content(path)) for path in found] == [3, 3, 1]
    (tmp_path / "all" / "notes.txt").write_text("kept")
    assert write(2) == "all.html"
    left = sorted(path.name for path in (tmp_path / "all").iterdir() if path.suffix != ".crc")
    assert left == ["notes.txt", "rows-0.js"]
    assert write(0) is None
    assert said[0] == f"7 dialogues to search: {tmp_path}/all.html"


def test_rows_of_the_other_sets_say_what_they_are() -> None:
    label = SparkRow(label="joy", level=0.9)
    row = SparkRow(
        utterance_id="u",
        title="A Story",
        actor="Ann",
        utterance="Yes!",
        labels=[label],
        primary_label="joy",
        context="It rained.",
        rewritten="So.",
    )
    made = searchable.emo_pillars_row(row)
    assert [item.text for item in made.items] == ["Yes!", "With its context: It rained.", "Rewritten: So."]
    assert (made.about, made.choices) == ("A Story, Ann", [["with context"], ["joy"]])
    turn = SparkRow(role="seeker", text="Hello")
    talk = SparkRow(
        conversation_id="c", source="ed", query_id="ed/1", sample=1, model="recorded:x", emotion=None, turns=[turn]
    )
    shown = searchable.augesc_row(talk)
    assert shown.items == [Item("Hello", [("seeker", None)])]
    assert shown.about == "first post ed/1, text 2 of it, by recorded:x"
    assert shown.choices == [["ed"], ["not known"]]
