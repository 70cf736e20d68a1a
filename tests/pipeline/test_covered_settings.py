"""What the hash of a stage covers, and what its functions receive."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from conf.errors import InputError
from conf.section import Counts, Section, added, counted_values, fixed, setting_fields
from conf.settings import Settings, load_settings
from conf.taxonomy import EmotionTaxonomy, Taxonomy
from conf.training_options import TrainingOptions
from etl.edos.settings import WeakLabelerSettings
from etl.pipeline.signatures import UNCOUNTED, At, While, receiver_of
from etl.subtitles.settings import TurnRules
from jobs import all_stages

KINDS = ("linear", "svm", "encoder", "both")


def leaves(section: BaseModel, prefix: str = "") -> list[str]:
    """Return the keys of all single settings."""
    found = []
    for name in setting_fields(type(section)):
        value = getattr(section, name)
        inner = isinstance(value, BaseModel) and not isinstance(value, Taxonomy | EmotionTaxonomy)
        found += leaves(value, f"{prefix}{name}.") if inner else [prefix + name]
    return found


def changed(section: Any, path: list[str], folder: Path) -> Any:
    """Return the settings with another value at a key, whatever its validators say."""
    name, *rest = path
    value = getattr(section, name)
    new = changed(value, rest, folder) if rest else other(value, folder)
    return section.model_copy(update={name: new})


def other(value: Any, folder: Path) -> Any:
    if isinstance(value, Taxonomy | EmotionTaxonomy):
        return value.model_copy(update={"name": "other"})
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, tuple | list):
        return type(value)([str(folder)])
    if isinstance(value, dict):
        return {"a": "b"}
    return str(folder) if value is None else f"{value} changed"


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)], ids=["a tenth", "all"])
def test_a_changed_setting_makes_work_for_the_stages_that_cover_it_alone(tmp_path: Path, step: int) -> None:
    (tmp_path / "file").write_text("content", encoding="utf-8")
    settings = Settings()
    stages = [stage for stage in all_stages() if stage.name != "train_turn_segmenter"]
    before = {stage.name: stage.settings_hash(settings) for stage in stages}
    covered = {stage.name: stage.keys(Counts.VALUE, Counts.FILES) for stage in stages}
    for key in leaves(settings)[::step]:
        now = changed(settings, key.split("."), tmp_path)
        stale = {stage.name for stage in stages if stage.settings_hash(now) != before[stage.name]}
        covering = {name for name, keys in covered.items() if any(f"{key}.".startswith(f"{one}.") for one in keys)}
        assert stale == covering, key


class Inner(Section):
    old: int = 1
    fixed_one: int = fixed(7)
    new: int = added(2)


class Outer(Section):
    inner: Inner = Inner()
    newest: str | None = added(None)


@pytest.mark.parametrize(
    ("section", "counted"),
    [
        (Outer(), {"inner": {"old": 1}}),
        (Outer(inner=Inner(new=2)), {"inner": {"old": 1}}),
        (Outer(inner=Inner(new=3)), {"inner": {"old": 1, "new": 3}}),
        (Outer(inner=Inner(old=0), newest="a"), {"inner": {"old": 0}, "newest": "a"}),
    ],
)
def test_an_added_setting_counts_once_it_has_another_value(section: Section, counted: dict[str, Any]) -> None:
    assert counted_values(section) == counted


def test_a_function_gets_the_part_that_it_names_and_no_more() -> None:
    def cut(turns: TurnRules) -> TurnRules:
        return turns

    given = receiver_of(cut).call((), Settings(), None)
    assert type(given) is TurnRules
    assert given.silence_seconds == 5.0
    with pytest.raises(AttributeError):
        _ = given.languages


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (TrainingOptions, "TrainingOptions, which the settings have nowhere"),
        (str, "str, which the settings have nowhere"),
        (Annotated[str, At("subtitles.silence_seconds")], "but subtitles.silence_seconds is of type"),
        (Annotated[str, At("subtitles.silence")], "there is no setting subtitles.silence"),
        (Annotated[TurnRules, At("edos")], "but edos is of type"),
    ],
)
def test_a_parameter_that_names_no_settings_is_refused(hint: Any, message: str) -> None:
    def function(given: Any) -> None: ...

    function.__annotations__["given"] = hint
    with pytest.raises(TypeError, match=message):
        receiver_of(function)


def test_what_is_uncounted_is_seen_and_makes_no_work() -> None:
    def function(seen: Annotated[TurnRules, UNCOUNTED]) -> float:
        return seen.silence_seconds

    receiver = receiver_of(function)
    assert receiver.call((), Settings(), None) == 5.0
    assert set(receiver.received[0].keys.values()) == {Counts.NOTHING}


def test_a_condition_is_the_value_of_another_setting() -> None:
    condition = While("training.turn_segmenter.kind", "encoder", "both")
    kinds = {kind: load_settings("local", [], {"training.turn_segmenter.kind": kind}) for kind in KINDS}
    assert [kind for kind in KINDS if condition.holds(kinds[kind])] == ["encoder", "both"]


def test_a_fixed_field_is_received_as_the_setting_elsewhere_and_refused_in_its_own_place() -> None:
    def train(options: WeakLabelerSettings) -> int | None:
        return options.threads

    settings = load_settings("local", [], {"models.training_threads": 3})
    receiver = receiver_of(train)
    assert receiver.call((), settings, None) == 3
    elsewhere = {"models.training_threads", "models.training_device", "models.training_precision", "training.seed"}
    assert set(receiver.received[0].keys) == {"training.weak_labeler", *elsewhere}
    for key, told in (("threads", "models.training_threads"), ("beta2", "it is always 0.98")):
        with pytest.raises(InputError, match=f"setting training.weak_labeler.{key} is gone: {told}"):
            load_settings("local", [], {f"training.weak_labeler.{key}": 1})
