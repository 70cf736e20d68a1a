"""Hash files from outside the lakehouse, so that a changed file runs its stages again."""

import hashlib
import os
from pathlib import Path
from typing import Any

from conf.errors import InputError
from conf.places import local_path
from udfs.opus.names import name_bytes


def file_digests(path: str, key: str) -> list[tuple[str, str]]:
    """Return (relative name, sha256) of a file, or of every file in a folder, sorted by name.

    Args:
        key: the setting that names it, for the message.

    Raises:
        InputError: nothing is there.
    """
    place = Path(path)
    if place.is_file():
        return [(place.name, file_digest(place))]
    if not place.is_dir():
        raise InputError(not_there(key, path))
    found = sorted(item for item in place.rglob("*") if item.is_file())
    return [(item.relative_to(place).as_posix(), file_digest(item)) for item in found]


def paths_of(value: Any) -> list[str]:
    """Return the paths of a setting that has one, several or none."""
    return [value] if isinstance(value, str) else list(value or ())


def is_absent(place: str) -> bool:
    """Return whether a place is local and nothing is there. What cannot be told (a store, no permission) is False."""
    path = local_path(place)
    if path is None:
        return False
    try:
        Path(os.fsdecode(name_bytes(path))).stat()  # names that are not UTF-8, as tables write them
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def not_there(key: str, path: str) -> str:
    """Return the message about a setting that names nothing."""
    searched = "" if path.startswith(("/", "file:/")) else " (seen from the folder that you are in)"
    return f"{key} names {path}, which does not exist{searched}: mount or restore it, or name another"


def file_digest(path: Path) -> str:
    """Return the sha256 of one file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
