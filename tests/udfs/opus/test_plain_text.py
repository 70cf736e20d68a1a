"""SubRip, WebVTT and OPUS's raw XML give the rows of the parsed XML."""

import gzip
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from etl.common.spelling import detokenised_text
from tests.attacks.corpora import reading_of
from tests.udfs.opus.subtitle_files import rows, xml_file
from udfs.opus.cues import cues_of
from udfs.opus.encodings import as_text
from udfs.opus.files import UnreadableError
from udfs.opus.parser import Subtitles, parse_subtitles
from udfs.opus.paths import is_subtitle_name, read_folder, upload_of
from udfs.opus.plain_text import MOST_BYTES, parse_plain_text

SRT = """1
00:00:01,000 --> 00:00:02,000
Come in,
don't wait.

2
00:00:03,500 --> 00:00:04,500
- Who's there? It's me.
- Nobody

3
00:00:05,000 --> 00:00:06,000
at all.
"""
ROWS = [
    (1, 1, 1000, 2000, "Come in , don 't wait ."),
    (2, 2, 3500, None, "- Who 's there ?"),
    (2, 2, None, None, "It 's me ."),
    (2, 3, None, 6000, "- Nobody at all ."),
]


def srt(*lines: str) -> str:
    return "\n".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n" for n, line in enumerate(lines, 1))


def texts(*lines: str, language: str | None = "en") -> list[str]:
    return parse_plain_text(srt(*lines).encode(), language).sentences.text.to_pylist()


def test_a_file_gives_the_rows_of_its_xml() -> None:
    raw = xml_file(
        '<s id="1"><time id="T1S" value="00:00:01,000"/>Come in, don\u2019t wait.'
        '<time id="T1E" value="00:00:02,000"/></s>'
        '<s id="2"><time id="T2S" value="00:00:03,500"/>- Who\'s <i>there</i>?</s><s id="3">It\'s me.</s>'
        '<s id="4">- Nobody<time id="T2E" value="00:00:04,500"/>\n<time id="T3S" value="00:00:05,000"/>at all.'
        '<time id="T3E" value="00:00:06,000"/></s>'
    )
    parsed = xml_file(
        '<s><time id="T1S" value="00:00:01,000"/><w>Come</w><w>in</w><w>,</w><w>don</w><w>\'t</w><w>wait</w><w>.</w>'
        '<time id="T1E" value="00:00:02,000"/></s><s><time id="T2S" value="00:00:03,500"/><w>-</w><w>Who</w><w>\'s</w>'
        "<w>there</w><w>?</w></s><s><w>It</w><w>'s</w><w>me</w><w>.</w></s><s><w>-</w><w>Nobody</w>"
        '<time id="T2E" value="00:00:04,500"/><time id="T3S" value="00:00:05,000"/><w>at</w><w>all</w><w>.</w>'
        '<time id="T3E" value="00:00:06,000"/></s>'
    )
    vtt = "WEBVTT - x\n\nNOTE no text\n\n" + SRT.replace(",000", ".000").replace(",500", ".500").replace(
        "00:00:01", "00:01"
    )
    files = [parse_plain_text(text.encode(), "en") for text in (SRT, SRT.replace("\n", "\r\n"), vtt)]
    for file in (*files, parse_subtitles(raw), parse_subtitles(parsed)):
        assert rows(file.sentences) == ROWS
        assert file.token_count == 21
    assert files[0].meta["encoding"] == "utf-8"
    assert files[0].meta["blocks"] == 3
    assert files[0].quirks["plain_text"] == parse_subtitles(raw).quirks["plain_text"] == 1


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("So I", "went home."), ["So I went home ."]),  # a sentence goes on in small letters
        (("So I", "Went home."), ["So I", "Went home ."]),
        (("So...", "we left."), ["So ... we left ."]),
        (("He left.", "so what"), ["He left .", "so what"]),
        (("Mr. Bell. Go!",), ["Mr. Bell .", "Go !"]),
        (("- One\n- two",), ["- One", "- two"]),
        (("\u2013One\n\u2014 two",), ["- One", "- two"]),
        (("-- and so",), ["- - and so"]),
        (("<i>Hello</i>, <font color='red'>you</font>",), ["Hello , you"]),
        (("&lt;i&gt;A &amp; B&lt;/i&gt;",), ["A & B"]),
        (("{\\an8}Up{\\i1} here",), ["Up here"]),
        (("<v Anna>Hello.\n<v.loud Bob>Yes.",), ["ANNA : Hello .", "BOB : Yes ."]),
        (("I <3 you",), ["I < 3 you"]),
        (("-yes.- no",), ["- yes .", "- no"]),
        (("-Yes.-no.-Why?",), ["- Yes .", "- no .", "- Why ?"]),
        (("No.- Yes.",), ["No .", "- Yes ."]),
        (("Is he in? - no, he left. - why?",), ["Is he in ?", "- no , he left .", "- why ?"]),
        (("- Wait... - and so do you.",), ["- Wait ... - and so do you ."]),
        (("He said so.-ish",), ["He said so . - ish"]),
        (("- F.J. - and the date",), ["- F.J. - and the date"]),
        (("Is he in?No.WHERE?I saw",), ["Is he in ?", "No .", "WHERE ?", "I saw"]),
        (("St.John is at Stern.Com or www.Stern.Ab now",), ["St . John is at Stern . Com or www . Stern . Ab now"]),
        (("In the U.S.A or U.K it is. A U.S.A. B",), ["In the U.S.A or U.K it is .", "A U.S.A. B"]),
        (("One<br/>two\\Nthree",), ["One two three"]),
        (("A\u200bB\x01C\ufeff",), ["ABC"]),
        (("", "Only this.", "  "), ["Only this ."]),
        (("&#" + "9" * 5000 + ";x",), []),
    ],
)
def test_sentences_and_tokens(lines: tuple[str, ...], expected: list[str]) -> None:
    assert texts(*lines) == expected


