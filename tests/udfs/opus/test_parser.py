"""Parsing one file: every quirk of real OPUS XML, and input that must be refused."""

import csv
import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.udfs.opus.subtitle_files import rows, xml_file
from udfs.opus.fast_parser import cut_regular
from udfs.opus.files import UnreadableError
from udfs.opus.meta import genre_list, year_of_cinema
from udfs.opus.parser import parse_subtitles
from udfs.opus.times import duration_ms, time_ms


def start(block: int, value: str) -> str:
    return f'<time id="T{block}S" value="{value}" />'


def end(block: int, value: str) -> str:
    return f'<time id="T{block}E" value="{value}" />'


S1 = start(1, "00:00:01,000")
E1 = end(1, "00:00:02,000")
S2 = start(2, "00:00:03,000")
E2 = end(2, "00:00:04,500")

SENTENCES = {
    "one_pair": (f"<s>{S1}<w>Come</w> <w>in</w>{E1}</s>", [(1, 1, 1000, 2000, "Come in")], {}),
    "two_sentences_share_a_block": (
        f"<s>{S1}<w>Wait</w></s><s><w>Go</w>{E1}</s>",
        [(1, 1, 1000, None, "Wait"), (1, 1, None, 2000, "Go")],
        {"sentence_without_start": 1, "sentence_without_end": 1},
    ),
    "sentence_within_an_open_block": (
        f"<s>{S1}<w>a</w></s><s><w>b</w></s><s><w>c</w>{E1}</s>",
        [(1, 1, 1000, None, "a"), (1, 1, None, None, "b"), (1, 1, None, 2000, "c")],
        {"sentence_without_start": 2, "sentence_without_end": 2},
    ),
    "more_than_one_pair_times_between_words": (
        f"<s>{S1}<w>a</w>{E1}{S2}<w>b</w>{E2}</s>",
        [(1, 2, 1000, 4500, "a b")],
        {"sentence_with_more_than_one_pair": 1},
    ),
    "begins_in_an_earlier_block_ends_in_the_next": (
        f"<s>{S1}<w>a</w></s><s><w>b</w>{E1}{S2}<w>c</w></s>",
        [(1, 1, 1000, None, "a"), (1, 2, None, None, "b c")],
        {"sentence_without_start": 1, "sentence_without_end": 2},
    ),
    "start_without_end": (
        f"<s>{S1}<w>a</w></s><s>{S2}<w>b</w>{E2}</s>",
        [(1, 1, 1000, None, "a"), (2, 2, 3000, 4500, "b")],
        {"sentence_without_end": 1},
    ),
    "end_without_start": (f"<s><w>a</w>{E2}</s>", [(2, 2, None, 4500, "a")], {"sentence_without_start": 1}),
    "no_times_at_all": (
        "<s><w>a</w></s>",
        [(None, None, None, None, "a")],
        {"sentence_without_start": 1, "sentence_without_end": 1, "sentence_without_block": 1},
    ),
    "without_words_stays": (
        f"<s>{S1}{E1}</s><s>{S2}<w>a</w>{E2}</s>",
        [(1, 1, 1000, 2000, ""), (2, 2, 3000, 4500, "a")],
        {"sentence_without_words": 1},
    ),
    "backwards_time": (
        f"<s>{S2}<w>a</w>{E2}</s><s>{S1}<w>b</w>{E1}</s>",
        [(2, 2, 3000, 4500, "a"), (1, 1, 1000, 2000, "b")],
        {"time_backwards": 1},
    ),
    "negative_time": (
        f"<s>{start(1, '-00:00:00,368')}<w>a</w>{E1}</s>",
        [(1, 1, None, 2000, "a")],
        {"time_negative": 1, "sentence_without_start": 1},
    ),
    "advert_block": (
        f"<s>{start(9999, '00:00:00,00')}<w>a</w>{end(9999, '00:00:2,00')}</s>",
        [(9999, 9999, 0, 2000, "a")],
        {"advert_block": 1, "time_odd_form": 2},
    ),
    "time_id_of_another_form": (
        f'<s><time id="X1S" value="00:00:01,000"/><w>a</w>{E1}</s>',
        [(1, 1, None, 2000, "a")],
        {"time_odd_id": 1, "sentence_without_start": 1},
    ),
    "space_in_a_word": (
        f"<s>{S1}<w>a\n b</w><w>c</w>{E1}</s>",
        [(1, 1, 1000, 2000, "a\u00a0b c")],
        {"word_with_space": 1},
    ),
    "empty_word": (f"<s>{S1}<w/><w> </w><w>c</w>{E1}</s>", [(1, 1, 1000, 2000, "c")], {"word_empty": 2}),
    "truecased": (
        f'<s>{S1}<w alternative="the">THE</w>{E1}</s>',
        [(1, 1, 1000, 2000, "the")],
        {"word_truecased": 1},
    ),
    "initial_is_ignored": (
        f'<s>{S1}<w initial="l">I</w>{E1}</s>',
        [(1, 1, 1000, 2000, "I")],
        {"word_corrected": 1},
    ),
    "emphasis": (
        f'<s emphasis="true">{S1}<w emphasis="true">a</w>{E1}</s>',
        [(1, 1, 1000, 2000, "a")],
        {"emphasis": 2},
    ),
    "word_outside_a_sentence": (
        f"<w>lost</w><s>{S1}<w>a</w>{E1}</s>",
        [(1, 1, 1000, 2000, "a")],
        {"w_outside_sentence": 1},
    ),
    "sentence_in_a_sentence": (
        f"<s>{S1}<w>a</w><s><w>b</w></s><w>c</w>{E1}</s>",
        [(1, 1, 1000, 2000, "a b c")],
        {"sentence_nested": 1},
    ),
    "markup_in_a_word": (f"<s>{S1}<w>a<i>b</i>c</w>{E1}</s>", [(1, 1, 1000, 2000, "abc")], {"word_with_markup": 1}),
    "sentences_in_a_paragraph": (f"<p><s>{S1}<w>a</w>{E1}</s></p>", [(1, 1, 1000, 2000, "a")], {}),
    "comment_cdata_reference": (
        f"<s>{S1}<w>a<!-- x -->b</w><w><![CDATA[<c>]]></w><w>&amp;&#233;</w>{E1}</s>",
        [(1, 1, 1000, 2000, "ab <c> &\u00e9")],
        {},
    ),
}


