"""Train and evaluate the danger classifier of the chat: ``python -m etl.training.danger train|evaluate``.

``train`` learns from ``conf/safety/danger_training.csv``, chooses the threshold on the tuned half of
``danger_evaluation.csv``, and writes the weights to ``conf/safety``. ``evaluate`` prints the figures of a half.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import torch

from conf.safety_settings import SafetySettings
from etl.augesc.danger_set import HELD_OUT, TUNE, DangerLine, evaluation_lines, rates, training_lines
from etl.augesc.safe_conversation import SafeConversation, Scores, windows
from etl.augesc.safety import danger
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.danger_classifier import DangerClassifier, FrozenFeatures, Head, Matrix
from udfs.models.loader import ResolvedModel, resolve

LAYERS = (4, 5, 6)
NETWORKS, UNITS = 4, 32
"""Networks of other random starts, whose log-odds are averaged, and the hidden units of each."""
EPOCHS, DECAY = 25, 3.0
FOLDS = 4
MOST_FALSE_ALARMS = 0.08
"""On the tuned half, below the aim of 0.10."""

Alarm = Callable[[Sequence[str]], bool]


def train(folder: Path) -> DangerClassifier:
    """Train the classifier on the training lines and the tuned half, choose its threshold, and write both to a folder.

    The threshold is chosen on scores of networks that have not seen the line: by folds of the tuned half.
    """
    encoder, tuned, lines = encoder_model(), evaluation_lines(TUNE), training_lines()
    features = FrozenFeatures(*load_encoder(encoder.path), LAYERS)
    rows, danger = features([line.text for line in lines + tuned]), [line.danger for line in lines + tuned]
    risks = []
    for fold in range(FOLDS):
        held = range(len(lines) + fold, len(rows), FOLDS)
        kept = [place for place in range(len(rows)) if place not in held]
        scores = DangerClassifier(features, trained_head(rows[kept], [danger[place] for place in kept]), 0.5).scores
        risks += [(tuned[place - len(lines)].danger, risk(tuned[place - len(lines)], scores)) for place in held]
        print(f"fold {fold + 1} of {FOLDS}", flush=True)
    model = DangerClassifier(features, trained_head(rows, danger), chosen_threshold(risks))
    recall = [one >= model.threshold for dangerous, one in risks if dangerous]
    print(f"recall of the tuned half by folds: {sum(recall)} of {len(recall)}, threshold {model.threshold}", flush=True)
    model.save(folder, encoder.identity)
    return model


def risk(line: DangerLine, scores: Scores) -> float:
    """Return the highest threshold at which the gate raises an alarm at a conversation; 1 where a phrase does."""
    if gate(None, 1)(line.lines):
        return 1.0
    said = [windows(line.lines[: place + 1]) for place in range(len(line.lines))]
    return max(scores([text for some in said for text in some]), default=0.0)


def chosen_threshold(risks: Sequence[tuple[bool, float]], most: float = MOST_FALSE_ALARMS) -> float:
    """Return the lowest threshold, in steps of 0.01, at which at most this share of harmless lines raises an alarm.

    Args:
        risks: whether a line speaks of danger, and the result of `risk`.
    """
    harmless = [one for dangerous, one in risks if not dangerous]
    steps = (step / 100 for step in range(1, 100))
    return next((step for step in steps if sum(one >= step for one in harmless) <= most * len(harmless)), 0.99)


def trained_head(features: Matrix, danger: Sequence[bool]) -> Head:
    """Return a network that averages several, each trained from another random start."""
    from sklearn.neural_network import MLPClassifier

    mean, deviation = features.mean(0), features.std(0) + 1e-6
    parts = []
    for seed in range(NETWORKS):
        network = MLPClassifier((UNITS,), alpha=DECAY, max_iter=EPOCHS, batch_size=64, random_state=seed)
        network.fit((features - mean) / deviation, np.array(danger, dtype=int))
        (hidden, output), (hidden_bias, bias) = network.coefs_, network.intercepts_
        # The standardisation becomes a part of the first layer.
        scaled = hidden / deviation[:, None]
        parts.append((scaled, hidden_bias - mean @ scaled, output[:, 0] / NETWORKS, bias / NETWORKS))
    hidden, hidden_bias, output, bias = zip(*parts, strict=True)
    whole = (np.concatenate(hidden, 1), np.concatenate(hidden_bias), np.concatenate(output), sum(bias))
    return Head(*(np.asarray(one, dtype=np.float32) for one in whole))


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
