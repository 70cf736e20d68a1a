"""The two presets of the cleaning rules, and the released rows against the one that is named after them."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import load_settings
from conf.subtitle_settings import PAPER_PRESET, CleaningSettings
from etl.common.labelled_files import labelled_rows
from etl.edos.votes import dialogue_turns
from etl.subtitles.cleaning import judge_turns
from etl.subtitles.cleaning_rules import CleaningRules, rules_of

RELEASED = rules_of(CleaningSettings())
PAPER = rules_of(CleaningSettings(preset="paper"))
FILES = {
    "mturk_groundtruth_labels_9k": ("Dialog",),
    "similar_dialogs_3k": ("amt_dialog", "os_dialog"),
    "self_labeled_dialogs_4k": ("os_dialog",),
    "similar_self_labeled_dialogs_2k": ("high_dialog", "os_dialog"),
}


def test_a_preset_sets_defaults_and_single_settings_override() -> None:
    assert CleaningSettings().preset == "released"
    assert CleaningSettings().length_in == "tokens"
    paper = CleaningSettings(preset="paper")
    assert {name: getattr(paper, name) for name in PAPER_PRESET} == PAPER_PRESET
    assert all(getattr(CleaningSettings(), name) != value for name, value in PAPER_PRESET.items())
    mixed = load_settings(
        "local", [], ["subtitles.cleaning.preset=paper", "subtitles.cleaning.length_in=tokens"]
    ).subtitles.cleaning
    assert (mixed.length_in, mixed.letters_among, mixed.max_turn_frequency) == ("tokens", "visible", None)
    assert CleaningSettings(**mixed.model_dump()) == mixed
    with pytest.raises(InputError, match=r"subtitles\.cleaning\.preset"):
        load_settings("local", [], ["subtitles.cleaning.preset=authors"])


def verdicts(spark: SparkSession, dialogues: list[list[str]], rules: CleaningRules) -> list[list[str]]:
    """Return the reason of each dialogue's turns, "" for a turn that stays."""
    rows = [(n, "en", [(text, 0, 0, i, i) for i, text in enumerate(turns)]) for n, turns in enumerate(dialogues)]
    turn = "array<struct<text: string, start_ms: int, end_ms: int, sentence_first: int, sentence_last: int>>"
    frame = spark.createDataFrame(rows, f"n int, language string, turns {turn}")
    found = [[""] * len(turns) for turns in dialogues]
    for row in judge_turns(frame, rules).select("n", F.inline("removed")).collect():
        found[row["n"]][row["turn"]] = row["reason"]
    return found


NEXT = "after_removed_turn"
# the turns of a dialogue, and the reasons of the presets released and paper
CASES = [
    (["Ah", "It is late ."], ["too_short", NEXT], ["", ""]),  # one token, two characters
    (["I", "It is late ."], ["too_short", NEXT], ["too_short", NEXT]),
    (["a b " + "x" * 100, "It is late ."], ["", ""], ["too_long", NEXT]),
    (["Who is it ?", " ".join(f"w{n}xyz" for n in range(101))], ["", "too_long"], ["", "too_long"]),
    (["abcd 12 !", "So it is ."], ["too_few_letters", NEXT], ["too_few_letters", NEXT]),  # 4 of 9, 4 of 7
    (["No .", "So it is ."], ["too_few_letters", NEXT], ["", ""]),  # 2 of 4, 2 of 3
    (["It is late .", "It is late ."], ["", "repeated_turn"], ["", "repeated_turn"]),
    (["It is late .", "it is late !"], ["", ""], ["", "repeated_turn"]),
    (["It is late .", "It is late ?"], ["", ""], ["", ""]),
    (["Going on , going on , going on , going on !", "It is late ."], ["repetitive_tokens", NEXT], ["", ""]),
    (["Amanda , Benjamin , Cemal , Daniela .", "It is late ."], ["", ""], ["", ""]),
    (["no no no no no yes", "It is late ."], ["repetitive_tokens", NEXT], ["repetitive_tokens", NEXT]),
    (['" The harbour is closed . "', "It is late ."], ["quotation", NEXT], ["", ""]),
    (["Previously on the pier ...", "It is late ."], ["previously_on", NEXT], ["previously_on", NEXT]),
    (["Where is the key ?", "Subtitles : Ana Roca"], ["", "credit"], ["", "credit"]),
    (["I know . Ada : Sit down .", "It is late ."], ["second_speaker", NEXT], ["second_speaker", NEXT]),
]


def test_what_the_presets_read_differently(spark: SparkSession) -> None:
    dialogues = [turns for turns, _, _ in CASES]
    assert verdicts(spark, dialogues, RELEASED) == [reasons for _, reasons, _ in CASES]
    assert verdicts(spark, dialogues, PAPER) == [reasons for _, _, reasons in CASES]


def released_dialogues(spark: SparkSession, folder: Path) -> list[list[str]]:
    found = []
    for name, columns in FILES.items():
        file = labelled_rows(spark, [str(folder / f"{name}.csv.gz")], columns, name).rows
        for column in columns:
            found += [row["turns"] for row in file.select(dialogue_turns(F.col(column)).alias("turns")).collect()]
    return found


@pytest.mark.slow
def test_a_tenth_of_the_released_rows_passes_the_preset_released(spark: SparkSession, shared_data: Path) -> None:
    dialogues = released_dialogues(spark, shared_data / "edos")[::10]
    turns = [text for turns in dialogues for text in turns]
    failed = [reason for (reason,) in verdicts(spark, [[text] for text in turns], RELEASED) if reason]
    assert len(turns) > 6_000, Counter(failed)
    assert len(failed) <= 0.002 * len(turns), Counter(failed)


@pytest.mark.slow
def test_the_released_rows_pass_the_preset_released(spark: SparkSession, shared_data: Path) -> None:
    """Of 63,816 turns 60 fail, 99.9 % pass, and 58 of the 60 by our own rules.

    Ours find 38 turns with the label of a second speaker, 8 songs, 7 quotations and 5 credits, which the authors' rules
    did not look for. Of the paper's rules one finds a recap that has a comma after "Previously", and one a turn that
    repeats a word once its scanning errors are repaired.
    """
    dialogues = released_dialogues(spark, shared_data / "edos")
    turns = [text for turns in dialogues for text in turns]
    failed = Counter(reason for (reason,) in verdicts(spark, [[text] for text in turns], RELEASED) if reason)
    assert len(turns) > 60_000
    ours = Counter({reason: failed[reason] for reason in ("second_speaker", "song", "quotation", "credit")})
    assert failed - ours == Counter({"previously_on": 1, "repetitive_tokens": 1}), failed
    assert failed.total() <= 0.001 * len(turns), failed
    pairs = [list(pair) for turns in dialogues for pair in pairwise(turns)]
    found = Counter(reason for reasons in verdicts(spark, pairs, RELEASED) for reason in reasons)
    assert len(pairs) > 40_000
    assert not found["repeated_turn"]
    # The paper's words do not describe them: more than one turn in ten is longer than 100 characters.
    by_words = Counter(reason for (reason,) in verdicts(spark, [[text] for text in turns], PAPER) if reason)
    assert by_words["too_long"] > 0.1 * len(turns)
