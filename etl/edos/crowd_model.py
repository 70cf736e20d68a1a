"""Estimate the probability of each label of a turn from its votes, by the model of Dawid and Skene (1979).

Each worker has a confusion matrix: how often a vote for one label stands for another. Matrices and probabilities are
estimated together by EM (crowd-kit). The released votes name no workers: their three columns stand for workers.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

LEAST = 0.01
PLACES = 4
ITERATIONS = 100
"""Probabilities below the least are left out; the others are rounded, so that sums in another order change nothing."""
SCHEMA = "dialogue_id string, turn int, probabilities array<struct<label: string, probability: double>>"


def dawid_skene(annotations: DataFrame, labels: Sequence[str]) -> DataFrame:
    """Return (dialogue_id, turn, probabilities) of turns with a vote in the taxonomy, the most probable label first.

    All votes are read on the driver: the paper has 30,750.

    Args:
        annotations: ``edos.annotations``.
        labels: the taxonomy.
    """
    spark = annotations.sparkSession
    units = ["dialogue_id", "turn"]
    votes = annotations.where(F.col("label").isin(*labels)).select(*units, "worker_id", "label")
    given = votes.orderBy(*units, "worker_id", "label").toPandas()
    if given.empty:
        return spark.createDataFrame([], SCHEMA)
    from crowdkit.aggregation.classification.dawid_skene import DawidSkene

    tasks = list(zip(given["dialogue_id"], given["turn"].tolist(), strict=True))
    places = {task: place for place, task in enumerate(dict.fromkeys(tasks))}
    data = given.assign(task=[places[task] for task in tasks]).rename(columns={"worker_id": "worker"})
    found = DawidSkene(n_iter=ITERATIONS).fit_predict_proba(data[["task", "worker", "label"]])
    shares: Any = found.round(PLACES).to_dict("index")
    rows = []
    for task, place in places.items():
        ordered = sorted((-share, str(label)) for label, share in shares[place].items() if share >= LEAST)
        rows.append((*task, [(label, float(-share)) for share, label in ordered]))
    return spark.createDataFrame(rows, SCHEMA)
