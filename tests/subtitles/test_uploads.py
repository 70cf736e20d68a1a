"""Choosing uploads: the stated rule, rule by rule."""

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.pipeline.session import configured
from etl.subtitles.uploads import choose_uploads, speaker_marks

COLUMNS = (
    "subtitle_id string, movie_id string, release string, language string, cds string, machine_translated boolean,"
    " sentence_count int, quirks map<string, int>, source_path string, sentences array<struct<text: string>>,"
    " speaker_marks int"
)


def uploads_frame(spark: SparkSession, *rows: tuple[object, ...]) -> DataFrame:
    """Rows of (id, film, sentences, changes to the usual); ``marks`` are the texts of some sentences."""
    full = []
    for subtitle_id, film, sentences, changes in rows:
        usual: dict[str, object] = {
            "release": "v2018",
            "language": "en",
            "cds": "1/1",
            "machine_translated": False,
            "quirks": {},
            "marks": None,
        }
        usual.update(changes)  # type: ignore[call-overload]
        full.append(
            (
                subtitle_id,
                film,
                usual["release"],
                usual["language"],
                usual["cds"],
                usual["machine_translated"],
                sentences,
                usual["quirks"],
                f"{usual['release']}/{usual['language']}/{subtitle_id}.xml",
                None if usual["marks"] is None else [(text,) for text in usual["marks"]],  # type: ignore[attr-defined]
                usual.get("speaker_marks"),
            )
        )
    return spark.createDataFrame(full, COLUMNS).repartition(3)


def test_one_upload_a_film_by_each_rule(spark: SparkSession) -> None:
    files = uploads_frame(
        spark,
        ("10", "whole_before_part", 500, {"cds": "1/2"}),
        ("11", "whole_before_part", 400, {}),
        ("20", "human_first", 900, {"machine_translated": True}),
        ("21", "human_first", 800, {"cds": None}),
        ("30", "times", 900, {"quirks": {"sentence_without_start": 900, "sentence_without_end": 900}}),
        ("31", "times", 850, {"quirks": {"sentence_without_start": 100}}),
        ("40", "trailer", 40, {}),
        ("41", "trailer", 1000, {}),
        ("42", "trailer", 1010, {}),
        ("43", "trailer", 2000, {}),
        ("50", "longest_then_newest", 1000, {}),
        ("9", "longest_then_newest", 1000, {}),
        ("60", "only_parts", 500, {"cds": "1/2"}),
        ("61", "only_parts", 510, {"cds": "2/3"}),
        ("65", "joined_cds", 500, {"cds": "1/2"}),
        ("66", "joined_cds", 400, {"cds": "2/2"}),
        ("70", "file:70", 10, {}),
        ("71", "file:71", 10, {}),
        ("80", "two_languages", 10, {}),
        ("81", "two_languages", 10, {"language": "de"}),
    )
    outcome = choose_uploads(files, 1)
    assert outcome.dropped is not None
    assert sorted(row.subtitle_id for row in outcome.rows.collect()) == [
        "11",
        "21",
        "31",
        "42",
        "50",
        "61",
        "66",
        "70",
        "71",
        "80",
        "81",
    ]
    dropped = {row.id: (row.reason, row.detail) for row in outcome.dropped.collect()}
    assert dropped["v2018/en/43.xml"] == ("another_upload_chosen", "chosen: 42")
    assert len(dropped) + outcome.rows.count() == files.count()


def test_the_newest_release_stands_and_all_means_each_upload_once(spark: SparkSession) -> None:
    files = uploads_frame(
        spark,
        ("1", "f", 100, {"release": "v2016"}),
        ("1", "f", 100, {}),
        ("1", "f", 100, {"release": "v2024"}),
        ("2", "f", 90, {"release": "v2016"}),
        ("3", "f", 95, {}),
    )
    outcome = choose_uploads(files, 0)
    assert outcome.dropped is not None
    assert {(row.subtitle_id, row.release, row.uploads) for row in outcome.rows.collect()} == {
        ("1", "v2024", 3),
        ("2", "v2016", 3),
        ("3", "v2018", 3),
    }
    assert {(row.id, row.reason, row.detail) for row in outcome.dropped.collect()} == {
        ("v2016/en/1.xml", "newer_release_chosen", "chosen: v2024/en/1.xml"),
        ("v2018/en/1.xml", "newer_release_chosen", "chosen: v2024/en/1.xml"),
    }


