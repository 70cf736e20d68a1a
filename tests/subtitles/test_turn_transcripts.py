"""Transcripts into adjacent sentences with the truth of their speakers."""

import gzip

import pandas as pd
import pytest

from conf.errors import InputError
from etl.subtitles.dialogue_corpora import dialogue_utterances, mended, turns_of_lines, turns_of_reccon
from etl.subtitles.transcript_files import example_frames
from etl.subtitles.transcripts import (
    opus_tokens,
    sentence_pairs,
    split_sentences,
    transcript_pairs,
    transcript_utterances,
    without_repeats,
)


def turn_meld(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["Dialogue_ID", "Utterance_ID", "Speaker", "Utterance"]).astype(str)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Come in! It's open.", ["Come in!", "It's open."]),
        ("Mr. Bell left. So did I.", ["Mr. Bell left.", "So did I."]),
        ("Well... maybe. Maybe not...", ["Well... maybe.", "Maybe not..."]),
        ("What?! No way!", ["What?!", "No way!"]),
        ("“Run.” He ran.", ['"Run."', "He ran."]),
        ("In the U.S. Army now", ["In the U.S. Army now"]),
        ("one line\nover two", ["one line over two"]),
        ("", []),
        ("   ", []),
    ],
)
def test_turn_transcript_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        ("I don't know, Mr. Bell.", "I don 't know , Mr. Bell ."),
        ("It’s 3.5, isn't it?", "It 's 3.5 , isn 't it ?"),
        ("Well...", "Well ..."),
        ("What?!", "What ? !"),
        ("a well-made plan at six o'clock", "a well-made plan at six o 'clock"),
        ("goin' home", "goin ' home"),
        ("", ""),
    ],
)
def test_turn_transcript_tokens(sentence: str, tokens: str) -> None:
    assert " ".join(opus_tokens(part) for part in split_sentences(sentence)) == tokens


def test_turn_transcript_truth_is_the_speaker() -> None:
    frame = turn_meld(
        (1, 2, "Bo", "Good. I am glad."),
        (1, 0, "Anna", "Come in. It is open."),
        (1, 1, "Anna", "Sit down."),
        (1, 4, "Anna", "Why?"),
        (2, 0, "Bo", "Hello?"),
        (2, 1, "Bo", "..."),
    )
    pairs = sentence_pairs(transcript_utterances(frame, "meld", "x.csv"), "meld")
    assert list(zip(pairs["left_text"], pairs["right_text"], pairs["label"], strict=True)) == [
        ("Come in .", "It is open .", 0),
        ("It is open .", "Sit down .", 0),
        ("Sit down .", "Good .", 1),
        ("Good .", "I am glad .", 0),
        ("Hello ?", "...", 0),
    ]
    assert set(pairs["split_group"]) == {"meld:1", "meld:2"}


def test_turn_transcript_emorynlp_speakers_are_lists() -> None:
    columns = ["Season", "Episode", "Scene_ID", "Utterance_ID", "Speaker", "Utterance"]
    rows = [
        ("1", "2", "3", "1", "['Anna Ray', 'Bo']", "Surprise!"),
        ("1", "2", "3", "2", "['Bo', 'Anna Ray']", "We came early."),
        ("1", "2", "3", "3", "['Bo']", "Sorry."),
        ("1", "2", "4", "4", "['Bo']", "Later."),
    ]
    frame = pd.DataFrame(rows, columns=columns)
    pairs = sentence_pairs(transcript_utterances(frame, "emorynlp", "x.csv"), "emorynlp")
    assert pairs["label"].tolist() == [0, 1]


@pytest.mark.parametrize("missing", ["Utterance", "Speaker", "Dialogue_ID", "Utterance_ID"])
def test_turn_transcript_missing_column(missing: str) -> None:
    with pytest.raises(InputError, match=rf"x\.csv: no column {missing}"):
        transcript_utterances(turn_meld((1, 0, "Anna", "Hi.")).drop(columns=missing), "meld", "x.csv")


