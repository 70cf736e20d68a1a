"""MLflow's pyfunc flavour of the classifiers: their folder, read by this module, without pickles.

A registered classifier answers through ``mlflow.pyfunc.load_model`` and ``mlflow models serve``. Its answers are those
of the tables: same texts, same rounding.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conf.errors import InputError
from udfs.models.classifiers.classifier import SequenceClassifier, read_head
from udfs.models.classifiers.dialogue_classifier import DialogueClassifier
from udfs.models.classifiers.multi_label_classifier import MultiLabelClassifier, Passage
from udfs.models.classifiers.weak_labeler import WeakLabeler
from udfs.predict import DECIMALS, scores_or_errors, top_labels

BATCH_SIZE = 64


def _text(row: Mapping[str, Any]) -> Any:
    return row["text"]


def _turns(row: Mapping[str, Any]) -> Any:
    turns = row["turns"]
    return None if turns is None else list(turns)


def _passage(row: Mapping[str, Any]) -> Any:
    context = row.get("context")
    text = row["text"]
    return None if not isinstance(text, str) else Passage(text, context if isinstance(context, str) else None)


SERVED: dict[str, tuple[type[SequenceClassifier[Any]], Callable[[Mapping[str, Any]], Any]]] = {
    WeakLabeler.kind: (WeakLabeler, _text),
    DialogueClassifier.kind: (DialogueClassifier, _turns),
    MultiLabelClassifier.kind: (MultiLabelClassifier, _passage),
}
"""By kind: the model's class, and how a row of a request becomes its item."""


def _refuse_bare_texts(rows: list[Any]) -> None:
    """Raise an MlflowException, status 400, for texts that a request gives as ``inputs`` or ``instances``.

    MLflow makes an array of them, one row, in which the texts of several dialogues would be turns of one.
    """
    turns = rows[0].get("turns") if len(rows) == 1 else None
    if isinstance(turns, np.ndarray) and turns.dtype.kind == "U":
        from mlflow.exceptions import MlflowException

        raise MlflowException.invalid_parameter_value(
            "texts without names may be one dialogue or several: send"
            ' {"dataframe_records": [{"turns": ["...", "..."]}, ...]}, a record a dialogue (a list, no array)'
        )


class ServedClassifier:
    """A classifier that answers data frames.

    Args:
        folder: that the classifier's ``save`` wrote.
    """

    def __init__(self, folder: Path) -> None:
        config = read_head(folder)
        if config.get("kind") not in SERVED:
            raise InputError(f"{folder}: {config.get('kind')} is not served: one of {', '.join(SERVED)}")
        model, self.item = SERVED[config["kind"]]
        self.model: Any = model.load_to_answer(folder)

    def predict(self, model_input: pd.DataFrame) -> pd.DataFrame:
        """Return label and confidence of each row, or all labels from the threshold on; a failed row has an error.

        Args:
            model_input: `text`; `turns`, oldest first; or `context` (may be null) and `text`.
        """
        given_rows: list[Any] = model_input.to_dict("records")
        _refuse_bare_texts(given_rows)
        rows = [self.item(row) for row in given_rows]
        scores, errors = scores_or_errors(self.model, rows, BATCH_SIZE)
        if isinstance(self.model, MultiLabelClassifier):
            rounded = [None if row is None else np.round(row.astype(np.float64), DECIMALS) for row in scores]
            given = [None if row is None else self._given(row) for row in rounded]
            probabilities = [None if row is None else row.tolist() for row in rounded]
            return pd.DataFrame({"labels": given, "probabilities": probabilities, "error": errors})
        best = [(None, None) if row is None else top_labels(row, self.model.labels, 1)[0] for row in scores]
        labels = [label for label, _ in best]
        return pd.DataFrame({"label": labels, "confidence": [share for _, share in best], "error": errors})

    def _given(self, probabilities: Any) -> list[str]:
        given = probabilities >= np.asarray(self.model.cutoffs)
        return [label for label, one in zip(self.model.labels, given, strict=True) if one]


def _load_pyfunc(path: str) -> ServedClassifier:
    """Return the classifier of a logged folder; MLflow calls it."""
    return ServedClassifier(Path(path))
