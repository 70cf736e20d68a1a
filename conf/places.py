"""Paths and URIs: the one way from the one to the other.

A place in the settings is a local path, ``file:`` with a path, ``dbfs:/`` or a store's ``scheme://``. A path may have
any characters: blanks, ``#``, ``?``, ``%20``, ``{}``, ``[x]``, letters outside ASCII.
"""

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

from conf.errors import InputError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_FILE = re.compile(r"file:(?://(?:(?:localhost|[^/@]*@[^/]*)(?=/))?)?")


def is_uri(place: str) -> bool:
    """Return whether a place begins with a scheme and a slash, as Hadoop reads it: ``a:b/c`` is a relative path."""
    return _SCHEME.match(place) is not None


def local_path(place: str) -> str | None:
    """Return the absolute path of a local place or a ``file:`` URI; None for ``dbfs:/`` and stores.

    Links are kept. What follows ``file:`` is read as it is written if it is there or has no escapes, and otherwise
    decoded: both ``file:/home/a b`` and ``file:///home/a%20b`` are the folder ``a b``.
    """
    found = _FILE.match(place)
    if found is None:
        return None if is_uri(place) else os.path.abspath(place)  # noqa: PTH100 - resolve() would follow links
    written = os.path.abspath(Path(place[found.end() :] or "/").expanduser())  # noqa: PTH100
    if "%" not in written or Path(written).exists():
        return written
    return os.path.abspath(unquote(written))  # noqa: PTH100


def file_uri(path: str | Path) -> str:
    """Return the ``file:///`` URI of a local path, from which `local_path` gives the path again."""
    return f"file://{quote(os.path.abspath(path))}"  # noqa: PTH100


def sqlite_uri(path: str | Path) -> str:
    """Return SQLAlchemy's address of a sqlite file, with ``%`` and ``?`` escaped as the installed version does.

    Raises:
        InputError: that version reads no such path.
    """
    plain = os.path.abspath(path)  # noqa: PTH100
    if "%" not in plain and "?" not in plain:
        return f"sqlite:///{plain}"
    from sqlalchemy.engine import URL, make_url

    address = URL.create("sqlite", database=plain).render_as_string(hide_password=False)
    if make_url(address).database != plain:
        raise InputError(f"MLflow cannot keep its store in {plain}: set lakehouse.root to a folder without % or ?")
    return address
