"""Damaged Delta tables: one line with table, file and cure, before a session opens."""

import json
import re
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


def _newer(folder: Path, **protocol: object) -> None:
    lines = [json.loads(line) for line in commit(folder, 0).read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] |= protocol
    commit(folder, 0).write_text("\n".join(map(json.dumps, lines)))


def _a_file(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("")


def _checkpoint(folder: Path) -> Path:
    (found,) = (folder / "_delta_log").glob("*.checkpoint.parquet")
    return found


def _lost_before_checkpoint(folder: Path) -> None:
    commit(folder, 1).unlink()
    cut(_checkpoint(folder), 300)


AGAIN = "take .* away"
DAMAGE: dict[str, tuple[int | None, Callable[[Path], object], str, str, str]] = {
    "the last commit is cut": (
        None,
        lambda one: cut(commit(one, 3), 90),
        "3.json",
        "cut or damaged in line 1",
        "delete it",
    ),
    "the last commit is empty": (
        None,
        lambda one: cut(commit(one, 3), 0),
        "3.json",
        "is empty",
        "delete it",
    ),
    "a commit in the middle is cut": (
        None,
        lambda one: cut(commit(one, 1), 90),
        "1.json",
        "cut or damaged",
        AGAIN,
    ),
    "a commit in the middle is gone": (
        None,
        lambda one: commit(one, 2).unlink(),
        "2.json",
        "version 3 is",
        AGAIN,
    ),
    "the first commit is gone": (
        None,
        lambda one: commit(one, 0).unlink(),
        "0.json",
        "is not there",
        AGAIN,
    ),
    "a commit of other bytes": (
        None,
        lambda one: commit(one, 1).write_bytes(b"\xff\0"),
        "1.json",
        "cannot be read",
        AGAIN,
    ),
    "a commit that is a list": (
        None,
        lambda one: commit(one, 1).write_text("[]"),
        "1.json",
        "no action of Delta in line 1",
        AGAIN,
    ),
    "a commit after a checkpoint is gone": (
        1,
        lambda one: commit(one, 2).unlink(),
        "2.json",
        "is not there",
        AGAIN,
    ),
    "a checkpoint is cut": (
        2,
        lambda one: cut(_checkpoint(one), 300),
        "checkpoint.parquet",
        "no checkpoint",
        "delete it and",
    ),
    "a checkpoint is empty": (
        2,
        lambda one: cut(_checkpoint(one), 0),
        "checkpoint.parquet",
        "no checkpoint",
        "delete it and",
    ),
    "a checkpoint is gone": (
        2,
        lambda one: _checkpoint(one).unlink(),
        "_last_checkpoint",
        "names checkpoint 2",
        "delete it",
    ),
    "a checkpoint is cut, and a commit gone": (
        2,
        _lost_before_checkpoint,
        "checkpoint.parquet",
        "no checkpoint",
        AGAIN,
    ),
    "the log is a file": (
        None,
        lambda one: _a_file(one / "_delta_log"),
        "_delta_log",
        "is a file",
        AGAIN,
    ),
    "the log is gone": (
        None,
        lambda one: shutil.rmtree(one / "_delta_log"),
        "_delta_log",
        "is not there",
        AGAIN,
    ),
    "the table is a file": (None, _a_file, "seeds", "is a file", AGAIN),
    "a protocol of the future": (
        None,
        lambda one: _newer(one, minReaderVersion=9),
        "0.json",
        "newer than 3, 7",
        "version of",
    ),
    "a feature of the future": (
        None,
        lambda one: _newer(one, minReaderVersion=3, minWriterVersion=7, readerFeatures=["timeTravel2"]),
        "0.json",
        "timeTravel2",
        "version of",
    ),
    "a file is gone": (
        None,
        lambda one: next(one.glob("*.parquet")).unlink(),
        ".parquet",
        "is not there",
        AGAIN,
    ),
    "a file is cut": (
        None,
        lambda one: cut(next(one.glob("*.parquet")), 50),
        ".parquet",
        "has 50 bytes",
        AGAIN,
    ),
    "a commit is cut at the end of a line": (
        None,
        lambda one: commit(one, 2).write_text(commit(one, 2).read_text().splitlines()[0] + "\n"),
        "2.json",
        "is cut: it announces 1 files, and 0 are in it",
        AGAIN,
    ),
    "a name longer than names may be": (
        None,
        lambda one: commit(one, 2).write_text(commit(one, 2).read_text().replace("-c000", "9" * 300)),
        ".parquet",
        "is not there",
        AGAIN,
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_with_table_file_and_cure(tmp_path: Path, damage: str) -> None:
    checkpoint, change, file, reason, cure = DAMAGE[damage]
    folder = lakehouse(tmp_path, checkpoint=checkpoint)
    assert list(table_faults(settings_of(tmp_path))) == []
    change(folder)
    (fault,) = table_faults(settings_of(tmp_path))
    assert fault.table == "edos.seeds"
    assert fault.file.name.endswith(file)
    assert reason in fault.reason
    assert re.search(cure, fault.cure)
    assert "\n" not in str(fault)


@pytest.mark.parametrize("version", [2, 3])
def test_the_cure_of_a_cut_last_commit_or_checkpoint_cures_it(tmp_path: Path, version: int) -> None:
    folder = lakehouse(tmp_path, checkpoint=2)
    broken = commit(folder, 3) if version == 3 else _checkpoint(folder)
    cut(broken, 40)
    (fault,) = table_faults(settings_of(tmp_path))
    assert fault.cure.startswith("delete it")
    broken.unlink()
    if version == 2:
        (folder / "_delta_log" / "_last_checkpoint").unlink()
    assert list(table_faults(settings_of(tmp_path))) == []
    assert DeltaTable(folder).version() == (2 if version == 3 else 3)


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
        assert told.startswith("edos-lakehouse: table ops.stage_runs: ")
        assert f"{2:020}.json" in told
        assert "all stages run again" in told
        assert told.count("\n") == 1


def test_tables_that_no_stage_here_uses_stop_nothing(tmp_path: Path) -> None:
    from etl.pipeline.table_checks import require_tables

    cut(commit(lakehouse(tmp_path, table="augesc/queries"), 1), 20)
    require_tables(chosen(all_stages(), to="clean_dialogues"), settings_of(tmp_path))
    with pytest.raises(InputError, match=r"table augesc\.queries"):
        require_tables(all_stages(), settings_of(tmp_path))


def test_damaged_tables_are_set_aside_and_those_of_commands_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = lakehouse(tmp_path)
    kept = lakehouse(tmp_path, table="subtitles/withdrawn")
    for folder in (made, kept):
        cut(commit(folder, 1), 20)
    given = ["check-tables", "--set", f"lakehouse.root={tmp_path}"]
    assert command_line.main(given) == 2
    assert capsys.readouterr().out.count("\n") == 2
    assert command_line.main([*given[:1], "--set-aside", *given[1:]]) == 2
    told = capsys.readouterr().out
    assert "table edos.seeds: set aside to" in told
    assert "subtitles.withdrawn: set aside" not in told
    assert "no stage makes it again" in told
    assert not made.exists()
    assert kept.exists()
    assert len(list((tmp_path / "_damaged").glob("edos.seeds-*/*.parquet"))) == 4
    shutil.rmtree(kept)
    assert command_line.main(given) == 0
    assert "are whole" in capsys.readouterr().out
