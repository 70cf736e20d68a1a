"""The whole pipeline on the project's own corpus: what goes in comes out or is accounted for."""

import json
import re
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.jobs.conftest import CONNECTIONS, ON_REQUEST, SAID, TinyRun
from tests.jobs.tables import TABLES, rows_of, table, versions


def test_every_good_file_is_read_with_its_counts(tiny: TinyRun, made: Path) -> None:
    rows = table(made, "subtitles/files")
    read = {row["subtitle_id"]: (row["sentence_count"], row["token_count"]) for row in rows}
    assert len(read) == len(rows)
    assert tiny.facts.files == read


def test_every_fault_is_quarantined_with_its_reason(tiny: TinyRun, made: Path) -> None:
    found = {row["source_path"]: row["reason"] for row in table(made, "subtitles/quarantine")}
    expected = {path.removeprefix("OpenSubtitles/v2018/"): reason for path, reason in tiny.facts.quarantined.items()}
    ledger = table(made, "ops/dropped")
    again = {row["id"] for row in ledger if row["reason"] == "same_upload_again"}
    assert found == expected
    assert not again & set(expected)


def test_accounts_add_up_in_every_stage(made: Path) -> None:
    done = [row for row in table(made, "ops/stage_runs") if row["event"] == "done" and row["rows_in"] is not None]
    assert {"find_subtitles", "ingest_subtitles", "score_turns", "clean_dialogues"} <= {row["stage"] for row in done}
    for row in done:
        left = row["rows_out"] + row["rows_dropped"] + row["rows_quarantined"]
        assert row["rows_in"] == left, row["stage"]


def test_finished_dialogues_lead_back_to_sentences(made: Path) -> None:
    dialogues = table(made, "edos/dialogues")
    assert len(dialogues) == 100
    clean = {row["dialogue_id"]: row for row in table(made, "subtitles/clean_dialogues")}
    files = {row["subtitle_id"]: row for row in table(made, "subtitles/files")}
    for dialogue in dialogues:
        subtitle_id, first = dialogue["dialogue_id"].rsplit("-", 1)
        source = clean[dialogue["dialogue_id"]]
        assert [turn["text"] for turn in dialogue["turns"]] == [turn["text"] for turn in source["turns"]]
        assert source["turns"][0]["sentence_first"] == int(first) or source["turns"][0]["sentence_first"] >= int(first)
        assert files[subtitle_id]["movie_id"] == dialogue["movie_id"]
        assert all(turn["label"] and 0 <= turn["confidence"] <= 1 for turn in dialogue["turns"])


def test_no_stage_reaches_another_machine(made: Path) -> None:
    attempts = CONNECTIONS.read_text("utf-8") if CONNECTIONS.exists() else ""
    assert attempts == ""


@pytest.mark.slow
def test_running_again_writes_nothing(tiny: TinyRun, finished: Path) -> None:
    before = versions(finished)
    again = tiny.run(finished, command=("run", "--to", f"describe_dataset,{ON_REQUEST}"))
    assert again.returncode == 0, again.stderr
    assert versions(finished) == before
    ran = [line for line in again.stdout.splitlines() if line.startswith("[") and "nothing to do" not in line]
    names = {line.split()[1] if line.split()[0] != "[" else line.split()[2] for line in ran}
    assert names <= {"describe_dataset", "export_dataset", "report_dataset"}
    assert "report unchanged" in again.stdout
    assert "export unchanged" in again.stdout


@pytest.mark.slow
def test_a_deleted_table_alone_is_rebuilt(tiny: TinyRun, finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "lakehouse"
    shutil.copytree(finished, root)
    shutil.rmtree(root / "edos" / "dialogues")
    before = versions(root)
    again = tiny.run(root)
    assert again.returncode == 0, again.stderr
    after = versions(root)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"edos/dialogues", "ops/stage_runs"}
    assert rows_of(root, "edos/dialogues") == rows_of(finished, "edos/dialogues")


