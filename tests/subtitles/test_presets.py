"""The presets of the cleaning rules, and the released rows against the one that is named after them."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.settings import load_settings
from etl.common.labelled_files import labelled_rows
from etl.edos.votes import dialogue_turns
from etl.subtitles.cleaning import IN_TURN, judge_turns
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningRule, CleaningSettings, Provenance, preset_of, rules_of

RULES = rules_of(CleaningSettings)
PAPER_PRESET = preset_of(CleaningSettings, "paper")
TRUSTED_PRESET = preset_of(CleaningSettings, "trusted")
RELEASED = CleaningSettings()
PAPER = CleaningSettings(preset="paper")
TRUSTED = CleaningSettings(preset="trusted")
WORDS = cleaning_words()
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
    trusted = CleaningSettings(preset="trusted")
    assert {name: getattr(trusted, name) for name in TRUSTED_PRESET} == TRUSTED_PRESET
    assert all(getattr(CleaningSettings(), name) != value for name, value in TRUSTED_PRESET.items())
    mixed = load_settings(
        "local", [], ["subtitles.cleaning.preset=paper", "subtitles.cleaning.length_in=tokens"]
    ).subtitles.cleaning
    assert (mixed.length_in, mixed.letters_among, mixed.max_turn_frequency) == ("tokens", "visible", None)
    assert CleaningSettings(**mixed.model_dump()) == mixed
    with pytest.raises(InputError, match=r"subtitles\.cleaning\.preset"):
        load_settings("local", [], ["subtitles.cleaning.preset=authors"])


OFF = {"repeated_min_words": 1}
"""Values that switch a rule off, where it is neither null nor false."""


def off(setting: str) -> Any:
    """Return the value that switches a rule off: null where the setting may be null, otherwise false."""
    may_be_null = type(None) in get_args(CleaningSettings.model_fields[setting].annotation)
    return OFF.get(setting, None if may_be_null else False)


def test_each_setting_but_the_preset_says_where_its_rule_comes_from() -> None:
    assert {rule.setting for rule in RULES} == set(CleaningSettings.model_fields) - {"preset"}


WITHOUT_EFFECT = {"near_duplicate_jaccard", "quoted_match"}
"""Settings without effect while those that they belong to are off."""


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.provenance != Provenance.PAPER], ids=lambda rule: rule.setting
)
def test_the_preset_paper_has_no_rule_that_the_paper_does_not_name(rule: CleaningRule) -> None:
    if rule.setting not in WITHOUT_EFFECT:
        assert getattr(CleaningSettings(preset="paper"), rule.setting) == off(rule.setting)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.setting)
def test_the_description_of_a_setting_says_that_its_rule_is_ours(rule: CleaningRule) -> None:
    description = CleaningSettings.model_fields[rule.setting].description or ""
    assert description.startswith("ours") == (rule.provenance == Provenance.OURS)


def test_what_released_keeps_of_ours_is_in_the_deviations() -> None:
    kept = [
        rule.setting
        for rule in RULES
        if rule.provenance == Provenance.OURS
        and rule.setting not in WITHOUT_EFFECT
        and getattr(CleaningSettings(), rule.setting) != off(rule.setting)
    ]
    page = (Path(__file__).resolve().parents[2] / "docs" / "deviations.md").read_text("utf-8")
    assert [name for name in kept if f"`subtitles.cleaning.{name}=" not in page] == []


def verdicts(spark: SparkSession, dialogues: list[list[str]], rules: CleaningSettings) -> list[list[str]]:
    """Return the reason of each dialogue's turns, "" for a turn that stays."""
    rows = [
        (n, f"film-{n}", "film", "en", [(text, 0, 0, i, i) for i, text in enumerate(turns)])
        for n, turns in enumerate(dialogues)
    ]
    turn = "array<struct<text: string, start_ms: int, end_ms: int, sentence_first: int, sentence_last: int>>"
    frame = spark.createDataFrame(rows, f"n int, dialogue_id string, subtitle_id string, language string, turns {turn}")
    found = [[""] * len(turns) for turns in dialogues]
    for row in judge_turns(frame, rules, WORDS).select("n", F.inline("removed")).collect():
        if not row["reason"].endswith(IN_TURN):
            found[row["n"]][row["turn"]] = row["reason"]
    return found


