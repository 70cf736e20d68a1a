"""Kinds of files that people have, each with the right rows: line ends, times, encodings, markup, repeats, names."""

import ast
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from conf.wordlists import words
from tests.attacks.corpora import reading_of
from tests.attacks.zips import Entry, zip_of
from tests.udfs.opus.subtitle_files import parsed, rows, srt, texts
from udfs.opus.cue_forms import is_ttml
from udfs.opus.cue_times import times_of
from udfs.opus.encodings import as_text
from udfs.opus.files import Caps, UnreadableError, filesystem, read_plain, refuse_other_kinds
from udfs.opus.languages import language_of
from udfs.opus.listing import fingerprint, list_piece, pieces_of
from udfs.opus.normal_form import normal_form
from udfs.opus.paths import named_language
from udfs.opus.speaker_labels import begins_sentence, is_place

CUES = (
    ("00:00:01,000", "00:00:02,500", "- Who left the boat out?"),
    ("00:00:03,000", "00:00:04,500", "- Not me, I was asleep."),
    ("00:00:05,000", "00:00:06,500", "- Then it was the tide."),
)
EXPECTED = [
    (1, 1, 1000, 2500, "- Who left the boat out ?"),
    (2, 2, 3000, 4500, "- Not me , I was asleep ."),
    (3, 3, 5000, 6500, "- Then it was the tide ."),
]


def frames(time: str) -> int:
    return round(seconds(time) * 20)


def seconds(time: str) -> float:
    return float(time[6:].replace(",", "."))


def dotted(time: str) -> str:
    return time.replace(",", ".")


def broken(text: str, sign: str) -> str:
    """Return a text with a sign in place of its second blank."""
    first, second, rest = text.split(" ", 2)
    return f"{first} {second}{sign}{rest}"


PLAIN = "\n".join(f"{n}\n{start} --> {end}\n{text}\n" for n, (start, end, text) in enumerate(CUES, 1))
FORMS = {
    "srt": PLAIN,
    "crcrlf": PLAIN.replace("\n", "\r\r\n"),
    "cr": PLAIN.replace("\n", "\r"),
    "line separator": PLAIN.replace("\n", "\u2028"),
    "doubled line ends": PLAIN.replace("\n", "\n\n"),
    "byte order marks": "\ufeff" + PLAIN.replace("\n2\n", "\n\ufeff2\n"),
    "soft hyphens": PLAIN.replace("asleep", "a\u00adsleep").replace("- Then", "\u00ad- Then"),
    "zero width": PLAIN.replace("tide", "ti\u200bde").replace("- Who", "\u200e- Who"),
    "no-break blanks": PLAIN.replace("the boat", "the\u00a0boat").replace("the tide", "the\u202ftide"),
    "hard blanks of ASS": PLAIN.replace("- Then", "\\h\\h- Then").replace("I was", "I\\hwas"),
    "no empty lines": PLAIN.replace("\n\n", "\n"),
    "lines of blanks": PLAIN.replace("\n\n", "\n   \n\n"),
    "a trailing index": PLAIN + "\n4\n",
    "an index without a cue": PLAIN.replace("\n3\n", "\n3\n\n4\n"),
    "text on the time line": PLAIN.replace(",500\n", ",500 "),
    "an index on the time line": PLAIN.replace("1\n00", "1 00", 1).replace("\n2\n", "\n2 ").replace("\n3\n", "\n3 "),
    "arrows": PLAIN.replace("-->", "\u2013>", 1).replace("3,000 -->", "3,000 -- >").replace("5,000 -->", "5,000 =>"),
    "wide colons": PLAIN.replace("00:00:03", "00\uff1a00\uff1a03"),
    "blanks in times": PLAIN.replace("00:00:05,000", "00: 00: 05, 000"),
    "full stops": PLAIN.replace(",000", ".000").replace(",500", ".500"),
    "colons before the fraction": PLAIN.replace(",000", ":000").replace(",500", ":500"),
    "six digits": PLAIN.replace(",000", ",000000").replace(",500", ",5"),
    "coordinates": PLAIN.replace(",500\n", ",500  X1:100 X2:200 Y1:10 Y2:20\n"),
    "tags": PLAIN.replace("asleep", "< i >asleep</ i>").replace("- Then it", "<font color='#fff'>- Then it</font>"),
    "codes": PLAIN.replace("- Who", "{\\an8\\fad(100,200)\\clip(m 0 0 l 1 1 2 2)" + "\\b1" * 60 + "}- Who"),
    "a drawing": PLAIN + "\n4\n00:00:07,000 --> 00:00:08,000\n{\\an7\\p1}m 0 0 l 9 0 9 9{\\p0}\n",
    "an advert cue": "9999\n00:00:00,1 --> 00:00:00,5\nPlay this on a better box\n\n" + PLAIN,
    "twice": PLAIN + "\n" + PLAIN,
    "vtt": "WEBVTT\nKind: captions\nLanguage: en\n\nSTYLE\n::cue { color: red }\n\nNOTE a remark\n\n"
    + "\n".join(
        f"id{n}\n{dotted(a)} --> {dotted(b)} line:90%\n \n<c.red>{t}</c>\n" for n, (a, b, t) in enumerate(CUES)
    ),
    "ass": "[Script Info]\nTitle: x\n\n[V4+ Styles]\nFormat: Name, Fontname, Alignment\nStyle: Default,Arial,2\n\n"
    "[Events]\n"
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    "Comment: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,a remark\n"
    + "".join(
        f"Dialogue: 0,0:00:0{a[7:11].replace(',', '.')},0:00:0{b[7:11].replace(',', '.')},Default,,0,0,0,,{{\\i1}}{t}\n"
        for a, b, t in (CUES[2], CUES[0], CUES[1])
    ),
    "microdvd": "{1}{1}20\n" + "".join(f"{{{frames(a)}}}{{{frames(b)}}}{{y:i}}{broken(t, '|')}\n" for a, b, t in CUES),
    "out of order": "\n".join(f"{n}\n{CUES[n - 1][0]} --> {CUES[n - 1][1]}\n{CUES[n - 1][2]}\n" for n in (2, 1, 3)),
    "bars": PLAIN.replace("Not me, ", "Not me,|"),
    "mpl2": "".join(f"[{int(a[7:8]) * 10}][{int(b[7:8]) * 10 + 5}]/{t}\n" for a, b, t in CUES),
    "subviewer": "[INFORMATION]\n[TITLE]x\n[END INFORMATION]\n[SUBTITLE]\n[COLF]&HFFFFFF,[STYLE]no\n"
    + "\n".join(f"{dotted(a)[:11]},{dotted(b)[:11]}\n{broken(t, '[br]')}\n" for a, b, t in CUES),
    "sbv": "\n".join(f"{dotted(a[1:])},{dotted(b[1:])}\n{t}\n" for a, b, t in CUES),
    "ttml": "<?xml version='1.0' encoding='utf-8'?>\n<tt xmlns='http://www.w3.org/ns/ttml' xml:lang='en'><body><div>"
    + "".join(f"<p begin='{dotted(a)}' end='{dotted(b)}'>{broken(t, '<br/>')}</p>" for a, b, t in CUES)
    + "</div></body></tt>",
    "sami": "<SAMI><BODY>"
    + "".join(
        f"<SYNC Start={seconds(a) * 1000:.0f}><P>{t}<SYNC Start={seconds(b) * 1000:.0f}><P>&nbsp;" for a, b, t in CUES
    )
    + "</BODY></SAMI>",
    "json3": json.dumps(
        {
            "wireMagic": "pb3",
            "events": [{"tStartMs": 0, "dDurationMs": 9000, "id": 1}]
            + [
                {"tStartMs": seconds(a) * 1000, "dDurationMs": 1500, "segs": [{"utf8": part} for part in t.split("x")]}
                for a, _, t in CUES
            ],
        }
    ),
}


