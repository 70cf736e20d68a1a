"""Explicit marks of a turn: what counts as one, what is hidden, what it decides."""

import numpy as np
import pyarrow as pa
import pytest

from etl.subtitles.turn_marks import (
    hidden_marks,
    opens_with_dash,
    speaker_labels,
    speaker_names,
    spoken,
    with_closed_songs,
    without_dash,
)
from etl.subtitles.turn_sentences import UNKNOWN_MS, Sentences
from tests.subtitles.marked_files import marks_file, marks_files


@pytest.mark.parametrize(
    ("text", "dash"),
    [
        ("- Who is it ?", True),
        ("-Who is it ?", True),
        ("– Who is it ?", True),
        ("— Me .", True),
        ("─ Me .", True),
        ("_ Me .", True),
        ("-", True),
        ("- ... and then ?", True),
        ("-- and then he left", False),
        ("- - and then he left", False),
        ("Well - maybe", False),
        ("well-made", False),
        ("", False),
    ],
)
def test_turn_mark_dash(text: str, dash: bool) -> None:
    assert opens_with_dash(pa.array([text])).tolist() == [dash]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ANNA : Come in .", "ANNA"),
        ("Anna : Come in .", "ANNA"),
        ("Anna :", "ANNA"),
        ("- Anna : Come in .", "ANNA"),
        ("( quietly ) Anna : Come in .", "ANNA"),
        ("Man # 2 : Run !", "MAN # 2"),
        ("Anna and Bo : Hello !", "ANNA AND BO"),
        ("Anna 's Father : No .", "ANNA'S FATHER"),
        ("Élodie : Oui .", "ÉLODIE"),
        ("\u0623\u062d\u0645\u062f : \u062a\u0639\u0627\u0644 .", "\u0623\u062d\u0645\u062f"),
        ("\u0930\u0935\u093f : \u0906\u0913 \u0964", "\u0930\u0935\u093f"),
        ("After 6 : 30 .", None),
        ("8 : 30 , at the pier .", None),
        ("I have one rule : never pay .", None),
        ("anna : hello", None),
        ("Anna came in .", None),
        ("", None),
    ],
)
def test_turn_mark_speaker_name(text: str, name: str | None) -> None:
    assert speaker_names(pa.array([text])).to_pylist() == [name]


def test_turn_mark_label_recurs_in_its_file() -> None:
    column = marks_files(
        [
            [("Anna : Yes .", 1), ("Remember : never pay .", 2), ("ANNA : No .", 3)],
            [("Remember : we leave at nine .", 1), ("Anna : Once .", 2), ("Remember : wait .", 3)],
        ]
    )
    labels = speaker_labels(Sentences.of(column))
    assert (labels >= 0).tolist() == [True, False, True, False, False, False]
    assert labels[0] == labels[2]


def test_turn_mark_hidden_from_features() -> None:
    sentences = Sentences.of(
        marks_file(
            ("- Anna : Come in .", 1),
            ("[ door creaks ] Who is there ?", 2),
            ("Anna :", 3),
            ("( sighs )", 4),
            ("Remember : never pay .", 5),
            ("Well - maybe .", 6),
        )
    )
    assert hidden_marks(sentences, speaker_labels(sentences)).to_pylist() == [
        "Come in .",
        "Who is there ?",
        "",
        "",
        "Remember : never pay .",
        "Well - maybe .",
    ]


@pytest.mark.parametrize(
    ("rows", "sung"),
    [
        ([("# Let me", 1), ("# Have it", 1), ("Stop .", 2)], ["# Let me #", "# Have it #", "Stop ."]),
        (
            [("\u266a Come .", 1), ("And go", 1), ("Stop .", 2)],
            ["\u266a Come . \u266a", "\u266a And go \u266a", "Stop ."],
        ),
        ([("\u266a Come .", 1), ("- Stop .", 1)], ["\u266a Come . \u266a", "Stop ."]),
        ([("Stop .", 1), ("Come .", 2), ("Go \u266a", 2)], ["Stop .", "\u266a Come . \u266a", "\u266a Go \u266a"]),
        (
            [("\u266a Over", 1), ("the hill", 2), ("it goes \u266a", 3), ("Stop .", 3)],
            ["\u266a Over \u266a", "\u266a the hill \u266a", "\u266a it goes \u266a", "Stop ."],
        ),
        ([("Hm . \u266a Over \u266a", 1), ("Stop .", 1)], ["Hm . \u266a Over \u266a", "Stop ."]),
        (
            [("We 're # 1 .", 1), ("# 2 .", 1), ("\u266a \u266a", 2), ("No .", 2)],
            ["We 're # 1 .", "# 2 .", "\u266a \u266a", "No ."],
        ),
    ],
)
def test_turn_mark_a_song_has_notes_on_both_sides(rows: list, sung: list[str]) -> None:
    sentences = Sentences.of(marks_file(*rows))
    assert with_closed_songs(sentences, without_dash(sentences.text), speaker_labels(sentences)).to_pylist() == sung


