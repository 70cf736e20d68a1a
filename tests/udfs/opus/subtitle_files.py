"""Subtitle files for tests, and their rows."""

from udfs.opus.parser import Subtitles
from udfs.opus.plain_text import parse_plain_text
from udfs.opus.sentences import Sentences


def xml_file(body: str, meta: str = "<meta/>") -> bytes:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="7">{body}{meta}</document>'.encode()


def rows(sentences: Sentences) -> list[tuple[int | None, int | None, int | None, int | None, str]]:
    columns = (sentences.block_first, sentences.block_last, sentences.start_ms, sentences.end_ms, sentences.text)
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def srt(*texts: str, gap: int = 500) -> str:
    """Return cues of a second and a half."""
    times = [(1000 + place * (1500 + gap), 2500 + place * (1500 + gap)) for place in range(len(texts))]
    return "\n".join(
        f"{n}\n00:00:{a // 1000:02},{a % 1000:03} --> 00:00:{b // 1000:02},{b % 1000:03}\n{text}\n"
        for n, ((a, b), text) in enumerate(zip(times, texts, strict=True), 1)
    )


def parsed(text: str | bytes, language: str | None = "en") -> Subtitles:
    return parse_plain_text(text if isinstance(text, bytes) else text.encode(), language, ("en",))


def texts(text: str | bytes, language: str | None = "en") -> list[str]:
    return parsed(text, language).sentences.text.to_pylist()
