"""The benchmarks' helper: medians of alternating rounds, aims, the page and the replacement of its parts."""

import json
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import NAMES
from tests.benchmarks.harness import Progress, Result, Row, alternate, machine
from tests.benchmarks.page import merged, page, section, write_page


def result(title: str, ratio: float = 2.0) -> dict[str, object]:
    rows = [Row("a folder", "50 MB/s", "a peer", "25 MB/s", ratio, least=1.5, before="1.38")]
    return Result(title, "Seconds.", "two files", rows, "it is slow", ("numpy",), "python -m x").to_json()


def test_works_take_turns_and_each_has_its_median() -> None:
    now = [0.0]
    said = []

    def work(name: str, lengths: list[float]):
        def run() -> None:
            said.append(name)
            now[0] += lengths.pop(0)

        return run

    works = {"ours": work("ours", [1.0, 9.0, 2.0]), "peer": work("peer", [4.0, 4.0, 5.0])}
    assert alternate(works, 3, Progress("a test", 6), lambda: now[0]) == {"ours": 2.0, "peer": 4.0}
    assert said == ["ours", "peer"] * 3


@pytest.mark.parametrize(
    "ratio, least, most, reached",
    [
        (2.0, 2.0, None, True),
        (1.994, 2.0, None, False),
        (1.996, 2.0, None, True),
        (39.0, None, 40.0, True),
        (1.2, None, 1.1, False),
        (3e-7, None, 1e-5, True),
        (3e-5, None, 1e-5, False),
        (0.5, None, None, None),
    ],
)
def test_an_aim_is_reached_by_the_figure_that_is_shown(
    ratio: float, least: float | None, most: float | None, reached: bool | None
) -> None:
    assert Row("work", "", "", "", ratio, least, most).reached is reached


def test_a_cause_is_told_only_where_an_aim_is_missed() -> None:
    assert "it is slow" in section(Result.from_json(result("Reading", 1.0)))
    assert "it is slow" not in section(Result.from_json(result("Reading", 1.5)))


def test_a_part_replaces_its_own_section_alone(tmp_path: Path) -> None:
    places = (tmp_path / "benchmarks.md", tmp_path / "results.json")
    write_page(*places, {"reading": result("Reading"), "similarity": result("Similar dialogues")}, NAMES)
    write_page(*places, {"embeddings": result("Embeddings"), "similarity": result("Similar dialogues", 0.25)}, NAMES)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Reading", "## Embeddings", "## Similar dialogues"]
    assert "| 2.00 |" in text
    assert "| 0.25 |" in text
    assert text == page(json.loads((tmp_path / "results.json").read_text(encoding="utf-8")))


def test_results_of_unknown_names_stay_at_the_end() -> None:
    assert list(merged({"old": 1, "generation": 2}, {"reading": 3}, NAMES)) == ["reading", "generation", "old"]


def test_each_table_row_has_all_columns() -> None:
    lines = [line for line in section(Result.from_json(result("Reading"))).splitlines() if line.startswith("|")]
    assert len(lines) == 3
    assert {line.count("|") for line in lines} == {9}


def test_the_machine_is_described() -> None:
    found = machine(("no-such-package",))
    assert found["cores"] >= 1
    assert found["memory_gib"] >= 1
    assert found["cpu"]
    assert found["versions"]["no-such-package"] == "not installed"
    assert found["versions"]["pyspark"] != "not installed"