def test_turn_mark_name_in_brackets() -> None:
    said = [
        "[ Osgood ] Hey .",
        "I told Osgood .",
        "[ Osgood ] No .",
        "[ Sighs ] Yes .",
        "[ Sighs ] So .",
        "[ Man # 2 ] Who ?",
    ]
    sentences = Sentences.of(marks_file(*((text, place) for place, text in enumerate(said, 1))))
    assert speaker_names(pa.array(["( MASTER ) : Go .", "O 'DOWD : Go ."])).to_pylist() == ["MASTER", "O'DOWD"]
    labels = speaker_labels(sentences)
    assert [label >= 0 for label in labels] == [True, False, True, False, False, True]
    assert hidden_marks(sentences, labels).to_pylist()[:2] == ["Hey .", "I told Osgood ."]
    # Names in brackets stand before those alone whom one does not see: the file does not label its speakers.
    assert not spoken(sentences).with_colon.any()


def test_turn_mark_name_in_brackets_that_a_dictionary_has() -> None:
    said = ["[ Tom ] Where is the key to the shed ?", "[ Music ] You have it .", "[ Tom ] I ?", "[ Music ] You ."]
    sentences = Sentences.of(marks_file(*((text, place) for place, text in enumerate(said, 1))))
    assert [label >= 0 for label in speaker_labels(sentences)] == [True, False, True, False]
    foreign = [text.replace("the", "der").replace("You", "Du") for text in said]
    sentences = Sentences.of(marks_file(*((text, place) for place, text in enumerate(foreign, 1))))
    assert not (speaker_labels(sentences) >= 0).any()


def test_turn_mark_label_alone_belongs_to_the_next_sentence() -> None:
    said = spoken(
        Sentences.of(
            marks_file(
                ("Anna :", 1, 1000, None),
                ("Come in .", 1, None, 2000),
                ("Bo :", 2, 2500, None),
                ("", 2),
                ("Thanks .", 2, None, 4000),
                ("Anna : Tea ?", 3),
                ("Bo : Yes .", 3),
                ("[ music ]", 4),
            )
        )
    )
    assert said.text.to_pylist() == ["Come in .", "Thanks .", "Tea ?", "Yes .", ""]
    assert said.opens_at.tolist() == [0, 2, 5, 6, 7]
    assert said.pairable.tolist() == [False, True, True, True, False]
    assert said.decided.tolist() == [-1, 1, 1, 1, -1]
    assert said.silence_ms.tolist()[:3] == [UNKNOWN_MS, 500, UNKNOWN_MS]


@pytest.mark.parametrize(
    ("rows", "decided"),
    [
        pytest.param([("- Hi .", 1), ("- Hello .", 1)], [-1, 1], id="a dash opens a turn"),
        pytest.param([("- Hi .", 1), ("You came .", 1), ("- Yes .", 1)], [-1, 0, 1], id="no dash beside dashes"),
        pytest.param([("Hi .", 1), ("You came .", 1), ("- Yes .", 1)], [-1, 0, 1], id="only the second is dashed"),
        pytest.param([("Hi .", 1), ("You came .", 1)], [-1, -1], id="no marks in the block"),
        pytest.param([("- Hi .", 1), ("You came .", 2)], [-1, -1], id="another block without marks"),
        pytest.param([("I thought", (1, 2)), ("- No .", 2), ("Never .", 2)], [-1, 1, 0], id="over two blocks"),
        pytest.param(
            [("Bo : Hi .", 1), ("Anna : Hi .", 2), ("Anna : You ?", 2), ("Bo : Me .", 3)],
            [-1, 1, 0, 1],
            id="a label repeated in its block",
        ),
    ],
)
def test_turn_mark_decides(rows: list, decided: list[int]) -> None:
    assert spoken(Sentences.of(marks_file(*rows))).decided.tolist() == decided


