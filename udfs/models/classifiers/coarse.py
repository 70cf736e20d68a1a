"""Classifiers that learn from rows of which only a group of labels is known."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from conf.errors import InputError
from udfs.models.classifiers.classifier import LabelledRow, SequenceClassifier, row_schema
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.weak_labeler import WeakLabeler


class LearnsFromGroups(SequenceClassifier[Any]):
    """A row's truth is a group of label ids, one of which is right: the loss is that of the group's probability.

    With one label in each group it is the loss of the class that learns from labels, and a saved model is one of that.
    """

    schema = row_schema(pa.list_(pa.int32()))

    def check_truths(self, truths: Sequence[Any], what: str) -> None:
        if any(len(truth) == 0 for truth in truths):
            raise InputError(f"a row of the {what} rows has an empty group of labels")
        super().check_truths([label for truth in truths for label in truth], what)

    def targets(self, truths: Sequence[Any]) -> Tensor:
        """Return whether each label is in each row's group (rows, labels)."""
        member = torch.zeros(len(truths), len(self.labels), dtype=torch.bool)
        for row, truth in enumerate(truths):
            member[row, list(truth)] = True
        return member

    def loss(self, logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        logs = torch.log_softmax(logits, dim=-1)
        group = torch.logsumexp(logs.masked_fill(~targets, float("-inf")), dim=-1)
        return -((1 - smoothing) * group + smoothing * logs.mean(dim=-1)).sum()

    def truths(self, rows: Sequence[LabelledRow]) -> list[Any]:
        """Return the first label of each row's group; rows that are validated have one."""
        return [int(row.truth[0]) for row in rows]


class CoarseLabeler(LearnsFromGroups, WeakLabeler):
    """A weak labeler that learns from transcripts, too (ours)."""


class CoarseClassifier(LearnsFromGroups, DialogueClassifier):
    """A dialogue classifier that learns from transcripts, too (ours)."""
