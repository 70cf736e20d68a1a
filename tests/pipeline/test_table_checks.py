"""Damaged Delta tables: one line with table, file and cure, before a session opens."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from conf.errors import InputError
from conf.settings import Settings, load_settings
from etl.cli import command_line, overviews, running
from etl.pipeline.planner import chosen
from etl.pipeline.table_checks import table_faults
from jobs import all_stages

TABLE = "edos/seeds"


def lakehouse(root: Path, commits: int = 4, checkpoint: int | None = None, table: str = TABLE) -> Path:
    """Write a table in some commits, with a checkpoint after one of them; return its folder."""
    folder = root / table
    for number in range(commits):
        write_deltalake(folder, pa.table({"x": [number]}), mode="append")
        if number == checkpoint:
            DeltaTable(folder).create_checkpoint()
    return folder


def settings_of(root: Path) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(root)})


def commit(folder: Path, version: int) -> Path:
    return folder / "_delta_log" / f"{version:020}.json"


def cut(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])


def _a_file(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("")


def _checkpoint(folder: Path) -> Path:
    (found,) = (folder / "_delta_log").glob("*.checkpoint.parquet")
    return found


DAMAGE: dict[str, tuple[int | None, Callable[[Path], object], str]] = {
    "the last commit is cut": (None, lambda one: cut(commit(one, 3), 90), "cannot be read"),
    "the last commit is empty": (None, lambda one: cut(commit(one, 3), 0), "3.json is empty"),
    "a commit in the middle is cut": (None, lambda one: cut(commit(one, 1), 90), "cannot be read"),
    "a commit in the middle is gone": (None, lambda one: commit(one, 2).unlink(), "found gap"),
    "the first commit is gone": (None, lambda one: commit(one, 0).unlink(), "cannot be read"),
    "a commit of other bytes": (None, lambda one: commit(one, 1).write_bytes(b"\xff\0"), "cannot be read"),
    "a commit that is a list": (None, lambda one: commit(one, 1).write_text("[]"), "cannot be read"),
    "a commit after a checkpoint is gone": (1, lambda one: commit(one, 2).unlink(), "Gap between checkpoint"),
    "a checkpoint is cut": (2, lambda one: cut(_checkpoint(one), 300), "cannot be read"),
    "a checkpoint is gone": (2, lambda one: _checkpoint(one).unlink(), "didn't find any checkpoints"),
    "the log is a file": (None, lambda one: _a_file(one / "_delta_log"), "has no commit"),
    "the log is gone": (None, lambda one: shutil.rmtree(one / "_delta_log"), "has no commit"),
    "the table is a file": (None, _a_file, "has no commit"),
    "a file is gone": (None, lambda one: next(one.glob("*.parquet")).unlink(), "does not exist"),
    "a file is cut": (None, lambda one: cut(next(one.glob("*.parquet")), 50), "has 50 bytes"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_with_table_and_cure(tmp_path: Path, damage: str) -> None:
    checkpoint, change, reason = DAMAGE[damage]
    folder = lakehouse(tmp_path, checkpoint=checkpoint)
    assert list(table_faults(settings_of(tmp_path))) == []
    change(folder)
    (fault,) = table_faults(settings_of(tmp_path))
    assert fault.table == "edos.seeds"
    assert reason in fault.reason
    assert f"take {folder} away" in fault.cure
    assert "\n" not in str(fault)


def test_a_protocol_that_delta_rs_does_not_know_is_no_damage(tmp_path: Path) -> None:
    first = commit(lakehouse(tmp_path), 0)
    first.write_text(first.read_text().replace('"minReaderVersion":1', '"minReaderVersion":9'))
    assert list(table_faults(settings_of(tmp_path))) == []


@pytest.mark.parametrize("left", [0, 80])
def test_a_damaged_log_of_runs_is_told_before_a_session_opens(
    tmp_path: Path, left: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr(overviews, "spark_session", opened)
    monkeypatch.setattr(running, "in_session", opened)
    cut(commit(lakehouse(tmp_path, table="ops/stage_runs"), 2), left)
    for command in ("plan", "status", "run", "ingest_subtitles"):
        assert command_line.main([command, "--set", f"lakehouse.root={tmp_path}"]) == 2
        out, told = capsys.readouterr()
        assert out == ""
        *before, line = told.splitlines()
        assert line.startswith("edos-lakehouse: table ops.stage_runs: ")
        assert "all stages run again" in line
        assert len(before) == (command == "plan"), before


def test_tables_that_no_stage_here_uses_stop_nothing(tmp_path: Path) -> None:
    from etl.pipeline.table_checks import require_tables

    cut(commit(lakehouse(tmp_path, table="augesc/queries"), 1), 20)
    require_tables(chosen(all_stages(), to="clean_dialogues"), settings_of(tmp_path))
    with pytest.raises(InputError, match=r"table augesc\.queries"):
        require_tables(all_stages(), settings_of(tmp_path))


def test_damaged_tables_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = lakehouse(tmp_path)
    kept = lakehouse(tmp_path, table="subtitles/withdrawn")
    for folder in (made, kept):
        cut(commit(folder, 1), 20)
    given = ["check-tables", "--set", f"lakehouse.root={tmp_path}"]
    assert command_line.main(given) == 2
    told = capsys.readouterr().out
    assert told.count("\n") == 2
    assert "no stage makes it again" in told
    shutil.rmtree(made)
    shutil.rmtree(kept)
    assert command_line.main(given) == 0
    assert "are sound" in capsys.readouterr().out
