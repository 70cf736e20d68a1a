"""``python -m jobs fetch-data``: the data sets that the pipeline learns from, from their authors' addresses.

Each file is pinned by its sha256 in ``conf/data_sets.yaml``, or, where its owners replace it in place, by nothing: then
its sha256 is printed. A file that is at hand is not fetched again, and one that broke off goes on where it ended.
"""

import gzip
import hashlib
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import yaml

from conf import resources
from conf.errors import InputError

PIECE = 1 << 20
TRIES = 5
SECONDS = 60
"""Timeout of a connection and of each read."""
SPARE = 1_000_000_000
"""Bytes of disk that stay free."""
LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[a-z]{2,3})?")
"""Codes of OPUS, such as ``de`` and ``pt_br``."""
HEAD = "# Written by fetch-data: --config FILE reads it. Paths are seen from the folder in which it was started.\n"


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes:
        name: here.
        path: below the data set's address.
        size: bytes; None: known to the server alone.
        sha256: of its content; None: not pinned.
    """

    name: str
    path: str
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class DataSet:
    """A data set that can be fetched.

    Attributes:
        name: as on the command line.
        holds: what is in it.
        licence: as its owners name it.
        commercial: whether it allows commercial use.
        cite: whom to cite.
        address: of the folder with its files.
        files: its files.
        settings: values by setting, with ``{folder}`` for the folder here.
    """

    name: str
    holds: str
    licence: str
    commercial: bool
    cite: str
    address: str
    files: tuple[DataFile, ...]
    settings: Mapping[str, Any]


def data_sets(language: str = "en") -> dict[str, DataSet]:
    """Return the data sets of ``conf/data_sets.yaml`` by name.

    Args:
        language: code for those that have a file a language.
    """
    found = {}
    for name, about in yaml.safe_load(_of_language(resources.text("data_sets.yaml"), language)).items():
        files = tuple(DataFile(one["name"], one["path"], one.get("bytes"), one.get("sha256")) for one in about["files"])
        found[name] = DataSet(
            name,
            about["holds"],
            about["licence"],
            about["commercial"],
            about["cite"],
            about["address"],
            files,
            about["settings"],
        )
    return found


def _of_language(text: str, language: str) -> str:
    if not LANGUAGE.fullmatch(language):
        raise InputError(f"--language {language}: OPUS names languages by two or three letters, such as de or pt_br")
    return text.replace("{language}", language)


@dataclass(frozen=True)
class Wanted:
    """What is asked for on the command line.

    Attributes:
        names: of data sets; () lists them.
        out: folder in which each has a folder.
        config: the settings file that is written.
        language: see :func:`data_sets`.
        source: folder that has the files already; None: they are fetched.
        address: another place with the same files, in folders by data set; None: their authors'.
        accept: whether the user may use what allows no commercial use.
    """

    names: Sequence[str]
    out: Path
    config: Path
    language: str = "en"
    source: Path | None = None
    address: str | None = None
    accept: bool = False


def fetch_data(wanted: Wanted, say: Callable[[str], None] = print) -> int:
    """Fetch data sets, write the settings that name them, and return the exit status.

    Raises:
        InputError: a name is unknown, a licence was not accepted, the disk is full, a server fails, or a file is not
            the pinned one.
    """
    known = data_sets(wanted.language)
    if not wanted.names:
        for one in known.values():
            say(described(one))
        say("python -m jobs fetch-data NAME... fetches them; --from FOLDER takes what is on disk")
        return 0
    unknown = [name for name in wanted.names if name not in known]
    if unknown:
        raise InputError(f"fetch-data knows no {', '.join(unknown)}: it has {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(wanted.names)]
    for one in chosen:
        say(described(one))
    refused = [one.name for one in chosen if not one.commercial]
    if refused and not wanted.accept:
        raise InputError(
            f"{', '.join(refused)}: not for commercial use, or not licensed by those who own the texts (see above): "
            "--accept says that your use is allowed"
        )
    _require_own(wanted.config)
    for one in chosen:
        folder = wanted.out / one.name
        folder.mkdir(parents=True, exist_ok=True)
        for file in one.files:
            say(f"  {folder / file.name}: {_at_hand(one, file, folder, wanted)}")
    settings = _written(wanted.config, chosen, wanted.out)
    say(f"{wanted.config} names them: {', '.join(settings)}")
    say(f"python -m jobs run --config {wanted.config} --config my.yaml")
    return 0


def described(one: DataSet) -> str:
    """Return what a data set holds, its size and its licence, in two lines."""
    known = [file.size for file in one.files if file.size is not None]
    size = f"{sum(known) / 1e6:.1f} MB" if len(known) == len(one.files) else "size told when it begins"
    return f"{one.name}: {one.holds}; {size}\n  licence: {one.licence}; cite {one.cite}"


def _at_hand(one: DataSet, file: DataFile, folder: Path, wanted: Wanted) -> str:
    """Put a file into its folder, and return how it came there."""
    target = folder / file.name
    if target.is_file() and (file.sha256 is None or _sha256(target) == file.sha256):
        return "at hand"
    if wanted.source is not None:
        found = _found(file, wanted.source, target)
        return f"from {_put(found, file, target)}"
    place = one.address if wanted.address is None else f"{wanted.address.rstrip('/')}/{one.name}"
    path = file.path if wanted.address is None else file.name
    address = f"{place}/{quote(path)}"
    digest = _fetched(address, file, target)
    return "fetched" if file.sha256 else f"fetched, not pinned: sha256 {digest}"


def _found(file: DataFile, source: Path, target: Path) -> Path:
    """Return the file below a folder that has the pinned content, packed by gzip or not; of the name, if unpinned.

    Raises:
        InputError: there is none.
    """
    if not source.is_dir():
        raise InputError(f"--from {source} is no folder")
    last = file.path.rsplit("/", 1)[-1]
    names = {name.casefold() for name in (file.name, last)}
    candidates = [path for path in sorted(source.rglob("*")) if path.is_file() and path.resolve() != target.resolve()]
    likely = [path for path in candidates if path.name.casefold().removesuffix(".gz") in names]
    if file.sha256 is None and likely:
        return likely[0]
    fitting = [path for path in candidates if path not in likely and file.size in (path.stat().st_size, None)]
    for path in (*likely, *fitting):
        if file.sha256 is not None and _sha256(path) == file.sha256:
            return path
    other = f"; {likely[0]} has other content" if likely else ""
    raise InputError(f"{file.name} of the pinned content is not below {source}{other}: leave --from out to fetch it")


def _put(found: Path, file: DataFile, target: Path) -> Path:
    """Copy a file, unpacked, and return where it was."""
    part = _part(target)
    with _opened(found) as source, part.open("wb") as copy:
        for piece in _pieces(source):
            copy.write(piece)
    _finish(part, file, target, str(found))
    return found


def _fetched(address: str, file: DataFile, target: Path) -> str:
    """Fetch a file, go on where an earlier try broke off, and return its sha256.

    Raises:
        InputError: no try ended, or the file is not the pinned one.
    """
    part = _part(target)
    reason = ""
    for number in range(TRIES):
        if number:
            time.sleep(min(2**number, 30) if reason != "again" else 0)
        try:
            _download(address, file, part)
            return _finish(part, file, target, address)
        except _BrokenOffError as error:
            reason = str(error)
        except urllib.error.HTTPError as error:
            if error.code == 416:  # what is there is not a part of this file
                part.unlink(missing_ok=True)
                reason = "again"
                continue
            if error.code < 500 and error.code not in (408, 429):
                raise InputError(f"{address}: {error.code} {error.reason}; --from FOLDER takes a copy") from error
            reason = f"{error.code} {error.reason}"
        except (OSError, ValueError) as error:  # urllib's errors are OSErrors; a wrong address is a ValueError
            reason = str(getattr(error, "reason", error)) or type(error).__name__
    raise InputError(f"{address} cannot be fetched ({reason}): run again to go on, or --from FOLDER takes a copy")


class _BrokenOffError(Exception):
    """A server ended before the file did."""


def _download(address: str, file: DataFile, part: Path) -> None:
    """Write what is missing of a file to its part."""
    if not address.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise InputError(f"{address}: only https addresses are fetched from")
    have = part.stat().st_size if part.exists() else 0
    if file.size is not None and have >= file.size:
        return
    request = urllib.request.Request(address, headers={"User-Agent": "edos-lakehouse"} | _range(have))
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        goes_on = answer.status == 206
        length = int(answer.headers.get("Content-Length") or 0)
        total = file.size or (length + (have if goes_on else 0)) or None
        _require_room(part.parent, (total or 0) - (have if goes_on else 0))
        with part.open("ab" if goes_on else "wb") as copy:
            for piece in _pieces(answer):
                copy.write(piece)
                if file.size is not None and copy.tell() > file.size:
                    break
    have = part.stat().st_size
    if total is not None and have < total:
        raise _BrokenOffError(f"{have:,} of {total:,} bytes came")


def _range(have: int) -> dict[str, str]:
    return {"Range": f"bytes={have}-"} if have else {}


def _pieces(answer: BinaryIO) -> Iterator[bytes]:
    while piece := answer.read(PIECE):
        yield piece


def _require_room(folder: Path, size: int) -> None:
    free = os.statvfs(folder)
    if size + SPARE > free.f_bavail * free.f_frsize:
        raise InputError(f"{size / 1e9:.1f} GB do not fit on the disk of {folder}: free some, or name another by --out")


def _finish(part: Path, file: DataFile, target: Path, origin: str) -> str:
    """Move a complete file to its place, and return its sha256.

    Raises:
        InputError: it is not the pinned one, and is deleted.
    """
    digest = _sha256(part)
    if file.sha256 is not None and digest != file.sha256:
        size = part.stat().st_size
        part.unlink()
        raise InputError(
            f"{origin} is not the pinned file ({size:,} bytes, sha256 {digest[:12]}... in place of "
            f"{file.sha256[:12]}...): its owners have changed it, or what came is a page of another server"
        )
    part.replace(target)
    return digest


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _opened(path: Path) -> BinaryIO:
    """Open a file, unpacked where it is packed by gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _sha256(path: Path) -> str:
    """Return the sha256 of a file's content, unpacked; of the packed file where it cannot be unpacked."""
    digest = hashlib.sha256()
    with suppress(OSError, EOFError), _opened(path) as file:
        for piece in _pieces(file):
            digest.update(piece)
    return digest.hexdigest()


def _require_own(config: Path) -> None:
    """Refuse a settings file that this command did not write."""
    if config.exists() and not config.read_text("utf-8", errors="replace").startswith(HEAD.split(":")[0]):
        raise InputError(f"{config} was not written by fetch-data: name another file by --write")


def _written(config: Path, chosen: Sequence[DataSet], out: Path) -> list[str]:
    """Write the settings of data sets beside those of earlier calls, and return their names."""
    content: dict[str, Any] = {}
    if config.exists():
        content = yaml.safe_load(config.read_text("utf-8")) or {}
    for one in chosen:
        for key, value in one.settings.items():
            section, name = key.split(".")
            given = _in_folder(value, (out / one.name).as_posix())
            before = content.setdefault(section, {}).get(name)
            if isinstance(given, list) and isinstance(before, list):
                given = [*before, *(each for each in given if each not in before)]
            content[section][name] = given
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(HEAD + yaml.safe_dump(content, allow_unicode=True), "utf-8")
    return [f"{section}.{name}" for section, own in sorted(content.items()) for name in sorted(own)]


def _in_folder(value: Any, folder: str) -> Any:
    if isinstance(value, list):
        return [_in_folder(one, folder) for one in value]
    return value.replace("{folder}", folder)