@pytest.mark.parametrize("kind", FORMS)
def test_every_form_gives_the_rows_of_the_same_cues_as_srt(kind: str) -> None:
    found = rows(parsed(FORMS[kind]).sentences)
    assert [row[2:] for row in found] == [row[2:] for row in EXPECTED]


@pytest.mark.parametrize("form", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_encoding_gives_the_same_rows(form: str) -> None:
    assert rows(parsed(PLAIN.encode(form)).sentences) == EXPECTED


@pytest.mark.parametrize("mark", [b"", b"+/v8-"])
@pytest.mark.parametrize("said", ["Der Schlüssel. Die Tür.", "Где ключ? Я не вижу его.", "I’m here."])
def test_utf7(said: str, mark: bytes) -> None:
    decoded = as_text(mark + said.encode("utf-7"), None)
    assert (decoded.text, decoded.codec) == (said, "utf-7")


@pytest.mark.parametrize("said", ["1+1 is 2-", "A+ABC-B", "call +1-800-555", "+abcd- and +efgh-", "Type O+negative-"])
def test_plus_signs_are_no_utf7(said: str) -> None:
    assert as_text(said.encode(), "en").text == said


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("said", ["Где ключ? " * 20, "钥匙在哪里？我找不到它。" * 9, "أين المفتاح؟ " * 20])
def test_utf16_without_a_mark_in_any_script(form: str, said: str) -> None:
    decoded = as_text(srt(said).encode(form), None)
    assert (decoded.text, decoded.codec) == (srt(said), form)


@pytest.mark.parametrize(
    "data", [PLAIN.replace(" --> ", "\u00a0-->\u00a0").encode(form) for form in ("utf-8", "cp1252")]
)
@pytest.mark.parametrize("language", ["en", None])
def test_no_break_blanks_in_time_lines(data: bytes, language: str | None) -> None:
    assert rows(parsed(data, language).sentences) == EXPECTED


SAID = {
    "pl": ("cp1250", "Gdzie położyłeś klucz? Nie mogę go znaleźć, a jest już późno. Weź mój płaszcz."),
    "cs": ("cp1250", "Kde je ten klíč? Nemůžu ho najít, příteli. Řekni mi, až přijdeš."),
    "ru": ("cp1251", "Где мой ключ? Я нигде не вижу его. Подожди меня у двери, сейчас приду, хорошо?"),
    "uk": ("cp1251", "Де мій ключ? Я не можу його знайти. Зачекай мене біля дверей, її ще немає."),
    "fr": ("cp1252", "Où est la clé ? Je ne la trouve pas, mon frère. Attends-moi à la fenêtre, près du château."),
    "de": ("cp1252", "Wo ist der Schlüssel? Ich finde ihn nicht. Wartest du draußen vor der Tür?"),
    "el": ("cp1253", "Πού είναι το κλειδί; Δεν μπορώ να το βρω. Περίμενε με στην πόρτα."),
    "tr": ("cp1254", "Anahtar nerede? Onu bulamıyorum, arkadaşım. Kapının önünde beni bekle, çok üşüdüm."),
    "ar": ("cp1256", "أين المفتاح؟ لا أستطيع العثور عليه. انتظرني عند الباب."),
    "ja": ("cp932", "鍵はどこですか。見つからないんです。ドアの前で待っていてください。"),
    "zh_cn": ("gb18030", "钥匙在哪里？我找不到它。请你在门口等我。"),
    "zh_tw": ("big5hkscs", "鑰匙在哪裡？我找不到它。請你在門口等我。"),
    "ko": ("cp949", "열쇠가 어디 있어요? 찾을 수가 없어요. 문 앞에서 기다려 주세요."),
}


@pytest.mark.parametrize("hint", [True, False])
@pytest.mark.parametrize("language", SAID)
def test_code_pages_are_found_with_and_without_the_language(language: str, hint: bool) -> None:
    codec, said = SAID[language]
    decoded = as_text(said.encode(codec), language if hint else None)
    assert (decoded.text, decoded.codec) == (said, codec)
    assert decoded.confidence > 0.9
    assert as_text(said.encode(codec), "en").text == said, "a wrong hint does not win"
    assert language_of(said)[0] == language


@pytest.mark.parametrize("language", ["sr", None])
@pytest.mark.parametrize(
    ("codec", "said"),
    [
        ("cp1250", "Gde je ključ? Ne mogu da ga nađem, čekaj me ispred kuće, odmah stižem."),
        ("cp1251", "Где је кључ? Не могу да га нађем, чекај ме испред куће, одмах стижем."),
    ],
)
def test_serbian_in_either_script(codec: str, said: str, language: str | None) -> None:
    decoded = as_text(said.encode(codec), language)
    assert (decoded.text, decoded.codec) == (said, codec)


def test_vietnamese_in_its_code_page() -> None:
    said = "Chi\u0300a kho\u0301a \u01a1\u0309 \u0111\u00e2u? T\u00f4i kh\u00f4ng ti\u0300m th\u00e2\u0301y no\u0301."
    assert as_text(said.encode("cp1258"), None).codec == "cp1258"


@pytest.mark.parametrize(
    ("data", "replaced"),
    [
        ("It\u2019s a caf\u00e9, don\u2019t wait".encode() + b" thr\xe9e", 1),
        ("D\u00e9j\u00e0 vu \u2019".encode()[:-1], 1),
        ("na\u00efve".encode(), 0),
    ],
)
def test_damaged_utf8_is_utf8(data: bytes, replaced: int) -> None:
    decoded = as_text(data, "en")
    assert (decoded.codec, decoded.replaced) == ("utf-8", replaced)


def test_a_damaged_byte_stays_in_its_word_and_is_counted() -> None:
    file = parsed(srt("It\u2019s caf\u00e9 for us\u2026").encode() + b"\n2\n00:00:05,000 --> 00:00:06,000\nThr\xe9e.\n")
    assert file.sentences.text.to_pylist()[-1] == "Thr\ufffde ."
    assert file.quirks["byte_replaced"] == 1


@pytest.mark.parametrize(
    ("line", "start", "end"),
    [
        ("100:00:00,000 --> 100:00:01,500", "100:00:00,000", "100:00:01,500"),
        ("00:00:01,5 ==> 0:0:2", "00:00:01,500", "00:00:02,000"),
        ("01:02.250 --> 01:03.5 align:start", "00:01:02,250", "00:01:03,500"),
        ("0O:00:0l,000 --> 00:00:02,000", "00:00:01,000", "00:00:02,000"),
        ("00.00.01,000 --> 00.00.02,000", "00:00:01,000", "00:00:02,000"),
        ("00:00:01,000 --&gt; 00:00:02,000", "00:00:01,000", "00:00:02,000"),
        ("00:00:01,000 - 00:00:02,000", "00:00:01,000", "00:00:02,000"),
        ("00:00:12,95 --> 00:00:14,0:", "00:00:12,950", "00:00:14,000"),
        ("00:00:03\u3002500 --> 00:00:04.000", "00:00:03,500", "00:00:04,000"),
    ],
)
def test_times(line: str, start: str, end: str) -> None:
    times = times_of(line)
    assert times is not None
    assert (times.start, times.end, times.understood) == (start, end, True)


@pytest.mark.parametrize("line", ["5 -> 6", "a --> b", "I'm 20 -> 30", "<i>Now</i>", "He left at 10:30."])
def test_no_times(line: str) -> None:
    assert times_of(line) is None


@pytest.mark.parametrize("time", ["00:00:19werwer,580", "00:00:1x,000", "b00:00:19,000b"])
def test_a_time_with_other_signs_is_a_fault_and_no_text(time: str) -> None:
    file = parsed(srt("Who is it?", "The post.").replace("00:00:04,500", time))
    assert file.sentences.text.to_pylist() == ["Who is it ?", "The post ."]
    assert [fault["reason"] for fault in file.meta["faults"]] == ["time_not_understood"]  # type: ignore[attr-defined]


def test_a_time_that_is_not_understood_is_a_fault_with_its_line_and_no_text() -> None:
    file = parsed(
        "1\n00:00:01,000 --> 00:00:02,000\nSo.\n\n2\n00:00:xx,0 --> 00:00:04,000\nNow.\n\n3\n00:00:05,000 -->\nGo.\n"
    )
    assert file.meta["faults"] == [
        {"reason": "time_not_understood", "times": 2, "lines": [6, 10], "example": "00:00:xx,0 --> 00:00:04,000"}
    ]
    assert file.sentences.text.to_pylist()[-1] == "Go ."
    assert rows(file.sentences)[-1][2:4] == (5000, None)


def test_a_cue_without_end_is_a_fault_and_the_others_stay() -> None:
    file = parsed(srt("Who is there?", "- " * 8_000, "It is the tide.", "a" + "- " * 1_500))
    assert file.sentences.text.to_pylist() == ["Who is there ?", "It is the tide ."]
    assert [(fault["reason"], fault["lines"]) for fault in file.meta["faults"]] == [  # type: ignore[attr-defined]
        ("cue_too_long", [6]),
        ("sentence_too_long", [14]),
    ]
    assert file.token_count == 9


ROLLING = [
    ("00:00:00,000", "00:00:02,000", ["so tell me"]),
    ("00:00:02,000", "00:00:02,010", ["so tell me"]),
    ("00:00:02,010", "00:00:04,010", ["so tell me", "where it was"]),
    ("00:00:04,010", "00:00:04,020", ["where it was"]),
    ("00:00:04,020", "00:00:06,020", ["where it was", "and who saw it"]),
    ("00:00:06,020", "00:00:06,030", ["and who saw it"]),
    ("00:00:06,030", "00:00:08,030", ["and who saw it", "before we came"]),
]


def test_rolling_captions_are_read_once() -> None:
    text = "\n".join(f"{n}\n{a} --> {b}\n" + "\n".join(lines) + "\n" for n, (a, b, lines) in enumerate(ROLLING, 1))
    file = parsed(text)
    assert file.sentences.text.to_pylist() == ["so tell me where it was and who saw it before we came"]
    assert file.quirks["repeated_cue"] == 5


def test_a_text_that_a_program_repeats_is_read_once() -> None:
    file = parsed(srt("Is it far?", *["Thank you."] * 6, "No."))
    assert file.sentences.text.to_pylist() == ["Is it far ?", "Thank you .", "No ."]
    assert file.quirks["repeated_cue"] == 5
    assert texts(srt(*["Thank you."] * 5)) == ["Thank you ."] * 5


def test_cues_are_put_in_the_order_of_their_times() -> None:
    late = "3\n00:00:05,000 --> 00:00:06,000\nThree.\n\n2\n00:00:03,000 --> 00:00:04,000\nTwo.\n\n"
    other = "1\n00:00:01,000 --> 00:00:02,000\nOther.\n"
    file = parsed(late.replace("00:00", "00:20") + other + "\n" + late)
    assert file.sentences.text.to_pylist() == ["Two .", "Three .", "Other .", "Two .", "Three ."]
    assert file.quirks["cue_out_of_order"] == 2


def test_text_that_was_encoded_twice() -> None:
    said = "- I don\u2019t know the caf\u00e9 \u2014 \u041f\u0440\u0438\u0432\u0435\u0442."
    assert as_text(said.encode(), "en").text == said
    mangled = "".join(bytes([code]).decode("cp1252", "ignore") or chr(code) for code in said.encode())
    decoded = as_text(mangled.encode(), "en")
    assert (decoded.text, decoded.twice) == (said, True)
    assert not as_text("\u00c2ge, \u00c3 propos \u00e2me".encode(), "fr").twice


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[SPEAKER_00]: Come in.", "SPEAKER 00 : Come in ."),
        ("SPEAKER_01: Come in.", "SPEAKER 01 : Come in ."),
        ("- (Anna): Come in.", "- ANNA : Come in ."),
        ("[door]: closed", "DOOR : closed"),
        ("[door slams] Come in.", "[ door slams ] Come in ."),
        ("Yes.|- No.", "Yes . / - No ."),
        ("| know.", "| know ."),
        ("one|two", "one two"),
    ],
)
def test_labels_of_tools_and_bars(line: str, expected: str) -> None:
    assert " / ".join(texts(srt(line))) == expected


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["I try to! (PILOT): Turn left.", "(boy): Why?"], ["I try to !", "PILOT : Turn left .", "BOY : Why ?"]),
        (["I try to, [Pilot]: turn left."], ["I try to ,", "PILOT : turn left ."]),
        (["[men 1] Hey! [men 2] Over here."], ["MEN 1 : Hey !", "MEN 2 : Over here ."]),
        (
            ["[Osgood] Hey!", "[Osgood] Over here.", "[Sighs] No."],
            ["OSGOOD : Hey !", "OSGOOD : Over here .", "[ Sighs ] No ."],
        ),
        (["[Sighs] Hey!", "[Sighs] Over here."], ["[ Sighs ] Hey !", "[ Sighs ] Over here ."]),
        (["[Hope] Hey!", "[Hope] Here.", "Tell Hope."], ["HOPE : Hey !", "HOPE : Here .", "Tell Hope ."]),
        (["(Clears Throat) Hey.", "(Clears Throat) No."], ["( Clears Throat ) Hey .", "( Clears Throat ) No ."]),
        (
            ["\uff08\u6bcd\uff09\u306f\u3044\u3002", "\uff08\u6bcd\uff09\u3044\u3044\u3048\u3002"],
            ["\u6bcd : \u306f\u3044 \u3002", "\u6bcd : \u3044\u3044\u3048 \u3002"],
        ),
        (["\u3010Olga\u3011\uff1aYes."], ["OLGA : Yes ."]),
        (["O'DOWD: Yes."], ["O 'DOWD : Yes ."]),
        (["Speaker \u21161: Yes.", "Speaker #2: No."], ["Speaker \u2116 1 : Yes .", "Speaker # 2 : No ."]),
        (["Olga Stern:\nYes, I do.", "Ivo Brandt:\nNo."], ["OLGA STERN : Yes , I do .", "IVO BRANDT : No ."]),
        (["He told us:\nyes.", "Then she said:\nno."], ["He told us : yes .", "Then she said : no ."]),
        (["\u226b Yes.", "\uff1e\uff1e No."], ["> > Yes .", "> > No ."]),
        # names that a dictionary has, titles, and names on a line of their own
        (["[Tom] Hey!", "[Tom] Go."], ["TOM : Hey !", "TOM : Go ."]),
        (
            ["- [TOM] Hey!\n- [Rose] No.", "[Rose] Go.", "[TOM] No."],
            ["- TOM : Hey !", "- ROSE : No .", "ROSE : Go .", "TOM : No ."],
        ),
        (["[Mrs. Bell] Hey!", "[Mrs. Bell] Go."], ["MRS. BELL : Hey !", "MRS. BELL : Go ."]),
        (["[Osgood Jones] Hey!", "[Osgood Jones] Go."], ["OSGOOD JONES : Hey !", "OSGOOD JONES : Go ."]),
        (["[Tom]\nHey!", "[Tom]\n- Go."], ["TOM : Hey !", "- TOM : Go ."]),
        (["[Tom] Hey!", "[Tom] Go.", "[Tom, softly] No."], ["TOM : Hey !", "TOM : Go .", "TOM : No ."]),
        (["[Tom] Hey!", "[Tom]"], ["[ Tom ] Hey !", "[ Tom ]"]),
        (["[Tom] Only once.", "Go."], ["[ Tom ] Only once .", "Go ."]),
        (["[MUSIC] Hey!", "[MUSIC] Go."], ["[ MUSIC ] Hey !", "[ MUSIC ] Go ."]),
        (["[Music]\nHey!", "[Music]\nGo."], ["[ Music ] Hey !", "[ Music ] Go ."]),
        (["[Breathless] Hey!", "[Breathless] Go."], ["[ Breathless ] Hey !", "[ Breathless ] Go ."]),
        (["[Door Opens] Hey!", "[Door Opens] Go."], ["[ Door Opens ] Hey !", "[ Door Opens ] Go ."]),
        (["[In French] Hey!", "[In French] Go."], ["[ In French ] Hey !", "[ In French ] Go ."]),
        # wide brackets and colons among Latin letters
        (["\uff08Tom\uff09Hey!", "\uff08Tom\uff09\nGo."], ["TOM : Hey !", "TOM : Go ."]),
        (["\u3010door slams\u3011Hey!", "Go.\uff08sighs\uff09"], ["[ door slams ] Hey !", "Go . ( sighs )"]),
        (["\u300cTom\u300dHey!", "\u300cTom\u300d Go."], ["TOM : Hey !", "TOM : Go ."]),
        (["\u300cNever.\u300d he said.", "A \u300cTom\u300d"], ['" Never . " he said .', 'A " Tom "']),
        (["Tom\uff1aHey!", "Rose\uff1a Go.", "At 10\uff1a30."], ["Tom : Hey !", "Rose : Go .", "At 10 : 30 ."]),
        (["Remember:\nnever pay.", "Remember:\nnever run."], ["Remember : never pay .", "Remember : never run ."]),
        # a name that is known by a colon, by its title, or comes back on a line or in a cue of its own
        (["[Anna] Come in.", "ANNA: Sit."], ["ANNA : Come in .", "ANNA : Sit ."]),
        (["[Father Tom] Come in."], ["FATHER TOM : Come in ."]),
        (["[MRS. O'Hara] Come in."], ["MRS. O 'HARA : Come in ."]),
        (["[Tom] Hey!", "[Tom]", "Go."], ["TOM : Hey !", "TOM :", "Go ."]),
        (["[Father Laughs] Hey.", "[Lady Gasps] No."], ["[ Father Laughs ] Hey .", "[ Lady Gasps ] No ."]),
        (["[Note] Hey.", "Note: no.", "[Note] Go."], ["[ Note ] Hey .", "Note : no .", "[ Note ] Go ."]),
        # a second speaker within a line
        (["TOM: I thought-- O'NEIL: Yes."], ["TOM : I thought- -", "O 'NEIL : Yes ."]),
        (["TOM: Are you coming, O'NEIL: Yes."], ["TOM : Are you coming ,", "O 'NEIL : Yes ."]),
        (
            ["MR. & MRS. BELL: Yes.", "BELL, ANNA (GUEST): No."],
            ["MR. & MRS. BELL : Yes .", "BELL , ANNA ( GUEST ) : No ."],
        ),
        (
            ["[Ida] Yes.", "Ida, no.", "[Bo, softly] No.", "[sobs] [Ida] Go.", "Come, Tom.", "(TOM) I do."],
            ["IDA : Yes .", "Ida , no .", "BO : No .", "[ sobs ]", "IDA : Go .", "Come , Tom .", "TOM : I do ."],
        ),
        (["[Rain, heavily] Yes.", "[Woman over radio] Go."], ["[ Rain , heavily ] Yes .", "WOMAN : Go ."]),
        (["[SPEAKER_00] yes", "[both] No."], ["SPEAKER 00 : yes", "BOTH : No ."]),
        (["[Ida, softly] Yes.", "[Ida] No."], ["IDA : Yes .", "IDA : No ."]),
        (["He works for the FBI: they know."], ["He works for the FBI : they know ."]),
        # one quotation mark at a line's start is a mark of a speaker, two are quotation marks
        (["\u00bb Come in.\n\u00bb No.", "So? \u00bb Yes."], ["> > Come in .", "> > No .", "So ?", "> > Yes ."]),
        (["\u00bbCome in\u00ab, he said."], ["\u00bb Come in \u00ab , he said ."]),
        (["\u00bbKom in\u00bb, sa han."], ["\u00bb Kom in \u00bb , sa han ."]),
    ],
)
def test_labels_in_all_forms(cues: list[str], expected: list[str]) -> None:
    assert texts(srt(*cues)) == expected


