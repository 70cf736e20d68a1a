"""No text takes squared time: 100,000 of each sign in a file of each form, and in answers of models."""

import contextlib
import time
from collections.abc import Callable

import pytest

from udfs.answer_texts import answer_in
from udfs.opus.files import UnreadableError
from udfs.opus.parser import parse_subtitles
from udfs.opus.plain_text import parse_plain_text

LENGTH = 100_000
MOST_SECONDS = 2.0
SRT = "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:03,000 --> 00:00:04,000\nGood.\n"
FORMS = {
    "srt": SRT,
    "before the first cue": "{}\n" + SRT.format("So."),
    "behind the times": "1\n00:00:01,000 --> 00:00:02,000{}\nSo.\n",
    "vtt": "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n{}\n",
    "ass": "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{}\n",
    "microdvd": "{{10}}{{25}}So.\n{{30}}{{50}}{}\n{{60}}{{90}}Good.\n",
    "mpl2": "[10][20]So.\n[30][40]{}\n[50][60]Good.\n",
    "tmplayer": "00:00:01:So.\n00:00:02:{}\n00:00:03:Good.\n",
    "subviewer": "00:00:01.00,00:00:02.00\n{}\n\n00:00:03.00,00:00:04.00\nGood.\n",
    "sami": "<SAMI><BODY><SYNC Start=1000><P>{}<SYNC Start=2000><P>Good.</BODY></SAMI>",
    "ttml": '<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="1s" end="2s">{}</p></div></body></tt>',
    "json3": '{{"events": [{{"tStartMs": 1000, "dDurationMs": 1000, "segs": [{{"utf8": "{}"}}]}}]}}',
    "xml": '<?xml version="1.0" encoding="utf-8"?>\n<document id="1"><s id="1"><w id="1">{}</w></s></document>',
    "raw": '<?xml version="1.0" encoding="utf-8"?>\n<document id="1"><s id="1">{}</s></document>',
}
SIGNS = " \r\n>-:.♪A0'([{<&#|\\\u200d文"
FURTHER = '\t\v\u2028–/;,!?…"”)]}*_~=+aAéß♬。，？！ｱあ가ا؟הी̀\u200c\ufeff\xa0ﬁ％→'
MANY = (
    "- ",
    "> ",
    "— ",
    ": ",
    "A :",
    "A: ",
    "a.",
    "- A. ",
    "00:",
    "{\\",
    "<i",
    "&#",
    "\\N",
    "♪a",
    "\r\r\na",
    "' ",
    "1\n",
)


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    with contextlib.suppress(UnreadableError):
        work()
    return time.process_time() - began


def slow_ones(form: str, units: list[str]) -> dict[str, float]:
    found = {}
    parse_plain_text(SRT.format("So.").encode(), "en")  # loads the models
    for unit in units:
        data = FORMS[form].format(unit * (LENGTH // len(unit))).encode()
        if form in ("xml", "raw"):
            found[unit] = seconds(lambda data=data: parse_subtitles(data))  # type: ignore[misc]
        else:
            found[unit] = seconds(lambda data=data: parse_plain_text(data, "en"))  # type: ignore[misc]
    return {unit: taken for unit, taken in found.items() if taken > MOST_SECONDS}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_one_sign_takes_linear_time(form: str) -> None:
    assert slow_ones(form, [*SIGNS, *MANY[:3]]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_any_sign_takes_linear_time(form: str) -> None:
    assert slow_ones(form, [*FURTHER, *MANY]) == {}


@pytest.mark.parametrize("unit", [" ", "\n", "<", "1. ", "<think>", "</think>", "<details", "analysis", "<|channel|>"])
def test_an_answer_of_one_sign_takes_linear_time(unit: str) -> None:
    assert seconds(lambda: answer_in(unit * (LENGTH // len(unit)))) < MOST_SECONDS
    assert answer_in("Sure. " + "word " * 10_000).fault == "answer_too_long"
