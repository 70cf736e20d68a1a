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
WORDS = {"paper", "trusted", "classifier_test", "classifier_valid"}
"""Other words in code font."""


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


def test_each_name_exists(known: set[str]) -> None:
    names = {name for row in ROWS for cell in row[3:] for name in re.findall(r"`([^`]+)`", cell)} - WORDS
    assert len(names) > 100
    assert [name for name in sorted(names) if not exists(name, known)] == []
