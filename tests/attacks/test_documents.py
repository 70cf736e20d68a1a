"""Documents that once stopped a run, or were read differently by the two parsers."""

import os
import time
from pathlib import Path

import pytest

from tests.attacks.corpora import reading_of
from tests.attacks.differential import differences
from udfs.opus.files import UnreadableError
from udfs.opus.guard import guarded
from udfs.opus.parser import MOST_MARKS

HEAD = b'<?xml version="1.0" encoding="utf-8"?>\n<document id="1">'
S = b'<s id="1"><time id="T1S" value="00:00:01,000" /><w id="1.1">So</w><time id="T1E" value="00:00:02,000" /></s>'
META = b"<meta><source><year>1999</year></source></meta>"
FILM = HEAD + S + META + b"</document>"

ODD_ENDS = {
    "blank_in_the_last_tag": HEAD + S + META + b"</document >",
    "line_in_the_last_tag": HEAD + S + META + b"</document\n>\n",
    "no_meta_and_blank_in_the_last_tag": HEAD + S + b"</document >",
    "text_after_meta": HEAD + S + META + b"text</document>",
    "element_after_meta": HEAD + S + META + b"<more/></document>",
    "sentence_after_meta": HEAD + S + META + S + b"</document>",
    "instruction_after_meta": HEAD + S + META + b"<?php x ?></document>",
    "second_meta": HEAD + S + META + META + b"</document>",
    "meta_in_meta": HEAD + S + b"<meta>" + META + b"</meta></document>",
    "sentence_in_meta": HEAD + S + b"<meta>" + S + b"</meta></document>",
    "word_in_meta": HEAD + S + b"<meta><w>x</w></meta></document>",
    "prefix_without_a_name_in_meta": HEAD + S + b"<meta><a:b/></meta></document>",
    "instruction_after_the_end": FILM + b"<?x </document>?>",
    "instruction_with_meta": HEAD + S + b"<?x <meta></document>?></document>",
    "meta_as_deep_as_allowed": HEAD + S + b"<meta>" + b"<a>" * 253 + b"</a>" * 253 + b"</meta></document>",
    "meta_one_deeper": HEAD + S + b"<meta>" + b"<a>" * 254 + b"</a>" * 254 + b"</meta></document>",
}
WORDS = {
    "attribute_in_a_tail": b'<w id="1.1">So</w> alternative="no"<w id="1.2">it</w>',
    "attribute_in_a_word": b'<w id="1.1"> alternative="no"</w>',
    "attribute_in_a_word_after_a_blank": b'<w id="1.1">A alternative="no"</w>',
    "attribute_in_a_word_with_a_form": b'<w id="1.1" alternative="so"> initial=x</w>',
    "single_quotes": b"<w id=\"1.1\" alternative='so'>SO</w>",
    "single_quotes_in_double": b'<w id="1.1" alternative="\'">SO</w>',
    "within_single_quotes": b"<w id='a alternative=\"x\"'>SO</w>",
    "blanks_around_the_sign": b'<w id="1.1" alternative = "so">SO</w>',
    "line_before_the_name": b'<w id="1.1"\nalternative="so">SO</w>',
    "between_two_quotes": b'<w id=" alternative=" x="y">SO</w>',
    "longer_name": b'<w id="1.1" xalternative="so">SO</w>',
    "first_attribute": b'<w alternative="so" id="1.1">SO</w>',
    "reference_in_the_form": b'<w id="1.1" alternative="a&amp;b">SO</w>',
    "character_reference_in_the_form": b'<w id="1.1" alternative="&#32;">SO</w>',
    "empty_form": b'<w id="1.1" alternative="">SO</w>',
    "blank_form": b'<w id="1.1" alternative=" ">SO</w>',
    "line_as_form": b'<w id="1.1" alternative="&#10;\n">SO</w>',
    "namespace_of_a_word": b'<w id="1.1" xmlns="u">SO</w>',
    "namespace_of_a_word_alone": b'<w xmlns="u">SO</w>',
    "prefixed_attribute": b'<w id="1.1" xml:lang="en">SO</w>',
    "prefix_without_a_name": b'<w id="1.1" a:b="c">SO</w>',
    "short_prefix_without_a_name": b'<w id="" a:b="">SO</w>',
    "double_reference": b'<w id="1.1">&amp;lt;</w>',
    "reference_to_a_blank": b'<w id="1.1">a&#160;b</w>',
    "end_in_an_attribute": b'<w id="1.1>">SO</w>',
    "no_attribute": b"<w>SO</w>",
    "tag_without_end": b'<w id="1.1"/>',
}
OTHERS = {
    "form_of_a_sentence": HEAD + S.replace(b'<s id="1">', b'<s id="1" alternative="x">') + b"</document>",
    "namespace_of_a_sentence": HEAD + S.replace(b'<s id="1">', b'<s id="1" xmlns="u">') + b"</document>",
    "form_between_sentences": HEAD + S + b' alternative="x"' + S + b"</document>",
    "line_in_the_document_id": FILM.replace(b'<document id="1">', b'<document id="1\n2">'),
    "reference_in_the_document_id": FILM.replace(b'<document id="1">', b'<document id="&#49;">'),
    "nothing_but_a_word": b"<w>x</w>",
    "nothing_but_a_time": b'<time id="T1S"/>',
    "nothing_but_a_sentence": b"<s><w>x</w></s>",
    "sentence_alone_without_words": HEAD + b'<s id=""></s></document>',
    "word_of_many_megabytes": HEAD + S.replace(b"So", b"o" * 10_000_001) + b"</document>",
    "all_in_one_namespace": FILM.replace(b'id="1">', b'id="1" xmlns="u">', 1),
    "byte_order_mark": b"\xef\xbb\xbf" + FILM,
    "utf_16": FILM.replace(b"utf-8", b"utf-16").decode().encode("utf-16"),
    "utf_16_without_mark": FILM.replace(b"utf-8", b"utf-16").decode().encode("utf-16-le"),
    "utf_32": FILM.replace(b"utf-8", b"utf-32").decode().encode("utf-32"),
}
CASES = ODD_ENDS | {name: HEAD + b'<s id="1">' + word + b"</s>" + META + b"</document>" for name, word in WORDS.items()}
CASES |= OTHERS


