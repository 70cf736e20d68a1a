"""The pipelines: one module per chapter of a paper, its stages in the order in which the data flow."""

import importlib
import pkgutil
from typing import TYPE_CHECKING

from etl import DATA_SETS

if TYPE_CHECKING:
    from etl.pipeline.stages import Stage


def all_stages() -> "list[Stage]":
    """Return all stages of this package, each after those whose output it reads."""
    from etl.pipeline.planner import in_order
    from etl.pipeline.stages import REGISTRY

    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return in_order(REGISTRY.values(), DATA_SETS)
