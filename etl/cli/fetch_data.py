"""``python -m jobs fetch-data``: the data sets that the pipeline learns from, from their authors' addresses.

Each file is pinned by its sha256 in ``conf/data_sets.yaml``, or, where its owners replace it in place, by nothing: then
its sha256 is printed. A file that is at hand is not fetched again.
"""

import gzip
import hashlib
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pooch
import yaml

from conf import resources
from conf.errors import InputError

TRIES = 4
SECONDS = 60
"""Timeout of a connection and of each read."""
LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[a-z]{2,3})?")
"""Codes of OPUS, such as ``de`` and ``pt_br``."""
MOST_UNPACKED = 1 << 30
HEAD = "# Written by fetch-data: --config FILE reads it. Paths are seen from the folder in which it was started.\n"


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes:
        path: below the data set's address.
        bytes: its size; None: known to the server alone.
        sha256: of its content; None: not pinned.
        unpack: folders of a zip, whose own first folder is left out, that are unpacked beside it; (): it is no zip.
    """

    name: str
    path: str
    bytes: int | None = None
    sha256: str | None = None
    unpack: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """A data set that can be fetched.

    Attributes:
        name: as on the command line.
        licence: as its owners name it.
        commercial: whether it allows commercial use.
        address: of the folder with its files.
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

    def __str__(self) -> str:
        known = [file.bytes for file in self.files if file.bytes is not None]
        size = f"{sum(known) / 1e6:.1f} MB" if len(known) == len(self.files) else "size told when it begins"
        return f"{self.name}: {self.holds}; {size}\n  licence: {self.licence}; cite {self.cite}"


def data_sets(language: str = "en") -> dict[str, DataSet]:
    """Return the data sets of ``conf/data_sets.yaml`` by name.

    Args:
        language: code for those that have a file a language.
    """
    if not LANGUAGE.fullmatch(language):
        raise InputError(f"--language {language}: OPUS names languages by two or three letters, such as de or pt_br")
    known = yaml.safe_load(resources.text("data_sets.yaml").replace("{language}", language))
    found = {}
    for name, about in known.items():
        files = tuple(DataFile(**{"path": file["name"], **file}) for file in about["files"])
        found[name] = DataSet(name=name, **{**about, "files": files})
    return found