NEXT = "after_removed_turn"
# 30 tokens, 18 of them distinct, and no word twice in ten
LONG = "I walk to the sea , and you walk to the town , and they walk to the hill , and we all , we all go to the inn ."
# the turns of a dialogue, and the reasons of the presets released, paper and trusted
CASES = [
    (["Ah", "It is late ."], ["too_short", NEXT], ["", ""], ["", ""]),  # one token, two characters
    (["I", "It is late ."], ["too_short", NEXT], ["too_short", NEXT], ["", ""]),
    (["a b " + "x" * 100, "It is late ."], ["", ""], ["too_long", NEXT], ["", ""]),
    (["Who is it ?", " ".join(f"w{n}xyz" for n in range(101))], *[["", "too_long"]] * 3),
    (["abcd 12 !", "So it is ."], *[["too_few_letters", NEXT]] * 2, ["", ""]),  # 4 of 9, 4 of 7, 4 of 6
    (["abcd 123 !", "So it is ."], *[["too_few_letters", NEXT]] * 2, ["too_few_letters", ""]),  # 4 of 10, 8, 7
    (["No ...", "So it is ."], *[["too_few_letters", NEXT]] * 2, ["", ""]),
    (['" Never again " , he said then .', "It is late ."], ["quotation", NEXT], ["", ""], ["", ""]),
    (["We can wait . Sync by greenowl", "So it is ."], ["", ""], ["", ""], ["", ""]),
    (["No .", "So it is ."], ["too_few_letters", NEXT], ["", ""], ["", ""]),  # 2 of 4, 2 of 3
    (["Hi .", "Yes , sir .", "He ."], ["too_few_letters", NEXT, NEXT], ["", "", ""], ["", "", ""]),
    (["It is late .", "It is late ."], ["", "repeated_turn"], ["", "repeated_turn"], ["", ""]),
    (["It is late now .", "It is late now .", "Well ."], *[["", "repeated_turn", NEXT]] * 2, ["", "repeated_turn", ""]),
    (["It is late .", "it is late !"], ["", ""], ["", "repeated_turn"], ["", ""]),
    (["Hello there .", "Hello there ."], ["", "repeated_turn"], ["", "repeated_turn"], ["", ""]),
    (["It is late .", "It is late ?"], ["", ""], ["", ""], ["", ""]),
    (
        ["Going on , going on , going on !", "It is late ."],
        ["repetitive_tokens", NEXT],
        ["", ""],
        ["repetitive_tokens", ""],
    ),
    (["Amanda , Benjamin , Cemal , Daniela .", "It is late ."], ["", ""], ["", ""], ["", ""]),
    (["no no no no no yes", "It is late ."], *[["repetitive_tokens", NEXT]] * 2, ["repetitive_tokens", ""]),
    ([LONG, "It is late ."], ["repetitive_tokens", NEXT], ["too_long", NEXT], ["", ""]),
    (['" The harbour is closed . "', "It is late ."], ["quotation", NEXT], ["", ""], ["quotation", ""]),
    (["Previously on the pier ...", "It is late ."], *[["previously_on", NEXT]] * 2, ["previously_on", ""]),
    (["Previously on Pier Nine : Go .", "It is late ."], *[["previously_on", NEXT]] * 2, ["previously_on", ""]),
    (["Previously on Pier Nine :", "It is late ."], *[["previously_on", NEXT]] * 2, ["previously_on", ""]),
    (["Where is the key ?", "Subtitles : Ana Roca"], ["", "credit"], ["", ""], ["", "credit"]),
    (["I know . Ada : Sit down .", "It is late ."], ["second_speaker", NEXT], ["", ""], ["second_speaker", ""]),
    (["GRACIE :", "It is late ."], ["nothing_said", ""], ["nothing_said", NEXT], ["nothing_said", ""]),
    (["[ DOOR SLAMS ]", "It is late ."], ["nothing_said", ""], ["", ""], ["nothing_said", ""]),
]


def test_what_the_presets_read_differently(spark: SparkSession) -> None:
    dialogues = [turns for turns, *_ in CASES]
    assert verdicts(spark, dialogues, RELEASED) == [reasons for _, reasons, _, _ in CASES]
    assert verdicts(spark, dialogues, PAPER) == [reasons for _, _, reasons, _ in CASES]
    assert verdicts(spark, dialogues, TRUSTED) == [reasons for *_, reasons in CASES]


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
    """Of 63,816 turns 61 fail, 99.9 % pass, and 57 of the 61 by our own rules.

    Ours find 38 turns with the label of a second speaker, 7 songs, 7 quotations and 5 credits, which the authors' rules
    did not look for. Of the paper's rules one finds two recaps, of which one has a comma after "Previously" and one
    begins like a speaker's name, one a turn that repeats a word once its scanning errors are repaired, and one a turn
    with few letters beside the credit that is cut from it.
    """
    dialogues = released_dialogues(spark, shared_data / "edos")
    turns = [text for turns in dialogues for text in turns]
    failed = Counter(reason for (reason,) in verdicts(spark, [[text] for text in turns], RELEASED) if reason)
    assert len(turns) > 60_000
    ours = Counter({reason: failed[reason] for reason in ("second_speaker", "song", "quotation", "credit")})
    assert failed - ours == Counter({"previously_on": 2, "repetitive_tokens": 1, "too_few_letters": 1}), failed
    assert failed.total() <= 0.001 * len(turns), failed
    pairs = [list(pair) for turns in dialogues for pair in pairwise(turns)]
    found = Counter(reason for reasons in verdicts(spark, pairs, RELEASED) for reason in reasons)
    assert len(pairs) > 40_000
    assert not found["repeated_turn"]
    # The paper's words do not describe them: more than one turn in ten is longer than 100 characters.
    by_words = Counter(reason for (reason,) in verdicts(spark, [[text] for text in turns], PAPER) if reason)
    assert by_words["too_long"] > 0.1 * len(turns)
