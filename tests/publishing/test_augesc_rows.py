"""The conversations as files: ESConv's schema, one query in one split, a card with the paper's figures."""

from io import BytesIO
from pathlib import Path

import yaml
from pyspark.sql import SparkSession

from etl.analysis.croissant import AUGESC
from etl.publishing.augesc_export import augesc_card, published_rows
from etl.publishing.exports import Manifest, write_export
from etl.tables.augesc import CONVERSATIONS, QUERIES
from etl.tables.augesc_faults import FAULTS
from udfs.session_files import sessions_in

TURNS = [("seeker", 'My "cat" is gone | since May', 8), ("supporter", "Since May ? \U0001f600", 3)]


def test_exports_are_read_as_esconv_is(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(f"t{n:02}", "ed", f"ed/{n // 4}", n % 4, "m", 40, TURNS, f"r{n}", f"h{n}") for n in range(60)]
    judged = ("sadness", "grief", "not toxic", ["emotions: m1"])
    queries = [(f"ed/{n}", "ed", None, "sad", "x", 12, *judged) for n in range(14)]
    none = (6, 2, 0, None, 0, None, None, None, 3, 0, 0, 0, 0.5, 0.1, 0, "list")
    odd = (6, 2, 1, "two brothers, three", 0, None, 4, 2, 3, 1, 0, 0, 0.5, 0.1, 2, "list")
    faults = [("t00", "augmenter", "ed", *none), ("t01", "augmenter", "ed", *odd)]
    published = published_rows(
        spark.createDataFrame(rows, CONVERSATIONS.schema),
        spark.createDataFrame(queries, QUERIES.schema),
        spark.createDataFrame(faults, FAULTS.schema),
        test_share=0.3,
        validation_share=0.2,
    )
    assert set(published.columns) == {*AUGESC, "split"}
    rows_by_id = {row.dialogue_id: row for row in published.collect()}
    assert rows_by_id["t00"].faults == []
    assert rows_by_id["t01"].faults == ["contradiction", "topic_shift", "toxic"]
    assert rows_by_id["t02"].faults is None
    assert (rows_by_id["t05"].request_id, rows_by_id["t05"].prompt_hash) == ("r5", "h5")
    assert (rows_by_id["t05"].query_goemotions, rows_by_id["t05"].judged_by) == ("grief", ["emotions: m1"])
    splits = {(row.query_id, row.split) for row in rows_by_id.values()}
    assert len(splits) == 15
    assert len({split for _, split in splits}) == 3
    done = write_export(spark, str(tmp_path / "out"), published, Manifest("x", "included", {}, {}), ("jsonl",), 1_000)
    assert sum(done.rows.values()) == 60
    name = done.of("jsonl", "train")[0]
    read = list(sessions_in(name.rsplit("/", 1)[-1], BytesIO((tmp_path / "out" / name).read_bytes())))
    assert len(read) == done.rows["train"]
    assert {row["form"] for row in read} == {"esconv"}
    assert {row["emotion"] for row in read} <= {"sad", None}
    assert read[0]["turns"] == [{"role": role, "text": text} for role, text, _ in TURNS]


def test_the_card_has_our_figures_and_the_papers() -> None:
    views = {
        "augesc_table_1": [
            {"method": "augmenter", "source": "ed", "requirement": "role_words", "percent": 2.5, "paper_percent": 2.4},
            {"method": "untuned", "source": "ed", "requirement": "balance", "percent": 9.9, "paper_percent": 0.2},
        ],
        "augesc_table_2": [
            {"data_set": "ed", "role": "both", "measure": "sessions", "value": 41.0, "paper": 53_000.0},
            {"data_set": "total", "role": "both", "measure": "sessions", "value": None, "paper": 102_000.0},
        ],
    }
    card = augesc_card("mine", {"train": 40, "test": 1}, ("jsonl", "parquet"), views)
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "cc-by-nc-4.0"
    assert "subtitles" not in head["tags"]
    assert head["configs"][0]["data_files"][0]["path"] == "jsonl/train-*.jsonl.gz"
    assert "| ed | role words | 2.5 | 2.4 |" in card
    assert "balance" not in card
    assert "102" not in card
    assert "| train | 40 |" in card
    assert "$" not in card
