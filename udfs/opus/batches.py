"""Reading and parsing of manifest rows in an executor's Python worker, for ``mapInArrow``."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import IO, Any

import numpy as np
import pyarrow as pa

from udfs.opus.archives import RangeReader, member_end, ranges, read_member
from udfs.opus.cue_forms import is_ttml
from udfs.opus.files import Caps, UnreadableError, open_container, read_plain, refuse_other_kinds, unpack
from udfs.opus.guard import guarded
from udfs.opus.languages import FEWEST_LETTERS, LOOKED_AT, SURE, contradicts, language_of, spread
from udfs.opus.parser import Subtitles, parse_subtitles
from udfs.opus.paths import is_plain_text, language_code
from udfs.opus.plain_text import parse_plain_text
from udfs.opus.sentences import Sentences
from udfs.opus.zip_directory import Member

_FILES_A_BATCH = 64
_BYTES_A_BATCH = 32 << 20
_KEPT = ("source", "source_path", "release", "movie_id", "subtitle_id", "directory_year")
Row = dict[str, Any]
Data = bytes | UnreadableError
ParsedFile = tuple[Row, Sentences | None]


def files_read(rows: Sequence[Row], caps: Caps, range_bytes: int) -> Iterator[tuple[Row, Data]]:
    """Yield each manifest row with its unpacked bytes or an error.

    The members of a zip are read in ranges of at most ``range_bytes`` in the order of their offsets.
    """
    ordered = sorted(rows, key=lambda row: (row["source"], row["container"], row["offset"], row["source_path"]))
    for (source, container), group in groupby(ordered, key=lambda row: (row["source"], row["container"])):
        found = []
        for row in group:
            if row["fault"] is not None:
                reason, _, detail = row["fault"].partition(": ")
                yield row, UnreadableError(reason, detail)
            elif row["member"] is None:
                read = partial(read_plain, source, container, row["gzipped"], caps)
                yield row, guarded(read, caps.max_seconds)
            else:
                found.append(row)
        if found:
            yield from _members_read(source, container, found, caps, range_bytes)


def _members_read(
    source: str, container: str, rows: Sequence[Row], caps: Caps, range_bytes: int
) -> Iterator[tuple[Row, Data]]:
    targets = [
        Member(row["member"], row["offset"], row["stored_bytes"], row["bytes"], row["method"], row["crc"])
        for row in rows
    ]
    ends = [member_end(member.offset, member.name, member.stored_bytes) for member in targets]
    file = guarded(lambda: _opened(source, container), caps.max_seconds)
    if isinstance(file, UnreadableError):
        yield from ((row, file) for row in rows)
        return
    with file:
        reader = RangeReader(file)
        for span in ranges([member.offset for member in targets], ends, range_bytes):
            count = span.last - span.first
            if count > 1:
                # A range that cannot be read leaves its members to be read one by one.
                guarded(partial(reader.hold, span.start, span.end), caps.max_seconds * count)
            for number in range(span.first, span.last):
                read = partial(_member_read, reader, targets[number], rows[number]["gzipped"], caps)
                yield rows[number], guarded(read, caps.max_seconds)


def _opened(source: str, container: str) -> IO[bytes]:
    try:
        return open_container(source, container)
    except OSError as error:
        raise UnreadableError("unreadable", f"{type(error).__name__}: {error.strerror or error}") from error


def _member_read(reader: RangeReader, member: Member, gzipped: bool, caps: Caps) -> bytes:
    try:
        return unpack(read_member(reader, member, caps), gzipped, caps)
    except OSError as error:
        raise UnreadableError("unreadable", f"{type(error).__name__}: {error.strerror or error}") from error


def parsed_batches(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    caps: Caps,
    truecase: bool,
    range_bytes: int,
    languages: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Map manifest rows to rows of ``subtitles.files`` with (reason, detail), for ``mapInArrow``.

    A batch holds at most 64 files and about 32 MiB of XML. An unreadable file has a reason and null columns.
    ``languages`` are those that are asked for: the only one is assumed of a short text whose name tells none.
    """
    rows = [row for batch in batches for row in batch.to_pylist()]
    pending: list[ParsedFile] = []
    unpacked = 0
    for row, data in files_read(rows, caps, range_bytes):
        with _no_garbage_collection():
            pending.append(_parsed(row, data, truecase, caps.max_seconds, languages))
        unpacked += 0 if isinstance(data, UnreadableError) else len(data)
        if len(pending) >= _FILES_A_BATCH or unpacked >= _BYTES_A_BATCH:
            yield _guarded_batch(pending, schema)
            pending = []
            unpacked = 0
    if pending:
        yield _guarded_batch(pending, schema)


