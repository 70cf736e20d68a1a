"""The examples for Airflow and Dagster: their commands are ours, they retry what the page says, and they load."""

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
EXAMPLES = {"airflow": "airflow_dag.py", "dagster": "dagster_jobs.py"}
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")


def constants(name: str) -> dict[str, Any]:
    """The values of an example's constants that need no library."""
    tree = ast.parse((ROOT / "docs" / "examples" / EXAMPLES[name]).read_text("utf-8"))
    found: dict[str, Any] = {"CONFIG": "my.yaml"}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            try:
                value = eval(compile(ast.Expression(node.value), name, "eval"), {"__builtins__": {}}, found)
            except NameError:  # of a library
                continue
            found[node.targets[0].id] = value
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_commands_are_understood(name: str) -> None:
    found = constants(name)
    stages = {stage.name for stage in all_stages()}
    for key in ("RUN", "CHECK", "MAINTAIN"):
        options = parsed(found[key])
        assert found[key][0] == key.lower()
        assert options["config"] == ("my.yaml",)
        assert options.get("to") in {None, *stages}


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_retries_what_the_page_says(name: str) -> None:
    rows = re.findall(r"^\| (\d) \| [^|]+ \| ([^|]*) \|$", PAGE, re.MULTILINE)
    assert [number for number, _ in rows] == ["1", "2", "3", "4", "5"]
    never = {int(number) for number, again in rows if again.startswith("no")}
    assert constants(name)["NOT_AGAIN"].keys() == never


def loaded(name: str) -> ModuleType:
    pytest.importorskip(name)
    place = ROOT / "docs" / "examples" / EXAMPLES[name]
    spec = importlib.util.spec_from_file_location(f"example_of_{name}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_dagster_runs_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded("dagster")
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(sys.argv[1] == 'maintain')"])
    assert module.nightly.execute_in_process().success
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(3)"])
    result = module.nightly.execute_in_process(raise_on_error=False)
    assert not result.success
    assert not [event for event in result.all_events if event.is_step_up_for_retry]
    assert {one.name for one in module.defs.schedules} == {"nightly_schedule", "weekly_schedule"}


def test_airflow_has_its_tasks_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded("airflow")
    assert set(module.nightly.task_ids) == {"run", "check", "is_sunday", "maintain"}
    assert module.nightly.get_task("run").downstream_task_ids == {"check"}
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(5)"])
    with pytest.raises(module.AirflowFailException, match="a check found a fault"):
        module.execute(module.CHECK)
    monkeypatch.setattr(module, "PROGRAM", [sys.executable, "-c", "import sys; sys.exit(4)"])
    with pytest.raises(module.AirflowException, match="exit status 4"):
        module.execute(module.RUN)