@pytest.mark.parametrize(("body", "expected", "quirks"), SENTENCES.values(), ids=SENTENCES)
def test_each_quirk_of_a_sentence(body: str, expected: list[object], quirks: dict[str, int]) -> None:
    parsed = parse_subtitles(xml_file(body))
    assert rows(parsed.sentences) == expected
    assert parsed.quirks == quirks
    assert parsed.token_count == sum(len(text.split(" ")) for text in parsed.sentences.text.to_pylist() if text)


def test_shouted_form_is_kept_when_asked_for() -> None:
    parsed = parse_subtitles(xml_file('<s><w alternative="the">THE</w></s>'), truecase=False)
    assert parsed.sentences.text.to_pylist() == ["THE"]


TIMES = {
    "01:02:03,004": (3_723_004, {}),
    "00:57:1,901": (57 * 60_000 + 1901, {"time_odd_form": 1}),
    "00:00:2,00": (2000, {"time_odd_form": 1}),
    "00:00:2,5": (2500, {"time_odd_form": 1}),
    "00:00:02.250": (2250, {"time_odd_form": 1}),
    "-00:00:00,368": (None, {"time_negative": 1}),
    "00:00:-1,368": (None, {"time_malformed": 1}),
    "0:00:0x,368": (None, {"time_malformed": 1}),
    "\u0661\u0661:00:00,000": (None, {"time_malformed": 1}),
    "": (None, {"time_malformed": 1}),
}


