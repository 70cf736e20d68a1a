"""Listing of a source's files as rows of ``subtitles.manifest``, one folder or zip at a time.

What cannot be read is listed with its fault, so that reading quarantines it: a zip or a folder that cannot be listed, a
named pipe, a link to nothing, a member whose sizes cannot be.
"""

import errno
import hashlib
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import fs

from udfs.opus.files import container_uri, filesystem, kind_of, one_line, open_container, read_up_to
from udfs.opus.local_folders import HIDDEN, UNREAD, ListedFile, LocalFolder
from udfs.opus.names import escaped, name_bytes, readable
from udfs.opus.paths import (
    is_hidden,
    is_plain_text,
    is_subtitle_name,
    is_zip_name,
    read_folder,
    read_release,
    upload_of,
)
from udfs.opus.zip_directory import Member, is_unsafe, members

_BATCH = 10_000
_ZIP_MARK = re.compile(r"(?i)(\.zip)!")
_ENDING = re.compile(r"(?:\.tar|\.srt|\.tmx)?\.[^./!]{1,12}$", re.IGNORECASE)
_ARCHIVE = re.compile(r"(?i)\.(?:rar|7z|tar|tgz|tbz2?|txz|bz2|xz|zst|lzma|gz|cab|iso)$")
_NAMELESS = "(without a name)"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Piece:
    """A part of a source's listing, which one task makes.

    Attributes:
        kind: a ``zip``, the files directly in a folder (``flat``), all files below it (``tree``), or a folder of a
            language that is not asked for (``other``), whose files are not listed.
    """

    source: str
    path: str
    kind: str


def pieces_of(source: str, languages: Sequence[str], enough: int) -> list[Piece]:
    """Split the listing of a source into pieces, descending at most 4 levels until there are ``enough`` folders.

    Only folders are held in memory, never files. Folders of other languages are pieces that are not looked into.

    Raises:
        FileNotFoundError: The source does not exist.
        OSError: It cannot be listed.
    """
    files, root = _root(source)
    if _is_file(files, root, source):
        return [Piece(source, root, "zip" if is_zip_name(root) else "flat")]
    done: list[Piece] = []
    folders = [root]
    for _ in range(4):
        if not 0 < len(folders) < enough:
            break
        below: list[str] = []
        for folder in folders:
            found, inner = _inside(files, root, folder)
            refused = [one.fault for one in found if one.folder and one.path == root]
            if folder == root and refused:
                raise PermissionError(errno.EACCES, refused[0])
            if found:
                done.append(Piece(source, folder, "flat"))
            for path in inner:
                if _chosen(read_folder(root, path[len(root) :]).language, languages):
                    below.append(path)
                else:
                    done.append(Piece(source, path, "other"))
        folders = sorted(below)
    return sorted(done + [Piece(source, folder, "tree") for folder in folders], key=lambda piece: piece.path)


def _root(source: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a source and the source's path in it, encoded by ``readable``."""
    files, root = filesystem(source)
    return files, readable(name_bytes(root)) if isinstance(files, fs.LocalFileSystem) else root


def _is_file(files: fs.FileSystem, root: str, source: str) -> bool:
    """Return whether a source is a single file; raise if it is neither a file nor a folder."""
    if isinstance(files, fs.LocalFileSystem):
        mode = os.stat(name_bytes(root)).st_mode  # noqa: PTH116 - pathlib has no bytes
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, "neither a file nor a folder")
        return stat.S_ISREG(mode)
    (info,) = files.get_file_info([root])
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(source)
    return bool(info.type == fs.FileType.File)


def _inside(files: fs.FileSystem, root: str, folder: str) -> tuple[list[ListedFile], list[str]]:
    """Return the files and the paths of the folders directly in a folder."""
    if isinstance(files, fs.LocalFileSystem):
        found, folders = LocalFolder.of(name_bytes(root), name_bytes(folder)).inside()
        return found, [readable(inner.path) for inner in folders]
    inside = files.get_file_info(fs.FileSelector(folder))
    return [_remote(info) for info in inside if _is_listed(info)], [
        info.path for info in inside if info.type == fs.FileType.Directory and not info.base_name.startswith(".")
    ]


def _is_listed(info: fs.FileInfo) -> bool:
    """Return whether a store's entry is listed as a file: a file, or a hidden folder, which is not looked into."""
    return bool(info.type == fs.FileType.File or info.base_name.startswith("."))


def _remote(info: fs.FileInfo) -> ListedFile:
    if info.type == fs.FileType.Directory:
        return ListedFile(info.path, 0, "hidden", f"{UNREAD}: {HIDDEN}", folder=True)
    return ListedFile(info.path, info.size, f"{info.size}-{info.mtime_ns}")


