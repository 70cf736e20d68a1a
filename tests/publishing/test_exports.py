"""Exports: the same bytes however partitioned, whole or not at all, and what a loader of data sets reads."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from etl.edos.card import card, restored_card, set_name
from etl.edos.findings import EdosFindings
from etl.edos.settings import PublishingSettings
from etl.pipeline.folders import Folders
from etl.publishing.dataset_card import size_category
from etl.publishing.exports import (
    MANIFEST,
    Manifest,
    first_row,
    is_complete,
    read_export,
    read_manifest,
    refuse_foreign,
    write_export,
)

TURNS = "array<struct<text: string, label: string, confidence: float>>"
ROWS = f"dialogue_id string, movie_id string, split string, turns {TURNS}"
PLAIN = Manifest("abc", "included", {}, {})


def dialogues(spark: SparkSession, count: int = 60) -> DataFrame:
    text = 'A "quoted", strange line \u2028 with | and \\ and \U0001f600'
    rows = [
        (
            f"d{n:03}",
            f"f{n % 7}",
            "test" if n % 7 == 0 else "validation" if n % 7 == 1 else "train",
            [(f"{text} {n}", "sad", 0.5), (None, None, None)],
        )
        for n in range(count)
    ]
    return spark.createDataFrame(rows, ROWS)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_rows_give_the_same_bytes(spark: SparkSession, tmp_path: Path) -> None:
    found = []
    for number, partitions in enumerate((1, 5)):
        folder = tmp_path / f"export{number}"
        rows = dialogues(spark).orderBy("movie_id", ascending=bool(number)).repartition(partitions)
        done = write_export(spark, str(folder), rows, PLAIN, ("parquet", "jsonl"), 20)
        found.append(digests(folder))
    assert found[0] == found[1]
    assert done.rows == {"train": 42, "validation": 9, "test": 9}
    names = set(found[0])
    assert {f"parquet/train-{n:05d}-of-00003.parquet" for n in range(3)} <= names
    assert {"jsonl/test-00000-of-00001.jsonl.gz", "parquet/validation-00000-of-00001.parquet", MANIFEST} <= names
    assert not [name for name in names if "_SUCCESS" in name or ".crc" in name]
    ids = [pq.read_table(folder / name)["dialogue_id"].to_pylist() for name in done.of("parquet", "train")]
    assert [part == sorted(part) and len(part) > 5 for part in ids] == [True] * 3
    assert len({one for part in ids for one in part}) == 42
    with gzip.open(folder / "jsonl/test-00000-of-00001.jsonl.gz", "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines.read().split("\n") if line]
    assert [row["dialogue_id"] for row in read] == sorted(row["dialogue_id"] for row in read)
    assert len(read) == 9
    assert read[0]["turns"][1] == {"text": None, "label": None, "confidence": None}
    assert read[0]["turns"][0]["text"].endswith("\U0001f600 0")


def test_an_export_is_known_whole_and_replaced_whole(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "export")
    folders = Folders(spark)
    write_export(spark, folder, dialogues(spark), PLAIN, ("parquet",), 1000)
    done = write_export(spark, folder, dialogues(spark, 14), PLAIN, ("parquet",), 1000)
    there = read_manifest(folders, folder)
    assert there == done
    assert is_complete(folders, folder, done)
    assert sum(done.rows.values()) == 14
    assert [path.name for path in tmp_path.iterdir()] == ["export"]
    first = json.loads(first_row(spark, folder, done) or "")
    assert first["turns"][1] == {"text": None, "label": None, "confidence": None}
    rows = read_export(spark, folder, done).collect()
    assert {(row["dialogue_id"], row["split"]) for row in rows} == {
        (row["dialogue_id"], row["split"]) for row in dialogues(spark, 14).collect()
    }
    (Path(folder) / done.of("parquet", "test")[0]).write_bytes(b"short")
    assert not is_complete(folders, folder, done)


def test_a_folder_with_other_things_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"has files that are not an export: set publishing\.folder"):
        refuse_foreign(Folders(spark), str(tmp_path))
    refuse_foreign(Folders(spark), str(tmp_path / "new"))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"fingerprint": "a"}',
        '{"fingerprint": "a", "text": "x", "rules": {}, "rows": {"train": "many"}}',
        '{"fingerprint": "a", "text": "x", "rules": {}, "rows": {}, "files": {"parquet/../../etc/passwd": 1}}',
    ],
)
def test_a_broken_or_forged_manifest_is_none(spark: SparkSession, tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    assert read_manifest(Folders(spark), str(tmp_path)) is None


def test_texts_are_put_in_place_only_when_new(spark: SparkSession, tmp_path: Path) -> None:
    folders = Folders(spark)
    path = str(tmp_path / "a b" / "page.html")
    assert folders.read_text(path) is None
    assert folders.entries(str(tmp_path / "none")) == []
    assert folders.write_text(path, "one \U0001f600")
    assert folders.read_text(path) == "one \U0001f600"
    before = Path(path).stat().st_mtime_ns
    assert not folders.write_text(path, "one \U0001f600")
    assert Path(path).stat().st_mtime_ns == before
    assert folders.write_text(path, "two")
    assert Path(path).read_text() == "two"
    assert [entry.name for entry in folders.entries(str(tmp_path / "a b"))] == ["page.html"]


def example_findings(**views: Any) -> EdosFindings:
    labels = {"label": "sad", "kind": "emotion", "turns": 2, "share": 0.5, "paper_share": 0.02}
    return EdosFindings({"edos_label_distribution": [labels], **views}, made_with={"rule": "a | b"})


def test_a_card_says_which_files_are_which(spark: SparkSession, tmp_path: Path) -> None:
    text = card(example_findings(), PublishingSettings(), rows={"train": 2, "test": 1}, languages=("en",))
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["size_categories"] == ["n<1K"]
    assert [one["config_name"] for one in head["configs"]] == ["dialogues"]
    assert "jsonl/train-*" in text
    assert head["configs"][0]["data_files"] == [
        {"split": "train", "path": "parquet/train-*.parquet"},
        {"split": "test", "path": "parquet/test-*.parquet"},
    ]
    assert "$" not in text
    assert "| rule | a \\| b |" in text
    assert "restore-text" not in text


@pytest.mark.parametrize(
    ("train", "said"),
    [
        (
            {"crowd": 6_000, "similar": 800, "self": 1_100, "similar_self": 100, "total": 8_000},
            "It was trained on 6,000 turns labelled by crowd workers and 2,000 (25.0%) labelled by a machine: 800 "
            "with the label of a similar crowd-labelled dialogue, 1,100 self-labelled by an earlier classifier, "
            "100 with the label of a similar self-labelled dialogue.",
        ),
        (
            {"crowd": 40, "similar": 0, "self": 0, "similar_self": 0, "total": 40},
            "It was trained on 40 turns labelled by crowd workers and 0 (0.0%) labelled by a machine",
        ),
        ({"crowd": 0, "similar": 0, "self": 0, "similar_self": 0, "total": None}, "are not available."),
        ({}, "are not available."),
    ],
)
def test_a_card_says_which_training_labels_are_a_machines(train, said) -> None:
    origins = [{"origin": origin, "train": turns} for origin, turns in train.items()]
    findings = example_findings(edos_origins=origins)
    text = card(findings, PublishingSettings(), rows={"train": 2}, languages=("en",))
    answer = text.partition("**Who labelled it?**")[2].partition("**")[0]
    assert said in answer


def test_a_card_of_references_has_the_way_back() -> None:
    text = card(
        example_findings(),
        PublishingSettings(text="references", formats=("parquet",)),
        rows={"train": 2},
        languages=("en",),
    )
    assert "restore-text --set lakehouse.root=mine" in text
    assert "sentence_first" in text


def test_a_restored_copy_keeps_the_name_of_its_set_and_no_licence() -> None:
    shared = PublishingSettings(text="references", name="Harbour talks", licence="cc-by-nc-4.0")
    before = card(example_findings(), shared, rows={"train": 2}, languages=("en",))
    assert yaml.safe_load(before.split("---\n")[1])["license"] == "cc-by-nc-4.0"
    text = restored_card(before, {"train": 1}, ("parquet",), ("en",))
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["pretty_name"] == "Harbour talks"
    assert head["license"] == "other"
    assert head["size_categories"] == ["n<1K"]


@pytest.mark.parametrize(
    "before",
    ["", "no head", *(f"---\n{head}\n---\n" for head in ("", "[]", "{", "pretty_name: [a]", "pretty_name: ' '"))],
)
def test_a_card_without_a_name_is_of_edos(before: str) -> None:
    assert set_name(before) == "edos"


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1_000, "1K<n<10K"), (999_999, "100K<n<1M"), (10**6, "1M<n<10M"), (10**8, "n>10M")],
)
def test_size_categories(rows: int, name: str) -> None:
    assert size_category(rows) == name
