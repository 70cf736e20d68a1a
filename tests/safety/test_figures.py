"""The figures of docs/safety.md on the held-out halves: the gates do not get worse unnoticed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conf.safety_settings import SafetySettings
from etl.pipeline.model_loader import resolve
from etl.safety.classifier import DangerClassifier
from etl.safety.lines import HELD_OUT, evaluation_lines, kind_lines, rates
from etl.safety.training import fitted_words, gate, judged_gates, words_threshold

TOLERANCE = 0.02
"""Two lines of about 90: rounding on another machine may move one that is next to the threshold."""
LINES: dict[str, Callable[..., Any]] = {"evaluation": evaluation_lines, "kinds": kind_lines}
CASES = {"evaluation": (91, 96), "kinds": (170, 145)}
REACHED = {
    ("words", "evaluation"): (0.648, 0.062),
    ("words", "kinds"): (0.547, 0.076),
    ("classifier", "evaluation"): (0.868, 0.052),
    ("classifier", "kinds"): (0.688, 0.069),
}
"""Recall and false alarms, as docs/safety.md and docs/results.md have them."""


def check(name: str, lines: str, alarm: Callable[..., bool]) -> None:
    recall, false_alarms, _ = rates(LINES[lines](HELD_OUT), alarm)
    assert (recall.cases, false_alarms.cases) == CASES[lines]
    level = REACHED[name, lines]
    assert recall.share >= level[0] - TOLERANCE, (recall, false_alarms)
    assert false_alarms.share <= level[1] + TOLERANCE, (recall, false_alarms)


@pytest.mark.parametrize("lines", sorted(LINES))
def test_the_gate_of_words_keeps_the_level_that_it_reached_on_the_held_out_half(lines: str) -> None:
    words = fitted_words(held_out=False)
    check("words", lines, gate(words.scores, words_threshold(words)))


@pytest.mark.slow
def test_the_gate_keeps_the_level_that_it_reached_on_the_held_out_halves(tmp_path: Path) -> None:
    found = resolve(SafetySettings().encoder, tmp_path)
    alarm = judged_gates(DangerClassifier.packaged(found.path, found.identity))["phrases and classifier"]
    for lines in sorted(LINES):
        check("classifier", lines, alarm)


@pytest.mark.parametrize("page", ["safety", "results"])
def test_the_pages_have_the_figures_that_are_asserted(page: str) -> None:
    text = Path(f"docs/{page}.md").read_text("utf-8")
    for recall, false_alarms in REACHED.values():
        assert f"{recall:.3f} [" in text
        assert f"{false_alarms:.3f} [" in text


def test_the_weights_are_small() -> None:
    assert sum(path.stat().st_size for path in Path("etl/safety/weights").iterdir()) < 1_000_000
