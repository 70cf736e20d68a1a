"""Write the files by which MLflow serves a classifier where this package is not installed.

They are its modules, the list of its packages, and an example. ``mlflow models serve -m models:/NAME@champion`` makes
an environment of the packages, with the versions that are installed here, and reads the model with the copied modules.
None of these files counts as content of the model.
"""

import ast
import inspect
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from mlflow.models import Model

from etl.training import served_loader
from etl.training.signatures import EXAMPLES

LOADER = "edos_served"
"""The ``loader_module`` of the pyfunc flavour."""
CODE = "code"
CONDA = "conda.yaml"
VIRTUAL = "python_env.yaml"
REQUIREMENTS = "requirements.txt"
EXAMPLE = "input_example.json"
REQUEST = "serving_input_example.json"
START = "udfs.serving"
OURS = ("conf", "etl", "udfs")
PACKAGES = (
    "mlflow",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "pyspark",
    "PyYAML",
    "safetensors",
    "torch",
    "transformers",
)
"""Packages that the copied modules import when they serve."""


def add_served_files(folder: Path, description: Model, kind: str) -> None:
    """Write the files into a model's folder, and name them in its description.

    Args:
        folder: of the model.
        description: gets the pyfunc flavour and the example.
        kind: of the model; one of `SERVED`.
    """
    code = folder / CODE
    code.mkdir()
    (code / f"{LOADER}.py").write_text(inspect.getsource(served_loader), encoding="utf-8")
    for name, source in modules().items():
        place = code / served_loader.MODULES / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(source, encoding="utf-8")
    python = platform.python_version()
    packages = [f"{name}=={version(name).partition('+')[0]}" for name in PACKAGES]
    (folder / REQUIREMENTS).write_text("\n".join(packages) + "\n", encoding="utf-8")
    virtual = {"python": python, "build_dependencies": ["pip", "setuptools", "wheel"]}
    _write_yaml(folder / VIRTUAL, {**virtual, "dependencies": [f"-r {REQUIREMENTS}"]})
    conda = {"name": "edos-lakehouse", "channels": ["conda-forge"]}
    _write_yaml(folder / CONDA, {**conda, "dependencies": [f"python={python}", "pip", {"pip": packages}]})
    example = {"columns": list(EXAMPLES[kind]), "data": [list(EXAMPLES[kind].values())]}
    (folder / EXAMPLE).write_text(json.dumps(example) + "\n", encoding="utf-8")
    (folder / REQUEST).write_text(json.dumps({"dataframe_split": example}, indent=2) + "\n", encoding="utf-8")
    description.add_flavor(
        "python_function",
        loader_module=LOADER,
        code=CODE,
        env={"conda": CONDA, "virtualenv": VIRTUAL},
        python_version=python,
    )
    description.saved_input_example_info = {
        "artifact_path": EXAMPLE,
        "serving_input_path": REQUEST,
        "type": "dataframe",
        "pandas_orient": "split",
    }


def modules(start: str = START) -> dict[str, str]:
    """Return the sources of a module and of all modules of ours that it imports, by their path below the packages.

    On a cluster they come from the zip of ``--py-files``, whose members are no files. What is imported within functions
    is of trainings, which nobody serves: figures and their charts.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    begun = [start]
    while begun:
        name = begun.pop()
        if name in seen or name.partition(".")[0] not in OURS:
            continue
        seen.add(name)
        begun += _imported(name, found)
    return found


def _imported(name: str, found: dict[str, str]) -> list[str]:
    """Add a module's source, and return its package and what it imports; nothing for a name that is no module."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a name within a module
        return []
    get_source = getattr(getattr(spec, "loader", None), "get_source", None)
    source = None if get_source is None else get_source(name)
    if spec is None or spec.origin is None or source is None:
        return []
    parts = name.split(".")
    is_package = spec.submodule_search_locations is not None
    found["/".join(parts) + ("/__init__.py" if is_package else ".py")] = source
    imported = [".".join(parts[:-1])] if len(parts) > 1 else []
    for node in imports(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            imported += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return imported


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a module that run when it is imported."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Import | ast.ImportFrom):
            yield part
        elif isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports(part)


def _write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False), encoding="utf-8")
