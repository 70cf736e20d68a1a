"""Classifiers that learn from probabilities of all labels in place of one label."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from conf.errors import InputError
from udfs.models.classifiers.classifier import LabelledRow, SequenceClassifier, row_schema
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler


class LearnsFromProbabilities(SequenceClassifier[Any]):
    """A classifier whose rows have one probability per label: a teacher's, or 1 for the label of a labelled row.

    A saved model is one of the class that learns from labels.
    """

    schema = row_schema(pa.list_(pa.float32()))

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        wrong = next((truth for truth in truths if len(truth) != len(self.labels)), None)
        if wrong is not None:
            raise InputError(f"a row of the {what} rows has {len(wrong)} probabilities for {len(self.labels)} labels")

    def targets(self, truths: Sequence[Any]) -> Tensor:
        return torch.tensor(np.asarray(truths, dtype=np.float32))

    def truths(self, rows: Sequence[LabelledRow]) -> list[Any]:
        """Return the most probable label of each row."""
        return [int(np.argmax(row.truth)) for row in rows]


class DistilledClassifier(LearnsFromProbabilities, DialogueClassifier):
    """A dialogue classifier that learns from another's answers (ours)."""


class DistilledLabeler(LearnsFromProbabilities, WeakLabeler):
    """A weak labeler that learns from another's answers (ours)."""
