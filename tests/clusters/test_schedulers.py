"""The example for Airflow: its commands are ours, it retries what the page says, and it loads."""

import ast
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jobs import all_stages
from tests.command_lines import parsed

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "airflow_dag.py"
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")


def constants() -> dict[str, Any]:
    """The values of the example's constants that need no library."""
    tree = ast.parse(EXAMPLE.read_text("utf-8"))
    found: dict[str, Any] = {"CONFIG": "my.yaml"}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            try:
                value = eval(compile(ast.Expression(node.value), EXAMPLE.name, "eval"), {"__builtins__": {}}, found)
            except NameError:  # of a library
                continue
            found[node.targets[0].id] = value
    return found


def test_its_commands_are_understood() -> None:
    found = constants()
    stages = {stage.name for stage in all_stages()}
    for key in ("RUN", "CHECK", "MAINTAIN"):
        options = parsed(found[key])
        assert found[key][0] == key.lower()
        assert options["config"] == ("my.yaml",)
        assert options.get("to") in {None, *stages}


def test_it_retries_what_the_page_says() -> None:
    rows = re.findall(r"^\| (\d) \| [^|]+ \| ([^|]*) \|$", PAGE, re.MULTILINE)
    assert [number for number, _ in rows] == ["1", "2", "3", "4", "5"]
    never = {int(number) for number, again in rows if again.startswith("no")}
    assert constants()["NOT_AGAIN"].keys() == never


def loaded() -> ModuleType:
    pytest.importorskip("airflow")
    spec = importlib.util.spec_from_file_location("example_of_airflow", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_airflow_has_its_tasks_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded()
    assert set(module.nightly.task_ids) == {"run", "check", "is_sunday", "maintain"}
    assert module.nightly.get_task("run").downstream_task_ids == {"check"}
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(5)"])
    with pytest.raises(module.AirflowFailException, match="a check found a fault"):
        module.execute(module.CHECK)
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(4)"])
    with pytest.raises(module.AirflowException, match="exit status 4"):
        module.execute(module.RUN)
