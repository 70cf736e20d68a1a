"""Transcripts into adjacent sentences with the truth of their speakers."""

import pandas as pd
import pytest

from conf.errors import InputError
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


def test_turn_transcript_bad_number_and_corpus() -> None:
    with pytest.raises(InputError, match=r"x\.csv: Utterance_ID in row 3"):
        transcript_utterances(turn_meld((1, 0, "Anna", "Hi."), (1, "one", "Bo", "Hi.")), "meld", "x.csv")
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
    meld = turn_meld(*((1, i, i, text) for i, text in enumerate(texts)), (2, 0, "a", "Quite another line here."),
                     (2, 1, "b", "And one more of them."))  # fmt: skip
    learned, judged = transcript_pairs({"meld": meld}, {"emorynlp": emory})
    assert set(learned["split_group"]) == {"meld:2"}
    assert set(judged["source"]) == {"emorynlp"} and len(judged) == 2


def test_turn_transcript_real_pairs(shared_data) -> None:
    def read(path: str) -> pd.DataFrame:
        return pd.read_csv(shared_data / path, dtype=str, keep_default_na=False)

    learned, judged = transcript_pairs(
        {"meld": read("meld/train_sent_emo.csv"), "emorynlp": read("emorynlp/emorynlp_train_final.csv")},
        {"meld": read("meld/dev_sent_emo.csv"), "emorynlp": read("emorynlp/emorynlp_dev_final.csv")},
    )
    scenes = learned.groupby("source")["split_group"].nunique()
    assert scenes["meld"] < 1038 and scenes["emorynlp"] < 659
    changes = judged.groupby("source")["label"].mean()
    assert changes["meld"] == pytest.approx(0.54, abs=0.02)
    assert changes["emorynlp"] == pytest.approx(0.61, abs=0.02)
