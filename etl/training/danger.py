"""Train and evaluate the danger classifier of the chat: ``python -m etl.training.danger train|evaluate``.

``train`` learns from ``conf/safety/danger_training.csv``, chooses the epoch and the threshold on the tuned half of
``danger_evaluation.csv``, and writes the weights to ``conf/safety``. ``evaluate`` prints the figures of a half.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

import torch

from conf.safety_settings import SafetySettings
from conf.training_options import ClassifierOptions
from etl.augesc.danger_set import HELD_OUT, TUNE, DangerLine, evaluation_lines, rates, training_lines
from etl.augesc.safe_conversation import SafeConversation, Scores
from etl.augesc.safety import danger
from etl.training.loop.train import TrainingContext, train_model
from udfs.models.classifiers.danger_classifier import DangerClassifier
from udfs.models.loader import ResolvedModel, resolve
from udfs.models.trainable import TrainingRows

RANK = 8
OPTIONS = ClassifierOptions(
    epochs=6, learning_rate=1e-3, head_learning_rate=3e-3, batch_size=32, effective_batch=32, label_smoothing=0.05,
    weight_decay=0.01, max_tokens=64, precision="fp32", device="cpu", threads=2,
)  # fmt: skip
MOST_FALSE_ALARMS = 0.06
"""On the tuned half; below the aim of 0.10, because the threshold is chosen on these lines."""

Alarm = Callable[[Sequence[str]], bool]


def train(folder: Path, options: ClassifierOptions = OPTIONS, rank: int = RANK) -> DangerClassifier:
    """Train the classifier, choose its threshold, and write both to a folder."""
    encoder = encoder_model()
    tuned = evaluation_lines(TUNE)
    rows = TrainingRows(_rows(training_lines()), _rows(tuned))
    start = partial(DangerClassifier.untrained, encoder.path, encoder.identity, options, rank)
    with tempfile.TemporaryDirectory() as scratch:
        train_model(start, rows, options, Path(scratch), TrainingContext(say=partial(print, flush=True)))
        model = DangerClassifier.read(Path(scratch), encoder.path, encoder.identity)
    model.threshold = chosen_threshold(tuned, model.scores)
    model.save(folder)
    return model


def chosen_threshold(lines: Sequence[DangerLine], scores: Scores, most: float = MOST_FALSE_ALARMS) -> float:
    """Return the lowest threshold, in steps of 0.01, at which the gate's false alarms stay within a share of lines."""
    for step in range(5, 100):
        threshold = step / 100
        if rates(lines, gate(scores, threshold))[1].share <= most:
            return threshold
    return 0.99


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
    torch.set_num_threads(OPTIONS.threads or 1)
    encoder = encoder_model()
    with as_file(files("conf") / "safety") as package:
        folder = options.folder or package
        if options.command == "train":
            train(folder)
        print(evaluated(options.half, DangerClassifier.read(folder, encoder.path, encoder.identity)))


if __name__ == "__main__":
    main()
