"""Hash files from outside the lakehouse, so that a changed file runs its stages again."""

import hashlib
from pathlib import Path

from conf.errors import InputError


def file_digests(path: str) -> list[tuple[str, str]]:
    """Return (relative name, sha256) of a file, or of every file in a folder, sorted by name.

    Raises:
        InputError: nothing is there.
    """
    place = Path(path)
    if place.is_file():
        return [(place.name, _sha256(place))]
    if not place.is_dir():
        raise InputError(f"{path} is not there: check the settings that name it")
    found = sorted(item for item in place.rglob("*") if item.is_file())
    return [(item.relative_to(place).as_posix(), _sha256(item)) for item in found]


def _sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