@pytest.mark.parametrize("data", CASES.values(), ids=CASES)
@pytest.mark.parametrize("truecase", [True, False])
def test_both_parsers_agree(data: bytes, truecase: bool) -> None:
    assert differences(data, truecase) == []


ENCODINGS = (
    "undefined",
    "punycode",
    "idna",
    "rot13",
    "hex",
    "zip",
    "base64",
    "bz2",
    "unicode_escape",
    "raw_unicode_escape",
    "utf-7",
    "utf_8_sig",
    "mbcs",
    "string-escape",
    "iso-2022-jp",
    "klingon",
    "utf-16",
    "utf-32",
    "ebcdic-us",
    "cp037",
    "UCS-4",
    "ISO-10646-UCS-2",
    "x" * 40_000,
    "-",
    "utf-8\x00",
)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_outside_the_list_is_refused_whatever_it_names(tmp_path: Path, encoding: str) -> None:
    text = "a-" + "\u00e9" * 20_000
    for number, quote in enumerate("\"'"):
        head = f"<?xml version={quote}1.0{quote} encoding={quote}{encoding}{quote}?><document><s><w>"
        (tmp_path / f"{number}.xml").write_bytes(f"{head}{text}</w></s></document>".encode())
    (tmp_path / "9.xml").write_bytes(FILM)
    began = time.monotonic()
    reading = reading_of(tmp_path)
    assert time.monotonic() - began < 5
    assert (reading.lost, reading.doubled, reading.kept) == (0, 0, ["9.xml"])
    assert set(reading.refused.values()) <= {"bad_encoding", "not_xml"}


@pytest.mark.parametrize(
    "encoding", ["iso-8859-1", "windows-1252", "ISO-8859-15", "cp1251", "koi8-r", "gb18030", "Big5"]
)
def test_encodings_of_the_list_are_read(tmp_path: Path, encoding: str) -> None:
    text = {"cp1251": "\u0434\u0430", "koi8-r": "\u0434\u0430", "gb18030": "\u662f", "Big5": "\u662f"}.get(
        encoding, "\u00e9"
    )
    head = f'<?xml version="1.0" encoding="{encoding}"?><document><s><w>'
    (tmp_path / "1.xml").write_bytes(f"{head}{text}</w></s></document>".encode(encoding))
    (row,) = reading_of(tmp_path).read
    assert (row["reason"], [sentence["text"] for sentence in row["sentences"]]) == (None, [text])


def test_a_sentence_of_empty_words_and_times_is_read_in_linear_time(tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_bytes(b"<document><s>" + b"<w/><time/>" * 60_000 + b"</s></document>")
    began = time.monotonic()
    reading = reading_of(tmp_path)
    assert time.monotonic() - began < 10
    assert reading.kept == ["1.xml"]


def test_a_file_of_very_many_elements_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_bytes(b"<document><s>" + b"<w/>" * MOST_MARKS + b"</s></document>")
    (tmp_path / "2.xml").write_bytes(FILM)
    assert reading_of(tmp_path).refused == {"1.xml": "too_large"}


def test_a_pipe_that_took_a_files_place_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.attacks import corpora
    from udfs.opus.files import Caps

    for number in range(3):
        (tmp_path / f"{number}.xml").write_bytes(FILM)
    listing = corpora.list_piece

    def replaced(*given: object) -> object:
        rows = list(listing(*given))  # type: ignore[arg-type]
        (tmp_path / "1.xml").unlink()
        os.mkfifo(tmp_path / "1.xml")
        return rows

    monkeypatch.setattr(corpora, "list_piece", replaced)
    began = time.monotonic()
    reading = reading_of(tmp_path, Caps(1 << 20, 200, 1))
    assert time.monotonic() - began < 5
    assert (reading.kept, reading.refused) == (["0.xml", "2.xml"], {"1.xml": "too_slow"})


def test_work_is_stopped_by_the_cpu_time_that_it_takes_however_long_it_waits() -> None:
    def busy() -> None:
        while True:
            pass

    assert guarded(lambda: time.sleep(0.3), 0.1, cpu=True) is None
    refused = [guarded(busy, 0.1, cpu=True), guarded(lambda: time.sleep(60), 0.1)]
    assert [error.reason for error in refused if isinstance(error, UnreadableError)] == ["too_slow"] * 2


@pytest.mark.parametrize("error", [UnicodeError("x"), RecursionError("deep"), MemoryError(), KeyError("\ud800")])
def test_any_error_of_the_parser_costs_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from udfs.opus import batches

    parse = batches.parse_subtitles

    def failing(data: bytes, *options: object) -> object:
        if b"bad" in data:
            raise error
        return parse(data, *options)

    monkeypatch.setattr(batches, "parse_subtitles", failing)
    for name, data in (("1.xml", FILM), ("2.xml", FILM.replace(b"So", b"bad")), ("3.xml", FILM)):
        (tmp_path / name).write_bytes(data)
    reading = reading_of(tmp_path)
    assert (reading.kept, reading.refused) == (["1.xml", "3.xml"], {"2.xml": "reader_failed"})
    detail = next(row["detail"] for row in reading.read if row["reason"])
    assert detail.startswith(type(error).__name__)
