"""One switch turns expansion off, and thresholds below the floor are refused."""

import pytest

from conf.errors import InputError
from conf.settings import Settings, load_settings


def test_the_papers_values_are_the_defaults() -> None:
    edos = Settings().edos
    assert (edos.expansion.threshold, edos.expansion.again_threshold) == (0.92, 0.90)
    assert (edos.self_labels.confidence, edos.self_labels.per_class) == (0.9, None)
    assert Settings().models.sentence_encoder.endswith("roberta-base-nli-stsb-mean-tokens")


def test_one_switch_turns_all_of_it_off() -> None:
    assert load_settings("local").models.self_labeler == "models:/edos-self-labeler@champion"
    off = load_settings("local", [], ["edos.expansion.enabled=false"])
    assert off.models.self_labeler is None
    assert off.models.emotion_classifier == "models:/edos-emotion-classifier@champion"
    assert load_settings("local", [], ["models.self_labeler=null"]).edos.expansion.enabled


def test_a_threshold_below_the_floor_is_refused() -> None:
    with pytest.raises(InputError, match=r"setting edos\.expansion: .*floor is above a threshold"):
        load_settings("local", [], ["edos.expansion.threshold=0.5"])