def test_what_begins_a_sentence_is_no_label() -> None:
    """Labels know the words of the cleaning rules; numerals and some names are beginnings alone, or none."""
    known = {word for word in words("not_names") if not (begins_sentence(word) or is_place(word))}
    assert known == {"a", "case", "day", "will"}
    assert not any(map(begins_sentence, ["First officer", "Man one", "Mission control", "The king"]))


def coloured(*cues: list[tuple[str, str]]) -> str:
    return srt(*("\n".join(f'<font color="{colour}">{text}</font>' for colour, text in cue) for cue in cues))


def test_a_change_of_colour_is_a_change_of_speaker() -> None:
    said = coloured([("yellow", "Are you sure"), ("cyan", "of course I am")], [("cyan", "Go on.")], [("yellow", "no")])
    assert texts(said) == ["Are you sure", "> > of course I am", "Go on .", "> > no"]
    spans = '<font color="lime">Yes.</font> <font color="white">Why?</font>'
    assert texts(srt(spans, spans)) == ["Yes .", "> > Why ?", "> > Yes .", "> > Why ?"]
    cues = (
        "00:01.000 --> 00:02.000\n<c.yellow>Yes.</c>\n<c.cyan>Why?</c>\n",
        "00:03.000 --> 00:04.000\n<c.cyan>So.</c>\n<c.yellow>Oh.</c>\n",
    )
    vtt = "\n".join(("WEBVTT\n", *cues))
    assert texts(vtt) == ["Yes .", "> > Why ?", "So .", "> > Oh ."]


