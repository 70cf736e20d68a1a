"""One switch turns expansion off, and thresholds below the floor are refused."""

from typing import Any

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings


def test_the_papers_thresholds_are_the_defaults() -> None:
    edos = Settings().edos
    assert (edos.expansion.threshold, edos.expansion.again_threshold) == (0.92, 0.90)
    assert Settings().models.sentence_encoder.endswith("roberta-base-nli-stsb-mean-tokens")


@pytest.mark.parametrize(
    ("given", "confidence", "per_class", "calibrated"),
    [
        ({}, None, 100, True),
        ({"preset": "released"}, None, 100, True),
        ({"preset": "paper"}, 0.9, None, False),
        ({"preset": "paper", "self_labels": {"per_class": 50}}, 0.9, 50, False),
        ({"self_labels": {"confidence": 0.8}}, 0.8, 100, True),
    ],
)
def test_the_preset_sets_what_self_labels_are(
    given: dict[str, Any], confidence: float | None, per_class: int | None, calibrated: bool
) -> None:
    found = Settings.model_validate({"edos": given}).edos.self_labels
    assert found.confidence == confidence
    assert found.per_class == per_class
    assert found.calibrated is calibrated


def test_one_switch_turns_all_of_it_off() -> None:
    assert load_settings("local").models.self_labeler == "models:/edos-self-labeler@champion"
    off = load_settings("local", [], ["edos.expansion.enabled=false"])
    assert off.models.self_labeler is None
    assert off.models.emotion_classifier == "models:/edos-emotion-classifier@champion"
    assert load_settings("local", [], ["models.self_labeler=null"]).edos.expansion.enabled


def test_a_threshold_below_the_floor_is_refused() -> None:
    with pytest.raises(InputError, match=r"setting edos\.expansion: .*floor is above a threshold"):
        load_settings("local", [], ["edos.expansion.threshold=0.5"])
