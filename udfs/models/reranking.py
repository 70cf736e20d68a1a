"""Choice among candidates for a reply, by a sentence encoder and the emotion classifier (ours)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.sentence_encoder import SentenceEncoder, Vectors
from udfs.vectors import of_length_1

BATCH = 64


@dataclass(frozen=True)
class Reranker:
    """The two models that read candidates.

    Attributes:
        encoder: compares a candidate with the last turn and with the other candidates.
        classifier: says how likely a candidate has the asked intent; None where no intent is asked.
    """

    encoder: SentenceEncoder
    classifier: DialogueClassifier | None = None

    def best(
        self,
        contexts: Sequence[Sequence[str]],
        intents: Sequence[str | None],
        candidates: Sequence[Sequence[str]],
        intent_weight: float,
    ) -> list[int]:
        """Return the place of each history's best candidate, the first of equal ones.

        A candidate's score is the mean of its cosine to the last turn and of its mean cosine to the other candidates
        (the candidate that the others agree on, by minimum Bayes risk). A candidate without text is the last choice.

        Args:
            contexts: histories, oldest turn first.
            candidates: of each history, equally many.
            intent_weight: of the probability of the asked intent, which is added.
        """
        sizes = [len(some) for some in candidates]
        texts = [text or " " for some in candidates for text in some]
        vectors = of_length_1(self.encoder.embed(texts, BATCH))
        last = of_length_1(self.encoder.embed([turns[-1] for turns in contexts], BATCH))
        intended = self._intended(contexts, intents, candidates)
        chosen = []
        start = 0
        for place, size in enumerate(sizes):
            own = vectors[start : start + size]
            others = ((own @ own.T).sum(axis=1) - 1) / max(1, size - 1)
            scores = (others + own @ last[place]) / 2 + intent_weight * intended[start : start + size]
            empty = np.array([not text.strip() for text in candidates[place]])
            chosen.append(int(np.argmax(np.round(np.where(empty, -np.inf, scores), 4))))
            start += size
        return chosen

    def _intended(
        self, contexts: Sequence[Sequence[str]], intents: Sequence[str | None], candidates: Sequence[Sequence[str]]
    ) -> Vectors:
        """Return the probability of the asked intent for each candidate, 0 where none is asked."""
        found = np.zeros(sum(map(len, candidates)), dtype=np.float32)
        places = []
        rows = []
        labels = []
        at = 0
        for context, intent, some in zip(contexts, intents, candidates, strict=True):
            for text in some:
                if self.classifier is not None and intent is not None and intent in self.classifier.labels:
                    places.append(at)
                    rows.append([*context, text or " "])
                    labels.append(self.classifier.labels.index(intent))
                at += 1
        if self.classifier is not None and rows:
            probabilities = self.classifier.probabilities(rows, BATCH).numpy()
            found[places] = probabilities[range(len(rows)), labels]
        return found