def _chosen(language: str | None, languages: Sequence[str]) -> bool:
    return language is None or not languages or language in languages


def _files(piece: Piece) -> tuple[str, list[ListedFile]]:
    """Return the source's root, and the files of a piece in the order of their paths."""
    files, root = _root(piece.source)
    if piece.path == root and _is_file(files, root, piece.source):
        if not isinstance(files, fs.LocalFileSystem):
            return root, [_remote(files.get_file_info([root])[0])]
        info = os.stat(name_bytes(root))  # noqa: PTH116
        return root, [ListedFile(root, info.st_size, f"{info.st_size}-{info.st_mtime_ns}")]
    if isinstance(files, fs.LocalFileSystem):
        folder = LocalFolder.of(name_bytes(root), name_bytes(piece.path))
        found = list(folder.below()) if piece.kind == "tree" else folder.inside()[0]
    else:
        below = files.get_file_info(fs.FileSelector(piece.path, recursive=piece.kind == "tree"))
        found = [_remote(info) for info in below if _is_listed(info)]
    return root, sorted(found, key=lambda one: one.path)


def list_piece(piece: Piece, languages: Sequence[str], release_default: str) -> Iterator[Row]:
    """Yield rows of ``subtitles.manifest`` for a piece, in the order of its columns.

    A folder of a language that is not asked for, also one within a zip, is a row whose path ends in ``/``.
    """
    if piece.kind == "other":
        root = _root(piece.source)[1]
        inside = piece.path[len(root) :].lstrip("/")
        yield _folder_row(piece.source, f"{inside}/", piece.path, read_folder(root, inside).language, release_default)
        return
    root, files = _files(piece)
    folders: set[str] = set()
    for found in files:
        inside = found.path[len(root) :].lstrip("/") or found.path.rpartition("/")[2]
        # A folder whose name ends in ".zip!" would look like a zip, whose members follow the mark.
        shown = _ZIP_MARK.sub(rf"\1{escaped('!')}", inside)
        try:
            for row in _rows(piece.source, (root, inside, shown), found, languages, release_default):
                if not row[1].endswith("/") or row[1] not in folders:
                    yield row
                if row[1].endswith("/"):
                    folders.add(row[1])
        except Exception as error:
            fault = one_line(f"listing_failed: {type(error).__name__}: {error}")
            yield (
                piece.source,
                shown,
                container_uri(piece.source, found.path),
                0,
                0,
                0,
                None,
                None,
                False,
                found.tag,
                release_default,
                None,
                f"file:{shown}",
                None,
                shown,
                None,
                fault,
            )


def _folder_row(source: str, shown: str, path: str, language: str | None, release_default: str) -> Row:
    """Return the row of a folder of a language that is not asked for."""
    release = read_release(source, shown, release_default)
    place = container_uri(source, path)
    return (
        *(source, shown, place, 0, 0, 0, None, None, False, "", release),
        *(language, f"file:{shown}", None, shown, None, None),
    )


def _language_folder(above: str, folders: str, language: str) -> str:
    """Return the first of nested folders that names a language; empty where the path above them does."""
    parts = folders.split("/")
    prefixes = ("/".join(parts[:size]) for size in range(len(parts)))
    return next((prefix for prefix in prefixes if read_folder(above, prefix).language == language), folders)


def _rows(
    source: str, place: tuple[str, str, str], found: ListedFile, languages: Sequence[str], release_default: str
) -> Iterator[Row]:
    """Yield the manifest rows of a file or of a zip's members.

    Args:
        place: the source's root, the file's path in it, and that path as ``source_path``.
        languages, release_default: as for ``list_piece``.
    """
    root, inside, shown = place
    for name, unique, member in _entries(source, inside, found):
        in_zip = member is not None and unique != ""
        above = f"{shown}!" if unique else ""
        folders = name if found.folder else name.rpartition("/")[0]
        folder = read_folder(above or f"{root}/", folders)
        fault = (member.fault if member else found.fault) or _unread(name, in_zip)
        # A bad zip may hold the languages asked for, and the path of an unsafe member says nothing.
        unknown = fault is not None and (is_zip_name(name) or is_unsafe(name))
        upload, film, language = upload_of(f"{inside}/{name}" if unique else name, folder)
        in_opus_folder = folder.language is not None or not is_plain_text(name)
        if not unknown and in_opus_folder and language is not None and not _chosen(language, languages):
            other = _language_folder(above or f"{root}/", folders, language)
            path = f"{found.path}!{other}" if above else f"{root}/{other}"
            yield _folder_row(source, f"{above}{other}/", path, language, release_default)
            continue
        stored = 0 if fault else found.size
        sizes: Row = (0, stored, stored, None, None)
        if member and unique:
            sizes = (member.offset, member.stored_bytes, member.bytes, member.method, member.crc)
        yield (
            source,
            above + unique if unique else shown,
            container_uri(source, found.path),
            *sizes,
            name.lower().endswith(".gz"),
            found.tag,
            read_release(source, above + folders, release_default),
            language,
            film,
            folder.year,
            upload,
            unique or None,
            fault,
        )


