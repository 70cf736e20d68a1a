"""Settings that are gone: who sets one is told what to use instead, and a run that had its default is still right."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conf import removed_settings
from conf.errors import InputError
from conf.removed_settings import REMOVED, Removed, removed
from conf.section import Section
from conf.settings import Settings, load_settings
from etl.pipeline.model_loader import NO_MODEL, ResolvedModel
from etl.pipeline.planner import StagePlan, event_of, same_settings, what_changed
from etl.pipeline.stages import recorded
from jobs import all_stages

STAGE = all_stages()[0]
LONG = ("a" * 40, "b" * 40)


@pytest.fixture(autouse=True)
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "edos.old": Removed(1.0, "edos.new"),
        "edos.part.long": Removed(LONG, "nothing: it is fixed"),
        "edos.folder": Removed(None, "subtitles.sources"),
        "training.*.old": Removed(True, "nothing"),
    }
    monkeypatch.setattr(removed_settings, "REMOVED", table)


def test_one_name_is_open_in_a_pattern() -> None:
    assert removed("training.any.old") == removed("training.other.old") == Removed(True, "nothing")
    assert removed("training.old") is removed("training.any.inner.old") is removed("edos.new") is None


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("edos.old", "setting edos.old is gone: edos.new"),
        ("edos.part.long", "setting edos.part.long is gone: nothing: it is fixed"),
        ("training.weak_labeler.old", "setting training.weak_labeler.old is gone: nothing"),
    ],
)
def test_who_sets_one_is_told_what_to_use(tmp_path: Path, key: str, told: str) -> None:
    *sections, name = key.split(".")
    lines = [f"{'  ' * depth}{section}:" for depth, section in enumerate(sections)]
    (tmp_path / "own.yaml").write_text("\n".join([*lines, f"{'  ' * len(sections)}{name}: 1"]))
    for files, pairs in (([tmp_path / "own.yaml"], []), ([], [f"{key}=1"])):
        with pytest.raises(InputError) as refused:
            load_settings("local", files, pairs)
        assert str(refused.value) == told


def _event(settings: dict[str, str] | None, models: dict[str, str] | None = None) -> Any:
    return replace(event_of(STAGE, None, "done"), settings=settings, settings_hash="before", models=models or {})


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ({"edos.old": "1.0", "edos.new": "2"}, {"edos.new": "2"}, True),
        ({"edos.old": "1.5", "edos.new": "2"}, {"edos.new": "2"}, False),
        ({"edos.old": "1.0", "edos.new": "2"}, {"edos.new": "3"}, False),
        ({"edos.other": "1.0", "edos.new": "2"}, {"edos.new": "2"}, False),
        ({"edos.new": "2"}, {"edos.new": "2", "edos.later": "1"}, False),
        ({"edos.part.long": recorded(LONG)}, {}, True),
        ({"edos.part.long": recorded(LONG[::-1])}, {}, False),
        ({"the files of edos.folder": "[]"}, {}, True),
        ({"the files of edos.folder": '["8ab1"]'}, {}, False),
        ({"training.weak_labeler.old": "true"}, {}, True),
        ({"training.weak_labeler.old": "false"}, {}, False),
        ({}, {}, False),
        (None, {}, False),
    ],
)
def test_a_default_that_is_gone_is_no_change(before: dict[str, str] | None, now: dict[str, str], same: bool) -> None:
    assert same_settings(_event(before), "now", now) is same
    assert same_settings(_event(before), "before", now), "one hash, one set of settings"
    if before:
        assert (what_changed(before, now) is None) is same


KIND = "training.turn_segmenter.kind"
LENGTHS = "training.turn_segmenter.lengths"


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ({KIND: '"svm"', LENGTHS: "true"}, {KIND: '"linear"'}, None),
        ({KIND: '"svm"', LENGTHS: "false"}, {KIND: '"linear"'}, f"{LENGTHS} changed"),
        ({KIND: '"svm"', LENGTHS: "true"}, {KIND: '"encoder"'}, f'{KIND} ("svm" -> "encoder") changed'),
        ({KIND: '"linear"'}, {KIND: '"svm"', LENGTHS: "true"}, f'{KIND} ("linear" -> "svm"), {LENGTHS} changed'),
    ],
)
def test_a_default_that_moved_is_no_change(before: dict[str, str], now: dict[str, str], told: str | None) -> None:
    assert what_changed(before, now) == told


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ({"gone": "7", "used": "1"}, {"used": "1"}, True),
        ({"used": "1"}, {"used": "2"}, False),
        ({"used": NO_MODEL}, {"used": "1"}, False),
        ({"used": "1"}, {"used": "1", "more": NO_MODEL}, False),
    ],
)
def test_a_model_that_is_used_no_longer_is_no_change(before: dict[str, str], now: dict[str, str], same: bool) -> None:
    plan = StagePlan(None, "", {}, "before", {name: ResolvedModel(Path(), one) for name, one in now.items()})
    assert plan.same_models(_event({}, before)) is same


def test_no_setting_is_there_and_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removed_settings, "REMOVED", REMOVED)

    def keys(section: type[Section], prefix: str = "") -> list[str]:
        found = []
        for name, field in section.model_fields.items():
            inner = field.annotation
            found.append(f"{prefix}{name}")
            if isinstance(inner, type) and issubclass(inner, Section):
                found += keys(inner, f"{prefix}{name}.")
        return found

    assert not [key for key in keys(Settings) if removed(key)]
    assert all(len(one.instead) > 3 and not one.instead.endswith(".") for one in REMOVED.values())