def test_a_coloured_word_is_no_speaker() -> None:
    stressed = 'The <font color="red">red</font> door and the <font color="red">red</font> gate'
    assert texts(srt(stressed, stressed)) == ["The red door and the red gate", "The red door and the red gate"]


def test_two_voices_in_a_cue() -> None:
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Olga>Come in.</v> <v Ivo>I will</v>\n"
    assert texts(vtt) == ["OLGA : Come in .", "IVO : I will"]


def test_voices_of_webvtt_are_labels_in_capitals() -> None:
    file = parsed("WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Anna>Come in.</v>\n")
    assert file.sentences.text.to_pylist() == ["ANNA : Come in ."]
    assert texts("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna\nBell>Come in.</v>\n") == ["ANNA BELL : Come in ."]


def events(*lines: str) -> str:
    head = "[Events]\nFormat: Start, End, Name, Text\n"
    return head + "".join(f"Dialogue: 0:00:0{n}.00,0:00:0{n}.90,{line}\n" for n, line in enumerate(lines, 1))


def test_names_of_events_are_labels() -> None:
    said = events("Anna,Is it far?", "old Ivo,It is not.", "Anna,- So?\\N- So go.", "Sign 12,North Pier", ",Well.")
    assert texts(said) == ["ANNA : Is it far ?", "OLD IVO : It is not .", "- So ?", "- So go .", "North Pier", "Well ."]
    assert texts(events("Anna,Is it far?", "Anna,It is not.")) == ["Is it far ?", "It is not ."]
    assert texts(events("Main,Is it far?", "Top,It is not.", "Main,No.")) == ["Is it far ?", "It is not .", "No ."]
    assert texts(events("Anna,Is it far?", "Ivo,It is not.", ",No.", ",Go.", ",Oh.")) == [
        *("Is it far ?", "It is not .", "No .", "Go .", "Oh ."),
    ]


