"""Make and evaluate the danger classifier of the chat: ``python -m etl.training.danger train|evaluate``.

``train`` takes its examples from ``conf/safety/danger_training.csv``, chooses the threshold on the tuned half of
``danger_evaluation.csv``, and writes the weights to ``conf/safety``. ``evaluate`` prints the figures of a half.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import torch

from conf.safety_settings import SafetySettings
from etl.augesc.danger_set import HELD_OUT, TUNE, DangerLine, evaluation_lines, rates, training_lines
from etl.augesc.safe_conversation import DOUBT, SafeConversation, Scores, windows
from etl.augesc.safety import DOUBTFUL, PHRASES, danger
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.danger_classifier import DangerClassifier, Examples, FrozenFeatures
from udfs.models.loader import ResolvedModel, resolve

LAYERS = (4, 5, 6)
MOST_FALSE_ALARMS = 0.09
"""On the tuned half, below the aim of 0.10."""

Alarm = Callable[[Sequence[str]], bool]


def train(folder: Path) -> DangerClassifier:
    """Make the classifier of the training lines and the tuned half, choose its threshold, and write both to a folder.

    The threshold is chosen on scores of the tuned lines in which the line itself does not count.
    """
    encoder, tuned, lines = encoder_model(), evaluation_lines(TUNE), training_lines()
    features = FrozenFeatures(*load_encoder(encoder.path), LAYERS)
    known = [*lines, *tuned]
    examples = Examples.of(features([line.text for line in known]), [line.danger for line in known])
    risks = []
    for place, line in enumerate(tuned, start=len(lines)):

        def scores(texts: Sequence[str], place: int = place) -> list[float]:
            return [float(one) for one in examples.shares(features(texts), [place] * len(texts))]

        risks.append((line.danger, risk(line, scores)))
    model = DangerClassifier(features, examples, chosen_threshold(risks))
    found = [one >= model.threshold for dangerous, one in risks if dangerous]
    print(f"tuned half, each line left out: recall {sum(found)} of {len(found)}, threshold {model.threshold}")
    model.save(folder, encoder.identity)
    return model


def risk(line: DangerLine, scores: Scores) -> float:
    """Return the highest threshold at which the gate raises an alarm at a conversation; 1 where a phrase does."""
    if danger(line.text, PHRASES):
        return 1.0
    said = [windows(line.lines[: place + 1]) for place in range(len(line.lines))]
    score = max(scores([text for some in said for text in some]), default=0.0)
    return score + DOUBT if danger(line.text, DOUBTFUL) else score


def chosen_threshold(risks: Sequence[tuple[bool, float]], most: float = MOST_FALSE_ALARMS) -> float:
    """Return the lowest threshold, in steps of 0.001, at which at most this share of harmless lines raises an alarm.

    Args:
        risks: whether a line speaks of danger, and the result of `risk`.
    """
    harmless = [one for dangerous, one in risks if not dangerous]
    steps = (step / 1000 for step in range(1, 1000))
    return next((step for step in steps if sum(one >= step for one in harmless) <= most * len(harmless)), 0.999)


def gate(scores: Scores | None, threshold: float) -> Alarm:
    """Return whether the gate of a conversation, as ``chat`` and ``reply`` have it, raises an alarm at its lines."""
    known: dict[str, float] = {}

    def cached(texts: Sequence[str]) -> list[float]:
        new = [text for text in texts if text not in known]
        known.update(zip(new, scores(new) if scores and new else (), strict=True))
        return [known[text] for text in texts]

    def alarm(lines: Sequence[str]) -> bool:
        conversation = SafeConversation(cached if scores else None, threshold)
        return any(conversation.answer_to(line) is not None for line in lines)

    return alarm


def evaluated(half: str, model: DangerClassifier) -> str:
    """Return the figures of a half as text: floors first, then the list alone, and the gate with its kinds."""
    lines = evaluation_lines(half)
    arms: dict[str, Alarm] = {
        "always alarm": lambda said: True,
        "never alarm": lambda said: False,
        "phrases, each line alone": lambda said: any(danger(line) for line in said),
        "phrases, conversation": gate(None, 1),
        "phrases and classifier, conversation": gate(model.scores, model.threshold),
    }
    shown = [f"{half} half, threshold {model.threshold}: recall, false alarms (95 % intervals, Wilson)"]
    for name, alarm in arms.items():
        recall, false_alarms, kinds = rates(lines, alarm)
        shown.append(f"{name}: {recall}, {false_alarms}")
    danger_kinds = {line.kind for line in lines if line.danger}
    shown += [f"  {'recall' if kind in danger_kinds else 'false alarms'} {kind}: {one}" for kind, one in kinds.items()]
    return "\n".join(shown)


def encoder_model() -> ResolvedModel:
    """Return the encoder that ``safety.encoder`` names by default."""
    return resolve(SafetySettings().encoder, Path(tempfile.gettempdir()))


def _rows(lines: Sequence[DangerLine]) -> list[tuple[str, int]]:
    return [(line.text, int(line.danger)) for line in lines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, or evaluate the tuned half (by default) or the held-out half."""
    parser = argparse.ArgumentParser(prog="python -m etl.training.danger", description=__doc__)
    parser.add_argument("command", choices=("train", "evaluate"))
    parser.add_argument("--half", choices=(TUNE, HELD_OUT), default=TUNE)
    parser.add_argument("--folder", type=Path, help="of the weights; default: conf/safety")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    encoder = encoder_model()
    with as_file(files("conf") / "safety") as package:
        folder = options.folder or package
        if options.command == "train":
            train(folder)
        print(evaluated(options.half, DangerClassifier.read(folder, encoder.path, encoder.identity)))


if __name__ == "__main__":
    main()
