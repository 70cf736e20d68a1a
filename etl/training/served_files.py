"""Write what MLflow needs to open and serve a classifier where this package is installed.

``mlflow models serve -m models:/NAME@champion --env-manager local`` reads it by `udfs.serving`. None of these files
counts as content of the model.
"""

import json
import platform
from pathlib import Path

from mlflow.models import Model

from etl.training.signatures import EXAMPLES

LOADER = "udfs.serving"
EXAMPLE = "input_example.json"
REQUEST = "serving_input_example.json"


def add_served_files(folder: Path, description: Model, kind: str) -> None:
    """Write the example into a model's folder, and name the loader and the example in its description.

    Args:
        folder: of the model.
        description: gets the pyfunc flavour and the example.
        kind: of the model; one of `SERVED`.
    """
    example = {"columns": list(EXAMPLES[kind]), "data": [list(EXAMPLES[kind].values())]}
    (folder / EXAMPLE).write_text(json.dumps(example) + "\n", encoding="utf-8")
    (folder / REQUEST).write_text(json.dumps({"dataframe_split": example}, indent=2) + "\n", encoding="utf-8")
    description.add_flavor("python_function", loader_module=LOADER, python_version=platform.python_version())
    description.saved_input_example_info = {
        "artifact_path": EXAMPLE,
        "serving_input_path": REQUEST,
        "type": "dataframe",
        "pandas_orient": "split",
    }
