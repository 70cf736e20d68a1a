"""Named sets of settings: `edos.preset`."""

from pathlib import Path

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.edos.settings import PRESETS
from etl.pipeline.stages import setting


@pytest.mark.parametrize("profile", ["local", "emr", "databricks"])
def test_trusted_is_the_default_and_the_demo_is_as_released(profile: str) -> None:
    assert load_settings(profile, [], ["edos.preset=trusted"]) == load_settings(profile)
    assert load_settings(profile).edos.preset == "trusted"
    assert load_settings("local", [Path("conf/demo/settings.yaml")]).edos.preset == "released"


def test_released_and_paper_count_every_labels_confidence() -> None:
    assert [load_settings("local", [], [f"edos.preset={one}"]).edos.not_emotions for one in ("released", "paper")] == [
        (),
        (),
    ]


PAPER = {
    "subtitles.explicit_marks": False,
    "subtitles.carried_marks": False,
    "subtitles.opening_dash_margin": 0.0,
    "subtitles.silence_ends_turn": False,
    "subtitles.silence_seconds": 5.0,
    "subtitles.uploads_per_film": 0,
    "subtitles.cleaning.length_in": "characters",
    "training.turn_segmenter.kind": "svm",
    "training.turn_segmenter.lengths": False,
    "edos.choice": "emotion",
    "edos.validation_share": 0.2,
    "edos.expansion.search_from": "train_and_validation",
    "edos.expansion.drop_near_held_out": False,
    "edos.self_labels.confidence": 0.9,
    "edos.self_labels.per_class": None,
    "edos.self_labels.calibrated": False,
    "training.weak_labeler.calibrated": False,
    "training.emotion_classifier.calibrated": False,
}
RECIPE = {
    "label_smoothing": 0.0,
    "start_token": True,
    "warmup_share": 0.0,
    "decay": "none",
    "crowd_epochs": 0,
    "start_from_weak_labeler": False,
    "weighted": True,
}
SIZE = {"epochs": (10, 3), "effective_batch": (256, 32), "learning_rate": (2e-5, 2e-4)}
"""What a machine limits: in the paper, and in the profile ``local``."""


@pytest.mark.parametrize("profile", ["local", "emr", "databricks"])
def test_paper_is_the_paper_as_far_as_the_profile_allows(profile: str) -> None:
    settings = load_settings(profile, [], ["edos.preset=paper"])
    assert {key: setting(settings, key) for key in PAPER} == PAPER
    for model in ("emotion_classifier", "self_labeler"):
        assert {key: setting(settings, f"training.{model}.{key}") for key in RECIPE} == RECIPE
        found = {key: setting(settings, f"training.{model}.{key}") for key in SIZE}
        assert found == {key: values[profile == "local"] for key, values in SIZE.items()}


def test_files_and_single_settings_override_a_preset_and_a_preset_the_profile(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("edos: {preset: paper}\ntraining: {emotion_classifier: {decay: linear}}\n", "utf-8")
    options = load_settings("local", [file], ["training.emotion_classifier.crowd_epochs=2"]).training.emotion_classifier
    assert (options.decay, options.crowd_epochs, options.label_smoothing, options.start_token) == ("linear", 2, 0, True)
    assert load_settings("local").training.emotion_classifier.label_smoothing == 0.1


def test_emo_pillars_paper_rejects_nothing_that_can_be_read() -> None:
    ours = load_settings("local").emo_pillars
    paper = load_settings("local", [], ["emo_pillars.preset=paper"]).emo_pillars
    assert ours.quality.reject == ("other_language", "list_of_labels", "repeats_itself")
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
        (["edos.preset=released", "subtitles.turn_examples=[meld]"], ()),
        (["subtitles.turn_examples=[meld]"], ("meld",)),
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


def test_settings_given_in_code_override_the_preset_and_what_they_leave_stays() -> None:
    own = {"edos": {"preset": "trusted"}, "subtitles": {"cleaning": {"min_certainty": None}}}
    settings = Settings.model_validate(own)
    assert settings.subtitles.cleaning.min_certainty is None
    assert settings.edos.choice == "worth"


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match=r"edos\.preset"):
        load_settings("local", [], ["edos.preset=best"])
