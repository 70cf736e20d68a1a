"""The conversations as files: ESConv's schema, one query in one split, a card with the paper's figures."""

from io import BytesIO
from pathlib import Path

import yaml
from pyspark.sql import SparkSession

from etl.publishing.augesc_export import augesc_card, published_rows
from etl.publishing.exports import Manifest, write_export
from etl.tables.augesc import CONVERSATIONS, QUERIES
from udfs.session_files import sessions_in

TURNS = [("seeker", 'My "cat" is gone | since May', 8), ("supporter", "Since May ? \U0001f600", 3)]


def test_exports_are_read_as_esconv_is(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(f"t{n:02}", "ed", f"ed/{n // 4}", n % 4, "m", 40, TURNS) for n in range(60)]
    queries = [(f"ed/{n}", "ed", None, "sad", "x", 12, None, None, None, None) for n in range(14)]
    published = published_rows(
        spark.createDataFrame(rows, CONVERSATIONS.schema),
        spark.createDataFrame(queries, QUERIES.schema),
        test_share=0.3,
        validation_share=0.2,
    )
    splits = {(row.query_id, row.split) for row in published.collect()}
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
