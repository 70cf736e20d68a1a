"""What a dialogue says, and the spans that are worth most."""

from itertools import combinations

import pytest

from conf.wordlists import words
from etl.common.dialogue_content import Said, best_spans, content, exchange, formulas, span_worth

FUNCTION_WORDS = frozenset(words("function_words"))


def said(*texts: str) -> list[Said]:
    return [Said.of(text, FUNCTION_WORDS) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the lighthouse keeper ?", {"lighthouse", "keeper"}),
        ("I do n't know .", set()),
        ("Good morning .", set()),
        ("The OLD boat , the old boat !", {"old", "boat"}),
        ("", set()),
        ("... - ?!", set()),
        ("Ça va où ?", set()),
        ("Das Schiff sinkt", {"das", "schiff", "sinkt"}),
    ],
)
def test_content_words_of_a_turn(text: str, expected: set[str]) -> None:
    assert said(text)[0].content == expected


LINKS = {
    "an answer": ("Where is the boat ?", "Down at the harbour .", True),
    "a question after a question": ("Where is the boat ?", "Who asks ?", False),
    "a shared word": ("The boat is gone .", "Another boat will come .", True),
    "a reaction": ("The boat is gone .", "Yes , it left at noon .", True),
    "one speaks of himself, the other of him": ("I lost everything .", "They cheated you .", True),
    "and the other way round": ("You look tired .", "My back hurts .", True),
    "nothing": ("The boat is gone .", "Dinner is served .", False),
    "no words": ("...", "...", False),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_turn_takes_up_the_turn_before(name: str) -> None:
    left, right, expected = LINKS[name]
    one, other = said(left, right)
    assert other.takes_up(one) is expected
    assert exchange([one, other]) == pytest.approx(0.5 if expected else 0.15)


def test_two_short_lines_are_worth_little() -> None:
    short = said("When ?", "Tonight , now .")
    long = said(
        "Your brother sold the farm without a word to anybody .",
        "Because nobody in this family ever listens to him !",
        "He gambled the money away , and mother cried all night .",
    )
    assert content(short) < 0.05 < 0.4 < content(long)
    assert span_worth(short, 1.0) < span_worth(long, 0.4)


def test_a_speech_with_a_formula_is_no_exchange() -> None:
    speech = "The harbour master closed every gate , burned the ledgers and sailed for Lisbon before dawn ."
    assert content(said(speech, "Yes .")) == 0.0
    assert content(said(speech)) == 0.0
    assert content(said(speech, "Lisbon ? His sister lives there .")) > 0.3


def test_numbers_of_odd_dialogues() -> None:
    assert (content([]), exchange([]), formulas([])) == (0.0, 0.0, 1.0)
    assert (
        formulas(said("Hello .", "Good morning , Anna .", "Where were you ?", "The engine of the ferry broke ."))
        == 0.75
    )
    assert exchange(said("Hello .")) == 0.0


def test_the_best_spans_are_those_of_the_largest_sum() -> None:
    worths = {(0, 2): 0.3, (1, 3): 0.5, (0, 3): 0.4, (2, 4): 0.25, (3, 5): 0.1, (0, 5): 0.55}
    ordered = [(*span, worth) for span, worth in sorted(worths.items(), key=lambda item: (item[0][1], -item[0][0]))]
    found = best_spans(ordered)
    apart = [
        some
        for size in range(1, 4)
        for some in combinations(worths, size)
        if all(one[1] <= other[0] or other[1] <= one[0] for one, other in combinations(some, 2))
    ]
    assert sum(worths[span] for span in found) == pytest.approx(max(sum(map(worths.get, some)) for some in apart))
    assert found == [(1, 3), (3, 5)]
    assert best_spans([]) == []
    assert best_spans([(0, 2, 0.0)]) == []
