"""Subtitles with the speaker of every cue, and the pairs of sentences that they tell the truth of."""

import gzip
from pathlib import Path

import pytest

from conf.errors import InputError
from etl.subtitles.known_speakers import (
    BETWEEN_CUES,
    WITHIN_CUES,
    Episode,
    SpokenCue,
    episodes_of,
    has_known_speakers,
    known_pairs,
    script_match,
)


@pytest.mark.parametrize(
    ("text", "utterance", "share"),
    [
        ("Where's the ladder?", "So, where's the ladder? I need it.", 1.0),
        ("Where is the ladder?", "the ladder", 0.5),
        ("ladder the", "the ladder", 0.5),
        ("...", "anything", 0.0),
        ("Hello.", "", 0.0),
    ],
)
def test_a_cue_matches_its_script_by_words_in_order(text: str, utterance: str, share: float) -> None:
    assert script_match(text, utterance) == share


def cue(
    start: float, end: float, text: str, speaker: str | None, utterance: tuple[int, int] | None = None
) -> SpokenCue:
    return SpokenCue(round(1000 * start), round(1000 * end), text, speaker, utterance)


CASES = {
    "another speaker": (
        [cue(0, 1, "Where were you?", "ANN"), cue(1.1, 2, "At the mill.", "BEN")],
        [(BETWEEN_CUES, "Where were you ?", "At the mill .", 1, 100.0)],
    ),
    "the same speaker": (
        [cue(0, 1, "I was late.", "ANN"), cue(1, 2, "The mill was shut.", "ANN")],
        [(BETWEEN_CUES, "I was late .", "The mill was shut .", 0, 0.0)],
    ),
    "two sentences of a cue, where another cue has dashes": (
        [cue(0, 2, "I was late. The mill was shut.", "ANN"), cue(9, 11, "- You came.  - I did.", "ANN")],
        [
            (WITHIN_CUES, "I was late .", "The mill was shut .", 0, None),
            (WITHIN_CUES, "You came .", "I did .", 1, None),
        ],
    ),
    "two speakers of a cue, whose neighbours are not known": (
        [cue(0, 2, "- You came.  - I did.", "ANN"), cue(2, 3, "Sit down.", "ANN")],
        [(WITHIN_CUES, "You came .", "I did .", 1, None)],
    ),
    "nobody known": ([cue(0, 1, "Where were you?", None), cue(1, 2, "At the mill.", "BEN")], []),
    "a long pause": ([cue(0, 1, "Where were you?", "ANN"), cue(6.1, 7, "At the mill.", "BEN")], []),
    "utterances side by side": (
        [cue(0, 1, "Were you there?", "ANN", (2, 7)), cue(1, 2, "I was.", "BEN", (2, 8))],
        [(BETWEEN_CUES, "Were you there ?", "I was .", 1, 0.0)],
    ),
    "an utterance left out between them": (
        [cue(0, 1, "Were you there?", "ANN", (2, 7)), cue(1, 2, "I was.", "BEN", (2, 9))],
        [],
    ),
    "another scene": ([cue(0, 1, "Were you there?", "ANN", (2, 7)), cue(1, 2, "I was.", "BEN", (3, 8))], []),
    "a sentence that goes on is no border": (
        [cue(0, 1, "I was on the", "ANN"), cue(1, 2, "way to the mill.", "ANN")],
        [],
    ),
    "without a dash in the file nothing is known within a cue": (
        [cue(0, 2, "Were you there? I was not.", "ANN"), cue(2, 3, "Nor was I.", "BEN")],
        [(BETWEEN_CUES, "I was not .", "Nor was I .", 1, 0.0)],
    ),
    "cues out of order": (
        [cue(1, 2, "At the mill.", "BEN"), cue(0, 1, "Where were you?", "ANN")],
        [(BETWEEN_CUES, "Where were you ?", "At the mill .", 1, 0.0)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pairs_have_the_truth_of_their_cues(name: str) -> None:
    cues, expected = CASES[name]
    all_pairs = known_pairs(iter([Episode("series", "one", cues)]))
    assert (all_pairs["place"].diff().dropna() == 1).all()
    pairs = all_pairs.dropna(subset="label")
    columns = ["source", "left_text", "right_text", "label", "silence_ms"]
    found = [tuple(row) for row in pairs[columns].astype(object).where(pairs[columns].notna(), None).to_numpy()]
    assert found == expected
    assert set(pairs["split_group"]) <= {"series/one"}


def test_no_episode_gives_no_pair() -> None:
    assert len(known_pairs(iter([]))) == 0
    assert len(known_pairs(iter([Episode("series", "empty")]))) == 0


def test_tv4dialog_is_read_with_its_scripts(tmp_path: Path) -> None:
    spoken, scripts = tmp_path / "withSpkr" / "harbour", tmp_path / "xmlScript" / "harbour"
    spoken.mkdir(parents=True)
    scripts.mkdir(parents=True)
    (spoken / "S01E01.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,000\n<1-1,Ann>你在哪\n<1-1,Ann>Where were you?\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\n<1-2,Ben>磨坊\n<1-2,Ben>At the old mill.\n\n"
        "3\n00:00:03,000 --> 00:00:04,000\n<1-3,Ann>嗯\n<1-3,Ann>Something else entirely.\n\nno cue\n",
        encoding="utf-8",
    )
    (scripts / "S01E01.xml").write_text(
        '<script><scene id="1"><utterance uid="1-1"><speaker>ANN</speaker>'
        "<content> Where were you?</content></utterance>"
        '<utterance uid="1-2"><speaker>BEN</speaker><content>At the old mill, Ann.</content></utterance>'
        '<utterance uid="1-3"><speaker>ANN</speaker><content>I see.</content></utterance></scene></script>',
        encoding="utf-8",
    )
    assert has_known_speakers(tmp_path)
    (episode,) = episodes_of(tmp_path)
    assert (episode.series, episode.name) == ("harbour", "S01E01")
    assert [(one.text, one.speaker, one.utterance) for one in episode.cues] == [
        ("Where were you?", "ANN", (1, 1)),
        ("At the old mill.", "BEN", (1, 2)),
        ("Something else entirely.", None, (1, 3)),
    ]
    (scripts / "S01E01.xml").unlink()
    (episode,) = episodes_of(tmp_path)
    assert {one.speaker for one in episode.cues} == {None}


def test_a_table_of_cues_is_read_by_its_header(tmp_path: Path) -> None:
    header = "text\tepisode\tstart_ms\tend_ms\tspeaker\tmatch\n"
    rows = header + "Hello.\tE1\t0\t900\tANN\t1.00\nWho?\tE1\t900\t1500\tBEN\t0.30\nYes.\tE2\t0\t500\tANN\t\n"
    with gzip.open(tmp_path / "harbour.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(rows)
    first, second = episodes_of(tmp_path)
    assert [(one.text, one.speaker) for one in first.cues] == [("Hello.", "ANN"), ("Who?", None)]
    assert (second.series, second.name, second.cues[0].speaker) == ("harbour", "E2", "ANN")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("episode\tstart_ms\tend_ms\ttext\nE1\t0\t1\tHi.\n", "no column speaker"),
        (
            "episode\tstart_ms\tend_ms\tspeaker\ttext\nE1\tsoon\t1\tANN\tHi.\n",
            "row 2 has a time or match that is not a number",
        ),
    ],
)
def test_a_table_that_cannot_be_read_says_why(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "bad.tsv").write_text(rows, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        list(episodes_of(tmp_path))


def test_speakers_of_a_diarisation_belong_to_the_cues_that_they_speak_for_most(tmp_path: Path) -> None:
    (tmp_path / "film.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nWhere were you?\n\n2\n00:00:02,000 --> 00:00:03,000\nAt the mill.\n\n"
        "3\n00:00:03,000 --> 00:00:05,000\nNobody speaks.\n",
        encoding="utf-8",
    )
    (tmp_path / "film.rttm").write_text(
        "SPEAKER film 1 0.900 1.200 <NA> <NA> spk0 <NA> <NA>\nSPEAKER film 1 2.000 1.000 <NA> <NA> spk1 <NA> <NA>\n"
        "SPKR-INFO film 1 <NA> <NA> <NA> unknown spk0 <NA> <NA>\n",
        encoding="utf-8",
    )
    (episode,) = episodes_of(tmp_path)
    assert [one.speaker for one in episode.cues] == ["spk0", "spk1", None]
    assert known_pairs(iter([episode]))["label"].dropna().tolist() == [1]
    (tmp_path / "film.rttm").write_text("SPEAKER film 1 now\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is not a SPEAKER line"):
        list(episodes_of(tmp_path))