def test_two_uploads_a_film_are_the_two_best(spark: SparkSession) -> None:
    files = uploads_frame(spark, ("1", "f", 100, {}), ("2", "f", 102, {}), ("3", "f", 101, {}), ("4", "f", 9, {}))
    rows = choose_uploads(files, 2).rows.collect()
    assert {(row.subtitle_id, row.choice, row.uploads) for row in rows} == {("2", 1, 4), ("3", 2, 4)}


@pytest.mark.parametrize(
    ("texts", "marks"),
    [
        (["- Who is it ?", "\u2013 Me .", "-- and then he left", "Well - maybe .", ""], 2),
        (["Anna : Come in .", "- BO : No .", "( quietly ) Anna :", "Anna 's Father : No ."], 4),
        (["I have one rule : never pay .", "After 6 : 30 .", "8 : 30 , at the pier .", "anna : hello"], 0),
        ([None, "- Yes ."], 1),
        ([], 0),
        (None, 0),
    ],
)
def test_marks_of_an_upload_are_counted(spark: SparkSession, texts: list | None, marks: int) -> None:
    row = spark.createDataFrame([(texts,)], "texts array<string>").select(speaker_marks(F.col("texts"))).head()
    assert row is not None
    assert row[0] == marks


def test_the_upload_with_the_most_speaker_marks_is_chosen_after_whole_and_human_ones(spark: SparkSession) -> None:
    dashes = ["- Yes ."] * 30
    many = ["- Yes ."] * 60
    untimed = {"sentence_without_start": 300, "sentence_without_end": 300}
    files = uploads_frame(
        spark,
        ("10", "marked", 500, {}),
        ("11", "marked", 480, {"marks": many, "quirks": untimed}),
        ("20", "part", 500, {"cds": "1/2", "marks": many}),
        ("21", "part", 480, {"marks": dashes}),
        ("30", "machine", 500, {"machine_translated": True, "marks": many}),
        ("31", "machine", 480, {}),
        ("40", "nearly_as_many", 500, {"marks": dashes}),
        ("41", "nearly_as_many", 480, {"marks": [*dashes, "- So ?"]}),
        ("50", "doubled", 500, {"marks": dashes}),
        ("51", "doubled", 520, {}),
        ("52", "doubled", 1000, {"marks": many}),
        ("60", "no_times", 500, {}),
        ("61", "no_times", 500, {"marks": many, "quirks": {"sentence_without_start": 500, "time_backwards": 300}}),
    )
    rows = choose_uploads(files, 1).rows.collect()
    assert sorted(row.subtitle_id for row in rows) == ["11", "21", "31", "40", "50", "60"]


def test_marks_that_are_known_are_taken_and_their_sentences_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of an earlier version, without their number of marks, stand beside those with it."""
    many = ["- Yes ."] * 60
    files = uploads_frame(
        spark,
        ("10", "known", 500, {"speaker_marks": 0}),
        ("11", "known", 480, {"speaker_marks": 60}),
        ("20", "both", 500, {"marks": many}),
        ("21", "both", 480, {"speaker_marks": 3}),
        ("30", "earlier", 500, {}),
        ("31", "earlier", 480, {"marks": many}),
    )
    folder = str(tmp_path / "files")
    files.write.parquet(folder)
    stored = spark.read.parquet(folder)
    rows = choose_uploads(stored, 1).rows
    assert sorted(row.subtitle_id for row in rows.collect()) == ["11", "20", "31"]
    mode: Any = spark._jvm.org.apache.spark.sql.execution.ExplainMode  # type: ignore[union-attr]
    with (
        configured(spark, "spark.sql.debug.maxToStringFields", "1000"),
        configured(spark, "spark.sql.maxMetadataStringLength", "2000"),
        configured(spark, "spark.sql.maxPlanStringLength", "1000000"),
    ):
        plan = str(rows._jdf.queryExecution().explainString(mode.fromString("formatted")))
    reads = re.findall(r"PushedFilters: \[([^\]]*)\]\nReadSchema: (.*)", plan)
    assert {("sentences" in columns, "IsNotNull(speaker_marks)" in filters) for filters, columns in reads} == {
        (True, False),
        (False, True),
    }
