"""The conversations as files: ESConv's schema, one query in one split, a card with the paper's figures."""

import gzip
import json
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from pyspark.sql import SparkSession

from etl.augesc.export import AUGESC, about_augesc, augesc_card, published_rows
from etl.augesc.tables import CONVERSATIONS, FAULTS, QUERIES
from etl.publishing.croissant import TEXT
from etl.publishing.exports import Manifest, write_export
from udfs.session_files import sessions_in

NAMED = [None, "Question"]
TURNS = [("seeker", 'My "cat" is gone | since May', 8), ("supporter", "Since May ? \U0001f600", 3)]


def test_exports_are_read_as_esconv_is(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        (f"t{n:02}", "ed", f"ed/{n // 4}", n % 4, "m", 40, TURNS, f"r{n}", f"h{n}", NAMED, 3 if n == 5 else None)
        for n in range(60)
    ]
    judged = ("sadness", "grief", "not toxic", ["emotions: m1"])
    queries = [(f"ed/{n}", "ed", None, "sad", "x", 12, *judged) for n in range(14)]
    none = (6, 0, None, None, None, 3, 0, 0, 0, 0.5, 0.1, 0, "list")
    odd = (6, 0, None, 4, 2, 3, 1, 0, 0, 0.5, 0.1, 2, "list")
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
    assert [name for name, row in rows_by_id.items() if row.repaired is not None] == ["t05"]
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
    assert read[0]["strategies"] == NAMED
    assert read[0]["turns"] == [{"role": role, "text": text} for role, text, _ in TURNS]


def test_the_card_has_our_figures_and_the_papers() -> None:
    views = {
        "augesc_table_1": [
            {"method": "augmenter", "source": "ed", "requirement": "role_words"}
            | {"percent": 2.5, "strict_percent": 3.1, "paper_percent": 2.4},
            {"method": "augmenter", "source": "reddit", "requirement": "format"}
            | {"percent": 0.5, "strict_percent": None, "paper_percent": 0.7},
            {"method": "untuned", "source": "ed", "requirement": "balance"}
            | {"percent": 9.9, "strict_percent": 9.9, "paper_percent": 0.2},
        ],
        "augesc_table_2": [
            {"data_set": "ed", "role": "both", "measure": "sessions", "value": 41.0, "paper": 53_000.0},
            {"data_set": "total", "role": "both", "measure": "sessions", "value": None, "paper": 102_000.0},
        ],
    }
    row = json.dumps({"dialogue_id": "t1", "dialog": [{"speaker": "seeker", "content": f"no {n}"} for n in range(5)]})
    card = augesc_card(about_augesc("mine", {"train": 40, "test": 1}, ("jsonl", "parquet")), views, row)
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "cc-by-nc-4.0"
    assert "subtitles" not in head["tags"]
    assert head["configs"][0]["data_files"][0]["path"] == "jsonl/train-*.jsonl.gz"
    assert "| ed | role words | 2.5 | 3.1 | 2.4 |" in card
    assert "| reddit | format | 0.5 | – | 0.7 |" in card
    assert "balance" not in card
    assert "102" not in card
    assert "| train | 40 |" in card
    assert "$" not in card
    assert "A row (two of the 5 entries of `dialog`)" in card
    assert "no 1" in card
    assert "no 2" not in card
    assert "@misc{mine," in card
    (features,) = (info["features"] for info in head["dataset_info"] if info["config_name"] == "conversations")
    (dialog,) = (one["list"] for one in features if one["name"] == "dialog")
    assert dialog[0]["dtype"]["class_label"]["names"] == {"0": "seeker", "1": "supporter"}


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_loaders_give_speakers_as_classes(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    dialog = [{"speaker": role, "content": text} for role, text, _ in TURNS]
    row = {**dict.fromkeys(AUGESC), "dialogue_id": "t1", "sample": 0, "judged_by": ["none"], "dialog": dialog}
    (tmp_path / "set" / kind).mkdir(parents=True)
    if kind == "parquet":
        schema = pa.schema([(name, pa.string()) for name in AUGESC if AUGESC[name] == TEXT])
        strings = pa.list_(pa.string())
        spoken = pa.list_(pa.struct([("speaker", pa.string()), ("content", pa.string())]))
        for name, type_of in (("sample", pa.int32()), ("judged_by", strings), ("faults", strings), ("dialog", spoken)):
            schema = schema.append(pa.field(name, type_of))
        pq.write_table(pa.Table.from_pylist([row], schema), tmp_path / "set" / kind / "train-0.parquet")
    else:
        line = json.dumps(row).encode() + b"\n"
        (tmp_path / "set" / kind / "train-0.jsonl.gz").write_bytes(gzip.compress(line))
    (tmp_path / "set" / "README.md").write_text(augesc_card(about_augesc("mine", {"train": 1}, (kind,)), {}), "utf-8")
    read = datasets.load_dataset(str(tmp_path / "set"), split="train", cache_dir=str(tmp_path / "cache"))
    speakers = read.features["dialog"].feature["speaker"]
    assert [speakers.int2str(turn["speaker"]) for turn in read[0]["dialog"]] == ["seeker", "supporter"]
    assert [turn["content"] for turn in read[0]["dialog"]] == [text for _, text, _ in TURNS]


def test_programs_read_when_it_was_made() -> None:
    about = json.loads(about_augesc("mine", {"train": 1}, ("jsonl",)).croissant("2026-01-02"))
    assert about["datePublished"] == "2026-01-02"
    assert about["citeAs"].startswith("@inproceedings{zheng2023augesc,")
