"""The report, the export and the notebook of a finished run."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.common.spelling import detokenised_text
from tests.jobs.conftest import REPOSITORY

NOTEBOOK = REPOSITORY / "notebooks" / "edos.ipynb"


def settings_of(root: Path, **more: str) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(root), **more})


@pytest.fixture(scope="module", params=["labelled", pytest.param("finished", marks=pytest.mark.long)])
def made(request: pytest.FixtureRequest, spark: SparkSession) -> Path:
    """The lakehouse of a run with its report and its export."""
    from jobs.edos.dataset import export_dataset, report_dataset
    from tests.stages import called, stage_run

    root: Path = request.getfixturevalue(request.param)
    if request.param == "labelled":
        settings = settings_of(root)
        for stage in (report_dataset, export_dataset):  # which read the tables themselves
            frames = [spark.createDataFrame([], table.schema) for table in stage.reads]
            called(stage, stage_run(spark, settings, "", stage), settings, *frames)
    return root


@pytest.mark.long
def test_the_report_tells_the_runs_numbers(finished: Path) -> None:
    text = (finished / "reports" / "edos.html").read_text("utf-8")
    dialogues = DeltaTable(str(finished / "edos/dialogues")).to_pyarrow_table().to_pylist()
    turns = sum(len(row["turns"]) for row in dialogues)
    films = len({row["movie_id"] for row in dialogues})
    assert f"{len(dialogues):,} short dialogues from {films:,} films" in text
    assert f"{turns:,} turns" in text
    for anchor in ("limits", "steps", "labels", "flow", "confidence", "examples", "people", "silences", "left-out"):
        assert f'<section id="{anchor}">' in text, anchor
    assert re.findall(r"(?:src|href)=\"(?!#)([^\"]*)", text) == []
    assert str(finished.parent) not in text


def test_the_report_is_an_artifact(made: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{made}/mlflow.db")
    experiment = client.get_experiment_by_name("edos")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id], "attributes.run_name = 'edos-report'")
    assert len(runs) == 1  # made once, though later runs looked again
    assert runs[0].data.metrics["dialogues"] == 100
    assert {one.path for one in client.list_artifacts(runs[0].info.run_id)} == {"edos.html", "tables"}


def test_the_export_has_every_dialogue_once(made: Path) -> None:
    folder = made / "exports" / "edos"
    manifest = json.loads((folder / "export.json").read_text())
    read: list[dict] = []
    for name in manifest["files"]:
        if name.startswith("parquet/"):
            read += pq.read_table(folder / name).to_pylist()
    dialogues = DeltaTable(str(made / "edos/dialogues")).to_pyarrow_table().to_pylist()
    texts = {row["dialogue_id"]: [detokenised_text(turn["text"]) for turn in row["turns"]] for row in dialogues}
    assert {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in read} == texts
    assert len(read) == len(texts) == sum(manifest["rows"].values())
    card = (folder / "README.md").read_text("utf-8")
    assert "100 short dialogues" in card
    assert str(made.parent) not in card
    head = yaml.safe_load(card.split("---\n")[1])
    for config in head["configs"]:
        for entry in config["data_files"]:
            assert list(folder.glob(entry["path"])), entry


def test_a_loader_of_data_sets_reads_the_export(made: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    import datasets

    folder = str(made / "exports" / "edos")
    rows = datasets.load_dataset(folder, cache_dir=str(tmp_path / "parquet"))
    found = {split: f"{folder}/jsonl/{split}-*" for split in rows}
    lines = datasets.load_dataset("json", data_files=found, cache_dir=str(tmp_path / "jsonl"))
    manifest = json.loads((made / "exports" / "edos" / "export.json").read_text())
    assert {split: len(rows[split]) for split in rows} == manifest["rows"]
    for split in rows:
        assert rows[split]["dialogue_id"] == lines[split]["dialogue_id"]
        assert rows[split][0]["turns"][0]["text"] == lines[split][0]["turns"][0]["text"]


@pytest.fixture(scope="module")
def shared_out(made: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The finished run's export with references in place of texts."""
    from jobs.edos.dataset import export_dataset
    from tests.stages import called, stage_run

    folder = tmp_path_factory.mktemp("shared") / "edos"
    settings = settings_of(made, **{"publishing.text": "references", "publishing.folder": str(folder)})
    said: list[str] = []
    run = stage_run(spark, settings, "", export_dataset, say=said.append)
    frames = [spark.createDataFrame([], table.schema) for table in export_dataset.reads]  # it reads the tables itself
    called(export_dataset, run, settings, *frames)
    stamps = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    called(export_dataset, run, settings, *frames)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == stamps
    exports = [line.split(":")[0] for line in said if line.startswith("export ")]
    assert exports == ["export written", "export unchanged"]
    yield folder


def test_no_word_of_a_film_is_in_an_export_with_references(made: Path, shared_out: Path) -> None:
    rows = [row for path in sorted(shared_out.glob("parquet/*")) for row in pq.read_table(path).to_pylist()]
    assert len(rows) == 100
    assert {"release", "subtitle_id", "source_path"} <= set(rows[0])
    turn = {"sentence_first", "sentence_last", "text_check", "label", "confidence"}
    details = {"label_accepted", "start_ms", "end_ms", "certainty", "border", "border_certainty", "speaker"}
    assert set(rows[0]["turns"][0]) == turn | details
    assert "restore-text" in (shared_out / "README.md").read_text("utf-8")


@pytest.mark.long
def test_texts_come_back_from_the_readers_own_copy(
    made: Path, shared_out: Path, spark: SparkSession, tmp_path: Path, monkeypatch, capsys
) -> None:
    from etl.cli import restore_text as command

    monkeypatch.setattr(command, "spark_session", lambda *_: spark)
    monkeypatch.setattr(command, "close_session", lambda *_: None)
    back = tmp_path / "back"
    more = {"publishing.references": str(shared_out), "publishing.folder": str(back)}
    assert command.restore_text(settings_of(made, **more)) == 0
    assert "100 of 100 dialogues have their text again" in capsys.readouterr().out
    own = made / "exports" / "edos"
    names = sorted(path.relative_to(own).as_posix() for path in own.glob("*/*"))
    assert names == sorted(path.relative_to(back).as_posix() for path in back.glob("*/*"))
    for name in (one for one in names if one.startswith("parquet")):
        assert pq.read_table(back / name).to_pylist() == pq.read_table(own / name).to_pylist(), name


@pytest.mark.parametrize(
    ("references", "line"),
    [("", "set publishing.references"), ("nowhere", "nowhere is not an export with references")],
)
def test_restoring_says_what_is_missing(tmp_path: Path, spark: SparkSession, monkeypatch, references, line) -> None:
    from conf.errors import InputError
    from etl.cli import restore_text as command

    monkeypatch.setattr(command, "spark_session", lambda *_: spark)
    monkeypatch.setattr(command, "close_session", lambda *_: None)
    with pytest.raises(InputError, match=line):
        command.restore_text(settings_of(tmp_path, **{"publishing.references": references}))


def test_the_notebook_is_committed_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 12
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom(finished: Path, monkeypatch) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("EDOS_ROOT", str(finished))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*.json")}
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": NOTEBOOK.parent}}
    ).execute()
    told = "".join(str(cell.get("outputs")) for cell in notebook.cells)
    for text in ("100 dialogues", "edos_table_9", "questioning", "unexplained", "finished, every turn labelled"):
        assert text in told, text
    assert told.count("<iframe") == 5
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*.json")} == before
