"""Word lists, taxonomies, prompts: the files of this package. A stage reads those that it declares, and no others."""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_declared: ContextVar[tuple[str, tuple[str, ...]] | None] = ContextVar("declared", default=None)


class UndeclaredResourceError(RuntimeError):
    """An error that a stage reads a file that it does not declare: a change of it would not re-run the stage."""


def text(name: str) -> str:
    """Return the text of ``conf/<name>``.

    Raises:
        UndeclaredResourceError: the stage whose function runs does not declare it, or a task reads it by itself.
    """
    if _in_task():
        raise UndeclaredResourceError(f"conf/{name} is read in a Spark task: read it on the driver and pass it in")
    stage, patterns = _declared.get() or ("", ("*",))
    if not any(fnmatchcase(name, pattern) for pattern in patterns):
        raise UndeclaredResourceError(f"{stage} reads conf/{name} without declaring it: add it to its resources")
    return stored(name)


@cache
def stored(name: str) -> str:
    """Return the text of ``conf/<name>`` without that check."""
    return files("conf").joinpath(*name.split("/")).read_text(encoding="utf-8")


@contextmanager
def reading_only(stage: str, patterns: tuple[str, ...]) -> Iterator[None]:
    """Let :func:`text` read only what a stage declares."""
    before = _declared.set((stage, patterns))
    try:
        yield
    finally:
        _declared.reset(before)


def digests(patterns: tuple[str, ...]) -> dict[str, str]:
    """Return the SHA-256 of each file that matches a pattern, by name.

    Raises:
        FileNotFoundError: a pattern names none.
    """
    found = {}
    for pattern in patterns:
        names = [name for name in _names() if fnmatchcase(name, pattern)]
        if not names:
            raise FileNotFoundError(f"there is no conf/{pattern}")
        found.update({name: hashlib.sha256(stored(name).encode()).hexdigest() for name in names})
    return found


@cache
def _names() -> tuple[str, ...]:
    def under(folder: Traversable, prefix: str) -> Iterator[str]:
        for entry in folder.iterdir():
            if entry.is_dir():
                yield from under(entry, f"{prefix}{entry.name}/")
            elif not entry.name.endswith((".py", ".pyc")):
                yield prefix + entry.name

    return tuple(sorted(under(files("conf"), "")))


def _in_task() -> bool:
    """Whether this is an executor's Python worker; the driver never has a task's context."""
    spark = sys.modules.get("pyspark.taskcontext")
    return spark is not None and spark.TaskContext.get() is not None
