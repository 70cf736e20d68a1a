"""The Croissant file, the datasheet and the licence check of an export, and loaders that read the folder."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.augesc.export import about_augesc, augesc_card
from etl.edos.card import EDOS, EDOS_REFERENCES, about_edos, card, label_names, restored_croissant
from etl.edos.findings import EdosFindings
from etl.publishing.licences import LicensedPart, check_licence, used_sources

SPLITS = {"train": 5, "validation": 2, "test": 3}
HOSTILE = 'A "quoted" | line \u2028 with $name, {{ braces }} and <b>'
FINDINGS = EdosFindings({}, classifier={"macro_f1": 0.5, "accuracy": 0.6})


def settings(**changes: Any) -> Any:
    return load_settings("local", [], {f"publishing.{key}": value for key, value in changes.items()})


def sources_of(given: Settings) -> list[LicensedPart]:
    return used_sources(
        {"subtitles": given.subtitles, "edos": given.edos}, with_texts=given.publishing.text == "included"
    )


DETAILS = {
    "label_accepted": True,
    "start_ms": 100,
    "end_ms": 900,
    "certainty": 0.75,
    "border": "mark",
    "border_certainty": 0.875,
    "speaker": "ANA",
}


def rows(split: str, references: bool) -> list[dict[str, Any]]:
    found = []
    for number in range(SPLITS[split]):
        place = {"sentence_first": number, "sentence_last": number + 1, "text_check": "abc"}
        said = place if references else {"text": f"{HOSTILE} {number}"}
        turns = [{**said, "label": "sad", "confidence": 0.5, **DETAILS}] * (number + 1)
        source = {"release": "v2018", "language": "en", "subtitle_id": "7", "source_path": "x.xml"}
        keys = {"dialogue_id": f"{split}-{number}", "movie_id": "007"}
        facts = {"year": 1999, "genres": ["Drama", "Crime"], "certainty": 0.75}
        found.append({**keys, **(source if references else {"language": "en"}), **facts, "turns": turns})
    return found


@pytest.fixture(params=[False, True], ids=["texts", "references"])
def export(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bool]:
    """A small export in the layout of `export_dataset`, of two Parquet files for the training split."""
    publishing = settings(text="references" if request.param else "included").publishing
    for kind in ("parquet", "jsonl"):
        (tmp_path / kind).mkdir()
    for split in SPLITS:
        given = rows(split, request.param)
        parts = [given[:2], given[2:]] if split == "train" else [given]
        for number, part in enumerate(parts):
            stem = f"{split}-{number:05}-of-{len(parts):05}"
            pq.write_table(pa.Table.from_pylist(part), tmp_path / "parquet" / f"{stem}.parquet")
            lines = "".join(json.dumps(row) + "\n" for row in part)
            (tmp_path / "jsonl" / f"{stem}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "croissant.json").write_text(
        about_edos(FINDINGS, publishing, SPLITS, ["en"]).croissant("2026-11-27"), encoding="utf-8"
    )
    example = json.dumps(rows("train", request.param)[2])
    text = card(
        FINDINGS,
        publishing,
        rows=SPLITS,
        languages=["en"],
        sources=sources_of(settings()),
        example=example,
    )
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    return tmp_path, request.param


def test_mlcroissant_validates_it_and_reads_every_row(export: tuple[Path, bool]) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed (pip install '.[dev]')")
    folder, references = export
    data = mlc.Dataset(jsonld=folder / "croissant.json")
    assert not data.metadata.ctx.issues.errors
    assert data.metadata.ctx.is_v1_1()
    read = list(data.records("rows"))
    given = {row["dialogue_id"]: (split, row) for split in SPLITS for row in rows(split, references)}
    assert len(read) == len(given)
    for record in read:
        plain = {key.removeprefix("rows/"): value for key, value in record.items()}
        name = plain["dialogue_id"].decode()
        split, row = given[name]
        assert plain["split"].decode() == split
        assert len(plain["turns"]) == len(row["turns"])
        fields = EDOS_REFERENCES if references else EDOS
        for turn, wanted in zip(plain["turns"], row["turns"], strict=True):
            assert set(turn) == {f"rows/turns/{column}" for column in fields["turns"]}
            assert turn["rows/turns/label"].decode() == wanted["label"]


def test_its_fields_for_responsible_ai_are_known_and_filled(export: tuple[Path, bool]) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed (pip install '.[dev]')")
    content = json.loads((export[0] / "croissant.json").read_text("utf-8"))
    given = {key: value for key, value in content.items() if key.startswith("rai:")}
    assert len(given) >= 14
    assert "$" not in json.dumps(given)
    back = mlc.Dataset(jsonld=export[0] / "croissant.json").metadata.to_json()
    for key, value in given.items():
        # A list of one comes back as its item.
        assert back[key] in (value, value[0] if len(value) == 1 else None), key
    assert any("macro-F1 50.00" in text for text in given["rai:dataAnnotationProtocol"])


def test_loaders_read_the_folder_whole_and_as_a_stream(export: tuple[Path, bool], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (pip install '.[dev]')")
    folder, references = export
    whole = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    stream = datasets.load_dataset(str(folder), streaming=True, cache_dir=str(tmp_path / "stream"))
    assert list(stream) == list(whole) == list(SPLITS)
    for split in SPLITS:
        streamed = list(stream[split])
        assert streamed == list(whole[split]) == numbered(rows(split, references))
        lines = datasets.load_dataset("json", data_files=f"{folder}/jsonl/{split}-*", split="train", streaming=True)
        assert list(lines) == rows(split, references)


SAD = load_taxonomy("edos").names.index("sad")


def numbered(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the label's number in place of its name, as loaders give it."""
    return [{**row, "turns": [{**turn, "label": SAD} for turn in row["turns"]]} for row in given]