def _guarded_batch(parsed: Sequence[ParsedFile], schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a batch, with an error in place of each file whose values do not fit the table."""
    try:
        return record_batch(parsed, schema)
    except Exception:
        return record_batch([_fitting(one, schema) for one in parsed], schema)


def _fitting(one: ParsedFile, schema: pa.Schema) -> ParsedFile:
    made = guarded(lambda: record_batch([one], schema), 0)
    return _refused(one[0], made) if isinstance(made, UnreadableError) else one


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


def _parsed(row: Row, data: Data, truecase: bool, max_seconds: float, languages: Sequence[str]) -> ParsedFile:
    if isinstance(data, UnreadableError):
        return _refused(row, data)

    def parsed() -> ParsedFile:
        refuse_other_kinds(data)
        if is_plain_text(row["member"] or row["source_path"]) or is_ttml(data):
            file = parse_plain_text(data, row["language"], languages)
            return _columns({key: row[key] for key in _KEPT}, file.language_name, file), file.sentences
        file = parse_subtitles(data, truecase, row["language"])
        language = _language_of_xml(row["language"], file)
        return _columns({key: row[key] for key in _KEPT}, language, file), file.sentences

    made = guarded(parsed, max_seconds, cpu=True)
    return _refused(row, made) if isinstance(made, UnreadableError) else made


def _refused(row: Row, error: UnreadableError) -> ParsedFile:
    kept = {key: row[key] for key in _KEPT}
    return {**kept, "language": row["language"], "reason": error.reason, "detail": error.detail}, None


def _language_of_xml(named: str | None, file: Subtitles) -> str | None:
    """Return the language that a file's folder or its ``<meta>`` says, else that of its text.

    Raises:
        UnreadableError: other_language: its text is surely in another one.
    """
    said = named or language_code(file.language_name)
    text = spread(file.sentences.text.to_pylist(), LOOKED_AT)
    found, probability = language_of(text)
    if said is None:
        said = found if probability >= SURE and sum(map(str.isalpha, text)) >= FEWEST_LETTERS else None
        file.quirks["language_from_text" if said else "language_unknown"] = 1
    elif named is None:
        file.quirks["language_from_meta"] = 1
    if said is not None and contradicts(said, text, found, probability):
        raise UnreadableError("other_language", f"its text is in {found}, its folder or <meta> says {said}")
    return said


def _columns(kept: Row, language: str | None, file: Subtitles) -> Row:
    quirks = dict(file.quirks)
    if file.document_id is not None and file.document_id != kept["subtitle_id"]:
        quirks["document_id_differs"] = 1
    return {
        **kept,
        **file.meta,
        "language": language,
        "document_id": file.document_id,
        "sentence_count": len(file.sentences.text),
        "token_count": file.token_count,
        "quirks": sorted(quirks.items()),
    }


def record_batch(parsed: Sequence[tuple[Row, Sentences | None]], schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a batch; sentences are converted from flat arrays, without an object per sentence."""
    columns = [
        _nested(parsed, kind.type)
        if kind.name == "sentences"
        else pa.array([row.get(kind.name) for row, _ in parsed], kind.type)
        for kind in schema
    ]
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
