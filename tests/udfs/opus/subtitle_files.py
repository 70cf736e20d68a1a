"""Subtitle files for tests, and their rows."""

from udfs.opus.sentences import Sentences


def xml_file(body: str, meta: str = "<meta/>") -> bytes:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="7">{body}{meta}</document>'.encode()


def rows(sentences: Sentences) -> list[tuple[int | None, int | None, int | None, int | None, str]]:
    columns = (sentences.block_first, sentences.block_last, sentences.start_ms, sentences.end_ms, sentences.text)
    return list(zip(*(column.to_pylist() for column in columns), strict=True))