@pytest.mark.parametrize("value", TIMES)
def test_time_values(value: str) -> None:
    quirks: Counter[str] = Counter()
    assert (time_ms(value, quirks), quirks) == TIMES[value]


def test_genres_years_and_durations_of_both_releases() -> None:
    assert genre_list("Crime,Drama") == ["Crime", "Drama"]
    assert genre_list("Action, Adventure, Sci-Fi") == ["Action", "Adventure", "Sci-Fi"]
    assert genre_list(None) == []
    years = {text: year_of_cinema(text, Counter()) for text in ("1999", "0", "666", "1191", "soon", None)}
    assert years == {"1999": 1999, "0": None, "666": None, "1191": None, "soon": None, None: None}
    lengths = {
        text: duration_ms(text, Counter()) for text in ("101", "90 min", "1 h 41 min", "00:00:2,00", "0", "long")
    }
    assert lengths == {
        "101": 6_060_000,
        "90 min": 5_400_000,
        "1 h 41 min": 6_060_000,
        "00:00:2,00": 2000,
        "0": None,
        "long": None,
    }


def test_meta_in_full_in_part_and_absent() -> None:
    meta = (
        "<meta><source><genre>Drama</genre><year>1999</year><duration>N/A</duration><country /></source>"
        "<subtitle><language>English</language><cds>1/2</cds><blocks>12</blocks>"
        "<machine_translated>1</machine_translated></subtitle></meta>"
    )
    full = parse_subtitles(xml_file("<s><w>a</w></s>", meta))
    assert (full.document_id, full.language_name) == ("7", "English")
    assert {name: value for name, value in full.meta.items() if value is not None} == {
        "year": 1999,
        "genres": ["Drama"],
        "cds": "1/2",
        "blocks": 12,
        "machine_translated": True,
    }
    absent = parse_subtitles(xml_file("<s><w>a</w></s>", ""))
    assert absent.quirks["no_meta"] == 1
    assert absent.meta["genres"] == []
    assert absent.meta["year"] is None


