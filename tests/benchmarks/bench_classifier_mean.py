"""The mean of several dialogue classifiers' probabilities, chosen on validation rows and measured on test rows.

    python -m tests.benchmarks.bench_classifier_mean TABLE MODEL [MODEL ...] [--threads N]

TABLE is the folder of ``edos.training_dialogues``, each MODEL that of a dialogue classifier, as MLflow stores it; they
may start from different encoders, unlike the members of one model. Prints accuracy and macro-F1 in % of each subset of
the models on the crowd's validation and test rows, the floor of the most frequent label, and which subset is the best
on validation rows. No Spark.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import deltalake
import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from etl.training.held_out_classifiers import answers_to
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier

PARTS = ("validation", "test")
Answers = Mapping[str, Sequence[NDArray[Any]]]
"""Of each part, the probabilities (rows, labels) of each model."""


def figures(probabilities: NDArray[Any], truth: NDArray[Any]) -> tuple[float, float]:
    """Return accuracy and macro-F1 of the most probable labels."""
    labels = probabilities.argmax(axis=1)
    return float((labels == truth).mean()), float(f1_score(truth, labels, average="macro"))


def subsets(answers: Answers, truths: Mapping[str, NDArray[Any]]) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
    """Return each subset of the models, by their places, with its figures by part; the best on validation rows first.

    A smaller subset goes before a larger one that is as good there.
    """
    models = range(len(answers["test"]))
    found = []
    for number in range(1, len(models) + 1):
        for some in combinations(models, number):
            mean = {part: np.mean([answers[part][place] for place in some], axis=0) for part in PARTS}
            found.append((some, {part: figures(mean[part], truths[part]) for part in PARTS}))
    return sorted(found, key=lambda one: (-one[1]["validation"][0], len(one[0])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("table")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    rows = deltalake.DeltaTable(given.table).to_pandas(columns=["turns", "label", "split"])
    models = [DialogueClassifier.load(Path(folder)) for folder in given.models]
    ids = {label: number for number, label in enumerate(models[0].labels)}
    truths, answers = {}, {}
    for part in PARTS:
        some = rows[rows["split"] == part]
        truths[part] = some["label"].map(ids).to_numpy()
        histories = [(tuple(turns), None) for turns in some["turns"]]
        answers[part] = [answers_to(model, histories) for model in models]
    print(f"{len(truths['validation']):,} validation rows, {len(truths['test']):,} test rows")
    counts = np.bincount(truths["test"])
    print(f"floor on test rows, the most frequent label: accuracy {100 * counts.max() / counts.sum():.2f}")
    for place, (some, found) in enumerate(subsets(answers, truths)):
        told = ", ".join(f"{part} {100 * found[part][0]:.2f}, {100 * found[part][1]:.2f}" for part in PARTS)
        chosen = "; the best on validation rows" if place == 0 else ""
        print(f"models {' + '.join(str(one + 1) for one in some)}: {told}{chosen}")


if __name__ == "__main__":
    main()