def test_tmplayer() -> None:
    file = parsed("00:00:01:- Is it far?|- It is not.\n00:00:04:- 12 miles.\n00:00:05:\n")
    assert file.meta["form"] == "tmplayer"
    assert [row[2:] for row in rows(file.sentences)] == [
        (1000, None, "- Is it far ?"),
        (None, 4000, "- It is not ."),
        (4000, 5000, "- 12 miles ."),
    ]


def test_what_people_say_twice_stays() -> None:
    assert texts(srt("Run!", "Run!", "No.", "No.")) == ["Run !", "Run !", "No .", "No ."]


def test_a_sign_over_speech_is_no_speech() -> None:
    sign = "1\n00:00:01,000 --> 00:00:09,000\n{\\an8}NORTH PIER\n\n"
    assert texts(sign + srt("Is it far?", "It is not.")) == ["Is it far ?", "It is not ."]
    assert texts(srt("{\\an8}Is it far?", "It is not.")) == ["Is it far ?", "It is not ."]
    speech = "2\n00:00:01,000 --> 00:00:04,000\nIs it far?\n\n"
    brief = "1\n00:00:02,000 --> 00:00:02,200\n{\\pos(9,9)}North Pier\n\n"
    assert texts(brief + speech) == ["Is it far ?"]
    assert texts(brief.replace("{\\pos(9,9)}", "") + speech) == ["Is it far ?", "North Pier"]


@pytest.mark.parametrize(
    ("cue", "shown"),
    [
        ("DOOR CREAKS", True),
        ("TWO WEEKS LATER:", True),
        ("KEEP OUT: BEARS", True),
        ("LISBON, 1956", True),
        ("GET OUT!", False),
        ("WAIT--", False),
        ("- GET OUT", False),
        ("IDA: GET OUT", False),
        ("FBI", False),
        ("[DOOR CREAKS]", False),
        ("North Pier", False),
    ],
)
def test_a_line_in_capitals_without_an_end_mark_is_shown_and_not_said(cue: str, shown: bool) -> None:
    said = ["Is it far?", "IDA: It is not.", "We take the boat.", "It is late."]
    faults = parsed(srt(*said, cue, *said)).meta["faults"]
    assert [fault["reason"] for fault in faults or []] == ["sign"] * shown
    assert not parsed(srt(*said, f"I work at the\n{cue}", *said)).meta["faults"]