def test_another_language_has_its_own_abbreviations() -> None:
    assert texts("Hr. Bell kam, usw. Er ging.", language="de") == ["Hr. Bell kam , usw.", "Er ging ."]
    assert texts("Hr. Bell kam. \u00c4rger!", language="en") == ["Hr .", "Bell kam .", "\u00c4rger !"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SRT, [["Come in,", "don't wait."], ["- Who's there? It's me.", "- Nobody"], ["at all."]]),
        ("00:00:01,0 --> 00:00:02,0\nA\n2\n00:00:03,0 --> 00:00:04,0\nB", [["A", "2"], ["B"]]),
        ("1\n00:00:01,0 --> 00:00:02,0\nA\n2\n00:00:03,0 --> 00:00:04,0\nB", [["A"], ["B"]]),
        ("1\n00:00:01,0 --> 00:00:02,0\nA\n\n2\n\n00:00:03,0 --> 00:00:04,0\nB", [["A"], ["B"]]),
        ("1\n00:00:01,0 --> 00:00:02,0\nA\n\n7\n\n00:00:03,0 --> 00:00:04,0\nB", [["A", "7"], ["B"]]),
        ("1\n00:00:01,0 --> 00:00:02,0\nA\n</pre></body></html>", [["A"]]),
        ("1\n00:00:01,0-->00:00:02,0\nA\n\n1984\n\n2\n00:00:03,0 --> 00:00:04,0 X1\nB\n", [["A", "1984"], ["B"]]),
        (
            "WEBVTT\n\nSTYLE\n::cue {}\n\nid\n00:01.000 --> 00:02.000 l:0\nA\n\nNOTE B\n\n00:03.000 --> 00:04.000\nC",
            [["A"], ["C"]],
        ),
        ("no cues --> here", []),
        ("", []),
    ],
)
def test_cues(text: str, expected: list[list[str]]) -> None:
    assert [cue.lines for cue in cues_of(text)] == expected


@pytest.mark.parametrize(
    ("data", "language", "text", "codec"),
    [
        ("caf\u00e9".encode(), "fr", "caf\u00e9", "utf-8"),
        (b"\xef\xbb\xbfa", "en", "a", "utf-8"),
        ("a\u4f60".encode("utf-16"), "en", "a\u4f60", "utf-16"),
        (b"caf\xe9", "fr", "caf\u00e9", "cp1252"),
        (b"\xf3\xee", "ru", "\u0443\u043e", "cp1251"),
        (b"\xc4\xe3", "zh_cn", "\u4f60", "gb18030"),
        (b"caf\xe9", None, "caf\u00e9", "cp1252"),
        ("caf\u00e9".encode() + b"\0" * 99, None, "caf\u00e9", "utf-8"),
    ],
)
def test_encodings(data: bytes, language: str | None, text: str, codec: str) -> None:
    decoded = as_text(data, language)
    assert (decoded.text, decoded.codec) == (text, codec)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x81\x8d\xff", "no_cues"),
        (b"a\0b\0", "no_cues"),
        (b"\0\0\0\0\1", "bad_encoding"),
        (b"\0" * 999, "bad_encoding"),
        ("a".encode("utf-32"), "bad_encoding"),
        (b"\xff\xfea", "no_cues"),
        (b"just words", "no_cues"),
        (b" " * (MOST_BYTES + 1), "too_large"),
        (b"00:00:01,000 --> 00:00:02,000\n" * 100_001, "too_large"),
        (b"[Events]" + b"\r" * 3_000_001, "too_large"),
    ],
)
def test_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        parse_plain_text(data, "en")
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("source", "inside", "expected"),
    [
        # release v2024 as its zips are laid out, and raw zips; some have films with leading zeros
        ("/d/en.zip!", "OpenSubtitles/xml/en/1999/0133093", ("en", 1999, "133093")),
        ("/d/raw.zip!", "OpenSubtitles/raw/pt_br/1999/133093", ("pt_br", 1999, "133093")),
        ("/data/raw/", "films", (None, None, None)),
        ("/data/raw/de/", "", ("de", None, None)),
    ],
)
def test_folders(source: str, inside: str, expected: tuple) -> None:
    folder = read_folder(source, inside)
    assert (folder.language, folder.year, folder.film) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("raw/en/1999/133093/5.srt", ("5", "133093", "en")),
        ("Film.en.srt", ("Film.en", "file:Film", "en")),
        ("Film.pt-BR.vtt.gz", ("Film.pt-BR", "file:Film", "pt_br")),
        ("Film.xx.srt", ("Film.xx", "file:Film.xx", None)),
        ("season 1/01.srt", ("season 1~01", "file:season 1~01", None)),
        ("season 2/01.srt", ("season 2~01", "file:season 2~01", None)),
        ("other/01.xml", ("01", "file:01", None)),
    ],
)
def test_uploads(path: str, expected: tuple) -> None:
    assert is_subtitle_name(path)
    assert upload_of(path, read_folder("/d", path.rpartition("/")[0])) == expected


