"""Reading and parsing of manifest rows in an executor's Python worker, for ``mapInArrow``."""

import gc
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa

from udfs.opus.archives import Member, RangeReader, member_end, members, ranges, read_member
from udfs.opus.files import Caps, UnreadableError, open_container, read_plain, unpack
from udfs.opus.parser import Subtitles, parse_subtitles
from udfs.opus.paths import language_code
from udfs.opus.sentences import Sentences

_FILES_A_BATCH = 64
_BYTES_A_BATCH = 32 << 20
_KEPT = ("source", "source_path", "release", "movie_id", "subtitle_id", "directory_year")
Row = dict[str, Any]


def files_read(rows: Sequence[Row], caps: Caps, range_bytes: int) -> Iterator[tuple[Row, bytes | UnreadableError]]:
    """Yield each manifest row with its unpacked bytes or an error.

    The members of a zip are read in ranges of at most ``range_bytes`` in the order of their offsets.
    """
    ordered = sorted(rows, key=lambda row: (row["source"], row["container"], row["offset"], row["source_path"]))
    for (source, container), group in groupby(ordered, key=lambda row: (row["source"], row["container"])):
        found = list(group)
        if found[0]["method"] is not None:
            yield from _members_read(source, container, found, caps, range_bytes)
            continue
        for row in found:
            try:
                if container.lower().endswith(".zip"):
                    raise _unopened(source, container)
                yield row, read_plain(source, container, row["gzipped"], caps)
            except UnreadableError as error:
                yield row, error


def _unopened(source: str, container: str) -> UnreadableError:
    """Return the error of a zip that the manifest has as a plain file because it could not be listed."""
    try:
        with open_container(source, container) as file:
            next(members(file), None)
    except zipfile.BadZipFile as error:
        return UnreadableError("bad_zip", str(error))
    except (OSError, NotImplementedError) as error:
        return UnreadableError("unreadable", f"{type(error).__name__}: {error}")
    return UnreadableError("bad_zip", "could not be opened when it was listed, now it can: list again")


def _members_read(
    source: str, container: str, rows: Sequence[Row], caps: Caps, range_bytes: int
) -> Iterator[tuple[Row, bytes | UnreadableError]]:
    targets = [
        Member(row["source_path"].split(PurePosixPath(container).name + "!", 1)[-1], row["offset"],
               row["stored_bytes"], row["bytes"], row["method"], row["crc"])
        for row in rows
    ]  # fmt: skip
    ends = [member_end(member.offset, member.name, member.stored_bytes) for member in targets]
    done = 0
    try:
        with open_container(source, container) as file:
            reader = RangeReader(file)
            for span in ranges([member.offset for member in targets], ends, range_bytes):
                if span.last - span.first > 1:
                    reader.hold(span.start, span.end)
                for number in range(span.first, span.last):
                    data = _member_read(reader, targets[number], rows[number], caps)
                    done = number + 1
                    yield rows[number], data
    except OSError as error:
        unreadable = UnreadableError("unreadable", f"{type(error).__name__}: {error.strerror or error}")
        yield from ((row, unreadable) for row in rows[done:])


def _member_read(reader: RangeReader, member: Member, row: Row, caps: Caps) -> bytes | UnreadableError:
    try:
        return unpack(read_member(reader, member, caps), row["gzipped"], caps)
    except UnreadableError as error:
        return error


def parsed_batches(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, caps: Caps, truecase: bool, range_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Map manifest rows to rows of ``subtitles.files`` with (reason, detail), for ``mapInArrow``.

    A batch holds at most 64 files and about 32 MiB of XML. An unreadable file has a reason and null columns.
    """
    rows = [row for batch in batches for row in batch.to_pylist()]
    pending: list[tuple[Row, Sentences | None]] = []
    unpacked = 0
    for row, data in files_read(rows, caps, range_bytes):
        with _no_garbage_collection():
            pending.append(_parsed(row, data, truecase))
        unpacked += 0 if isinstance(data, UnreadableError) else len(data)
        if len(pending) >= _FILES_A_BATCH or unpacked >= _BYTES_A_BATCH:
            yield record_batch(pending, schema)
            pending, unpacked = [], 0
    if pending:
        yield record_batch(pending, schema)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable the cycle collector, which takes a fifth of the parsing time and finds no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parsed(row: Row, data: bytes | UnreadableError, truecase: bool) -> tuple[Row, Sentences | None]:
    kept = {key: row[key] for key in _KEPT}
    try:
        if isinstance(data, UnreadableError):
            raise data
        file = parse_subtitles(data, truecase)
    except UnreadableError as error:
        return {**kept, "language": row["language"], "reason": error.reason, "detail": error.detail}, None
    return _columns(kept, row["language"], file), file.sentences


def _columns(kept: Row, language: str | None, file: Subtitles) -> Row:
    quirks = dict(file.quirks)
    if file.document_id is not None and file.document_id != kept["subtitle_id"]:
        quirks["document_id_differs"] = 1
    if language is None:
        language = language_code(file.language_name)
        quirks["language_from_meta" if language else "language_unknown"] = 1
    return {
        **kept, **file.meta, "language": language, "document_id": file.document_id,
        "sentence_count": len(file.sentences.text), "token_count": file.token_count,
        "quirks": sorted(quirks.items()),
    }  # fmt: skip


def record_batch(parsed: Sequence[tuple[Row, Sentences | None]], schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a batch; sentences are converted from flat arrays, without an object per sentence."""
    columns = [
        _nested(parsed, kind.type) if kind.name == "sentences"
        else pa.array([row.get(kind.name) for row, _ in parsed], kind.type)
        for kind in schema
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _nested(parsed: Sequence[tuple[Row, Sentences | None]], kind: pa.ListType) -> pa.Array:
    found = [sentences for _, sentences in parsed if sentences is not None]
    sizes = [0 if sentences is None else len(sentences.text) for _, sentences in parsed]
    offsets = pa.array(
        np.cumsum([0, *sizes]), pa.int32(), mask=np.array([*(file is None for _, file in parsed), False])
    )
    fields = list(kind.value_type)
    values = pa.StructArray.from_arrays([_flat(found, one) for one in fields], fields=fields)
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _flat(found: Sequence[Sentences], column: pa.Field) -> pa.Array:
    """Return one field of all sentences, concatenated; ``index`` counts within each file."""
    if not found:
        return pa.array([], column.type)
    if column.name == "index":
        places = np.concatenate([np.arange(len(one.text), dtype=np.int32) for one in found])
        return pa.array(places).cast(column.type)
    return pa.concat_arrays([getattr(one, column.name) for one in found]).cast(column.type)
