"""The figures of docs/safety.md on the held-out half: the gates do not get worse unnoticed."""

from pathlib import Path

import pytest

from conf.safety_settings import SafetySettings
from etl.augesc.danger_set import HELD_OUT, evaluation_lines, rates
from etl.augesc.safe_conversation import Scores
from etl.pipeline.model_loader import resolve
from etl.training.danger import gate
from udfs.models.classifiers.danger_classifier import DangerClassifier
from udfs.models.classifiers.danger_words import DangerWords

TOLERANCE = 0.02
"""Two lines of about 90: rounding on another machine may move one that is next to the threshold."""
REACHED = {"classifier": (0.890, 0.073), "words": (0.604, 0.052)}
"""Recall and false alarms, as docs/safety.md and docs/results.md have them."""


def scores_of(name: str, folder: Path) -> tuple[Scores, float]:
    if name == "words":
        words = DangerWords.packaged()
        return words.scores, words.threshold
    found = resolve(SafetySettings().encoder, folder)
    model = DangerClassifier.packaged(found.path, found.identity)
    return model.scores, model.threshold


SLOW = {"classifier": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in sorted(REACHED)])
def test_the_gate_keeps_the_level_that_it_reached_on_the_held_out_half(name: str, tmp_path: Path) -> None:
    recall, false_alarms, _ = rates(evaluation_lines(HELD_OUT), gate(*scores_of(name, tmp_path)))
    assert (recall.cases, false_alarms.cases) == (91, 96)
    level = REACHED[name]
    assert recall.share >= level[0] - TOLERANCE, (recall, false_alarms)
    assert false_alarms.share <= level[1] + TOLERANCE, (recall, false_alarms)


@pytest.mark.parametrize("page", ["safety", "results"])
def test_the_pages_have_the_figures_that_are_asserted(page: str) -> None:
    text = Path(f"docs/{page}.md").read_text("utf-8")
    for recall, false_alarms in REACHED.values():
        assert f"{recall:.3f} [" in text
        assert f"{false_alarms:.3f} [" in text
