"""Lines of other languages are read word by word in English; English ones stay."""

import pytest

from etl.safety.glosses import LANGUAGES, glossed, reading
from etl.safety.stored import entries


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("ya no quiero vivir", "already not I want live"),
        ("Ich will nicht mehr leben.", "I want not more life."),
        ("j'ai envie de mourir", "I have desire of die"),
        ("J’ai peur", "I have fear"),
        ("DIE MUTTER SCHLÄFT MIT DEM KIND", "the mother SCHLÄFT with the child"),
        ("mañana vuelvo a casa con mi hermana", "tomorrow I come back to home with my sister"),
        ("I want to die", "I want to die"),
        ("she has a son in Paris", "she has a son in Paris"),
        ("the man on the bus me", "the man on the bus me"),
        ("vorrei una pizza", "vorrei una pizza"),
        ("死にたい", "死にたい"),
        ("", ""),
        ("!!! 42", "!!! 42"),
    ],
)
def test_known_words_have_their_english(text: str, english: str) -> None:
    assert glossed(text) == english


def test_disguised_words_of_other_languages_are_read() -> None:
    assert reading("m voy a m4t4r") == "me I am going to kill"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_entry_has_a_word_and_its_english(language: str) -> None:
    found = entries(f"glossaries/{language}")
    assert len(found) > 300
    for entry in found:
        word, mark, english = entry.partition(" = ")
        assert mark, entry
        assert word.strip("*"), entry
        assert english.isascii(), entry