def _entries(source: str, inside: str, found: ListedFile) -> Iterator[tuple[str, str, Member | None]]:
    """Yield the name of a file, or names, unique names and members of a zip's files.

    A zip that cannot be listed to its end gives one entry for the rest: its own name, and a member with the fault.
    """
    if found.fault or not is_zip_name(inside) or is_hidden(inside):
        yield inside, "", None
        return
    names: set[str] = set()
    fault = "empty: the zip holds no file"
    try:
        with open_container(source, container_uri(source, found.path)) as file:
            for member in members(file):
                name = member.name or _NAMELESS
                if not _is_copy_of_macos(name):
                    yield name, _unique(name, names), member
        if names:
            return
    except zipfile.BadZipFile as error:
        fault = f"bad_zip: {error}"
        if not names and (kind := _kind(source, found)):
            fault = f"not_subtitles: the file is {kind}, despite its name"
    except OSError as error:
        fault = f"unreadable: {type(error).__name__}: {error.strerror or error}"
    except Exception as error:
        fault = f"listing_failed: {type(error).__name__}: {error}"
    yield inside, "", Member(inside, 0, 0, 0, 0, 0, one_line(fault))


def _is_copy_of_macos(name: str) -> bool:
    """Return whether a member is one of those that macOS adds for each file, which holds its icon and the like."""
    *folders, last = name.split("/")
    return "__MACOSX" in folders and last.startswith("._")


def _kind(source: str, found: ListedFile) -> str | None:
    """Return what a file that is no zip is, by its first bytes; None for a damaged zip."""
    with open_container(source, container_uri(source, found.path)) as file:
        data = read_up_to(file, 512)
    return None if data.startswith(b"PK") else kind_of(data)


def _unread(name: str, in_zip: bool) -> str | None:
    """Return why a file of this name is not read; None for one that is."""
    if is_hidden(name):
        return f"{UNREAD}: {HIDDEN}"
    if is_zip_name(name) and in_zip:
        return f"{UNREAD}: an archive in an archive is not unpacked; unpack it into the source"
    if is_subtitle_name(name) or is_zip_name(name):
        return None
    ending = _ENDING.search(name)
    if ending is None:
        return f"{UNREAD}: its name has no ending"
    archive = ": archives of that kind are not unpacked" if _ARCHIVE.search(name) else ""
    return f"{UNREAD}: files ending in {ending[0].lower()} are not read{archive}"


def _unique(name: str, names: set[str]) -> str:
    """Return a name that no other member of the zip has, and add it to the names."""
    number = 1
    unique = name
    while unique in names:
        number += 1
        unique = f"{name}#{number}"
    names.add(unique)
    return unique


def manifest_batches(
    pieces: Iterator[pa.RecordBatch], languages: Sequence[str], release_default: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Map pieces to manifest rows, at most 10,000 per batch, for ``mapInArrow``."""
    found = (Piece(**piece) for batch in pieces for piece in batch.to_pylist())
    rows = (row for piece in found for row in list_piece(piece, languages, release_default))
    while part := list(islice(rows, _BATCH)):
        columns = zip(zip(*part, strict=True), schema, strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(values, kind.type) for values, kind in columns], schema=schema)


def fingerprint(source: str, languages: Sequence[str]) -> str:
    """Return a hash of the path, size and modification time of every file under a source; zips are not opened.

    It sums the files' hashes, so that their order does not matter; the files of one folder are listed at a time. A
    missing source gives "missing".
    """
    total = 0
    try:
        pieces = pieces_of(source, languages, enough=64)
    except FileNotFoundError:
        return "missing"
    for piece in pieces:
        if piece.kind == "other":
            inside = piece.path.removeprefix(_root(source)[1])
            digest = hashlib.blake2b(f"{inside}/".encode(), digest_size=16)
            total += int.from_bytes(digest.digest(), "big")
            continue
        root, files = _files(piece)
        for found in files:
            if found.fault or is_zip_name(found.path) or is_subtitle_name(found.path.rpartition("/")[2]):
                inside = found.path.removeprefix(root)
                digest = hashlib.blake2b(f"{inside}\0{found.tag}".encode(), digest_size=16)
                total += int.from_bytes(digest.digest(), "big")
    return f"{total % (1 << 128):032x}"
