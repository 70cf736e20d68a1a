"""A plan says which setting changed, and from what to what."""

from pathlib import Path

import pytest

from conf.settings import load_settings
from etl.pipeline.planner import what_changed
from jobs import all_stages

STAGES = {stage.name: stage for stage in all_stages()}


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ({}, {"a.b": "1"}, None),
        ({"a.b": "1"}, {"a.b": "1"}, None),
        ({"a.b": "1"}, {"a.b": "2"}, "a.b (1 -> 2) changed"),
        ({"a.b": "1"}, {"a.b": "1", "a.c": "true"}, "a.c changed"),
        ({"a.b": "sha256:1"}, {"a.b": "2"}, "a.b changed"),
        ({"a.b": '["x"]'}, {"a.b": '["y"]'}, "a.b changed"),
        ({"conf/x.txt": "[1]", "a.b": "1"}, {"conf/x.txt": "[2]", "a.b": "2"}, "a.b (1 -> 2), conf/x.txt changed"),
        (
            {"a": "1", "b": "1", "c": "1", "d": "1"},
            {"a": "2", "b": "2", "c": "2", "d": "2"},
            "a (1 -> 2), b (1 -> 2) and 2 more changed",
        ),
        ({"the files of a.b": "x"}, {"the files of a.b": "y"}, "the files of a.b changed"),
    ],
)
def test_what_changed_is_named(before: dict[str, str], now: dict[str, str], told: str | None) -> None:
    assert what_changed(before, now) == told


@pytest.mark.parametrize(
    ("stage", "key", "value", "told"),
    [
        ("clean_dialogues", "subtitles.cleaning.min_turns", 3, "subtitles.cleaning.min_turns (2 -> 3) changed"),
        ("choose_uploads", "subtitles.uploads_per_film", 0, "subtitles.uploads_per_film (1 -> 0) changed"),
        ("choose_uploads", "pipeline.slice_minutes", 3, None),
        ("find_subtitles", "subtitles.sample", 0.5, "subtitles.sample (1.0 -> 0.5) changed"),
    ],
)
def test_every_single_setting_of_a_section_is_told_apart(
    tmp_path: Path, stage: str, key: str, value: object, told: str | None
) -> None:
    (tmp_path / "1.srt").write_text("1")
    own = {"subtitles.sources": [str(tmp_path)]}
    counted = [STAGES[stage].covered(load_settings("local", [], own | more)) for more in ({}, {key: value})]
    assert what_changed(counted[0][1], counted[1][1]) == told
    assert (counted[0][0] != counted[1][0]) == (told is not None)


def test_a_new_file_in_a_source_is_told_by_its_setting(tmp_path: Path) -> None:
    settings = load_settings("local", [], {"subtitles.sources": [str(tmp_path)]})
    (tmp_path / "1.srt").write_text("1")
    before = STAGES["find_subtitles"].covered(settings)[1]
    (tmp_path / "2.srt").write_text("2")
    now = STAGES["find_subtitles"].covered(settings)[1]
    assert what_changed(before, now) == "the files of subtitles.sources changed"


def test_what_is_recorded_is_short_and_has_no_secrets() -> None:
    settings = load_settings("local", [], {"subtitles.sources": ["s3://KEYID:hunter2secret@bucket/en.zip"]})
    for stage in STAGES.values():
        if stage.fingerprint is None and not stage.missing(settings):
            recorded = stage.covered(settings)[1]
            assert all(len(value) < 100 for value in recorded.values())
            assert "hunter2secret" not in str(recorded)
