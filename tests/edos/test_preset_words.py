"""What pages say of the preset and of the choice of dialogues is so for every setting of the choice."""

from typing import Any, get_args

import pytest

from conf.settings import load_settings
from etl.cli.presets import preset_rows, smaller_line, smaller_rows
from etl.edos.findings import EdosFindings
from etl.edos.presets import HOW, PROMISES, WORTH, choice_in_words, preset_in_words
from etl.edos.report_trust import limits
from etl.edos.settings import ChoiceRules, DialogueConfidence, EdosSettings, Preset, WorthWeights
from jobs import all_stages

OF_NOBODY = "found one of its turns"


def test_each_value_has_words() -> None:
    assert set(HOW) == set(get_args(DialogueConfidence))
    assert set(WORTH) == set(WorthWeights.model_fields)
    assert set(PROMISES) == set(get_args(Preset))


@pytest.mark.parametrize(
    ("rules", "counts", "said", "unsaid"),
    [
        ({}, (400, 100), ("The highest 100 of 400", "the mean confidence", "all labels count alike"), ("worth",)),
        ({"dialogue_confidence": "max"}, (400, 100), ("by the highest confidence among",), ("mean",)),
        (
            {"dialogue_confidence": "first"},
            (0, 0),
            ("Dialogues were chosen by the confidence of their first",),
            ("0 of",),
        ),
        ({"not_emotions": ["neutral", "questioning"]}, (4, 1), ("neutral, questioning count as 0",), ("alike",)),
        ({"choice": "worth"}, (400, 60), ("what they are worth: the mean", "borders", "formulas"), ()),
        (
            {"choice": "worth", "worth": {"certainty": 0, "variety": 0}},
            (4, 1),
            ("worth", "say"),
            ("borders", "formulas"),
        ),
        ({"choice": "worth", "worth": {"emotion": 0}}, (4, 1), ("worth: how certain",), ("confidence", "classifier")),
        ({}, (400, 400), ("All 400 clean dialogues were taken", "none was chosen"), ("highest", "classifier")),
    ],
)
def test_the_choice_is_said_as_it_was_made(
    rules: dict[str, Any], counts: tuple[int, int], said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    text = choice_in_words(ChoiceRules(**rules), *counts)
    assert [one for one in said if one not in text] == []
    assert [one for one in (*unsaid, OF_NOBODY) if one in text] == []


def test_reports_say_the_choice_of_their_own_settings() -> None:
    funnel = [{"place": 5, "units": 40}, {"place": 6, "units": 10}]
    for edos in (EdosSettings(), EdosSettings(choice="worth"), EdosSettings(published_dialogues=("edos.csv",))):
        found = EdosFindings({"edos_funnel": funnel}, edos=edos)
        assert found.choice in str(limits(found)).replace("&#39;", "'")
    assert "chosen by its makers" in found.choice


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "trusted, with other values of edos.self_labels.confidence"),
        (["edos.preset=released"], "released, with other values of edos.self_labels.confidence"),
        (["edos.preset=paper"], "paper"),
        (["edos.preset=paper", "edos.choice=worth"], "paper, with other values of edos.choice"),
        (["edos.preset=trusted", "edos.self_labels.confidence=null"], "trusted"),
    ],
)
def test_settings_that_differ_from_their_preset_are_named(given: list[str], words: str) -> None:
    settings = load_settings("local", [], given)
    assert preset_in_words(settings.subtitles, settings.edos) == words


def test_a_run_says_what_is_smaller_than_in_the_paper() -> None:
    stages = {one.name: one for one in all_stages()}
    trained = [stages["train_emotion_classifier"], stages["expand_labels"]]
    local = load_settings("local", [], ["edos.preset=paper"])
    line = smaller_line(local, trained)
    assert line is not None
    assert "training.emotion_classifier.epochs 3 for 10" in line
    assert "label_smoothing" not in line
    assert smaller_line(local, [stages["find_subtitles"]]) is None
    assert smaller_line(load_settings("emr", [], ["edos.preset=paper"]), trained) is None


def test_the_page_has_a_row_for_each_setting_that_presets_set() -> None:
    rows = {row[0]: row[1:4] for row in preset_rows()}
    assert rows["`edos.choice`"] == ("`emotion`", "`emotion`", "`worth`")
    assert rows["`training.emotion_classifier.label_smoothing`"] == ("`0`", *["`0`; local: `0.1`"] * 2)
    assert "`subtitles.cleaning.drop_profane`" not in rows
    assert any("`pooling` cls" in papers and "`pooling` mean" in local for _, papers, local in smaller_rows())