def fetch_data(
    names: Sequence[str],
    out: Path,
    config: Path | None = None,
    source: Path | None = None,
    language: str = "en",
    accept: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Fetch data sets, write the settings that name them, and return the exit status.

    Args:
        out: folder in which each has a folder.
        config: the settings file that is written; None: ``settings.yaml`` in that folder.
        source: folder that has the files already; None: they are fetched.
        language: see :func:`data_sets`.
        accept: whether the user may use what allows no commercial use.

    Raises:
        InputError: a name is unknown, a licence was not accepted, a file cannot be fetched, or is not the pinned one.
    """
    known = data_sets(language)
    if not names:
        for one in known.values():
            say(str(one))
        say("python -m jobs fetch-data NAME... fetches them; --from FOLDER uses a copy on disk")
        return 0
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"fetch-data does not know {', '.join(unknown)}: it has {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(names)]
    for one in chosen:
        say(str(one))
    refused = [one.name for one in chosen if not one.commercial]
    if refused and not accept:
        raise InputError(
            f"{', '.join(refused)}: not for commercial use, or not licensed by those who own the texts (see above): "
            "--accept says that your use is allowed"
        )
    config = config or out / "settings.yaml"
    if config.exists() and not config.read_text("utf-8", errors="replace").startswith(HEAD.partition(":")[0]):
        raise InputError(f"{config} was not written by fetch-data: name another file with --write")
    for one in chosen:
        for file in one.files:
            target = out / one.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            how = _fetched(one, file, target) if source is None else _copied(file, source, target)
            say(f"  {target}: {how}")
            if file.unpack:
                say(f"  {target.parent}: {unpacked(target, file.unpack)} files of {', '.join(file.unpack)}")
    say(f"{config} names them: {', '.join(_written(config, chosen, out))}")
    say(f"python -m jobs run --config {config} --config my.yaml")
    return 0


def _fetched(one: DataSet, file: DataFile, target: Path) -> str:
    """Fetch a file unless it is at hand, and return how it came.

    Raises:
        InputError: no try ended, or the file is not the pinned one.
    """
    if target.is_file() and (file.sha256 is None or pooch.file_hash(str(target)) == file.sha256):
        return "at hand"
    fetcher = pooch.create(
        path=target.parent,
        base_url=f"{one.address}/",
        registry={file.name: file.sha256 and f"sha256:{file.sha256}"},
        urls={file.name: f"{one.address}/{quote(file.path)}"},
        retry_if_failed=TRIES - 1,
    )
    try:
        fetcher.fetch(
            file.name, downloader=pooch.HTTPDownloader(progressbar=find_spec("tqdm") is not None, timeout=SECONDS)
        )
    except (OSError, ValueError) as error:  # those of requests are OSErrors; a ValueError: another file came
        raise InputError(f"{one.address}/{file.path}: {error}; --from FOLDER uses a copy on disk") from error
    return "fetched" if file.sha256 else f"fetched, not pinned: sha256 {pooch.file_hash(str(target))}"


def unpacked(path: Path, folders: Sequence[str]) -> int:
    """Unpack folders of a zip of a repository beside it, and return how many files they have.

    Raises:
        InputError: it is no zip, holds more than ``MOST_UNPACKED`` bytes, or a path that leads out of it.
    """
    count = 0
    try:
        with zipfile.ZipFile(path) as opened:
            wanted = {one: one.filename.partition("/")[2] for one in opened.infolist() if not one.is_dir()}
            wanted = {one: inner for one, inner in wanted.items() if inner.partition("/")[0] in folders}
            if sum(one.file_size for one in wanted) > MOST_UNPACKED or any(".." in inner for inner in wanted.values()):
                raise InputError(f"{path} is not unpacked: it is too large, or leads out of its folder")
            for one, inner in wanted.items():
                target = path.parent / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(opened.read(one))
                count += 1
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from error
    return count


def _copied(file: DataFile, source: Path, target: Path) -> str:
    """Copy the file below a folder that has the pinned content, packed by gzip or not, or the name, if unpinned.

    Raises:
        InputError: the folder has no file with the pinned content.
    """
    names = {name + end for name in (file.name, file.path.rpartition("/")[2]) for end in ("", ".gz")}
    for path in sorted(path for path in source.rglob("*") if path.name in names):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" and file.sha256 else None
        digest = hashlib.sha256(content).hexdigest() if content else pooch.file_hash(str(path))
        if file.sha256 in (None, digest):
            if content is None:
                shutil.copyfile(path, target)
            else:
                target.write_bytes(content)
            return f"from {path}"
    raise InputError(f"{file.name} of the pinned content is not below {source}: leave --from out to fetch it")


def _written(config: Path, chosen: Sequence[DataSet], out: Path) -> Iterator[str]:
    """Write the settings of data sets beside those of earlier calls, and yield their names."""
    content: dict[str, Any] = (yaml.safe_load(config.read_text("utf-8")) or {}) if config.exists() else {}
    for one in chosen:
        for key, value in one.settings.items():
            section, name = key.split(".")
            given = in_folder(value, (out / one.name).as_posix())
            before = content.setdefault(section, {}).get(name)
            if isinstance(given, list) and isinstance(before, list):
                given = [*before, *(each for each in given if each not in before)]
            content[section][name] = given
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(HEAD + yaml.safe_dump(content, allow_unicode=True), "utf-8")
    yield from (f"{section}.{name}" for section, own in sorted(content.items()) for name in sorted(own))


def in_folder(value: Any, folder: str) -> Any:
    """Return a setting's value with the folder in place of ``{folder}``."""
    return [in_folder(one, folder) for one in value] if isinstance(value, list) else value.replace("{folder}", folder)
