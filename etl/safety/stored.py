"""The lists and lines of ``etl/safety/data`` and the folder of weights, from the tree or from an installed package."""

from contextlib import AbstractContextManager
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from conf.wordlists import entries_of

_PACKAGE = "etl.safety"


@cache
def data(name: str) -> str:
    """Return the text of ``etl/safety/data/<name>``."""
    return files(_PACKAGE).joinpath("data", *name.split("/")).read_text(encoding="utf-8")


def entries(name: str) -> tuple[str, ...]:
    """Return the entries of ``etl/safety/data/<name>.txt`` as they are written, in the file's order, each once."""
    return entries_of(data(f"{name}.txt"))


def weights() -> AbstractContextManager[Path]:
    """Return the folder of the weights that come with the package, on the disk while the context lasts."""
    return as_file(files(_PACKAGE).joinpath("weights"))
