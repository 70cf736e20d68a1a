"""300 answers in the styles of six families of models: what is lost of them, and what is read that they do not say."""

from collections.abc import Callable
from pathlib import Path

import pytest

from etl.augesc.conversation_texts import NAMES, instruction, prompt
from etl.augesc.measures import measure
from etl.emo_pillars.settings import EmoPillarsSettings
from etl.emo_pillars.step import OURS, Rules
from etl.emo_pillars.steps import SYNTHESIS
from tests.styles import Counts, Entry, entries
from udfs.answer_texts import whole_answer

FOLDER = Path(__file__).parent / "style_texts"
STEPS = {step.name: step for step in SYNTHESIS}
TALKS = "augesc"
TASK = instruction()
QUALITY = EmoPillarsSettings().quality.model_copy(update={"reject": ()})
AS_LINES: dict[str, Callable[..., str]] = {
    "actors": lambda item: item[0],
    "utterances": lambda item: f"{item[3]} | {item[1]}",
    "soft_labels": lambda item: f"{item[3]} {item[1]:g}",
    "contexts": lambda item: item[0],
    "clean_contexts": lambda item: "UNCHANGED" if item[2] else item[0],
    "rewrites": lambda item: item[0],
}
MOST_LOST = 0.02
MOST_POLLUTED = 0.01


def read(kind: str, entry: Entry) -> list[str]:
    """Return the items of an answer as lines, as the stages read them."""
    said = whole_answer("", entry.answer).text
    if said is None:
        return []
    if kind == TALKS:
        turns = measure(prompt("I failed the test twice.", TASK) + said, TASK)[3]
        return [f"{NAMES[turn['role']]} | {turn['text']}" for turn in turns[1:]]
    rules = Rules(STEPS[kind].template(), OURS.known_names, QUALITY)
    return [AS_LINES[kind](item) for item in STEPS[kind].items_of(rules, said, entry.cut_off, {}).items]


def counted(seen: bool) -> tuple[Counts, list[str]]:
    """Return the counts of a half, and the answers of it that are read wrongly."""
    counts = Counts()
    wrong = []
    for kind in (*STEPS, TALKS):
        for entry in entries(FOLDER / f"{kind}.txt"):
            if entry.is_seen == seen:
                found = read(kind, entry)
                counts = counts.plus(entry.expected, found)
                if sorted(found) != sorted(entry.expected):
                    wrong.append(f"{kind} {entry.family}: {entry.answer!r} gives {found}")
    return counts, wrong


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "unseen"])
def test_few_items_are_lost_and_hardly_any_invented(seen: bool) -> None:
    counts, wrong = counted(seen)
    assert counts.items > 200
    assert counts.lost <= MOST_LOST * counts.items, "\n".join(wrong)
    assert counts.polluted <= MOST_POLLUTED * counts.items, "\n".join(wrong)


def test_there_are_300_answers_of_all_families() -> None:
    found = {kind: entries(FOLDER / f"{kind}.txt") for kind in (*STEPS, TALKS)}
    assert sum(map(len, found.values())) == 300
    for kind, its in found.items():
        assert {entry.family for entry in its} == {"gpt", "claude", "llama", "qwen", "mistral", "gemma"}, kind
        assert {entry.is_seen for entry in its} == {True, False}, kind
