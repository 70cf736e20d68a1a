"""Each name on the page of the papers' items exists: files, names in them, stages, views, settings, tests."""

import ast
import re
from pathlib import Path

import pytest

from conf.settings import Settings
from conf.taxonomy import load_taxonomy
from etl.publishing.views import all_views
from jobs import all_stages

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "papers.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE)
WORDS = {"paper", "released", "trusted", "local", "classifier_test", "classifier_valid"}
"""Other words in code font."""
READING = re.compile(r"(?:right|not there|\[deviation\]\(deviations\.md#([\w-]+)\))(?:: .+|$)")


def has_name(path: Path, name: str) -> bool:
    tree = ast.parse(path.read_text("utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    found |= {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}  # type: ignore[attr-defined]
    return name in found


def has_setting(key: str) -> bool:
    value: object = Settings()
    for part in key.partition("=")[0].split("."):
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


@pytest.fixture(scope="module")
def known() -> set[str]:
    return {*all_views(load_taxonomy("edos")), *(stage.name for stage in all_stages())}


def exists(name: str, known: set[str]) -> bool:
    file, _, inside = name.partition("::")
    path = REPOSITORY / file
    if "/" in file:
        return path.is_file() and (not inside or has_name(path, inside))
    return name in known or has_setting(name)


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return (number, reading) of the rows of each section that says how to read its readings."""
    parts = PAGE.split("\n## ")[1:]
    found = {part.partition("\n")[0]: [(row[0], row[4].strip()) for row in ROW.findall(part)] for part in parts}
    return {name: rows for name, rows in found.items() if any(READING.fullmatch(reading) for _, reading in rows)}


def test_each_row_is_right_a_deviation_or_not_there() -> None:
    found = sections()
    assert len(found["EDOS"]) == 154
    unclear = {(name, row) for name, rows in found.items() for row, text in rows if not READING.fullmatch(text)}
    assert unclear == set()


def test_deviations_lead_to_headings() -> None:
    page = (REPOSITORY / "docs" / "deviations.md").read_text("utf-8")
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}
    named = {
        match[1] for rows in sections().values() for _, text in rows if (match := READING.match(text)) and match[1]
    }
    assert len(named) > 4
    assert named <= headings


def test_each_name_exists(known: set[str]) -> None:
    names = {name for row in ROWS for cell in row[3:] for name in re.findall(r"`([^`]+)`", cell)} - WORDS
    assert len(names) > 100
    assert [name for name in sorted(names) if not exists(name, known)] == []
