"""The examples of Emo Pillars as files: origins of labels, faults, requests, splits by plot, the map, the card."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from etl.emo_pillars import tables
from etl.emo_pillars.examples import split_of
from etl.emo_pillars.export import (
    EMO_PILLARS,
    ROWS,
    Figures,
    Made,
    about_emo_pillars,
    as_csv,
    emo_pillars_card,
    faults_of,
    mapped_names,
    models_of,
    published_rows,
)
from etl.emo_pillars.settings import EmoPillarsPublishing
from etl.emo_pillars.step import OURS
from etl.emo_pillars.steps import SYNTHESIS
from etl.publishing.exports import Manifest, first_row, write_export

HOSTILE = 'He said "no" | twice, \u2028 $name <b> \U0001f600'


def request(step: str, number: int) -> tuple[str, str, str]:
    return (f"r-{step}-{number}", f"h-{step}-{number}", "openai:m")


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> Made:
    """Forty examples of ten plots; every fourth has a context, the last of these no rewritten utterance."""
    places = range(40)
    plots = [f"p{n // 4}" for n in places]
    names = [f"{plots[n]}-1-{n}" for n in places]
    with_context = [n for n in places if n % 4 == 0]
    labels = [("optimism", 0.9), ("joy", 0.4)]
    examples = [
        (names[n], plots[n], f"{plots[n]}-1", "Ann", HOSTILE, "optimism", labels, n in with_context, "train")
        for n in places
    ]
    contextual = [
        (names[n], plots[n], f"{plots[n]}-1", "Ann", "It rained.", HOSTILE, "So be it.", "optimism", labels, "train")
        for n in with_context[:-1]
    ]
    faults = ["names_emotion"]
    said = [
        (names[n], plots[n], f"{plots[n]}-1", "Ann", 1, HOSTILE, "hope", "optimism", True, None, faults) for n in places
    ]
    soft = [
        (name, place, raw, level, label, raw != label, None, [])
        for name in names
        for place, (raw, level, label) in enumerate(
            [("hope", 0.9, "optimism"), ("joy", 0.4, "joy"), ("fear", 0.1, "fear")], start=1
        )
    ]
    contexts = [(names[n], "It rained. She was glad.", False, ["repeats_itself"]) for n in with_context]
    clean = [(names[n], "It rained.", False, False, []) for n in with_context]
    rewrites = [(names[n], "So be it.", True, ["too_few_words"]) for n in with_context[:-1]]
    actors = [(f"{plot}-1", plot, 1, "Ann", "Ann", None, request("actors", 0)) for plot in sorted(set(plots))]
    stories = [(plot, f"Story {plot}", "f", "It rained.", 3, 3, 1.0, 3) for plot in sorted(set(plots))]

    def asked(step: str, rows: list) -> list:
        return [(*row, request(step, number)) for number, row in enumerate(rows)]

    rows = {
        "actors": actors,
        "utterances": asked("utterances", said),
        "soft_labels": asked("soft_labels", soft),
        "contexts": asked("contexts", contexts),
        "clean_contexts": asked("clean_contexts", clean),
        "rewrites": asked("rewrites", rewrites),
    }
    return Made(
        spark.createDataFrame(examples, tables.EXAMPLES.schema),
        spark.createDataFrame(contextual, tables.CONTEXTUAL_EXAMPLES.schema),
        spark.createDataFrame(stories, tables.PLOTS.schema),
        {step.name: spark.createDataFrame(rows[step.name], step.table.schema) for step in SYNTHESIS},
    )


@pytest.fixture(scope="module")
def folder(spark: SparkSession, made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("export") / "out"
    settings = EmoPillarsPublishing()
    rows = published_rows(made)
    done = write_export(
        spark,
        str(place),
        rows,
        Manifest("x", "included", {}, {}),
        settings.formats,
        8,
        ROWS,
    )
    figures = Figures(done.rows, 9, models_of(rows), faults_of(rows))
    label_map = mapped_names(made.steps["soft_labels"], OURS)
    example = first_row(spark, str(place), done, ROWS.key)
    card = emo_pillars_card(settings, figures, label_map, {}, OURS, example)
    (place / "README.md").write_text(card, "utf-8")
    described = about_emo_pillars(settings, figures, OURS).croissant(done.written)
    (place / "croissant.json").write_text(described, "utf-8")
    (place / "label_map.csv").write_text(as_csv(label_map), "utf-8")
    return place


def test_loaders_open_it(folder: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    whole = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    counts = json.loads((folder / "export.json").read_text("utf-8"))["rows"]
    assert {split: len(rows) for split, rows in whole.items()} == counts
    assert sum(counts.values()) == 40
    lines = datasets.load_dataset(
        "json", data_files={split: f"{folder}/jsonl/{split}-*" for split in whole}, cache_dir=str(tmp_path / "lines")
    )
    for split in whole:
        assert lines[split]["utterance_id"] == whole[split]["utterance_id"]
        assert set(whole[split].column_names) == set(EMO_PILLARS)
    plots = spark.createDataFrame([(f"p{n}",) for n in range(10)], "plot_id string")
    by_plot = {row.plot_id: row.split for row in plots.select("plot_id", split_of("plot_id").alias("split")).collect()}
    assert {(row["plot_id"], split) for split, rows in whole.items() for row in rows} == set(by_plot.items())
    rows = {row["utterance_id"]: row for part in whole.values() for row in part}
    classes = next(iter(whole.values())).features["primary_label"]
    assert classes.names == list(OURS.names)
    first = rows["p0-1-0"]
    assert first["utterance"] == HOSTILE
    assert classes.int2str(first["primary_label"]) == "optimism"
    assert (first["primary_raw_label"], first["primary_was_mapped"]) == ("hope", True)
    assert [one["raw_label"] for one in first["soft_labels"]] == ["hope", "joy", "fear"]
    assert [one["was_mapped"] for one in first["soft_labels"]] == [True, False, False]
    assert classes.int2str([one["label"] for one in first["labels"]]) == ["optimism", "joy"]
    assert (first["context"], first["rewritten"], first["title"]) == ("It rained.", "So be it.", "Story p0")
    assert [(one["step"], one["fault"]) for one in first["faults"]] == [
        ("utterances", "names_emotion"),
        ("contexts", "repeats_itself"),
        ("rewrites", "too_few_words"),
    ]
    asked = {one["step"]: (one["request_id"], one["prompt_hash"], one["model"]) for one in first["requests"]}
    assert asked["utterances"] == request("utterances", 0)
    assert list(asked) == ["actors", "utterances", "soft_labels", "contexts", "clean_contexts", "rewrites"]
    for without in (rows["p0-1-1"], rows["p9-1-36"]):
        assert (without["context"], without["rewritten"]) == (None, None)
        assert [one["step"] for one in without["requests"]] == ["actors", "utterances", "soft_labels"]
        assert [one["step"] for one in without["faults"]] == ["utterances"]


def test_programs_read_its_description(folder: Path) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed (pip install '.[dev]')")
    data = mlc.Dataset(jsonld=folder / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    read = list(data.records("rows"))
    assert len(read) == 40
    assert re.fullmatch(
        r"20\d\d-\d\d-\d\d", json.loads((folder / "croissant.json").read_text("utf-8"))["datePublished"]
    )
    assert data.metadata.cite_as.startswith("@misc{shvets2025emopillars,")
    assert {key.removeprefix("rows/") for key in read[0]} == {"split", *EMO_PILLARS}
    record = next(one for one in read if one["rows/utterance_id"] == b"p0-1-0")
    assert [one["rows/soft_labels/raw_label"] for one in record["rows/soft_labels"]] == [b"hope", b"joy", b"fear"]


def test_the_map_has_every_name_and_how_often_it_was_used(folder: Path) -> None:
    rows = {row["raw_label"]: row for row in csv.DictReader(io.StringIO((folder / "label_map.csv").read_text("utf-8")))}
    assert (rows["hope"]["label"], rows["hope"]["soft_labels"]) == ("optimism", "40")
    assert (rows["anxiety"]["label"], rows["anxiety"]["soft_labels"]) == ("nervousness", "0")
    assert (rows["calm"]["label"], rows["calm"]["source"]) == ("", "Emo Pillars 4")
    assert (rows["grief"]["label"], rows["grief"]["source"]) == ("grief", "")


def test_the_card_counts_models_faults_and_mapped_names(folder: Path) -> None:
    text = (folder / "README.md").read_text("utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "other"
    assert head["license_name"] == "licences-of-the-sources"
    assert head["configs"][0]["config_name"] == "examples"
    assert "@misc{emo-pillars," in text
    assert re.search(r'^ "utterance_id": "p\d-1-\d+",$', text, re.MULTILINE)
    assert head["configs"][0]["data_files"][0]["path"] == "parquet/train-*.parquet"
    assert "40 utterances" in text
    assert "| hope | optimism | Emo Pillars 4 | 40 |" in text
    assert "| rewrites | too_few_words | 9 |" in text
    assert "| utterances | openai:m | 40 |" in text
    assert "| contexts | openai:m | 9 |" in text
    assert "?**\n" in text
    assert "$" not in text.replace(" $name <b>", "")  # the example's own text
