"""CONTRIBUTING names what is there: the glossary's words, and the ways of things through the code."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MOST_HOPS = {"A setting": 5, "A model's URI": 6, "A film's line": 10, "A crowd vote": 8, "A plot": 6}


def names_of(path: str) -> set[str]:
    """Return the functions and classes that a file defines, those inside classes too."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def entries() -> list[tuple[str, str]]:
    return re.findall(r"^\| (\w+) \| `([\w/.]+)` \| .+ \|$", section("Glossary"), re.MULTILINE)


def test_the_glossary_is_short() -> None:
    assert 0 < len(entries()) <= 20
    assert len(dict(entries())) == len(entries())


def test_each_name_of_the_glossary_has_one_definition() -> None:
    defined: dict[str, list[str]] = {}
    for package in ("conf", "etl", "jobs", "udfs"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    defined.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    for name, place in entries():
        assert defined.get(name) == [place], name


def ways() -> dict[str, list[tuple[str, str]]]:
    """Return file and name of each hop, by what goes the way."""
    found = {}
    for part in section("The way of ...").split("\n**")[1:]:
        hops = re.findall(r"^\| \d+ \| `([\w/.]+): (\w+)` \|", part, re.MULTILINE)
        assert len(hops) == len(re.findall(r"^\| \d+ \|", part, re.MULTILINE)), part.splitlines()[0]
        found[part.partition("**")[0]] = hops
    return found


@pytest.mark.parametrize(("way", "most"), MOST_HOPS.items())
def test_a_way_is_short_and_leads_through_what_is_there(way: str, most: int) -> None:
    hops = ways()[way]
    assert 0 < len(hops) <= most
    for path, name in hops:
        assert name in names_of(path), (path, name)
