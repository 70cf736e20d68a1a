"""The danger classifier: how it is fitted, and the figures that docs/safety.md and the shells tell."""

from pathlib import Path

import numpy as np
import pytest

from conf.safety_settings import SafetySettings
from etl.cli.safety import MEASURED_GATE, MEASURED_PHRASES
from etl.pipeline.model_loader import resolve
from etl.safety.__main__ import alarms, rate
from etl.safety.classifier import HELD_OUT, LEARN, OLDER, DangerClassifier, danger_lines

NEAR = 0.02
"""Rounding on another machine may move lines that are next to the threshold."""


class Axes:
    """An encoder whose vector of a text is its length and the number of its cries."""

    def embed(self, texts: list[str], batch_size: int) -> np.ndarray:
        return np.array([[len(text), 10 * text.count("cry")] for text in texts], np.float32)


def test_it_learns_from_the_lines() -> None:
    lines = [line for line in danger_lines(LEARN) if line.language == "en"][:2]
    learnt = [
        line._replace(danger=danger, lines=(text,))
        for line, (danger, text) in zip(lines * 4, [(True, "cry cry"), (False, "the dog")] * 4, strict=True)
    ]
    model = DangerClassifier(Axes(), learnt)  # type: ignore[arg-type]
    danger, harmless = model.scores(["I cry and cry", "a dog runs"])
    assert danger > 0.5 > harmless
    assert model.scores([]) == []


def test_no_line_to_learn_from_is_judged() -> None:
    judged = {line.lines for half in (HELD_OUT, OLDER) for line in danger_lines(half)}
    assert len(judged) == 502
    assert judged.isdisjoint(line.lines for line in danger_lines(LEARN))
    assert {line.danger for line in danger_lines(HELD_OUT)} == {True, False}


def test_a_conversation_rings_by_a_phrase_over_lines_or_by_a_score() -> None:
    def scores(texts: list[str]) -> list[float]:
        return [float("the rail" in text) for text in texts]

    talks = [["I want to", "die"], ["I stand at", "the rail"], ["hello"]]
    assert alarms(talks, scores) == [True, True, False]
    assert alarms(talks, None) == [True, False, False]
    assert rate([True, False]) == "0.500 [0.095, 0.905] (1/2)"


def held_out(scores) -> tuple[float, float]:
    lines = danger_lines(HELD_OUT)
    rung = dict(zip(lines, alarms([line.lines for line in lines], scores), strict=True))
    recall, false_alarms = ([rung[line] for line in lines if line.danger is truth] for truth in (True, False))
    return sum(recall) / len(recall), sum(false_alarms) / len(false_alarms)


def test_the_phrases_keep_their_level() -> None:
    recall, false_alarms = held_out(None)
    assert recall >= MEASURED_PHRASES.recall - NEAR
    assert false_alarms <= 0.05


@pytest.mark.slow
def test_the_gate_keeps_its_level(tmp_path: Path) -> None:
    model = DangerClassifier.load(resolve(SafetySettings().encoder or "", tmp_path).path)
    recall, false_alarms = held_out(model.scores)
    assert recall >= MEASURED_GATE.recall - NEAR
    assert false_alarms <= 0.35


@pytest.mark.parametrize("measured", [MEASURED_GATE, MEASURED_PHRASES])
def test_what_the_shells_tell_is_what_the_page_has(measured) -> None:
    text = Path("docs/safety.md").read_text("utf-8")
    assert all(f"{rate:.3f} [" in text for rate in measured)
