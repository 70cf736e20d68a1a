"""Folders of models in object stores: written once, and copied once to each machine that reads them.

Driver and workers reach a store as the readers of subtitle files do (``udfs.opus.files.filesystem``): with the
environment's or the machine's own credentials, and with the environment's ``AWS_ENDPOINT_URL`` if there is one.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyarrow import fs

from conf.errors import InputError, message_line
from udfs.models.folders import filling
from udfs.opus.files import filesystem

CACHE = "EDOS_MODEL_CACHE"
"""Environment variable of a machine's folder for copies of models; by default it is in the temporary folder."""
COMPLETE = "complete.json"
"""Written last, with the size of each file: a folder without it is not complete."""
MOUNTED = ("/Volumes/", "/dbfs/")
"""How the paths of Databricks begin that look like folders and are a store."""
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_STEP = 8 << 20

Model = TypeVar("Model")


def is_store(place: str) -> bool:
    """Return whether a path is an object store's, which no machine mounts."""
    return bool(_SCHEME.match(place)) and not place.startswith(("file:", "dbfs:"))


def local_cache() -> Path:
    """Return this machine's folder for copies, which other users can neither read nor write.

    Raises:
        InputError: the default folder belongs to somebody else.
    """
    named = os.environ.get(CACHE)
    folder = Path(named) if named else Path(tempfile.gettempdir(), f"edos-lakehouse-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not named and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        raise InputError(f"{folder} belongs to somebody else: name another folder in {CACHE}")
    return folder


def folder_name(identity: str) -> str:
    """Return the name of a model's folder in a store: readable, and another one for each identity."""
    readable = re.sub(r"[^\w.=-]+", "-", identity.partition("#")[0]).strip("-.")[:60]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def put(folder: Path, place: str) -> str:
    """Copy a local folder to a place in a store unless it is there already; return the place.

    Raises:
        InputError: the store cannot be written.
    """
    with _reached(place) as (store, path):
        if store.get_file_info(f"{path}/{COMPLETE}").type == fs.FileType.File:
            return place
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        sizes = {file.relative_to(folder).as_posix(): file.stat().st_size for file in files}
        for name in sizes:
            _make_folder(store, f"{path}/{name}")
            with (folder / name).open("rb") as source, store.open_output_stream(f"{path}/{name}") as target:
                shutil.copyfileobj(source, target, _STEP)
        _make_folder(store, f"{path}/{COMPLETE}")
        with store.open_output_stream(f"{path}/{COMPLETE}") as target:
            target.write(json.dumps(sizes).encode())
    return place


def get(place: str, folder: Path) -> Path:
    """Copy what `put` wrote to a local folder, which is made or filled; return the folder.

    Raises:
        InputError: the place is not there, is not complete, or the store cannot be read.
    """
    with _reached(place) as (store, path):
        with store.open_input_stream(f"{path}/{COMPLETE}") as source:
            sizes = json.loads(source.read())
        for name, size in sizes.items():
            target = folder / name
            if not target.resolve().is_relative_to(folder.resolve()):
                raise InputError(f"{place} names a file outside itself ({name}): delete it")
            target.parent.mkdir(parents=True, exist_ok=True)
            with store.open_input_stream(f"{path}/{name}") as source, target.open("wb") as out:
                shutil.copyfileobj(source, out, _STEP)
            if target.stat().st_size != size:
                raise InputError(f"{place}/{name} has another size than when it was written: delete {place}")
    return folder


def fetched(place: str) -> Path:
    """Return a local folder with a model: the path itself, or this machine's copy of a place in a store or a volume.

    The copy has the place's last name, which contains the model's identity; processes of a machine make it once. From a
    volume the weights are copied because they are mapped into memory, and each page would be a request.

    Raises:
        InputError: see `get`.
    """
    mounted = place.startswith(MOUNTED)
    if not is_store(place) and not mounted:
        return Path(place)
    name = place.rstrip("/").rpartition("/")[2]
    folder = local_cache() / "copies" / (f"{name}-{_state(Path(place))}" if mounted else name)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.is_dir():
                with filling(folder) as scratch:
                    if mounted:
                        shutil.copytree(place, scratch, dirs_exist_ok=True)
                    else:
                        get(place, scratch)
    return folder


def _state(folder: Path) -> str:
    """Return a digest of a folder's path and of its files' names, sizes and times."""
    found = [(path.relative_to(folder).as_posix(), path.stat()) for path in folder.rglob("*") if path.is_file()]
    files = sorted((name, about.st_size, about.st_mtime_ns) for name, about in found)
    return hashlib.sha256(json.dumps([str(folder), files]).encode()).hexdigest()[:16]


def folders_in(place: str) -> list[str]:
    """Return the names of the folders at a place in a store, sorted; none where there is nothing."""
    with _reached(place) as (store, path):
        below = store.get_file_info(fs.FileSelector(path, allow_not_found=True))
    return sorted(info.base_name for info in below if info.type == fs.FileType.Directory)


def delete(place: str) -> None:
    """Delete a folder of a store, if it is there."""
    with _reached(place) as (store, path):
        if store.get_file_info(path).type == fs.FileType.Directory:
            store.delete_dir(path)


def _make_folder(store: fs.FileSystem, file: str) -> None:
    """Make a file's folder where the store has real folders."""
    if not isinstance(store, fs.S3FileSystem):
        store.create_dir(file.rpartition("/")[0], recursive=True)


@contextmanager
def _reached(place: str) -> Iterator[tuple[fs.FileSystem, str]]:
    """Yield a place's file system and path; its errors become one line."""
    try:
        yield filesystem(place)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{place} cannot be reached or is not complete ({message_line(error)})") from None


@lru_cache(maxsize=4)
def load_once(path: str, loader: Callable[[str], Model]) -> Model:
    """Return `loader(path)`, cached for the life of the Python worker; a store's path gives this machine's copy."""
    return loader(str(fetched(path)))
