"""Rank the crowd's labels by doubt: how improbable each is to a classifier that was not trained on it (ours).

The order is the self-confidence of Northcutt, Jiang and Chuang (2021, "Confident learning"), by cleanlab. The
classifier is a logistic regression on words, trained in folds, which takes seconds and knows nothing of the votes.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from etl.pipeline.outcome import Outcome
from etl.tables.edos import LABEL_DOUBTS

FOLDS = 5
SEED = 13
PLACES = 6
HISTORY = "<"
"""Put before the words of earlier turns, so that the last turn's are told from them."""


def label_doubts(seeds: DataFrame, spark: SparkSession) -> Outcome:
    """Return the crowd's labelled turns with rank, probability and a suggested label: ``edos.label_doubts``.

    Args:
        seeds: ``edos.seeds``, which are read on the driver.

    Raises:
        InputError: there are too few rows for the folds.
    """
    import numpy as np
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    columns = ("dialogue_id", "turn", "turns", "label", "split")
    rows = seeds.select(*columns).orderBy("dialogue_id", "turn").collect()
    names = sorted({row.label for row in rows})
    if len(names) < 2 or len(rows) < 2 * FOLDS:
        raise InputError("edos.seeds has too few labelled turns to doubt any: more crowd votes are needed")
    given = np.array([names.index(row.label) for row in rows])
    probabilities = out_of_fold([document(row.turns) for row in rows], given)
    scores = get_label_quality_scores(given, probabilities, method="self_confidence").round(PLACES)
    doubtful = find_label_issues(given, probabilities, n_jobs=1)
    order = sorted(range(len(rows)), key=lambda place: (scores[place], place))
    ranks = {place: rank for rank, place in enumerate(order, start=1)}
    found = []
    for place, row in enumerate(rows):
        best = int(probabilities[place].argmax())
        suggested = names[best], round(float(probabilities[place, best]), PLACES)
        found.append((*row, float(scores[place]), *suggested, bool(doubtful[place]), ranks[place]))
    return Outcome(spark.createDataFrame(found, LABEL_DOUBTS.schema))


def document(turns: Sequence[str]) -> str:
    """Return a turn with its history as one text of words; those of the history are marked."""
    words = [HISTORY + word for turn in turns[:-1] for word in turn.lower().split()]
    return " ".join([turns[-1].lower(), *words])


def out_of_fold(documents: Sequence[str], given: Any) -> Any:
    """Return probabilities (documents, labels), each from a classifier that was not trained on the document.

    Args:
        given: label ids from 0 on, an array.
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline

    texts = np.array(documents, dtype=object)
    found = np.zeros((len(texts), int(given.max()) + 1))
    counts = np.bincount(given)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED) if counts.min() >= FOLDS else _plain_folds()
    for train, rest in folds.split(texts, given):
        if len(set(given[train])) == 1:
            found[rest, given[train][0]] = 1
            continue
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+", lowercase=False)
        model = make_pipeline(words, LogisticRegression(C=10, max_iter=60)).fit(texts[train], given[train])
        found[np.ix_(rest, model.classes_)] = model.predict_proba(texts[rest])
    return found


def _plain_folds() -> Any:
    """Return folds for classes with fewer rows than folds."""
    from sklearn.model_selection import KFold

    return KFold(FOLDS, shuffle=True, random_state=SEED)