def test_the_hub_s_configuration_has_types_and_class_names(
    export: tuple[Path, bool], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (pip install '.[dev]')")
    folder, _ = export
    assert datasets.get_dataset_config_names(str(folder)) == ["dialogues"]
    dialogues = datasets.load_dataset(str(folder), "dialogues", split="train", cache_dir=str(tmp_path / "one"))
    turn = dialogues.features["turns"].feature
    assert turn["label"].names == list(load_taxonomy("edos").names)
    assert (turn["start_ms"].dtype, turn["confidence"].dtype) == ("int32", "float32")
    assert dialogues.features["year"].dtype == "int32"


def test_the_card_has_a_row_a_licence_and_what_to_cite(export: tuple[Path, bool]) -> None:
    text = (export[0] / "README.md").read_text("utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "other"
    assert head["license_name"] == "licences-of-the-sources"
    assert head["license_link"] == "#licence"
    assert "\n## Licence\n" in text
    shown = json.loads(text.partition("```json\n")[2].partition("\n```")[0])
    assert shown == {**rows("train", export[1])[2], "turns": rows("train", export[1])[2]["turns"][:2]}
    assert "A row (two of the 3 entries of `turns`)" in text
    cited = text.partition("```bibtex\n")[2].partition("\n```")[0]
    kinds = [line.split("{")[0] for line in cited.splitlines() if line.startswith("@")]
    assert kinds == ["@inproceedings", "@inproceedings", "@misc"]
    assert cited.count("{") == cited.count("}")
    described_now = json.loads((export[0] / "croissant.json").read_text("utf-8"))
    assert described_now["datePublished"] == "2026-11-27"
    assert described_now["citeAs"] == cited


@pytest.mark.parametrize(
    "text", ["", "no front matter", "---\n[\n---\n", "---\ndataset_info: 3\n---\n", "---\ndataset_info: [{}]\n---\n"]
)
def test_the_class_names_of_a_foreign_card_are_none(text: str) -> None:
    assert label_names(text) == []


def test_the_class_names_of_a_card_come_back(export: tuple[Path, bool]) -> None:
    assert label_names((export[0] / "README.md").read_text("utf-8")) == list(load_taxonomy("edos").names)


def test_the_card_answers_the_questions_of_a_datasheet(export: tuple[Path, bool]) -> None:
    text = (export[0] / "README.md").read_text("utf-8")
    sheet = text.partition("## Datasheet\n")[2].partition("\n## ")[0]
    assert sheet.count("?**\n") == 10
    before, _, after = text.partition("```json\n")
    assert "$" not in before + after.partition("\n```")[2]
    assert "10 dialogues with" in sheet


def test_an_augesc_export_has_the_same() -> None:
    content = json.loads(about_augesc("mine", SPLITS, ("jsonl", "parquet")).croissant())
    assert content["license"].endswith("CC-BY-NC-4.0.html")
    assert "10 conversations" in content["description"]
    assert len([key for key in content if key.startswith("rai:")]) >= 8
    assert "?**\n" in augesc_card(about_augesc("mine", SPLITS, ("parquet",)), {})


@pytest.mark.parametrize(
    ("licence", "text", "examples", "message"),
    [
        ("other", "included", None, None),
        ("mit", "included", None, "nobody here can license the films' texts"),
        ("cc-by-nc-4.0", "included", None, "nobody here can license the films' texts"),
        ("cc-by-4.0", "references", None, None),
        ("cc-by-4.0", "references", "labels", "EmpatheticDialogues .* took part"),
        ("cc-by-nc-4.0", "references", "labels", None),
    ],
)
def test_a_licence_grants_no_more_than_its_sources(licence, text, examples, message) -> None:
    given = load_settings(
        "local", [], {"publishing.text": text, "edos.weak_label_examples": examples, "subtitles.turn_examples": []}
    )
    sources = sources_of(given)
    assert any(one.part == "texts" for one in sources) == (text == "included")
    if message is None:
        check_licence(licence, sources)
    else:
        with pytest.raises(InputError, match=message):
            check_licence(licence, sources)


def test_the_settings_of_the_licence_table_exist() -> None:
    given = load_settings(
        "local",
        [],
        {
            "edos.crowd_votes": ["a"],
            "edos.released_labels": ["b"],
            "edos.weak_label_examples": "c",
            "subtitles.turn_examples": ["d"],
            "edos.emotion_transcripts": [],
        },
    )
    assert len(sources_of(given)) == 5


def test_an_export_with_restored_texts_is_described_as_one_with_texts() -> None:
    shared = settings(text="references", formats=["parquet", "jsonl"]).publishing
    whole = shared.model_copy(update={"text": "included"})
    text = restored_croissant(about_edos(FINDINGS, shared, SPLITS, ["en"]).croissant(), ["parquet", "jsonl"])
    assert text is not None
    assert json.loads(text) == json.loads(about_edos(FINDINGS, whole, SPLITS, ["en"]).croissant())


@pytest.mark.parametrize("before", ["", "{", "[]", "3"])
def test_without_a_description_none_is_made(before: str) -> None:
    assert restored_croissant(before, ["parquet"]) is None