def test_capitals_that_go_on_or_stand_in_a_file_without_marks_are_said() -> None:
    said = ["Is it far?", "It is not.", "We take the boat.", "It is late."]
    for cues in (["he waits at the", "NORTH PIER"], ["NORTH PIER", "is far away."]):
        assert not parsed(srt(*said, *cues, *said, *said)).meta["faults"]
    assert not parsed(srt(*(one[:-1] for one in said), "NORTH PIER")).meta["faults"]


def test_what_a_tool_notes_of_the_film_is_no_speech() -> None:
    notes = "{1}{72}movie info: DIVX 640x272 25.0fps 700 MB|/by a tool/"
    assert texts(f"{{1}}{{1}}25\n{notes}\n{{90}}{{120}}At 25 fps it runs.") == ["At 25 fps it runs ."]


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["Help? -By the gate."], ["Help ?", "- By the gate ."]),
        (["- Who is it? - The post."], ["- Who is it ?", "- The post ."]),
        (["\u2212One\n\u2212Two"], ["- One", "- Two"]),
        ([">> Here we go. >> At last"], ["> > Here we go .", "> > At last"]),
        (["/Where?\n/There."], ["/ Where ?", "/ There ."]),
        (["IDA: I only wanted--\nTOM: You want too much."], ["IDA : I only wanted- -", "TOM : You want too much ."]),
        (["IDA: I say,\nTOM (ON RADIO): Come in."], ["IDA : I say ,", "TOM ( ON RADIO ) : Come in ."]),
        (["I was about to-- -Stop."], ["I was about to- -", "- Stop ."]),
        (["- If I what?\n- --leave me here."], ["- If I what ?", "- ... leave me here ."]),
        (["\u266a the sea is wide \u266a\nWho sings?"], ["\u266a the sea is wide \u266a", "Who sings ?"]),
        (["MRS. BELL SAW DR. KENT."], ["MRS. BELL SAW DR. KENT ."]),
        (["Rev. Ames lives at No. 9. No. He moved."], ["Rev. Ames lives at No. 9 .", "No .", "He moved ."]),
        (["I NEVER THOUGHT THAT WE", "WOULD SEE LAND AGAIN."], ["I NEVER THOUGHT THAT WE WOULD SEE LAND AGAIN ."]),
        (["Cafe\u0301 No\u00e9l"], ["Caf\u00e9 No\u00e9l"]),
        (["<ruby>\u6f22<rt>kan</rt></ruby>"], ["\u6f22"]),
        (["one\\Ntwo"], ["one two"]),
        (["{remark} stays"], ["{ remark } stays"]),
    ],
)
def test_marks_and_sentences(cues: list[str], expected: list[str]) -> None:
    assert texts(srt(*cues)) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ar", "أين كنت؟ كنت في البيت. حسنا", ["أين كنت ؟", "كنت في البيت .", "حسنا"]),
        ("hi", "तुम कहाँ थे? मैं घर पर था। ठीक है", ["तुम कहाँ थे ?", "मैं घर पर था ।", "ठीक है"]),
        ("el", "Πού ήσουν; Στο σπίτι. Καλά", ["Πού ήσουν ;", "Στο σπίτι .", "Καλά"]),
        ("ja", "どこにいた？家にいた。そうか！", ["どこにいた ？", "家にいた 。", "そうか ！"]),
        ("ru", "Где ты был? Дома, на ул. Мира. Ладно", ["Где ты был ?", "Дома , на ул. Мира .", "Ладно"]),
        ("th", "ที่นี่ดีมาก", ["ที่นี่ดีมาก"]),
        ("fa", "می\u200cروم", ["می\u200cروم"]),
        ("de", "Am 3. Mai. In der Elbestr. 5. Gut", ["Am 3 . Mai .", "In der Elbestr . 5 .", "Gut"]),
        ("en", "In Jan. 1953. In Jan. Then", ["In Jan. 1953 .", "In Jan .", "Then"]),
        ("fr", "M. Noir est là. Ah ? Oui", ["M. Noir est là .", "Ah ?", "Oui"]),
    ],
)
def test_scripts(language: str, text: str, expected: list[str]) -> None:
    assert texts(srt(text), language) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Film.en.hi", ("Film", "en")),
        ("Film.hi", ("Film", "hi")),
        ("Film.hi.en", ("Film", "en")),
        ("Film.eng", ("Film", "en")),
        ("Film.spa.forced", ("Film", "es")),
        ("Film.es-419", ("Film", "es")),
        ("Film.pt-BR", ("Film", "pt_br")),
        ("Film.zh-Hant", ("Film", "zh_tw")),
        ("Film.zh", ("Film", "zh")),
        ("Film.chi", ("Film", "zh")),
        ("Film.zh-CN", ("Film", "zh_cn")),
        ("Film.zh_hans", ("Film", "zh_cn")),
        ("Film.chs", ("Film", "zh_cn")),
        ("Film_Chinese", ("Film", "zh")),
        ("Film_Spanish", ("Film", "es")),
        ("Film [English]", ("Film", "en")),
        ("Film (Brazilian Portuguese)", ("Film", "pt_br")),
        ("Film.en[cc]", ("Film", "en")),
        ("2_English", ("2", "en")),
        ("This.Is.It", ("This.Is.It", None)),
        ("do_it", ("do_it", None)),
        ("wait_in_line", ("wait_in_line", None)),
        ("film_no_ads", ("film_no_ads", None)),
        ("this_is_it", ("this_is_it", None)),
        ("THIS_IS_IT", ("THIS_IS_IT", None)),
        ("this.is.it", ("this.is.it", None)),
        ("FLEUR_DE_LY", ("FLEUR_DE_LY", None)),
        ("Reine_de_la", ("Reine_de_la", None)),
        ("Fin_De", ("Fin_De", None)),
        ("The.Cat", ("The.Cat", None)),
        ("Big_Ben", ("Big_Ben", None)),
        ("say_no", ("say_no", None)),
        ("Film.no", ("Film", "no")),
        ("Film.it.sdh", ("Film", "it")),
        ("Subs~no", ("Subs", "no")),
        ("Film.no-NO", ("Film", "no")),
        ("Film_DE", ("Film", "de")),
        ("Film_de_de", ("Film", "de")),
        ("Film.EN-US", ("Film", "en")),
        ("Film_pt_br", ("Film", "pt_br")),
        ("Film.sr-latn", ("Film", "sr")),
        ("Film.1999.1080p", ("Film.1999.1080p", None)),
    ],
)
def test_names(name: str, expected: tuple[str, str | None]) -> None:
    assert named_language(name) == expected


