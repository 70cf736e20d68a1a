"""A guard against connections to other machines; see `sitecustomize`."""

import os
from pathlib import Path

from tests.network_guard.sitecustomize import NOTES


def guarded(notes: Path) -> dict[str, str]:
    """Return the environment of processes that note connections to other machines in a file, and refuse them."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {NOTES: str(notes), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
