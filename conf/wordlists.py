"""Word lists, read from the text files beside this module: one entry a line, ``#`` begins a comment."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import chain

from conf.resources import text

_CODE = re.compile(r"[a-z]{2,3}(_[a-z]{2,4})?")


def words(name: str) -> tuple[str, ...]:
    """Return the entries of ``conf/<name>.txt``, lower case, in the file's order, each once."""
    return tuple(dict.fromkeys(entry.lower() for entry in cased_words(name)))


def words_in_languages(languages: Iterable[str], name: str) -> tuple[str, ...]:
    """Return the entries of a list in each language that has it, in order: ``conf/<name>.txt`` for English.

    Other languages have theirs as ``conf/languages/<language>/<name>.txt``.
    """
    found = (
        words(name if language == "en" else f"languages/{language}/{name}")
        for language in languages
        if f"{name}.txt" in _lists(language)
    )
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _lists(language: str) -> set[str]:
    folder = files("conf") if language == "en" else files("conf").joinpath("languages", language)
    return {entry.name for entry in folder.iterdir()} if _CODE.fullmatch(language) and folder.is_dir() else set()


def cased_words(name: str) -> tuple[str, ...]:
    """Return the entries of ``conf/<name>.txt`` as they are written, in the file's order, each once."""
    return entries_of(text(f"{name}.txt"))


@cache
def entries_of(content: str) -> tuple[str, ...]:
    entries = (line.split("#", 1)[0].strip() for line in content.splitlines())
    return tuple(dict.fromkeys(entry for entry in entries if entry))
