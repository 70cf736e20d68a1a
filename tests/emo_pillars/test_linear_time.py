"""No answer of a model takes a step of Emo Pillars squared time: 6,000 characters of one kind each."""

import time

import pytest

from conf.prompts import prompt
from etl.emo_pillars.settings import QualitySettings
from etl.emo_pillars.step import OURS, Rules, Step
from etl.emo_pillars.steps import NAMING, SYNTHESIS
from udfs.answer_texts import answer_in

LENGTH, MOST_SECONDS = 6_000, 0.6
"""Squared time would be some 6 s at the 20,000 characters of the longest answer that is read."""
GIVEN = {"utterance": "I can see the lamp.", "actor": "Ada", "labels": ["joy"], "context": "", "topics": ["the lamp"]}
SIGNS = '\n \u3000aA!"([|-1'
UNITS = [*SIGNS, *'level_;score;(no_;#_\t;|-;,_A;1._;-_;**a;~~a;>_;//;{";Joy:_;joy_(;a\n'.replace("_", " ").split(";")]
STARTS = ("", "1. joy ", "(")


@pytest.mark.long
@pytest.mark.parametrize("step", [*SYNTHESIS, *NAMING], ids=lambda step: step.name)
def test_an_answer_of_one_kind_takes_linear_time(step) -> None:  # type: ignore[no-untyped-def]
    rules = Rules(prompt(f"emo_pillars/{step.name}"), OURS.known_names, QualitySettings())
    slow = {}
    for unit in UNITS:
        for start in STARTS:
            answer = start + unit * (LENGTH // len(unit))
            # A busy machine may take long once.
            if all(seconds(step, rules, answer) > MOST_SECONDS for _ in range(3)):
                slow[start, unit] = seconds(step, rules, answer)
    assert slow == {}


def seconds(step: Step, rules: Rules, answer: str) -> float:
    """Return the processor's seconds in which a step reads an answer."""
    began = time.process_time()
    step.items_of(rules, answer, False, GIVEN)
    return time.process_time() - began


def test_blanks_after_the_marks_of_a_template_take_linear_time() -> None:
    for start in ("<start_of_turn>", "<|im_start|>assistant", "<", "</", "<answer>", "<|channel|>", "analysis"):
        began = time.process_time()
        for end in ("x<channel|>", "", "<"):
            answer_in(start + "\n" * 100_000 + end)
        assert time.process_time() - began < 2, start