@pytest.mark.parametrize("number", ["one", "inf", "1e400", "1.5", ""])
def test_turn_transcript_bad_number(number: str) -> None:
    with pytest.raises(InputError, match=r"x\.csv: Utterance_ID in row 3"):
        transcript_utterances(turn_meld((1, 0, "Anna", "Hi."), (1, number, "Bo", "Hi.")), "meld", "x.csv")


def test_turn_transcript_bad_corpus() -> None:
    with pytest.raises(InputError, match="unknown corpus"):
        transcript_utterances(turn_meld(), "friends", "x.csv")


def test_turn_transcript_scene_with_two_repeats_goes() -> None:
    held_out = transcript_utterances(
        turn_meld(
            (9, 0, "Anna", "The boat leaves at nine tomorrow."),
            (9, 1, "Bo", "Then we shall be early."),
            (8, 0, "Bo", "I never liked that boat."),
            (8, 1, "Bo", "Yes."),
        ),
        "meld",
        "dev",
    )
    training = transcript_utterances(
        turn_meld(
            (1, 0, "Anna", "the boat leaves -- at nine, tomorrow!"),
            (1, 1, "Bo", "Then we shall be early..."),
            (2, 0, "Bo", "Then we shall be early."),
            (2, 1, "Anna", "I never liked that boat."),
            (3, 0, "Anna", "Yes."),
            (3, 1, "Anna", "Then we shall be early."),
        ),
        "meld",
        "train",
    )
    assert sorted(set(without_repeats(training, [held_out])["scene"])) == ["2", "3"]


def test_turn_transcript_leak_counts_across_corpora() -> None:
    columns = ["Season", "Episode", "Scene_ID", "Utterance_ID", "Speaker", "Utterance"]
    texts = ["The boat leaves at nine tomorrow.", "Then we shall be early.", "Bring the blue umbrella, please."]
    emory = pd.DataFrame([("1", "1", "1", str(i), f"['{i}']", text) for i, text in enumerate(texts)], columns=columns)
    meld = turn_meld(
        *((1, i, i, text) for i, text in enumerate(texts)),
        (2, 0, "a", "Quite another line here."),
        (2, 1, "b", "And one more of them."),
    )
    learned, judged = transcript_pairs({"meld": meld}, {"emorynlp": emory})
    assert set(learned["split_group"]) == {"meld:2"}
    assert set(judged["source"]) == {"emorynlp"}
    assert len(judged) == 2


def test_turn_transcript_real_pairs(shared_data) -> None:
    def read(path: str) -> pd.DataFrame:
        return pd.read_csv(shared_data / path, dtype=str, keep_default_na=False)

    learned, judged = transcript_pairs(
        {"meld": read("meld/train_sent_emo.csv"), "emorynlp": read("emorynlp/emorynlp_train_final.csv")},
        {"meld": read("meld/dev_sent_emo.csv"), "emorynlp": read("emorynlp/emorynlp_dev_final.csv")},
    )
    scenes = learned.groupby("source")["split_group"].nunique()
    assert scenes["meld"] < 1038
    assert scenes["emorynlp"] < 659
    changes = judged.groupby("source")["label"].mean()
    assert changes["meld"] == pytest.approx(0.54, abs=0.02)
    assert changes["emorynlp"] == pytest.approx(0.61, abs=0.02)


@pytest.mark.parametrize(
    ("utterance", "expected"),
    [
        ("It 's late . I don ' t mind .", "It's late . I don't mind ."),
        ("That is far.Can we walk?", "That is far. Can we walk?"),
        ("We \u2019 Ve met at the U.S.A. desk", "We'Ve met at the U.S.A. desk"),
        ("the boys ' tent", "the boys ' tent"),
        ("  ", ""),
    ],
)
def test_turn_dialogue_utterance_is_mended(utterance: str, expected: str) -> None:
    assert mended(utterance) == expected


def test_turn_dialogue_lines_are_turns_of_two() -> None:
    lines = ["Tea ? __eou__ No . Thank you . __eou__ Why ? __eou__\r", "", "  ", "Bye . __eou__ __eou__ Well ."]
    assert list(turns_of_lines(lines)) == [
        [("A", "Tea ?"), ("B", "No . Thank you ."), ("A", "Why ?")],
        [("A", "Bye ."), ("B", ""), ("A", "Well .")],
    ]


