"""The import order of the packages."""

import ast
import re
from pathlib import Path

import pytest

from etl import DATA_SETS

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = ("conf", "udfs", "etl", "jobs")
SETTINGS, TABLES = "etl.*.settings", "etl.*.tables"
LAYERS = (
    {"conf"},
    {SETTINGS},
    {"conf.settings"},
    {"udfs"},
    {"etl.pipeline"},
    {TABLES},
    {"etl.common"},
    {"etl.llm", "etl.annotation", "etl.safety"},
    {"etl.training"},
    {"etl.publishing"},
    {f"etl.{name}" for name in DATA_SETS},
    {"jobs"},
    {"etl.cli"},
    {"etl.extras"},
)
"""Each folder imports from folders above it in this list; folders of one line do not import each other.

The modules ``settings`` and ``tables`` of all folders, which only declare, are lines of their own.
"""

UPWARD = {
    ("udfs.models.classifiers.dialogue_classifier", "etl.edos.half_decay"): "the weights of turns are a rule of EDOS",
    ("etl.edos.training.coarse_labels", "etl.subtitles.transcript_files"): "transcripts teach turns and emotions",
    ("jobs.__main__", "etl.cli.command_line"): "spark-submit starts a file of jobs, and the commands run all jobs",
}
"""The imports against that order, with the reason for each; at most three."""


def _modules() -> dict[str, ast.Module]:
    files = (path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))
    return {_name(path): ast.parse(path.read_text("utf-8")) for path in files}


def _name(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, known: set[str]) -> set[str]:
    """Return the project's modules that a file imports anywhere, in functions too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & known
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inside & known) or ({node.module} & known)
    return found


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    trees = _modules()
    return {name: _imports(tree, set(trees)) - {name} for name, tree in trees.items()}


def _folder(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "etl" and parts[-1] in ("settings", "tables") and parts[1] != "pipeline":
        return f"etl.*.{parts[-1]}"
    if module == "conf.settings":
        return module
    return ".".join(parts[:2]) if parts[0] == "etl" else parts[0]


def test_imports_follow_the_layers(graph: dict[str, set[str]]) -> None:
    layer = {folder: number for number, folders in enumerate(LAYERS) for folder in folders}
    assert {_folder(module) for module in graph} - {"etl"} == set(layer)
    edges = [(module, other) for module, others in graph.items() for other in others if "etl" not in (module, other)]
    upward = {
        (module, other)
        for module, other in edges
        if _folder(module) != _folder(other) and layer[_folder(other)] >= layer[_folder(module)]
    }
    assert upward == set(UPWARD)
    assert len(UPWARD) <= 3


READS = {("edos", "subtitles")}
"""Who reads the tables and settings of which other data set; jobs read those of all."""


def test_no_data_set_imports_another(graph: dict[str, set[str]]) -> None:
    def data_set(module: str) -> str | None:
        return next((name for name in DATA_SETS if f"{module}.".startswith(f"etl.{name}.")), None)

    edges = [(module, other) for module, others in graph.items() for other in others]
    across = {
        (module, other): (one, another)
        for module, other in edges
        if (one := data_set(module)) and (another := data_set(other)) and one != another
    }
    declared = {edge for edge in across if _folder(edge[1]) in (SETTINGS, TABLES)}
    assert {across[edge] for edge in declared} == READS
    assert not [edge for edge in declared if _folder(edge[0]) in (SETTINGS, TABLES)]
    assert across.keys() - declared <= UPWARD.keys()


def test_the_core_imports_no_extra(graph: dict[str, set[str]]) -> None:
    extras = {name: _folder(name) == "etl.extras" for name in graph}
    assert sum(extras.values()) > 3
    core = [(name, other) for name, others in graph.items() for other in others if extras[other] and not extras[name]]
    assert core == []


def test_no_files_import_each_other_in_a_circle(graph: dict[str, set[str]]) -> None:
    left = dict(graph)
    while free := [module for module, others in left.items() if not others & left.keys()]:
        for module in free:
            del left[module]
    # Modules that only lead into a circle from outside go as well, so that the message names the circle alone.
    while outside := [module for module in left if not any(module in others for others in left.values())]:
        for module in outside:
            del left[module]
    assert not left, f"import circle among {', '.join(sorted(left))}"


OF_DATA_SETS = ("edos.", "emo_pillars", "augesc", "replies.", "subtitles.", "source_path", "QUARANTINE")
"""What no module of the framework names: data sets, their tables and columns."""
NAMES_COLUMNS = ("column_comments.py", "hidden_secrets.py")
"""Those that say of columns of one name what they mean in all tables, and which may hold secrets."""
IMPORTS_BY_NAME = ("__init__.py", "observers.py")
"""Those that import what is above them: the tables of `etl.WITH_TABLES`, the modules of `pipeline.observers`."""


def test_the_framework_knows_no_data_set() -> None:
    files = sorted((REPOSITORY / "etl" / "pipeline").rglob("*.py"))
    texts = {path.name: path.read_text("utf-8") for path in files if path.name not in NAMES_COLUMNS}
    for name, text in texts.items():
        known = [word for word in OF_DATA_SETS if word in text]
        assert not known, f"etl/pipeline/{name} names {known}"
        assert "import_module" not in text or name in IMPORTS_BY_NAME, name


def test_no_test_imports_another_test() -> None:
    found = re.compile(r"^from tests\.(?:\w+\.)*test_\w+ import", re.MULTILINE)
    assert [str(path) for path in REPOSITORY.glob("tests/**/*.py") if found.search(path.read_text("utf-8"))] == []
