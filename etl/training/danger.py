"""Make and evaluate the danger classifiers of the chat: ``python -m etl.training.danger train|words|evaluate``.

``train`` learns from ``conf/safety/danger_training.csv`` and ``conf/safety/grammar``, chooses the threshold on the
tuned half of ``danger_evaluation.csv``, and writes the weights to ``conf/safety``; ``words`` does so for the classifier
that needs no encoder. ``evaluate`` prints the figures of a half.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import torch
from sklearn.linear_model import LogisticRegression

from conf.safety_settings import SafetySettings
from etl.augesc.danger_grammar import grammar_lines
from etl.augesc.danger_set import HELD_OUT, TUNE, DangerLine, Rate, evaluation_lines, rates, training_lines, unlike
from etl.augesc.safe_conversation import DOUBT, SafeConversation, Scores, windows
from etl.augesc.safety import DOUBTFUL, PHRASES, danger
from etl.pipeline.model_loader import ResolvedModel, resolve
from etl.training.danger_tuning import far, tuned
from udfs.models.classifiers.classifier import load_encoder
from udfs.models.classifiers.danger_classifier import DangerClassifier, TunedEncoder, Weights
from udfs.models.classifiers.danger_examples import Examples, FrozenFeatures
from udfs.models.classifiers.danger_words import DangerWords, counted

MOST_FALSE_ALARMS = 0.07
"""On the tuned half, below the aim of 0.10."""
STRENGTH_OF_WORDS = 10.0
"""The inverse of the penalty of the linear model over words."""

Alarm = Callable[[Sequence[str]], bool]


def learnt_lines() -> list[DangerLine]:
    """Return the training lines without those that share their words with an evaluation line of either half."""
    return unlike([*training_lines(), *grammar_lines()], [*evaluation_lines(TUNE), *evaluation_lines(HELD_OUT)])


def train(folder: Path) -> DangerClassifier:
    """Train the classifier, choose its threshold on the tuned half, and write both to a folder.

    The encoder's changes are not trained on lines that the encoder finds similar to an evaluation line.
    """
    encoder = encoder_model()
    judged = [line.text for half in (TUNE, HELD_OUT) for line in evaluation_lines(half)]
    lines = far(*load_encoder(encoder.path), learnt_lines(), judged)
    print(f"{len(lines)} lines to learn from, {sum(line.danger for line in lines)} of danger", flush=True)
    weights = tuned(*load_encoder(encoder.path), [(line.text, line.danger) for line in lines])
    return put_together(folder, encoder, weights, train_words(folder))


def put_together(folder: Path, encoder: ResolvedModel, weights: Weights, words: DangerWords) -> DangerClassifier:
    """Return the classifier with its voting lines and its threshold; write it to a folder.

    The tuned half votes as well; for the threshold, each of its lines is judged without its own vote.
    """
    lines = training_lines()
    half = evaluation_lines(TUNE)
    known = [*lines, *half]
    features = FrozenFeatures(*load_encoder(encoder.path))
    examples = Examples.of(features([line.text for line in known]), [line.danger for line in known])
    model = DangerClassifier(TunedEncoder(*load_encoder(encoder.path), weights), features, examples, words)
    risks = []
    for place, line in enumerate(half, start=len(lines)):

        def scores(texts: Sequence[str], place: int = place) -> list[float]:
            return model.scores(texts, without=place)

        risks.append((line.danger, risk(line, scores)))
    model.threshold = chosen_threshold(risks)
    for dangerous, name in ((True, "recall"), (False, "false alarms")):
        judged = [one >= model.threshold for truth, one in risks if truth == dangerous]
        print(f"tuned half, each line without its own vote: {name} {Rate(sum(judged), len(judged))}")
    model.save(folder, encoder.identity)
    return model


def train_words(folder: Path) -> DangerWords:
    """Train the classifier that needs no encoder, choose its threshold, and write both to a folder."""
    lines = learnt_lines()
    fitted = LogisticRegression(C=STRENGTH_OF_WORDS, max_iter=500, class_weight="balanced")
    fitted.fit(counted([line.text for line in lines]), [line.danger for line in lines])
    model = DangerWords.of(fitted.coef_[0], float(fitted.intercept_[0]), 0.5)
    model.threshold = chosen_threshold([(line.danger, risk(line, model.scores)) for line in evaluation_lines(TUNE)])
    model.save(folder)
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


def evaluated(half: str, model: DangerClassifier, words: DangerWords) -> str:
    """Return the figures of a half as text: floors first, then the lists alone, and the gates with their kinds."""
    lines = evaluation_lines(half)
    arms: dict[str, Alarm] = {
        "always alarm": lambda said: True,
        "never alarm": lambda said: False,
        "phrases, conversation": gate(None, 1),
        "phrases and words, conversation": gate(words.scores, words.threshold),
        "phrases and classifier, conversation": gate(model.scores, model.threshold),
    }
    shown = [f"{half} half, thresholds {model.threshold}, words {words.threshold}: recall, false alarms (Wilson, 95 %)"]
    danger_kinds = {line.kind for line in lines if line.danger}
    for name, alarm in arms.items():
        recall, false_alarms, kinds = rates(lines, alarm)
        shown.append(f"{name}: {recall}, {false_alarms}")
        if "and" in name:
            told = {kind: "recall" if kind in danger_kinds else "false alarms" for kind in kinds}
            shown += [f"  {told[kind]} {kind}: {one}" for kind, one in kinds.items()]
    return "\n".join(shown)


def encoder_model() -> ResolvedModel:
    """Return the encoder that ``safety.encoder`` names by default."""
    return resolve(SafetySettings().encoder, Path(tempfile.gettempdir()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, or evaluate the tuned half (by default) or the held-out half."""
    parser = argparse.ArgumentParser(prog="python -m etl.training.danger", description=__doc__)
    parser.add_argument("command", choices=("train", "words", "evaluate"))
    parser.add_argument("--half", choices=(TUNE, HELD_OUT), default=TUNE)
    parser.add_argument("--folder", type=Path, help="of the weights; default: conf/safety")
    options = parser.parse_args(arguments)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with as_file(files("conf") / "safety") as package:
        folder = options.folder or package
        if options.command == "train":
            print(f"threshold {train(folder).threshold}")
        elif options.command == "words":
            print(f"threshold {train_words(folder).threshold}")
        else:
            encoder = encoder_model()
            model = DangerClassifier.read(folder, encoder.path, encoder.identity)
            print(evaluated(options.half, model, DangerWords.read(folder)))


if __name__ == "__main__":
    main()