def turn_blocks(dashed: int, bare: int) -> list[tuple[str, int]]:
    """Blocks of two sentences: the second of ``dashed`` blocks has a dash, no sentence of ``bare`` others."""
    rows = [(text, n) for n in range(dashed) for text in ("- Tea ?", "- Yes .")]
    return rows + [(text, dashed + n) for n in range(bare) for text in ("It rains .", "Again .")]


@pytest.mark.parametrize(
    ("dashed", "bare", "marks_all"), [(10, 0, True), (9, 0, False), (10, 56, True), (10, 57, False), (0, 0, False)]
)
def test_turn_mark_an_upload_that_marks_all_turns_by_dashes(dashed: int, bare: int, marks_all: bool) -> None:
    said = spoken(Sentences.of(marks_files([turn_blocks(dashed, bare), [("Oh .", 1), ("No .", 1)]])))
    assert said.dashed.tolist() == [marks_all, False]
    second_of_bare = said.decided[2 * dashed + 1 : 2 * (dashed + bare) : 2]
    assert set(second_of_bare.tolist()) <= {0 if marks_all else -1}
    assert said.decided[-1] == -1


def test_turn_mark_a_dash_that_opens_a_block_of_several_is_uncertain() -> None:
    rows = [("Hi .", 1), ("- So ?", 2), ("- Yes .", 2), ("Bo : Me .", 3), ("- Bo : Hm .", 4), ("Anna : Oh .", 5)]
    said = spoken(Sentences.of(marks_file(*rows, ("Bo : No .", 6), ("- Go !", 7), ("Now .", 7))))
    assert said.decided.tolist() == [-1, 1, 1, 1, 1, 1, 1, 1, 0]
    assert said.certain.tolist() == [-1, -1, 1, 1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("PETER : So be it .", True),
        ("- MR. HALE ( on radio ) : So be it .", True),
        ("Peter : So be it .", False),
        ("PETER : SO BE IT .", False),
        ("MAN 1 : So be it .", True),
        ("O'NEIL : So be it .", True),
        ("J. HALE : So be it .", True),
        ("A : So be it .", False),
        ("> > PETER : SO BE IT .", True),
        (">> Peter : So be it .", True),
        (">> At 10 : 30 .", False),
        (">> I SAID : GO .", False),
        ("NOTE : the door is open .", False),
        ("ONE THING : the door is open .", False),
        ("RULE TWO : never pay .", False),
        ("PROMISE : I will come .", False),
        ("FIRST OFFICER : So be it .", True),
        ("WILL : So be it .", True),
    ],
)
def test_turn_mark_a_label_in_capitals_need_not_recur(text: str, label: bool) -> None:
    assert (speaker_labels(Sentences.of(marks_file(("Well .", 1), (text, 2))))[1] >= 0) == label


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["2ND GUARD : Halt !", "1ST GUARD : No ."], ["2ND GUARD", "1ST GUARD"]),
        (["2nd Guard : Halt !", "1st Guard : No .", "2nd Guard : So ."], ["2ND GUARD", "1ST GUARD", "2ND GUARD"]),
        (["Guest # 1 : Oh .", "Guest # 2 : Ah ."], ["GUEST # 1", "GUEST # 2"]),
        (["Unit 1 : Oh .", "Unit 2 : Ah ."], ["UNIT 1", "UNIT 2"]),
        (["Guard 12B : Oh .", "Guard 12C : Ah ."], ["GUARD 12B", "GUARD 12C"]),
        (
            ["1 - \u0419 \u0421\u041e\u041d : Oh .", "\u041e\u043d\u0430 : No ."],
            ["1 - \u0419 \u0421\u041e\u041d", None],
        ),
        (["ANNA : Oh .", "BEN : Ah .", "She said : No ."], ["ANNA", "BEN", None]),
        (["ANNA : Oh .", "McBELL : Ah .", "LaTeX : No ."], ["ANNA", "MCBELL", None]),
        (["R2-D2 : Oh .", "No .", "C-3PO : Ah ."], ["R2-D2", None, "C-3PO"]),
        (["Tom : 5 miles .", "Tom : So ."], ["TOM", "TOM"]),
        (["Girl A : Oh .", "Girl A : No .", "A : Oh .", "A : No ."], ["GIRL A", "GIRL A", "A", "A"]),
        # a file that labels its speakers
        (["Anna : Oh .", "Anna : Ah .", "Ben : No ."], ["ANNA", "ANNA", "BEN"]),
        (["Anna : Oh .", "Anna : Ah .", "Singing : No .", "London : So ."], ["ANNA", "ANNA", None, None]),
        # by a label with a colon, a name in brackets is known
        (["[ Anna ] Oh .", "Anna : Ah ."], ["ANNA", "ANNA"]),
        # what only looks like a label
        (["LONDON : It rains .", "NEW YORK CITY : So .", "PARIS , 1944 : War ."], [None] * 3),
        (["Rome : Come in .", "Rome : So ."], ["ROME", "ROME"]),
        (["BREAKING NEWS : The bridge fell .", "Breaking News : No ."], [None] * 2),
        (["P.S : Come .", "P.P.S. : Come .", "TODAY 'S SPECIAL : Fish .", "RECIPE : Two eggs ."], [None] * 4),
        (["Number 1 : Come .", "Number 2 : Go .", "At 11 : 30 .", "At 11 : 45 ."], [None] * 4),
        (["Chapter 1 : Come .", "Chapter 2 : Go ."], [None] * 2),
    ],
)
def test_turn_mark_labels_of_a_file(texts: list[str], labels: list[str | None]) -> None:
    sentences = Sentences.of(marks_file(*((text, place) for place, text in enumerate(texts, 1))))
    found = speaker_labels(sentences)
    names = speaker_names(sentences.text).to_pylist()
    assert [name if code >= 0 else None for name, code in zip(names, found, strict=True)] == labels
    assert all((found[n] == found[m]) == (labels[n] == labels[m]) for n in range(len(texts)) for m in range(n))