def test_turn_dialogue_every_line_is_a_new_turn() -> None:
    told = {
        "tr_1": [[{"speaker": "A", "utterance": "Tea ?"}, {"speaker": "B", "utterance": "No . Thank you ."}]],
        "tr_2": [[{"speaker": "A", "utterance": "I ran . So ?"}, {"speaker": "A", "utterance": "I fell ."}]],
        "tr_3": [],
    }
    dialogues = [*turns_of_lines(["tea? __eou__ No. Thank you! __eou__"]), *turns_of_reccon(told, "x.json.gz")]
    utterances = dialogue_utterances(dialogues)
    assert utterances.equals(dialogue_utterances(dialogues[::-1]))
    assert utterances["scene"].nunique() == 2
    pairs = sentence_pairs(utterances, "dailydialog")
    found = set(zip(pairs["left_text"], pairs["right_text"], pairs["label"], strict=True))
    assert found == {
        ("Tea ?", "No .", 1),
        ("No .", "Thank you .", 0),
        ("I ran .", "So ?", 0),
        ("So ?", "I fell .", 0),
    }


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"a": {}},
        {"a": ["b"]},
        {"a": [[{"utterance": "Hi ."}]]},
        {"a": [[{"speaker": "A"}]]},
        {"a": [[{"speaker": "A", "utterance": 3}]]},
        {"a": [["Hi ."]]},
    ],
)
def test_turn_dialogue_of_another_shape(content: object) -> None:
    with pytest.raises(InputError, match=r"dialogues x\.json\.gz: "):
        list(turns_of_reccon(content, "x.json.gz"))


def test_turn_example_folders(tmp_path) -> None:
    meld = tmp_path / "meld"
    dialogues = tmp_path / "dailydialog"
    meld.mkdir()
    dialogues.mkdir()
    rows = turn_meld((1, 0, "Anna", "Come in."), (1, 1, "Bo", "The boat leaves at nine tomorrow."))
    for name in ("train_sent_emo.csv", "dev_sent_emo.csv"):
        rows.to_csv(meld / name, index=False)
    (dialogues / "dialogues_valid.txt").write_text("Tea ? __eou__ No . __eou__\n", encoding="utf-8")
    packed = dialogues / "reccon_dailydialog_train.json.gz"
    packed.write_bytes(gzip.compress(b'{"a": [[{"speaker": "A", "utterance": "Hello ."}]]}'))
    (dialogues / "dailydialog_train.json").write_text('{"b": [[{"speaker": "A", "utterance": "Bye ."}]]}', "utf-8")
    training, held_out, further = example_frames([str(meld), str(dialogues)])
    assert training["meld"].equals(rows)
    assert held_out["meld"].equals(rows)
    assert sorted(further["dailydialog"]["utterance"]) == ["Bye .", "Hello .", "No .", "Tea ?"]
    learned, judged = transcript_pairs(training, held_out, further)
    assert set(learned["source"]) == {"meld", "dailydialog"}
    assert set(judged["source"]) == {"meld"}
    with pytest.raises(InputError, match=r"has none of .*dialogues_valid\.txt"):
        example_frames([str(tmp_path)])


@pytest.mark.parametrize(
    "content", [b"not packed", gzip.compress(b"[", mtime=0)[:-4], gzip.compress(b"[" * 10**5, mtime=0), b""]
)
def test_turn_example_dialogues_that_cannot_be_read(tmp_path, content: bytes) -> None:
    (tmp_path / "reccon_dailydialog_train.json.gz").write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as dialogues"):
        example_frames([str(tmp_path)])


def test_turn_example_dialogues_of_too_many_bytes(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("etl.subtitles.transcript_files.MOST_BYTES", 20)
    (tmp_path / "dialogues_valid.txt").write_text("Tea ? __eou__ No . __eou__\n", encoding="utf-8")
    with pytest.raises(InputError, match="more than"):
        example_frames([str(tmp_path)])
