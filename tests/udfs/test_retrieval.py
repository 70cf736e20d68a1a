"""TF-IDF retrieval against worked examples."""

import pytest

from udfs.retrieval import TfidfIndex

TEXTS = ["my dog ran away", "the rain will not stop", "my cat ran after the dog", ""]
ANSWERS = ["poor dog", "take a coat", "and the cat ?", "hm"]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("MY DOG ran AWAY!", "poor dog"),
        ("rain again", "take a coat"),
        ("the cat, the dog", "and the cat ?"),
        ("", "poor dog"),
        ("nothing known here", "poor dog"),
    ],
)
def test_the_most_similar_texts_answer_is_returned(query: str, answer: str) -> None:
    assert TfidfIndex(TEXTS, ANSWERS).nearest([query])[0][0] == answer


def test_a_text_is_most_similar_to_itself_in_any_batch() -> None:
    index = TfidfIndex(TEXTS[:3], ANSWERS[:3])
    found = index.nearest(TEXTS[:3] * 200)
    assert [answer for answer, _ in found] == ANSWERS[:3] * 200
    assert all(cosine == pytest.approx(1) for _, cosine in found)


def test_texts_without_words_have_answers_too() -> None:
    assert TfidfIndex(["...", "?"], ["a", "b"]).nearest(["word", "?"]) == [("a", 0.0), ("a", 0.0)]
