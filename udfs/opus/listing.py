"""Listing of a source's files as rows of ``subtitles.manifest``, one folder or zip at a time."""

import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import fs

from udfs.opus.archives import Member, is_unsafe, members
from udfs.opus.files import container_uri, filesystem, open_container
from udfs.opus.paths import is_subtitle_name, read_folder, read_release, subtitle_id

_BATCH = 10_000
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Piece:
    """A part of a listing: a ``zip``, the files directly in a folder (``flat``), or all files below it (``tree``)."""

    source: str
    path: str
    kind: str


def pieces_of(source: str, languages: Sequence[str], enough: int) -> list[Piece]:
    """Split the listing of a source into pieces, descending at most 4 levels until there are ``enough`` folders.

    Only folders are held in memory, never files. Folders of other languages are skipped.

    Raises:
        FileNotFoundError: The source does not exist.
    """
    files, root = filesystem(source)
    (info,) = files.get_file_info([root])
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(source)
    if info.type == fs.FileType.File:
        return [Piece(source, root, "zip" if _is_zip(root) else "flat")]
    done: list[Piece] = []
    folders = [root]
    for _ in range(4):
        if not 0 < len(folders) < enough:
            break
        below: list[str] = []
        for folder in folders:
            inside = files.get_file_info(fs.FileSelector(folder))
            if any(child.type == fs.FileType.File for child in inside):
                done.append(Piece(source, folder, "flat"))
            below += [
                child.path
                for child in inside
                if child.type == fs.FileType.Directory
                and not child.base_name.startswith(".")
                and _chosen(read_folder(root, child.path[len(root) :]).language, languages)
            ]
        folders = sorted(below)
    return sorted(done + [Piece(source, folder, "tree") for folder in folders], key=lambda piece: piece.path)


def _is_zip(path: str) -> bool:
    return path.lower().endswith(".zip")


def _chosen(language: str | None, languages: Sequence[str]) -> bool:
    return language is None or not languages or language in languages


def _files(piece: Piece) -> tuple[str, list[fs.FileInfo]]:
    """Return the source's root, and the files of a piece in the order of their paths."""
    files, root = filesystem(piece.source)
    found = [] if piece.kind == "tree" else files.get_file_info([piece.path])
    if piece.kind != "zip" and (not found or found[0].type != fs.FileType.File):
        found = files.get_file_info(fs.FileSelector(piece.path, recursive=piece.kind == "tree"))
    return root, sorted((info for info in found if info.type == fs.FileType.File), key=lambda info: info.path)


def _tag(info: fs.FileInfo) -> str:
    return f"{info.size}-{info.mtime_ns}"


def list_piece(piece: Piece, languages: Sequence[str], release_default: str) -> Iterator[Row]:
    """Yield rows of ``subtitles.manifest`` for a piece, in the order of its columns.

    A zip that cannot be opened gives one row without a method, which fails when it is read.
    """
    root, files = _files(piece)
    for info in files:
        inside = info.path[len(root) :].lstrip("/") or info.base_name
        if any(part.startswith(".") for part in inside.split("/")):
            continue
        for name, member in _entries(piece.source, inside, info):
            above, folders = f"{inside}!" if member else "", name.rpartition("/")[0]
            folder = read_folder(above or f"{root}/", folders)
            # Unreadable zips and unsafe members are listed, so that reading reports them.
            faulty = is_unsafe(name) if member else _is_zip(inside)
            if not faulty and not _chosen(folder.language, languages):
                continue
            sizes = (member.offset, member.stored_bytes, member.bytes, member.method, member.crc) if member else (
                0, info.size, info.size, None, None
            )  # fmt: skip
            release = read_release(piece.source, above + folders, release_default)
            upload = subtitle_id(name)
            yield (
                piece.source, above + name, container_uri(piece.source, info.path), *sizes,
                name.lower().endswith(".gz"), _tag(info), release, folder.language,
                folder.film or f"file:{upload}", folder.year, upload,
            )  # fmt: skip


def _entries(source: str, inside: str, info: fs.FileInfo) -> Iterator[tuple[str, Member | None]]:
    """Yield the name of a subtitle file, or the names and members of a zip's subtitle files."""
    if not _is_zip(inside):
        if is_subtitle_name(inside):
            yield inside, None
        return
    try:
        with open_container(source, container_uri(source, info.path)) as file:
            for member in members(file):
                if is_subtitle_name(member.name):
                    yield member.name, member
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        yield inside, None


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

    It sums the files' hashes, so that it needs neither an order nor memory. A missing source gives "missing".
    """
    total = 0
    try:
        pieces = pieces_of(source, languages, enough=64)
    except FileNotFoundError:
        return "missing"
    for piece in pieces:
        for info in _files(piece)[1]:
            if _is_zip(info.path) or is_subtitle_name(info.base_name):
                digest = hashlib.blake2b(f"{info.path}\0{_tag(info)}".encode(errors="replace"), digest_size=16)
                total += int.from_bytes(digest.digest(), "big")
    return f"{total % (1 << 128):032x}"
