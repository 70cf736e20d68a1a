"""The gate: danger over several lines, the state that lasts, and what a model may not say."""

from itertools import pairwise

import pytest

from etl.safety.answers import danger_answer, state_answer, withheld_reply
from etl.safety.conversation import WINDOW_WORDS, SafeConversation, windows


def alarm_after(lines: list[str], **options) -> int | None:
    """Return the number of the line that the alarm is raised at, from 0."""
    conversation = SafeConversation(**options)
    return next((place for place, line in enumerate(lines) if conversation.answer_to(line) is not None), None)


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["hello", "I want to", "die"], 2),
        (["I", "want", "to", "d1e"], 3),
        (["I want to harm", "myself", "soon"], 1),
        (["s", "u", "i", "c", "i", "d", "e"], 5),
        (["I want to", "dye my hair", "red"], None),
        (["I feel suicidal", "only joking", "tell me a story"], 0),
        (["so " * 500, "I want to", "die"], 2),
        (["", "  "], None),
    ],
)
def test_phrases_are_found_across_lines(lines: list[str], place: int | None) -> None:
    assert alarm_after(lines) == place


def test_the_safe_state_lasts() -> None:
    conversation = SafeConversation(country="GB")
    assert conversation.answer_to("hello") is None
    assert conversation.answer_to("I want to die") == danger_answer("GB")
    assert [conversation.answer_to(line) for line in ("sorry", "/new", "what is the weather")] == [
        state_answer("GB")
    ] * 3
    assert conversation.alarm == "want to die"


def test_the_classifier_reads_lines_alone_and_together() -> None:
    read: list[list[str]] = []

    def scores(texts):
        read.append(list(texts))
        return [float("the rail and let go" in text) for text in texts]

    assert alarm_after(["I stand at the rail", "and let go", "well"], scores=scores, threshold=0.5) == 1
    assert read == [["I stand at the rail"], ["and let go", "I stand at the rail and let go"]]
    assert alarm_after(["I stand at the rail", "and let go"], scores=scores, threshold=1.1) is None


def test_a_long_line_is_read_in_parts_to_its_end() -> None:
    words = [f"w{number}" for number in range(95)]
    parts = windows([" ".join(words)])
    assert parts[-1].endswith("w94")
    assert all(len(part.split()) <= WINDOW_WORDS for part in parts)
    assert {word for part in parts for word in part.split()} == set(words)
    neighbours = [f"{first} {second}" for first, second in pairwise(words)]
    assert all(any(pair in part for part in parts) for pair in neighbours)
    assert windows(["so", "it", "is", "over"]) == ["over", "so it is over"]
    assert windows(["x " * 40, "short"]) == ["short"]
    assert windows([" "]) == []


@pytest.mark.parametrize(
    "reply", ["Kill yourself.", "nobody would miss you", "You should stop taking your medication", "I want to die too"]
)
def test_harmful_lines_of_a_model_are_withheld(reply: str) -> None:
    conversation = SafeConversation()
    said, why = conversation.screened(reply)
    assert said == withheld_reply()
    assert why
    assert conversation.answer_to("hello") is None  # its own state does not change


@pytest.mark.parametrize("reply", ["I am sorry to hear that.", "How did you cut your hair?", ""])
def test_other_lines_of_a_model_pass(reply: str) -> None:
    assert SafeConversation().screened(reply) == (reply, None)