def test_a_folder_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "01.SRT").write_text(SRT, "utf-8")
    (tmp_path / "01.vtt.gz").write_bytes(gzip.compress(f"WEBVTT\n\n{SRT}".encode("utf-16")))
    (tmp_path / "02.de.srt").write_text(SRT, "utf-8")
    (tmp_path / "bad.srt").write_bytes(b"\0\0\0\1")
    reading = reading_of(tmp_path)
    assert (reading.kept, reading.refused) == (["01.vtt.gz", "a/01.SRT"], {"bad.srt": "bad_encoding"})
    assert {row["language"] for row in reading.read if row["reason"] is None} == {"en"}
    both = reading_of(tmp_path, languages=("en", "de"))
    assert {row["source_path"]: row["language"] for row in both.read if row["reason"] is None} == {
        "01.vtt.gz": "en",
        "02.de.srt": "de",
        "a/01.SRT": "en",
    }


def test_a_real_file(shared_data: Path) -> None:
    file = parse_plain_text((shared_data / "srt_cc" / "sintel_en.srt").read_bytes(), "en")
    found = rows(file.sentences)
    assert (file.meta["blocks"], len(found)) == (26, 30)
    assert all(row[0] is not None for row in found)
    assert file.quirks == {"plain_text": 1} | {
        name: count for name, count in file.quirks.items() if name.startswith("sentence_without")
    }


def as_srt(xml: bytes) -> str:
    """Return the blocks of a file in OPUS XML as SubRip; a sentence that opens with a dash has its own line."""
    blocks: list[tuple[str, str, list[list[str]]]] = []
    is_open = False
    for sentence in etree.fromstring(xml).iter("s"):
        begins = True
        for element in sentence:
            if element.tag == "time":
                is_open = element.get("id").endswith("S")
                if is_open:
                    blocks.append((element.get("value"), element.get("value"), []))
                elif blocks:
                    blocks[-1] = (blocks[-1][0], element.get("value"), blocks[-1][2])
            elif is_open:
                if begins or not blocks[-1][2]:
                    blocks[-1][2].append([])
                blocks[-1][2][-1].append(element.get("alternative") or element.text or "")
                begins = False
    cues = []
    for number, (start, end, parts) in enumerate(blocks, 1):
        lines = [detokenised_text(" ".join(part)) for part in parts]
        text = "".join(
            ("\n" if line.startswith("-") and at else " " if at else "") + line for at, line in enumerate(lines)
        )
        cues.append(f"{number}\n{start} --> {end}\n{text}\n")
    return "\n".join(cues)


def test_real_films_as_subrip_give_the_rows_of_their_xml(shared_data: Path) -> None:
    """The same text, start and end: 97% of the sentences of 267 films; one sentence a block gives 55%."""
    files = sorted((shared_data / "opensubtitles2018_xml" / "xml").rglob("*.xml.gz"))[::60]
    same = of_blocks = count = 0
    for path in files:
        data = gzip.decompress(path.read_bytes())
        text = as_srt(data)
        expected, found = (
            Counter(row[2:] for row in rows(file.sentences))
            for file in (parse_subtitles(data), parse_plain_text(text.encode(), "en"))
        )
        blocks = Counter(" ".join(cue.lines) for cue in cues_of(text))
        plain: Counter[str] = Counter()
        for (_, _, line), times in expected.items():
            plain[detokenised_text(line)] += times
        count += expected.total()
        same += (expected & found).total()
        of_blocks += (plain & blocks).total()
    assert count > 4_000
    assert same > 0.95 * count
    assert of_blocks < 0.7 * count


def parsed(text: str) -> Subtitles:
    return parse_plain_text(text.encode(), "en")


def test_times_of_other_forms_are_null_and_counted() -> None:
    file = parsed("1\n-00:00:01,000 --> 00:00:02,000\nA.\n\n2\n9:9:9:9:9 --> 00:01:00.5\nB.\n")
    assert rows(file.sentences) == [(1, 1, None, 2000, "A ."), (2, 2, None, 60_500, "B .")]
    assert (file.quirks["time_negative"], file.quirks["time_malformed"]) == (1, 1)
