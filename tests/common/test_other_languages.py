"""Texts in another language than English are told from short, odd and shouted English ones."""

import pytest

from etl.common.other_languages import foreign_texts, is_foreign


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Wer hat gestern Nacht mein Pferd aus dem Stall genommen?", True),
        ("¿Quién se llevó anoche mi caballo del establo, hermano?", True),
        ("Qui donc a pris mon cheval dans cette écurie hier soir ?", True),
        ("今日はとても寒いですね。", True),
        ("Кто взял мою лошадь?", True),
        ("Je t'aime.", False),
        ("Who took my horse out of the stable last night?", False),
        ("Go! Go! Go! Go! Go! Go! Go!", False),
        ("S P O I L E R ! !", False),
        ("You mean pan de huevo? Check food city.", False),
        ("NO WAY, Tom is in Valkyrie, we're SAAAFFffffeeeee........", False),
        ("Forget Tom. You gotta go to El Campo....", False),
        ("", False),
        ("🎉🎉🎉", False),
        ("word " * 100_000, False),
    ],
)
def test_texts(text: str, foreign: bool) -> None:
    assert is_foreign(text) is foreign


def test_short_texts_of_a_foreign_answer_are_foreign() -> None:
    texts = ["Zehn Minuten.", "Das Pferd steht mittags an der Wand.", "Wer hat gestern Nacht mein Pferd genommen?"]
    assert foreign_texts([*texts, "The horse stands by the wall."]) == [True, True, True, False]
    assert foreign_texts(texts, "Schreibe zehn Sätze, die diese Figur sagen könnte.") == [False] * 3
    assert foreign_texts(texts[:1]) == [False]
    assert foreign_texts([]) == []
