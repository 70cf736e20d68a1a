"""Load the classifier that this file lies beside: with the installed edos-lakehouse, or with the modules copied here.

MLflow finds it in the folder ``code`` of a logged model, where `etl.training.served_files` puts it as `edos_served`.
"""

import sys
from pathlib import Path
from typing import Any

MODULES = "edos_modules"
"""The folder of the copied modules; last on the path, so that an installed package goes first."""


def _load_pyfunc(path: str) -> Any:
    """Return the classifier of a logged folder; MLflow calls it."""
    try:
        from udfs.serving import ServedClassifier
    except ModuleNotFoundError:
        sys.path.append(str(Path(__file__).resolve().with_name(MODULES)))
        from udfs.serving import ServedClassifier
    return ServedClassifier(Path(path))
