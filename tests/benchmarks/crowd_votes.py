"""Compare ways to use the crowd's votes: aggregation, soft labels, and the order in which turns are asked (EDOS 3.2).

    python -m tests.benchmarks.crowd_votes mturk_groundtruth_labels_9k.csv.gz classifier_train.txt.gz

The first file has the released votes, the second the sentences of EmpatheticIntents, on which a stand-in for the weak
labeler is trained. All classifiers are logistic regressions on words; the test rows of a seed are a fifth of the turns
with a majority.
"""

import csv
import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit

from conf.taxonomy import edos_labels
from etl.edos.label_doubts import document

SEEDS = (13, 14, 15)
SIZES = (800, 1600, 3200, 4800)
LABELS = list(edos_labels())
ORDERS = ("random", "readability", "uncertainty", "retrained")


def opened(path: str) -> Any:
    return gzip.open(path, "rt", encoding="utf-8-sig", newline="") if path.endswith(".gz") else Path(path).open()


def crowd(path: str) -> list[tuple[list[str], list[str]]]:
    """Return (turns, votes) of each distinct turn."""
    found = {}
    with opened(path) as file:
        for row in csv.DictReader(file):
            lines = [re.sub(r"^\s*(?:-\s+)+", "", line).strip() for line in row["Dialog"].splitlines()]
            turns = [line for line in lines if line]
            votes = [re.sub(r"\s*\(other\)\s*$", "", row[f"Worker {n} answer"].lower()).strip() for n in (1, 2, 3)]
            found.setdefault((row["DialogID"], len(turns)), (turns, votes))
    return list(found.values())


class Votes:
    """The turns with their votes, majorities, probabilities by Dawid-Skene, readability and weak confidence."""

    def __init__(self, votes_file: str, sentences_file: str) -> None:
        rows = crowd(votes_file)
        self.turns = [turns for turns, _ in rows]
        self.votes = [votes for _, votes in rows]
        most = [Counter(votes).most_common(1)[0] for votes in self.votes]
        self.label = np.array([LABELS.index(a) if n >= 2 and a in LABELS else -1 for a, n in most])
        self.agreed = self.label >= 0
        words = TfidfVectorizer(min_df=2, sublinear_tf=True, token_pattern=r"\S+", lowercase=False)
        self.words = words.fit_transform([document(turns) for turns in self.turns])
        self.shares = np.array([[votes.count(label) / 3 for label in LABELS] for votes in self.votes])
        self.probable = self.dawid_skene()
        tokens = [" ".join(turns).lower().split() for turns in self.turns]
        counts = Counter(token for some in tokens for token in some)
        total = sum(counts.values())
        self.readable = np.array(
            [
                sum(counts[t] for t in some) / total / (87 + len(some)) + 0.04 * len(set(some)) / len(some)
                for some in tokens
            ]
        )
        weak = self.weak(sentences_file)
        self.confidence = weak.max(axis=1)
        self.weak_label = weak.argmax(axis=1)

    def dawid_skene(self) -> Any:
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene

        rows = [(n, str(w), vote) for n, votes in enumerate(self.votes) for w, vote in enumerate(votes, start=1)]
        found = DawidSkene(n_iter=100).fit_predict_proba(pd.DataFrame(rows, columns=["task", "worker", "label"]))
        found = found.reindex(index=range(len(self.votes)), columns=LABELS, fill_value=0.0).to_numpy()
        return found / found.sum(axis=1, keepdims=True)

    def weak(self, sentences_file: str) -> Any:
        texts = []
        labels = []
        with opened(sentences_file) as file:
            for line in file:
                label, mark, text = line.partition("<SEP>")
                if mark and label.strip().isdigit():
                    texts.append(text.strip().lower())
                    labels.append(int(label))
        words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit(texts)
        model = LogisticRegression(C=3, max_iter=20).fit(words.transform(texts), labels)
        return model.predict_proba(words.transform([re.sub(r" (?='| n't)", "", t[-1].lower()) for t in self.turns]))

    def fit(self, places: Any, labels: Any, weights: Any = None) -> Any:
        return LogisticRegression(C=10, max_iter=25).fit(self.words[places], labels, sample_weight=weights)

    def fit_soft(self, probabilities: Any, places: Any) -> Any:
        rows, labels = np.where(probabilities[places] >= 0.05)
        return self.fit(places[rows], labels, probabilities[places][rows, labels])

    def figures(self, model: Any, test: Any) -> tuple[float, float]:
        given = model.predict(self.words[test])
        return f1_score(self.label[test], given, average="macro"), float((given == self.label[test]).mean())

    def splits(self, seed: int) -> tuple[Any, Any, Any]:
        """Return the places of training rows with a majority, of test rows, and of all that are not test rows."""
        known = np.where(self.agreed)[0]
        split = StratifiedShuffleSplit(1, test_size=0.2, random_state=seed)
        train, test = next(split.split(known, self.label[known]))
        return known[train], known[test], np.setdiff1d(np.arange(len(self.label)), known[test])


