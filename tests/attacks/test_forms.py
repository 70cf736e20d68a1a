"""SubRip, WebVTT and ASS: some seconds of the attack from a fixed seed, and proof that it sees what it looks for."""

import random
import time

import pytest

from tests.attacks import forms
from tests.attacks.forms import FORMS, ours, theirs, unaccounted, well_formed
from tests.attacks.suite import run
from udfs.opus import plain_text
from udfs.opus.cues import Cue, Fault
from udfs.opus.repeated_cues import spoken_cues

TWO_CUES = b"1\n00:00:01,000 --> 00:00:02,000\nThe gate.\n\n2\n00:00:03,000 --> 00:00:04,000\nIt is open.\n"


@pytest.mark.parametrize("seconds", [2, pytest.param(15, marks=pytest.mark.long)])
def test_every_cue_of_a_mutant_is_a_row_or_a_counted_fault(seconds: int) -> None:
    tally = run("srt, vtt and ass", range(125), seed=3)  # whatever else the machine does
    tally.add(run("srt, vtt and ass", range(125, 50_000), seed=3, until=time.monotonic() + seconds))
    assert tally.failures == []
    assert tally.tried == tally.survived > 100


@pytest.mark.parametrize("form", FORMS)
def test_the_cues_of_well_formed_files_are_those_of_pysubs2(form: str) -> None:
    for seed in range(100):
        text = well_formed(random.Random(f"{form}|{seed}"), form)
        assert ours(text) == theirs(text, form)


def test_a_lost_cue_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unaccounted(TWO_CUES) == (0, 0)

    def losing(cues: list[Cue]) -> tuple[list[Cue], list[Fault]]:
        kept, faults = spoken_cues(cues)
        return kept[:-1], faults

    monkeypatch.setattr(plain_text, "spoken_cues", losing)
    lost, _ = unaccounted(TWO_CUES)
    assert lost == len("Itisopen")
    monkeypatch.setattr(forms, "spoken_cues", losing)
    lost, _ = unaccounted(TWO_CUES)
    assert lost == 1