LONG = {
    "en": "I have walked along this shore every morning since the storm took the old pier away. Nobody knows. ",
    "es": "He caminado por esta orilla todas las mañanas desde que la tormenta se llevó el viejo muelle. Nadie. ",
}


@pytest.mark.parametrize(
    ("named", "said", "expected"),
    [
        (None, "en", "en"),
        (None, "es", "es"),
        ("en", "es", "es"),
        ("es", "es", "es"),
    ],
)
def test_the_text_tells_a_language_that_the_name_does_not_tell(named: str | None, said: str, expected: str) -> None:
    file = parsed(srt(*[LONG[said]] * 5), named)
    assert file.language_name == expected
    assert file.quirks["language_differs"] == (named is not None and named != expected)


@pytest.mark.parametrize(
    ("path", "meta", "said", "sentences", "expected"),
    [
        ("xml/en/1999/7/1.xml", "", "es", 5, "other_language: its text is in es, its folder or <meta> says en"),
        ("xml/en/1999/7/1.xml", "", "es", 2, "other_language: its text is in es, its folder or <meta> says en"),
        ("xml/en/1999/7/1.xml", "", "es", 1, "en"),
        ("xml/en/1999/7/1.xml", "", "en", 5, "en"),
        ("1.xml", "English", "es", 5, "other_language: its text is in es, its folder or <meta> says en"),
        ("1.xml", "Spanish", "es", 5, "es"),
        ("1.xml", "", "es", 5, "es"),
        ("1.xml", "", "es", 1, None),
    ],
)
def test_the_text_of_xml_must_be_in_the_language_that_is_named(
    tmp_path: Path, path: str, meta: str, said: str, sentences: int, expected: str | None
) -> None:
    words = " ".join(f"<w>{word}</w>" for word in LONG[said].split())
    meta = f"<meta><subtitle><language>{meta}</language></subtitle></meta>" if meta else ""
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(f"<document>{f'<s>{words}</s>' * sentences}{meta}</document>", "utf-8")
    (row,) = reading_of(tmp_path, languages=()).read
    found = f"{row['reason']}: {row['detail']}" if row["reason"] else row["language"]
    assert found == expected


def test_colours_and_control_characters_are_in_no_detail() -> None:
    lines = [f'<font color="{colour}">{LONG[said]}</font>' for colour, said in (("red", "en"), ("lime", "es"))]
    faults = {one["reason"]: one["example"] for one in parsed(srt(*["\n".join(lines)] * 9), "en").meta["faults"]}  # type: ignore
    assert "\0" not in faults["other_language"]
    event = {"tStartMs": 0, "dDurationMs": 900, "segs": [{"utf8": "Wait\u0000 here."}]}
    assert texts(json.dumps({"events": [event]})) == ["Wait here ."]


def test_normal_form_keeps_lines() -> None:
    text = "a\r\r\nb\r\n\r\nc\rd\u2028e\n"
    assert normal_form(text).split("\n") == ["a", "b", "", "c", "d", "e", ""]


def test_files_of_other_languages_are_listed(tmp_path: Path) -> None:
    for name in ("Film.en.srt", "Film.fra.srt", "Subs/4_Spanish.srt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PLAIN, "utf-8")
    listed = {row[1]: row[11] for row in listing(tmp_path, "en")}
    assert listed == {"Film.en.srt": "en", "Film.fra.srt": "fr", "Subs/4_Spanish.srt": "es"}
    assert reading_of(tmp_path).kept == ["Film.en.srt"]


def listing(folder: Path, language: str, enough: int = 1) -> list[tuple[Any, ...]]:
    """Return the rows of the manifest for a folder."""
    pieces = pieces_of(str(folder), [language], enough)
    return sorted(row for piece in pieces for row in list_piece(piece, [language], "v2018"))


@pytest.mark.parametrize("enough", [1, 50])
def test_folders_of_other_languages_are_listed_and_not_their_files(tmp_path: Path, enough: int) -> None:
    for name in ("xml/en/2001/5/1.xml", "xml/fr/2001/5/2.xml", "xml/fr/2002/6/3.xml", "xml/de/2001/5/4.xml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"<document/>")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("raw/en/2001/7/1.xml", "raw/it/2001/7/2.xml", "raw/it/2002/8/3.xml"):
            archive.writestr(name, "<document/>")
    assert [(row[1], row[11]) for row in listing(tmp_path, "en", enough)] == [
        ("all.zip!raw/en/2001/7/1.xml", "en"),
        ("all.zip!raw/it/", "it"),
        ("xml/de/", "de"),
        ("xml/en/2001/5/1.xml", "en"),
        ("xml/fr/", "fr"),
    ]


def test_a_new_folder_of_another_language_changes_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "xml" / "en").mkdir(parents=True)
    before = fingerprint(str(tmp_path), ["en"])
    (tmp_path / "xml" / "fr").mkdir()
    assert fingerprint(str(tmp_path), ["en"]) != before


ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/languages.md").read_text("utf-8")
ROWS = GUIDE.partition("| form, encoding or script |")[2].split("\n")[2:]
TABLE = ROWS[: ROWS.index("")]


def test_the_table_of_forms_has_rows() -> None:
    assert len(TABLE) > 15


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.split("|")[1].strip())
def test_each_row_of_the_table_of_forms_names_tests_that_exist(row: str) -> None:
    named = re.findall("`([^`]+)`", row.rstrip("| ").rpartition("|")[2])
    assert named
    for name in named:
        path, _, function = name.partition("::")
        if not function:
            assert name in FORMS
            continue
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


TRADITIONAL, SIMPLIFIED = (f"{SAID[code][1] * 4}" for code in ("zh_tw", "zh_cn"))


