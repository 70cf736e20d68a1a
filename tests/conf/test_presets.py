"""Named sets of settings: `edos.preset`."""

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.edos.settings import PRESETS


def test_released_is_the_default() -> None:
    assert load_settings("local", [], ["edos.preset=released"]) == load_settings("local")


def test_paper_is_the_papers_words() -> None:
    settings = load_settings("local", [], ["edos.preset=paper"])
    assert settings.subtitles.cleaning.length_in == "characters"
    assert settings.edos.not_emotions == ()
    assert settings.edos.choice == "emotion"
    assert settings.edos.self_labels.confidence == 0.9
    assert not settings.training.weak_labeler.calibrated


def test_emo_pillars_paper_rejects_nothing_that_can_be_read() -> None:
    ours = load_settings("local").emo_pillars
    paper = load_settings("local", [], ["emo_pillars.preset=paper"]).emo_pillars
    assert ours.quality.reject == ("list_of_labels", "repeats_itself")
    assert ours.near_duplicate == 0.8
    assert paper.quality.reject == ()
    assert paper.near_duplicate is None
    given = ["emo_pillars.preset=paper", "edos.preset=paper", "emo_pillars.near_duplicate=0.9"]
    both = load_settings("local", [], given)
    assert both.emo_pillars.near_duplicate == 0.9
    assert both.emo_pillars.quality.reject == ()
    assert both.edos.self_labels.confidence == 0.9


def test_trusted_asks_for_dialogues_that_are_worth_most() -> None:
    settings = load_settings("local", [], ["edos.preset=trusted"])
    assert settings.edos.choice == "worth"
    assert settings.edos.top_share == 0.15
    assert settings.subtitles.cleaning.min_certainty == 0.3
    labels = load_taxonomy("edos").labels
    assert set(settings.edos.not_emotions) == {one.label for one in labels if one.kind != "emotion"}


@pytest.mark.parametrize(
    ("given", "transcripts"),
    [
        ([], ()),
        (["edos.preset=trusted"], ()),
        (["edos.preset=trusted", "subtitles.turn_examples=[meld, dailydialog]"], ("meld", "dailydialog")),
        (["edos.preset=trusted", "subtitles.turn_examples=[meld]", "edos.emotion_transcripts=[]"], ()),
        (["edos.preset=trusted", "subtitles.turn_examples=[meld]", "edos.emotion_transcripts=[own]"], ("own",)),
        (["edos.preset=trusted", "subtitles.turn_examples=[meld]", "emo_pillars.goemotions=go"], ("meld", "go")),
        (["edos.preset=trusted", "emo_pillars.goemotions=go"], ()),
        (["edos.preset=paper", "subtitles.turn_examples=[meld]"], ()),
        (["subtitles.turn_examples=[meld]"], ()),
    ],
)
def test_trusted_learns_emotions_from_the_transcripts_of_turns(given: list[str], transcripts: tuple[str, ...]) -> None:
    assert load_settings("local", [], given).edos.emotion_transcripts == transcripts


def test_several_processes_do_not_learn_from_transcripts() -> None:
    given = ["edos.preset=trusted", "subtitles.turn_examples=[meld]", "training.processes=2"]
    with pytest.raises(InputError, match=r"^edos\.emotion_transcripts needs training in a single process: set"):
        load_settings("local", [], given)
    assert load_settings("local", [], [*given, "edos.emotion_transcripts=[]"]).training.processes == 2


@pytest.mark.parametrize("preset", PRESETS)
def test_other_settings_override_the_preset(preset: str) -> None:
    given = [f"edos.preset={preset}", "subtitles.cleaning.min_certainty=0.6", "edos.choice=worth"]
    settings = load_settings("local", [], given)
    assert settings.subtitles.cleaning.min_certainty == 0.6
    assert settings.edos.choice == "worth"


def test_a_profile_overrides_the_preset_and_what_it_leaves_stays() -> None:
    own = {"edos": {"preset": "trusted"}, "subtitles": {"cleaning": {"min_certainty": None}}}
    settings = Settings.model_validate(own)
    assert settings.subtitles.cleaning.min_certainty is None
    assert settings.edos.choice == "worth"


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match=r"edos\.preset"):
        load_settings("local", [], ["edos.preset=best"])
