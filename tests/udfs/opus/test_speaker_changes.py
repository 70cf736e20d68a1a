"""Sentences of OPUS XML in which the speaker changes, and words with signs that nobody sees."""

import pyarrow as pa
import pytest

from tests.udfs.opus.subtitle_files import rows, xml_file
from udfs.opus.parser import parse_by_tree, parse_subtitles
from udfs.opus.speaker_changes import changes_of_speaker

LABELLED = [
    *("Ida : Now .", "Tom : Not now .", "Ida : When ?"),
    *("Tom ( on radio ) : Later .", "Mrs. Bell : Go .", "Mrs. Bell : Now ."),
]
WITHIN = [
    ("Help ? -By the gate .", ["Help ?", "-By the gate ."]),
    ("Help ? - By the gate .", ["Help ?", "- By the gate ."]),
    ("- Who ? - Me . - You ?", ["- Who ?", "- Me .", "- You ?"]),
    ('- " Is he in ? " - " He is . "', ['- " Is he in ? "', '- " He is . "']),
    ("I thought ... \u2013 Think again .", ["I thought ...", "\u2013 Think again ."]),
    ("I was about to- - - Stop .", ["I was about to- -", "- Stop ."]),
    ("I was about to -- - Stop .", ["I was about to --", "- Stop ."]),
    ("Is it far ? \u2212 Not very .", ["Is it far ?", "\u2212 Not very ."]),
    ("It is late . - [ Knocking ]", ["It is late .", "- [ Knocking ]"]),
    ("Yes . - l 'm here .", ["Yes .", "- l 'm here ."]),
    ("Here we are >> At last", ["Here we are", ">> At last"]),
    ("Here we are > > At last", ["Here we are", "> > At last"]),
    ("Where ? / There .", ["Where ?", "/ There ."]),
    ("\u0623\u064a\u0646 \u061f - \u0647\u0646\u0627 .", ["\u0623\u064a\u0646 \u061f", "- \u0647\u0646\u0627 ."]),
    (
        "\u0915\u0939\u093e\u0901 \u0964 - \u092f\u0939\u093e\u0901",
        ["\u0915\u0939\u093e\u0901 \u0964", "- \u092f\u0939\u093e\u0901"],
    ),
    (
        "\u0393\u03b9\u03b1\u03c4\u03af ; - \u0395\u03b4\u03ce",
        ["\u0393\u03b9\u03b1\u03c4\u03af ;", "- \u0395\u03b4\u03ce"],
    ),
    ("I never wanted- - Tom : You do .", ["I never wanted- -", "Tom : You do ."]),
    ("I never wanted it , Tom : You do .", ["I never wanted it ,", "Tom : You do ."]),
    ("I never wanted to - Tom : You do .", ["I never wanted to", "- Tom : You do ."]),
    ("Sit . Mrs. Bell : Why ?", ["Sit .", "Mrs. Bell : Why ?"]),
    ("Come in , Tom ( on radio ) : I can not .", ["Come in ,", "Tom ( on radio ) : I can not ."]),
    ("Ida : Sit . Tom : Why ?", ["Ida : Sit .", "Tom : Why ?"]),
]
WHOLE = [
    "When did you - Did you hurt your arm ?",
    "He is full of it - Come back .",
    "A cold house- - Hitler said so .",
    "- F.J. - and the date .",
    "I have it ... - and so do you .",
    "- Only one mark .",
    "- [ Knocking ]",
    "I told Tom : come at six .",
    "He said to Mrs. Bell : no .",
    "Dear Uncle Tom : I write to you .",
    "It is 6 : 00 .",
    "Remember : nobody knows .",
    "Two plus two - Four .",
    "and / Or what ?",
    "5 > 3 > 1",
    "Help ? -",
    "Wait- -",
    ". - No",
    "",
]


def document(texts: list[str]) -> bytes:
    """Return a file in which each text is a sentence and a block of its own."""
    body = "".join(
        f'<s id="{n}"><time id="T{n}S" value="00:{n:02}:00,000" />'
        + "".join(f'<w id="{n}.{m}">{word.replace(">", "&gt;")}</w>' for m, word in enumerate(text.split(" ")) if word)
        + f'<time id="T{n}E" value="00:{n:02}:02,000" /></s>'
        for n, text in enumerate(texts, 1)
    )
    return xml_file(body)


@pytest.mark.parametrize(("text", "parts"), WITHIN)
def test_a_change_of_speaker_parts_a_sentence(text: str, parts: list[str]) -> None:
    file = parse_subtitles(document([*LABELLED, text]))
    found = rows(file.sentences)[len(LABELLED) :]
    assert [row[4] for row in found] == parts
    assert (found[0][2], found[-1][3]) == (420_000, 422_000)
    assert {row[:2] for row in found} == {(7, 7)}
    assert file.quirks["speaker_change_within"] == len(parts) - 1
    assert file.quirks == parse_by_tree(document([*LABELLED, text])).quirks


@pytest.mark.parametrize("text", WHOLE)
def test_a_sentence_of_one_speaker_stays_whole(text: str) -> None:
    assert changes_of_speaker(pa.array([*LABELLED, text])) == {}


def test_labels_are_names_that_recur() -> None:
    assert changes_of_speaker(pa.array(["Ida : Now .", "I say , Ida : Come in ."])) == {}


def test_times_within_a_sentence_go_with_its_parts() -> None:
    body = (
        '<s><time id="T1S" value="00:00:01,000" /><w>Well</w><w>...</w><time id="T1E" value="00:00:02,000" />'
        '<time id="T2S" value="00:00:03,000" /><w>-</w><w>Yes</w><w>?</w><time id="T2E" value="00:00:04,000" /></s>'
    )
    file = parse_subtitles(xml_file(body))
    assert rows(file.sentences) == [(1, 1, 1000, 2000, "Well ..."), (2, 2, 3000, 4000, "- Yes ?")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("soft\u00adly now", "softly now"),
        ("The \u00ad end .", "The end ."),
        ("\u200eYes .", "Yes ."),
        ("Yes . \u200f", "Yes ."),
        ("\ufeff- Yes .", "- Yes ."),
        ("Help ? \u00ad-By the gate .", "Help ? | -By the gate ."),
        ("cafe\u0301", "caf\u00e9"),
        ("don \u0092t", "don \u2019t"),
        ("down \u0081", "down"),
        ("a\u2060b \u061cc", "ab c"),
        ("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0645\u06cc\u200c\u0631\u0648\u0645"),
        ("caf\u00e9 \u2013 \u266a", "caf\u00e9 \u2013 \u266a"),
        ("\u00ad \u200b", ""),
    ],
)
def test_signs_that_nobody_sees_leave_the_words(words: str, expected: str) -> None:
    fast, tree = parse_subtitles(document([words])), parse_by_tree(document([words]))
    assert fast.sentences.text.to_pylist() == expected.split(" | ")
    assert (rows(fast.sentences), fast.quirks, fast.token_count) == (
        rows(tree.sentences),
        tree.quirks,
        tree.token_count,
    )