@pytest.mark.parametrize(
    ("rows", "decided"),
    [
        pytest.param([("ANNA : Come .", 1), ("ANNA : Sit .", 2)], [-1, 0], id="in the next block"),
        pytest.param([("ANNA : Come .", 1), ("Now .", 1), ("ANNA : Sit .", 2)], [-1, 0, 0], id="after her block"),
        pytest.param([("ANNA : Come .", 1), ("Now .", 2), ("ANNA : Sit .", 3)], [-1, -1, 1], id="after another block"),
        pytest.param([("ANNA : Come .", 1), ("- ANNA : Sit .", 2)], [-1, 1], id="with a dash"),
        pytest.param([("ANNA : Come .", 1), ("BEN : Sit .", 2), ("ANNA : No .", 3)], [-1, 1, 1], id="after another"),
    ],
)
def test_turn_mark_a_speaker_goes_on_with_the_same_label(rows: list, decided: list[int]) -> None:
    assert spoken(Sentences.of(marks_file(*rows))).decided.tolist() == decided


@pytest.mark.parametrize(("before", "certain"), [("I was- -", 1), ("I was --", 1), ("I was", -1), ("I was-", -1)])
def test_turn_mark_a_dash_after_a_break_opens_a_turn(before: str, certain: int) -> None:
    said = spoken(Sentences.of(marks_file((before, 1), ("- So ?", 2), ("- Yes .", 2))))
    assert said.certain.tolist() == [-1, certain, 1]


def test_turn_mark_files_do_not_touch() -> None:
    said = spoken(Sentences.of(marks_files([[("- Hi .", 1)], [], [("- Hello .", 1), ("Fine .", 1)], None])))
    assert said.first.tolist() == [True, True, False]
    assert said.decided.tolist() == [-1, -1, 0]
    assert said.file.tolist() == [0, 2, 2]


def test_turn_mark_nothing_at_all() -> None:
    said = spoken(Sentences.of(marks_files([[], None])))
    assert len(said.text) == 0
    assert said.decided.dtype == np.int8


def test_a_dash_on_one_cd_says_nothing_of_the_block_with_its_number_on_the_next() -> None:
    """OPUS joins the CDs of a film; each numbers its blocks from 1."""
    first = (("- Come in .", 1), ("- No .", 1), ("Who is it ?", 2))
    second = (("It rains .", 1), ("It pours .", 1), ("So it does .", 2))
    decided = spoken(Sentences.of(marks_file(*first, *second))).decided.tolist()
    assert decided == [-1, 1, -1, -1, -1, -1]