def by_class(votes: Votes, places: Any, key: Any) -> Any:
    """Return places by key, one of each weak class in turn."""
    ordered = places[np.argsort(key[places], kind="stable")]
    seen = Counter[int]()
    turn = []
    for place in ordered:
        turn.append(seen[votes.weak_label[place]])
        seen[votes.weak_label[place]] += 1
    return ordered[np.argsort(turn, kind="stable")]


def asked(votes: Votes, seed: int) -> Iterator[tuple[str, float]]:
    """Yield (order and votes, macro-F1): three votes are paid for each turn, and only majorities are learned from."""
    _, test, pool = votes.splits(seed)
    keys = {
        "random": np.random.default_rng(seed).random(len(votes.label)),
        "readability": -votes.readable,
        "uncertainty": votes.confidence,
    }
    orders = {name: by_class(votes, pool, key) for name, key in keys.items()}
    learned = orders["readability"][: SIZES[0]]
    for number, size in enumerate(SIZES):
        for name in ORDERS:
            places = learned if name == "retrained" else orders[name][:size]
            places = places[votes.agreed[places]]
            model = votes.fit(places, votes.label[places])
            yield f"asked by {name}, {3 * size:,} votes", votes.figures(model, test)[0]
        if number + 1 < len(SIZES):
            rest = np.setdiff1d(pool, learned)
            sure = np.sort(model.predict_proba(votes.words[rest]), axis=1)
            margin = sure[:, -1] - sure[:, -2]
            more = np.argsort(margin, kind="stable")[: SIZES[number + 1] - size]
            learned = np.concatenate([learned, rest[more]])


def trained(votes: Votes, seed: int) -> Iterator[tuple[str, float]]:
    """Yield (labels learned from, macro-F1 and accuracy) on the test rows' majorities."""
    train, test, pool = votes.splits(seed)
    sure = pool[votes.probable[pool].max(axis=1) > 0.5]
    models = {
        "majority": votes.fit(train, votes.label[train]),
        "vote shares": votes.fit_soft(votes.shares, train),
        "vote shares, all turns": votes.fit_soft(votes.shares, pool),
        "Dawid-Skene labels": votes.fit(sure, votes.probable[sure].argmax(axis=1)),
        "Dawid-Skene probabilities, all turns": votes.fit_soft(votes.probable, pool),
    }
    for name, model in models.items():
        macro_f1, accuracy = votes.figures(model, test)
        yield f"{name}, macro-F1", macro_f1
        yield f"{name}, accuracy", accuracy


def main() -> None:
    votes = Votes(*sys.argv[1:3])
    top = votes.probable.max(axis=1)
    best = votes.probable.argmax(axis=1)
    agreed = votes.agreed
    print(f"turns {len(agreed):,}, with a majority {agreed.sum():,}")
    print(f"Dawid-Skene's label is the majority's: {(best == votes.label)[agreed].mean():.4f}")
    print(f"without a majority, above 0.5: {(top[~agreed] > 0.5).sum():,}, above 0.9: {(top[~agreed] > 0.9).sum():,}")
    figures = defaultdict(list)
    for seed in SEEDS:
        for name, value in (*trained(votes, seed), *asked(votes, seed)):
            figures[name].append(100 * value)
    for name, values in figures.items():
        print(f"{name}: {np.mean(values):.1f} (sd {np.std(values, ddof=1):.1f})")


if __name__ == "__main__":
    main()