@pytest.mark.slow
def test_one_core_gives_the_same_tables(tiny: TinyRun, finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "lakehouse"
    done = tiny.run(root, "spark.master=local[1]", "spark.shuffle_partitions=3")
    assert done.returncode == 0, done.stderr
    for name in TABLES:
        assert rows_of(root, name) == rows_of(finished, name), name


@pytest.mark.slow
def test_a_pilot_takes_whole_films(tiny: TinyRun, finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "lakehouse"
    done = tiny.run(root, "subtitles.sample=0.5", command=("run", "--to", "choose_uploads"))
    assert done.returncode == 0, done.stderr
    everything = {row["source_path"]: row["movie_id"] for row in table(finished, "subtitles/files")}
    pilot = {row["source_path"]: row["movie_id"] for row in table(root, "subtitles/files")}
    films = set(pilot.values())
    assert 0 < len(pilot) < len(everything)
    assert {path for path, film in everything.items() if film in films} >= set(pilot)


@pytest.mark.parametrize(
    ("place", "engine"),
    [("labelled", []), pytest.param("finished", ["--engine", "spark"], marks=pytest.mark.long)],
    ids=["duckdb", "spark"],
)
def test_sql_sees_tables_and_views(request: pytest.FixtureRequest, place: str, engine: list[str]) -> None:
    from tests.jobs.conftest import jobs

    root = request.getfixturevalue(place)
    statements = "SELECT count(*) AS n FROM edos.dialogues; SELECT '; it ends' AS mark;"
    shown = jobs("sql", "--set", f"lakehouse.root={root}", *engine, "-e", statements)
    assert shown.returncode == 0, shown.stderr
    assert "100" in shown.stdout
    assert "; it ends" in shown.stdout


@pytest.mark.slow
def test_queries_of_the_readme_and_the_cookbook_run(finished: Path) -> None:
    from etl.publishing.without_spark import connect
    from tests.jobs.conftest import jobs
    from tests.pages import PAGES, queries

    asked = [query.strip().rstrip(";") for page in ("README.md", "docs/cookbook.md") for query in queries(PAGES[page])]
    assert len(asked) >= 13
    shown = jobs("sql", "--set", f"lakehouse.root={finished}", "--engine", "spark", "-e", ";\n".join(asked))
    assert shown.returncode == 0, shown.stderr
    assert len(re.findall(r"^\((?:first )?\d+ rows?.*\)$", shown.stdout, re.MULTILINE)) == len(asked)
    both = [query for query in asked if "array_join" not in query]  # its DuckDB form follows it on the page
    with connect(finished) as lakehouse:
        assert all(lakehouse.execute(query).description for query in both)


@pytest.mark.slow
def test_schedulers_read_status_and_plan(tiny: TinyRun, finished: Path) -> None:
    done = tiny.run(finished, command=("status", "--json"))
    states = {one["stage"]: one for one in json.loads(done.stdout)}
    assert states["clean_dialogues"]["state"] == "done"
    assert states["clean_dialogues"]["rows_out"] > 0
    assert done.stderr == "", "local sessions print no warnings"


@pytest.mark.long
def test_the_whole_run_is_of_all_chapters(finished: Path) -> None:
    done = [row for row in table(finished, "ops/stage_runs") if row["event"] == "done" and row["rows_in"] is not None]
    assert len(done) >= 15


@pytest.mark.long
def test_trainings_are_tracked_without_pickles(finished: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{finished}/mlflow.db")
    names = {model.name for model in client.search_registered_models()}
    assert names == {"edos-turn-segmenter", "edos-weak-labeler", "edos-emotion-classifier"}
    for name in names:
        assert str(client.get_model_version_by_alias(name, "champion").version) == "1"
    stored = [path for path in (finished / "_mlflow").rglob("*") if path.is_file()]
    assert any(path.suffix == ".safetensors" for path in stored)
    assert not [path for path in stored if path.suffix in (".pkl", ".pt", ".bin", ".pickle")]


@pytest.mark.long
def test_a_run_ends_with_a_screen_of_what_was_made(finished: Path) -> None:
    shown = (finished.parent / SAID).read_text("utf-8")
    screen = shown.partition("describe_dataset (prints what is there)")[2].partition("describe_dataset: done")[0]
    for text in ("dialogues of", "preset released", "left by cleaning", "what cost most", "python -m jobs read"):
        assert text in screen, text
    assert len(screen.strip("\n").split("\n")) <= 25


def test_commits_tell_their_provenance(made: Path) -> None:
    history = DeltaTable(str(made / "subtitles/dialogues")).history()
    lineage = [json.loads(entry["userMetadata"]) for entry in history if entry.get("userMetadata")]
    assert lineage
    assert all(one["stage"] == "segment_dialogues" and one["inputs"] for one in lineage)