@pytest.mark.parametrize(
    ("languages", "name", "said", "expected"),
    [
        (["zh"], "a.zh.srt", SIMPLIFIED, "zh_cn"),
        (["zh"], "a.zh.srt", TRADITIONAL, "zh_tw"),
        (["zh"], "a.zh-TW.srt", TRADITIONAL, "zh_tw"),
        (["zh"], "a.srt", TRADITIONAL, "zh_tw"),
        (["zh_tw"], "a.zh.srt", TRADITIONAL, "zh_tw"),
        (["zh_cn"], "a.zh.srt", SIMPLIFIED, "zh_cn"),
        (["zh_cn"], "a.zh-TW.srt", TRADITIONAL, None),
        (["en"], "a.zh.srt", SIMPLIFIED, None),
        (["pt_br"], "a.srt", "Onde está a chave? Eu não consigo achar, meu irmão. Espera por mim. " * 4, "pt_br"),
        (["pt_br"], "a.pt-BR.srt", "Onde está a chave? Eu não consigo achar, meu irmão. " * 4, "pt_br"),
        (["pt"], "a.srt", "Onde está a chave? Eu não consigo achar, meu irmão. Espera por mim. " * 4, "pt"),
        (["hr"], "a.srt", "Gdje je ključ? Ne mogu ga naći, brate. Čekaj me ispred vrata, molim te. " * 4, "hr"),
    ],
)
def test_languages_with_regions(
    tmp_path: Path, languages: list[str], name: str, said: str, expected: str | None
) -> None:
    (tmp_path / name).write_text(srt(said), "utf-8")
    found = [row["language"] for row in reading_of(tmp_path, languages=languages).read]
    assert found == ([] if expected is None else [expected])


HIDDEN = "hidden files and folders, whose names begin with a full stop, are not read"


def test_files_that_are_not_read_are_listed_with_their_ending(tmp_path: Path) -> None:
    for name in ("a.en.srt", "b.lrc", "c.srt.txt", "d.tar.gz", "README", ".hidden.srt", "._a.en.srt", ".z.zip"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "above").symlink_to(tmp_path.parent)
    (tmp_path / "round.lnk").symlink_to("round.lnk")
    for name, target in (("o.srt", "a.en.srt"), ("p.srt", "o.srt"), ("q.srt", ".hidden.srt"), ("r.srt", "b.lrc")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "rar.zip").write_bytes(b"Rar!\x1a\x07\0")
    (tmp_path / "text.zip").write_text("1\n")
    for name in ("empty.zip", "folders.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            if name == "folders.zip":
                archive.writestr("folder/", "")
                archive.writestr("__MACOSX/._a.srt", "x")
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        for name in (
            "f.en.srt",
            "__MACOSX/._f.en.srt",
            "g.nfo",
            "folder/",
            ".h.srt",
            ".i/h.srt",
            "..\\j.srt",
            "..k",
            "m.zip",
        ):
            archive.writestr(name, "x")
    (tmp_path / "l.zip").write_bytes(zip_of([Entry(b"", b"x")]))
    (piece,) = (piece for piece in pieces_of(str(tmp_path), ["en"], 1) if piece.kind != "other")
    found = {row[1]: row[-1] for row in list_piece(piece, ["en"], "v0")}
    assert found == {
        **dict.fromkeys([".hidden.srt", "._a.en.srt", ".z.zip", ".git"], f"unknown_format: {HIDDEN}"),
        **dict.fromkeys(
            ["again", "above"],
            "unknown_format: a link to a folder of this source, or above it; its files are listed where they are",
        ),
        **dict.fromkeys(
            ["o.srt", "p.srt"], "unknown_format: a link to a file of this source, which is read where it is"
        ),
        **dict.fromkeys(["q.srt", "r.srt"]),
        "round.lnk": "unknown_format: files ending in .lnk are not read",
        "rar.zip": "not_subtitles: the file is a RAR archive, despite its name",
        "text.zip": "bad_zip: File is not a zip file",
        **dict.fromkeys(["empty.zip", "folders.zip"], "empty: the zip holds no file"),
        "e.zip!m.zip": "unknown_format: an archive in an archive is not unpacked; unpack it into the source",
        "README": "unknown_format: its name has no ending",
        "a.en.srt": None,
        "b.lrc": "unknown_format: files ending in .lrc are not read",
        "c.srt.txt": "unknown_format: files ending in .srt.txt are not read",
        "d.tar.gz": "unknown_format: files ending in .tar.gz are not read: archives of that kind are not unpacked",
        "e.zip!f.en.srt": None,
        "e.zip!g.nfo": "unknown_format: files ending in .nfo are not read",
        **dict.fromkeys(["e.zip!.h.srt", "e.zip!.i/h.srt", "e.zip!..k"], f"unknown_format: {HIDDEN}"),
        "e.zip!..\\j.srt": "unsafe_name: member name '..\\\\j.srt'",
        "l.zip!(without a name)": "unsafe_name: member name ''",
    }


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04\x14\0", "a zip"),
        (b"\x00\x00\x01\xbaD", "pictures (VobSub)"),
        (b"PG\0\0\0\1", "pictures (PGS)"),
        (b"Rar!\x1a", "a RAR archive"),
        (b"\xef\xbb\xbf<!DOCTYPE html><html><!-- x -->", "a page of the web"),
        (b"{\\rtf1 x}", "a text of a word processor (RTF)"),
        (b"\0\0\0\x20ftypisom", "a film (MP4)"),
        (b"a.srt".ljust(257, b"\0") + b"ustar", "a tar archive"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"PK\x05\x06" + b"\0" * 18, "an empty zip"),
        (b"\0\x05\x16\x07\0\x02", "what macOS notes about a file (AppleDouble)"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
        (b"ID3 is a tag, he said", None),
        (b"MZ", None),
        (b"{1}{2}x", None),
        (b"<html>1\n00:00:01,000 --> 00:00:02,000\nx", None),
        (b"PG 13, he said", None),
    ],
)
def test_the_content_tells_a_file_of_another_kind(data: bytes, kind: str | None) -> None:
    if kind is None:
        refuse_other_kinds(data)
        return
    with pytest.raises(UnreadableError, match="not_subtitles") as error:
        refuse_other_kinds(data)
    assert kind in error.value.detail


def test_ttml_is_known_by_its_content() -> None:
    assert is_ttml(b'\xef\xbb\xbf<?xml version="1.0"?>\n<tt xmlns="http://www.w3.org/ns/ttml">')
    assert not is_ttml(b'<?xml version="1.0"?>\n<document id="1"><s id="1">')


def test_a_folder_with_relative_sources_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "before" / "subs").mkdir(parents=True)
    (tmp_path / "before" / "subs" / "a.en.srt").write_text(srt("So."))
    found = []
    for name in ("before", "after"):
        if name == "after":
            (tmp_path / "before").rename(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        filesystem.cache_clear()
        listed = [row for piece in pieces_of("subs", ["en"], 1) for row in list_piece(piece, ["en"], "v0")]
        found.append((fingerprint("subs", ["en"]), listed))
        assert read_plain("subs", listed[0][2], False, Caps(1000, 10)).startswith(b"1\n")
    filesystem.cache_clear()
    assert found[0] == found[1]
