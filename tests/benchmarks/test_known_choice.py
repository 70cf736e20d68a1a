"""Tests of the choice's faults by the known speakers of series."""

from pathlib import Path

import pytest

from etl.subtitles.known_speakers import Episode, SpokenCue
from tests.benchmarks.known_choice import Truth, written

SPOKEN = [
    ("A", "Where were you?"),
    ("B", "At home. I slept."),
    ("A", "You always sleep."),
    ("A", "And I do all the work."),
    (None, "What is that?"),
    ("B", "Nothing."),
]
CUES = [SpokenCue(3000 * n, 3000 * n + 2500, text, speaker) for n, (speaker, text) in enumerate(SPOKEN)]


@pytest.mark.parametrize(
    ("turns", "right"),
    [
        ([(0, 0), (1, 2)], True),
        ([(0, 0), (1, 2), (3, 3)], False),  # the last speaker goes on
        ([(0, 0), (1, 1)], False),  # a turn ends within a cue
        ([(0, 2)], False),  # two speakers in a turn
        ([(0, 0), (1, 2), (3, 4)], None),
        ([(1, 2), (3, 4)], None),
    ],
)
def test_a_dialogue_is_right_if_all_its_borders_are(turns: list[tuple[int, int]], right: bool | None) -> None:
    truth = Truth(Episode("series", "one", CUES))
    assert truth.words.tolist() == [True] * 7
    assert truth.right(turns) == right


def test_episodes_become_files_whose_sentences_are_those_of_the_truth(tmp_path: Path) -> None:
    rows = "".join(f"one\t{cue.start_ms}\t{cue.end_ms}\t{cue.speaker or ''}\t{cue.text}\n" for cue in CUES)
    (tmp_path / "series.tsv").write_text("episode\tstart_ms\tend_ms\tspeaker\ttext\n" + rows)
    assert written(tmp_path / "srt", tmp_path) == 1
    text = (tmp_path / "srt" / "series" / "one.srt").read_text()
    assert text.startswith("1\n00:00:00,000 --> 00:00:02,500\nWhere were you?\n\n2\n")
