"""The making of the danger classifiers, and their figures.

They learn from ``data/training.csv``, ``data/grammar`` and the lines by kind (``data/kinds.csv``). Thresholds come
from the tuned half of ``data/evaluation.csv``, whose other half is never learnt. In the packaged classifier the
held-out half of the lines by kind votes, and the model over words learnt it. `evaluated` judges that half without both.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from conf.safety_settings import SafetySettings
from etl.pipeline.model_loader import ResolvedModel, resolve
from etl.safety.classifier import DangerClassifier, TunedEncoder, Weights
from etl.safety.conversation import DOUBT, SafeConversation, Scores, windows
from etl.safety.examples import Examples, FrozenFeatures
from etl.safety.glosses import reading
from etl.safety.grammar import grammar_lines
from etl.safety.lines import (
    HELD_OUT,
    TUNE,
    DangerLine,
    Rate,
    evaluation_lines,
    kind_lines,
    rates,
    training_lines,
    unlike,
)
from etl.safety.phrases import DOUBTFUL, PHRASES, danger
from etl.safety.tuning import far, tuned
from etl.safety.words import DangerWords, counted
from udfs.models.classifiers.classifier import load_encoder

MOST_FALSE_ALARMS = 0.07
"""On the tuned half, below the aim of 0.08."""
STRENGTH_OF_WORDS = 10.0
"""The inverse of the penalty of the linear model over words."""
WEIGHT_OF_KINDS = 3.0
"""Of a line by kind in the model over words, where a line of training has 1."""

Alarm = Callable[[Sequence[str]], bool]


def learnt_lines() -> list[DangerLine]:
    """Return the training lines without those that share their words with a line that is judged, of either half."""
    judged = [line for half in (TUNE, HELD_OUT) for line in (*evaluation_lines(half), *kind_lines(half))]
    return unlike([*training_lines(), *grammar_lines()], judged)


def train(folder: Path) -> DangerClassifier:
    """Train the classifier, choose its threshold on the tuned half, and write both to a folder.

    The encoder's changes are not trained on lines that the encoder finds similar to an evaluation line.
    """
    encoder = encoder_model()
    judged = [line.text for half in (TUNE, HELD_OUT) for line in (*evaluation_lines(half), *kind_lines(half))]
    lines = far(*load_encoder(encoder.path), learnt_lines(), judged)
    print(f"{len(lines)} lines to learn from, {sum(line.danger for line in lines)} of danger", flush=True)
    weights = tuned(*load_encoder(encoder.path), [(reading(line.text), line.danger) for line in lines])
    return put_together(folder, encoder, weights, train_words(folder))


def put_together(folder: Path, encoder: ResolvedModel, weights: Weights, words: DangerWords) -> DangerClassifier:
    """Return the classifier with its voting lines and its threshold; write it to a folder.

    The tuned half of the evaluation lines votes as well; for the threshold, each is judged without its own vote, and
    without the lines by kind that are held out.
    """
    lines = training_lines()
    half = evaluation_lines(TUNE)
    by_kind = [*kind_lines(TUNE), *kind_lines(HELD_OUT)]
    known = [*lines, *half, *by_kind]
    features = FrozenFeatures(*load_encoder(encoder.path))
    held_out = [False] * (len(lines) + len(half)) + [line.half == HELD_OUT for line in by_kind]
    vectors = features([reading(line.text) for line in known])
    examples = Examples.of(vectors, [line.danger for line in known], held_out)
    model = DangerClassifier(TunedEncoder(*load_encoder(encoder.path), weights), features, examples, words)
    judge = DangerClassifier(model.tuned, features, examples, fitted_words(held_out=False))
    risks = []
    for place, line in enumerate(half, start=len(lines)):
        risks.append((line.danger, risk(line, voting(judge, without_place(examples, place)))))
    model.threshold = chosen_threshold(risks)
    for dangerous, name in ((True, "recall"), (False, "false alarms")):
        judged = [one >= model.threshold for truth, one in risks if truth == dangerous]
        print(f"tuned half, each line without its own vote: {name} {Rate(sum(judged), len(judged))}")
    model.save(folder, encoder.identity)
    return model


def without_place(examples: Examples, place: int) -> NDArray[np.bool_]:
    """Return which examples do not vote on a line that is one of them: itself, and those held out."""
    without = examples.held_out.copy()
    without[place] = True
    return without


def voting(model: DangerClassifier, without: NDArray[np.bool_]) -> Scores:
    """Return the scores of a classifier in which some examples do not vote."""
    return lambda texts: model.scores(texts, without)


def train_words(folder: Path) -> DangerWords:
    """Train the classifier that needs no encoder, choose its threshold, and write both to a folder."""
    model = fitted_words(held_out=True)
    model.threshold = words_threshold(fitted_words(held_out=False))
    model.save(folder)
    return model


def words_threshold(model: DangerWords) -> float:
    """Return the threshold of the classifier that needs no encoder, chosen on the tuned half."""
    return chosen_threshold([(line.danger, risk(line, model.scores)) for line in evaluation_lines(TUNE)])


def fitted_words(held_out: bool) -> DangerWords:
    """Return the model over words, with or without what is held out of the lines by kind, and no chosen threshold."""
    by_kind = [*kind_lines(TUNE), *(kind_lines(HELD_OUT) if held_out else ())]
    older = learnt_lines()
    lines = [*older, *by_kind]
    fitted = LogisticRegression(C=STRENGTH_OF_WORDS, solver="liblinear", class_weight="balanced", random_state=0)
    fitted.fit(
        counted([line.text for line in lines]),
        [line.danger for line in lines],
        sample_weight=[1.0] * len(older) + [WEIGHT_OF_KINDS] * len(by_kind),
    )
    return DangerWords.of(fitted.coef_[0], float(fitted.intercept_[0]), 0.5)


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


def judged_gates(model: DangerClassifier) -> dict[str, Alarm]:
    """Return the gates with and without an encoder, both without what is held out of the lines by kind."""
    words = fitted_words(held_out=False)
    alone = DangerClassifier(model.tuned, model.features, model.examples, words, model.threshold)
    return {
        "phrases and words": gate(words.scores, words_threshold(words)),
        "phrases and classifier": gate(voting(alone, model.examples.held_out), model.threshold),
    }


def evaluated(half: str, model: DangerClassifier) -> str:
    """Return the figures of a half as text: floors first, then the phrases alone, and the gates by kind."""
    arms: dict[str, Alarm] = {
        "always alarm": lambda said: True,
        "never alarm": lambda said: False,
        "phrases": gate(None, 1),
        **judged_gates(model),
    }
    shown = [f"{half} halves, threshold {model.threshold}: recall, false alarms (Wilson, 95 %)"]
    for title, lines in (("evaluation.csv", evaluation_lines(half)), ("kinds.csv", kind_lines(half))):
        for name, alarm in arms.items():
            recall, false_alarms, _ = rates(lines, alarm)
            shown.append(f"{title}, {name}: {recall}, {false_alarms}")
        for name in ("phrases and words", "phrases and classifier"):
            shown += [f"  {name}, {group}" for group in by_group(lines, arms[name])]
    return "\n".join(shown)


def by_group(lines: Sequence[DangerLine], alarm: Alarm) -> list[str]:
    """Return a row for each kind, language and style of the lines: recall, and the rate of false alarms."""
    found = []
    for name in ("kind", "language", "style"):
        for value in dict.fromkeys(getattr(line, name) for line in lines):
            some = [line for line in lines if getattr(line, name) == value]
            recall, false_alarms, _ = rates(some, alarm)
            told = [f"{what} {one}" for what, one in (("recall", recall), ("false alarms", false_alarms)) if one.cases]
            if value:
                found.append(f"{name} {value}: {', '.join(told)}")
    return found


def encoder_model() -> ResolvedModel:
    """Return the encoder that ``safety.encoder`` names by default."""
    return resolve(SafetySettings().encoder, Path(tempfile.gettempdir()))
