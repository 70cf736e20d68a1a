"""Word lists, read from the text files beside this module: one entry a line, ``#`` begins a comment."""

from functools import cache
from importlib.resources import files


@cache
def words(name: str) -> tuple[str, ...]:
    """The entries of ``conf/<name>.txt``, lower case, in the file's order, each once."""
    return tuple(dict.fromkeys(entry.lower() for entry in cased_words(name)))


@cache
def cased_words(name: str) -> tuple[str, ...]:
    """The entries of ``conf/<name>.txt`` as they are written, in the file's order, each once."""
    lines = files("conf").joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines()
    entries = (line.split("#", 1)[0].strip() for line in lines)
    return tuple(dict.fromkeys(entry for entry in entries if entry))
