"""Word lists, read from the text files beside this module: one entry a line, ``#`` begins a comment."""

from functools import cache

from conf.resources import text


def words(name: str) -> tuple[str, ...]:
    """The entries of ``conf/<name>.txt``, lower case, in the file's order, each once."""
    return tuple(dict.fromkeys(entry.lower() for entry in cased_words(name)))


def cased_words(name: str) -> tuple[str, ...]:
    """The entries of ``conf/<name>.txt`` as they are written, in the file's order, each once."""
    return _entries(text(f"{name}.txt"))


@cache
def _entries(content: str) -> tuple[str, ...]:
    entries = (line.split("#", 1)[0].strip() for line in content.splitlines())
    return tuple(dict.fromkeys(entry for entry in entries if entry))
