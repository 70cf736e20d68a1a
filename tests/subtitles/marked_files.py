"""Subtitle files with marks of speakers."""

import pyarrow as pa

SENTENCE = pa.struct(
    [
        ("index", pa.int32()),
        ("block_first", pa.int32()),
        ("block_last", pa.int32()),
        ("start_ms", pa.int32()),
        ("end_ms", pa.int32()),
        ("text", pa.string()),
    ]
)


def marks_file(*rows: tuple[str, int] | tuple[str, int, int | None, int | None]) -> pa.Array:
    """One file from (text, block[, start, end]) rows."""
    return marks_files([rows])


def marks_files(files: list) -> pa.Array:
    nested: list[list[dict] | None] = []
    for rows in files:
        if rows is None:
            nested.append(None)
            continue
        sentences = []
        for index, row in enumerate(rows):
            text, block, start, end = (*row, None, None)[:4]
            first, last = block if isinstance(block, tuple) else (block, block)
            times = {"start_ms": start, "end_ms": end}
            sentences.append({"index": index, "block_first": first, "block_last": last, "text": text, **times})
        nested.append(sentences)
    return pa.array(nested, pa.list_(SENTENCE))
