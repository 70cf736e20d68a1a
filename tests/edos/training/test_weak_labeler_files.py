"""The weak labeler's files: which one trains, chooses the epoch and is held out."""

from typing import Any

import pytest

from conf.errors import InputError
from tests.training.small_sets import ALL_THREE, HELD_OUT_TEXTS, SENTENCES, TO_CHOOSE_BY


def texts(rows: Any) -> set[str]:
    return {text for text, _ in rows}


def test_the_epoch_is_chosen_on_valid_and_the_figures_are_of_test(recipe_of) -> None:
    recipe, said = recipe_of(ALL_THREE)
    assert texts(recipe.rows.train) == set(SENTENCES)
    assert texts(recipe.rows.validation) == set(TO_CHOOSE_BY)
    assert texts(recipe.test.rows) == set(HELD_OUT_TEXTS)
    assert texts(recipe.choice.rows) == set(TO_CHOOSE_BY)
    assert recipe.tags["held_out"] == "classifier_test"
    assert said == ["60 sentences to train on, 8 for validation, 6 of classifier_test held out"]


def test_a_sentence_of_a_later_file_is_left_out_of_an_earlier_one(recipe_of) -> None:
    recipe, _ = recipe_of(ALL_THREE)
    assert [(place, reason, units) for _, place, reason, _, units in recipe.dropped] == [
        ("classifier_train", "in_validation_file", 2),
        ("classifier_valid", "in_test_file", 1),
    ]
    given = sum(len(part) for part in ALL_THREE.values())
    assert recipe.rows_out + 3 == given


def test_without_test_the_figures_are_of_valid_and_a_tenth_chooses(recipe_of) -> None:
    recipe, _ = recipe_of({"train": SENTENCES, "valid": TO_CHOOSE_BY})
    assert texts(recipe.test.rows) == set(TO_CHOOSE_BY)
    assert texts(recipe.rows.train) | texts(recipe.rows.validation) == set(SENTENCES)
    assert 0 < len(recipe.rows.validation) < 20
    assert recipe.tags["held_out"] == "classifier_valid"
    assert recipe.rows_out == len(SENTENCES) + len(TO_CHOOSE_BY)
    assert recipe.dropped == []


def test_other_files_of_the_folder_are_told(recipe_of) -> None:
    recipe, _ = recipe_of({**ALL_THREE, "more": ["never read"]})
    assert ("file", "classifier_more.txt", "unknown_file") in [line[:3] for line in recipe.dropped]


def test_a_folder_without_valid_is_refused(recipe_of) -> None:
    with pytest.raises(InputError, match=r"has no classifier_valid\.txt"):
        recipe_of({"train": SENTENCES, "test": HELD_OUT_TEXTS})
