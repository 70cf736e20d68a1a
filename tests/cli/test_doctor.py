"""``python -m jobs doctor``."""

import os
from pathlib import Path

import pytest

from conf.settings import load_settings
from etl.cli import doctor
from etl.cli.doctor import (
    SetupCheck,
    folder_check,
    jars_check,
    lines,
    memory_bytes,
    memory_check,
    python_check,
)


def test_the_report_has_a_line_for_each_thing_and_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    status = doctor.doctor(load_settings("local"))
    printed = capsys.readouterr().out
    for what in ("Python", "Java", "jars", "cores", "memory", "GPU", "tables", "scratch", "addresses"):
        assert f" {what} " in printed
    assert [line for line in printed.splitlines() if len(line) > 80 and " " in line[17:].strip()] == []
    assert status == (2 if "WRONG" in printed else 0)


def test_what_is_wrong_has_its_cure_below_it() -> None:
    found = list(lines([SetupCheck("disk", "full", "free some"), SetupCheck("cores", "2")]))
    assert found == ["WRONG disk       full", "                 fix: free some", "ok    cores      2"]


def test_a_path_stays_in_one_piece() -> None:
    path = "/home/somebody/" + "a-long-folder/" * 6 + "python"
    found = list(lines([SetupCheck("Python", f"3.11.7, {path}", f"remove {path} and install it again")]))
    assert [line.split(maxsplit=1)[-1] for line in found if path in line] == [path, path]


@pytest.mark.parametrize(
    ("version", "right"), [((3, 11, 7), True), ((3, 12, 0), True), ((3, 10, 9), False), ((3, 13, 0), False)]
)
def test_python(version: tuple[int, ...], right: bool) -> None:
    assert (python_check(version, "python").cure is None) == right


def test_jars(tmp_path: Path) -> None:
    assert jars_check(tmp_path, None).cure is not None
    (tmp_path / "delta.jar").touch()
    assert jars_check(tmp_path, None).cure is None


@pytest.mark.parametrize(
    ("memory", "asked", "cure"),
    [
        (8 << 30, "4g", None),
        (1 << 30, "4g", "give the container"),
        (4 << 30, "4g", "spark.driver_memory=2048m"),
        (4 << 30, None, None),
    ],
)
def test_memory(memory: int, asked: str | None, cure: str | None) -> None:
    found = memory_check(memory, asked)
    assert (found.cure is None) if cure is None else cure in str(found.cure)


def test_a_containers_limit_is_its_memory(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("1048576\n")
    assert memory_bytes(limit) == 1 << 20
    limit.write_text("max\n")
    assert memory_bytes(limit) == memory_bytes(tmp_path / "nowhere") > 1 << 20


def test_folders(tmp_path: Path) -> None:
    assert folder_check("tables", str(tmp_path / "new" / "one"), "elsewhere").cure is None
    (tmp_path / "file").touch()
    assert folder_check("tables", str(tmp_path / "file" / "in"), "elsewhere").cure == "elsewhere"
    assert folder_check("tables", "/proc/1/new", "elsewhere").cure is not None or os.getuid() == 0


def test_no_value_of_a_variable_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dpassword=hunter2")
    doctor.doctor(load_settings("local"))
    printed = capsys.readouterr().out
    assert "SPARK_SUBMIT_OPTS" in printed
    assert "hunter2" not in printed