LAUGHS = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><document><s><w>&y;</w></s></document>'
REFUSED = {
    "doctype": (LAUGHS.encode(), "doctype"),
    "doctype_in_utf16": (LAUGHS.encode("utf-16"), "doctype"),
    "outside_file": (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><document><s/></document>', "doctype"),
    "unknown_entity": (xml_file("<s><w>&secret;</w></s>"), "not_xml"),
    "cut_off": (xml_file("<s><w>a</w></s>")[:-20], "not_xml"),
    "not_xml": (b"1\n00:00:01,000 --> 00:00:02,000\nHello", "not_xml"),
    "control_character": (xml_file("<s><w>\x01</w></s>"), "not_xml"),
    "wrong_encoding": (xml_file("<s><w>x</w></s>").replace(b"x", b"caf\xe9"), "bad_encoding"),
    "unknown_encoding": (
        b'<?xml version="1.0" encoding="klingon"?><document><s/></document>',
        "bad_encoding",
    ),
    "no_sentence": (xml_file("<p/>"), "no_sentences"),
}


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_hostile_or_broken_input_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        parse_subtitles(data)
    assert refused.value.reason == reason
    assert refused.value.detail
    assert "\n" not in refused.value.detail


def test_declared_other_encoding_is_read() -> None:
    data = '<?xml version="1.0" encoding="iso-8859-1"?><document><s><w>caf\u00e9</w></s></document>'.encode("latin-1")
    assert parse_subtitles(data).sentences.text.to_pylist() == ["caf\u00e9"]


def test_real_release_of_2016(shared_data: Path) -> None:
    data = (shared_data / "opensubtitles2016_xml_single" / "3775942.xml").read_bytes()
    parsed = parse_subtitles(data)
    assert (len(parsed.sentences.text), parsed.token_count) == (339, 3313)
    assert parsed.meta["genres"] == ["Action", "Adventure", "Sci-Fi"]
    assert parsed.meta["duration_ms"] == 90 * 60_000


def test_real_files_have_the_published_counts(shared_data: Path) -> None:
    """Sentences, tokens and odd times of all 267 files equal the sample's own manifest."""
    folder = shared_data / "opensubtitles2018_xml"
    with (folder / "manifest.tsv").open(encoding="utf-8", newline="") as lines:
        published = list(csv.DictReader(lines, delimiter="\t"))
    wrong = []
    for row in published:
        parsed = parse_subtitles(gzip.decompress((folder / row["path"]).read_bytes()))
        odd = sum(parsed.quirks[name] for name in ("time_odd_form", "time_negative", "time_malformed"))
        sentences = len(parsed.sentences.text) - parsed.quirks["speaker_change_within"]
        found = (sentences, parsed.token_count + parsed.quirks["word_empty"], odd)
        if found != (int(row["sentences"]), int(row["tokens"]), int(row["odd_time_values"])):
            wrong.append((row["path"], found))
    assert len(published) == 267
    assert wrong == []


def test_the_quick_way_gives_what_the_tree_gives(shared_data: Path) -> None:
    """A comment at the front sends a file to the tree; real files must come out the same both ways."""
    paths = sorted((shared_data / "opensubtitles2018_xml" / "xml").rglob("*.xml.gz"))[::8]
    quick = 0
    for path in paths:
        data = gzip.decompress(path.read_bytes())
        quick += cut_regular(data, truecase=True) is not None
        slow = data.replace(b"<document", b"<!-- slow --><document", 1)
        assert cut_regular(slow, truecase=True) is None
        for truecase in (True, False):
            assert parse_subtitles(data, truecase) == parse_subtitles(slow, truecase), path
    assert quick > 0.97 * len(paths)


@pytest.mark.parametrize(
    ("value", "quick"),
    [
        ("00:00:07,250", True),
        ("99:59:59,999", True),
        ("00:00:7,250", True),
        ("0:0:7.5", True),
        ("-00:00:07,250", False),
        ("00:00:0/,250", False),
        ("00:00:0:,250", False),
        ("00.00:07,250", False),
        ("00:00:07,2a0", False),
        ("00:00:07;250", False),
        ("00:00:07,25\u00fa", False),
    ],
)
def test_a_time_is_read_alike_both_ways(value: str, quick: bool) -> None:
    body = f'<s id="1">{start(12, "00:00:05,000")}<w id="1.1">so</w>{end(12, value)}</s>'
    data, slow = (xml_file(front + body, "<meta></meta>") for front in ("", "<!-- slow -->"))
    assert (cut_regular(data, truecase=True) is not None) is quick
    assert cut_regular(slow, truecase=True) is None
    assert parse_subtitles(data) == parse_subtitles(slow)


@pytest.mark.parametrize(("body", "expected", "quirks"), SENTENCES.values(), ids=SENTENCES)
def test_each_quirk_in_the_writing_of_opus(body: str, expected: list[object], quirks: dict[str, int]) -> None:
    """The same table with the ids that OPUS gives its elements, which the quick way looks for."""
    written = re.sub(r"<(s|w)(?=[ >])", r'<\1 id="1"', body)
    parsed = parse_subtitles(xml_file(written))
    assert (rows(parsed.sentences), parsed.quirks) == (expected, quirks)


def test_a_sentence_without_end_is_a_fault_in_both_parsers() -> None:
    words = "".join(f'<w id="1.{n}">-</w>' for n in range(3_000))
    body = f'<s id="1"><w id="1.1">Yes</w></s><s id="2">{words}</s><s id="3"><w id="3.1">No</w></s>'
    for data in (xml_file(body), xml_file(body.replace("Yes", "Y&#101;s"))):
        file = parse_subtitles(data)
        assert file.sentences.text.to_pylist() == ["Yes", "No"]
        assert file.token_count == 2
        (fault,) = file.meta["faults"]  # type: ignore[misc]
        assert (fault["reason"], fault["lines"]) == ("sentence_too_long", [2])
