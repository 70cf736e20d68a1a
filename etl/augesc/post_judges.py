"""Judge the emotion and the toxicity of posts: neutral, positive and toxic ones start no conversation (AugESC A).

The paper asks two classifiers of emotions and one of toxicity. Each can be named by a setting:
``models.query_emotions``, ``models.query_goemotions``, ``models.toxicity``. Where one is null, the sentence encoder
stands in (ours): a post has the label whose examples in ``conf/augesc/emotion_examples.csv`` are most similar to it.
"""

import csv
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf import resources
from conf.errors import InputError
from conf.taxonomy import goemotions_mapping, goemotions_polarities
from etl.common.text_comparison import word_pattern
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.vectors import nearest_labels, of_length_1

EXAMPLES = "augesc/emotion_examples.csv"
EMOTIONS = "emotions"
GOEMOTIONS = "goemotions"
TOXICITY = "toxicity"
JUDGES = (EMOTIONS, GOEMOTIONS, TOXICITY)
TOXIC = "toxic"
MOST_SIMILAR = 3
"""Examples of a label whose mean similarity counts: one alone may share its topic, not its emotion."""
TOXIC_MARGIN = 0.03
"""A post is toxic where its cosine to toxic examples exceeds that to any emotion's by this margin."""
NEUTRAL = "neutral"
JUDGED = (NEUTRAL, "positive")
"""Polarities of posts that are left out."""


class Example(NamedTuple):
    """A text that is typical of a label, as one judge gives it."""

    judge: str
    label: str
    text: str


def examples() -> list[Example]:
    """Return the examples by which the sentence encoder stands in for classifiers, in our words."""
    rows = csv.DictReader(resources.text(EXAMPLES).splitlines())
    return [Example(row["judge"], row["label"], row["text"]) for row in rows]


def polarities() -> dict[str, str]:
    """Return the polarity of all labels of both taxonomies and of their other names; "joy" is positive."""
    known = goemotions_polarities()
    return known | {name: known[label] for name, label in goemotions_mapping().items() if label is not None}


def require_known_labels(labels: Sequence[str], setting: str) -> None:
    """Raise an InputError where a classifier's labels are not all known emotions, neutral among them.

    Posts with a label of no known polarity would all stay.
    """
    moods = polarities()
    unknown = [label for label in labels if label not in moods]
    if unknown or NEUTRAL not in map(moods.get, labels):
        has = f"does not know {', '.join(map(repr, unknown[:5]))}" if unknown else "needs a label neutral"
        raise InputError(
            f"{setting}: the stage {has}: choose a classifier of GoEmotions' or Ekman's emotions and neutral, or name "
            "its labels so under id2label in its config.json"
        )


def nearest_label(embedding: Column, judge: str, chosen: Sequence[Example], vectors: NDArray[np.float32]) -> Column:
    """Return the label that a judge's stand-in gives to an embedding; null without one.

    Args:
        embedding: array of floats.
        judge: one of ``JUDGES``. Toxicity compares its examples with those of the emotions.
    """
    of_judge = (judge, EMOTIONS) if judge == TOXICITY else (judge,)
    places = [place for place, one in enumerate(chosen) if one.judge in of_judge]
    labels = [chosen[place].label for place in places]
    known = of_length_1(vectors[places])

    def labelled(embeddings: pd.Series) -> pd.Series:
        found: list[str | None] = [None] * len(embeddings)
        given = [place for place, vector in enumerate(embeddings) if vector is not None]
        if not given:
            return pd.Series(found, dtype=object)
        asked = of_length_1(np.stack([np.asarray(embeddings.iloc[place], dtype=np.float32) for place in given]))
        nearest = (
            _toxic(asked, labels, known) if judge == TOXICITY else nearest_labels(asked, labels, known, MOST_SIMILAR)
        )
        for place, (label, _) in zip(given, nearest, strict=True):
            found[place] = label
        return pd.Series(found, dtype=object)

    return F.pandas_udf(labelled, "string")(embedding)  # type: ignore[call-overload,no-any-return]


def _toxic(vectors: NDArray[np.float32], labels: Sequence[str], known: NDArray[np.float32]) -> list[tuple[str, float]]:
    """Return toxic for vectors that are more similar to the toxic examples by the margin, else the nearest emotion."""
    toxic = [place for place, label in enumerate(labels) if label == TOXIC]
    others = [place for place, label in enumerate(labels) if label != TOXIC]
    of_toxic = nearest_labels(vectors, [TOXIC] * len(toxic), known[toxic], MOST_SIMILAR)
    of_others = nearest_labels(vectors, [labels[place] for place in others], known[others], MOST_SIMILAR)
    return [one if one[1] - other[1] >= TOXIC_MARGIN else other for one, other in zip(of_toxic, of_others, strict=True)]


def judged_posts(posts: Outcome, labels: Mapping[str, DataFrame], profane: Sequence[str], toxic: float) -> Outcome:
    """Drop the posts of forums that a judge calls neutral, positive or toxic (AugESC A).

    First posts of EmpatheticDialogues have people's labels and are not judged, as in the paper. A post that a judge
    cannot answer is dropped as ``not_judged``.

    Args:
        posts: Outcome of ``etl.augesc.queries.chosen_queries``; its rows with ``text_hash``.
        labels: by judge, (text_hash, label, score, model, error) of each text; a missing judge is not asked. The score
            is the probability of ``label`` (of toxicity: of the label toxic), or null for a stand-in.
        profane: words that make a post toxic where the sentence encoder stands in for a classifier.
        toxic: least probability at which a classifier calls a post toxic.

    Returns:
        Outcome of ``augesc.queries``, with ``emotions``, ``goemotions``, ``toxicity`` (labels) and ``judged_by``.
    """
    rows = posts.rows
    of_forum = F.col("source") == "reddit"
    reasons = []
    judged_by = []
    for judge in JUDGES:
        if judge not in labels:
            rows = rows.withColumn(judge, F.lit(None).cast("string"))
            continue
        answer = f"{judge}_answer"
        answers = labels[judge].select("text_hash", F.struct("label", "score", "model", "error").alias(answer))
        rows = rows.join(answers, "text_hash", "left").withColumn(answer, F.when(of_forum, F.col(answer)))
        label = F.col(f"{answer}.label")
        if judge == TOXICITY:
            listed = F.col("text").rlike(word_pattern(profane)) if profane else F.lit(False)
            is_toxic = F.coalesce(F.col(f"{answer}.score") >= toxic, (label == TOXIC) | listed)
            label = F.when(is_toxic, TOXIC).otherwise(F.when(label.isNotNull(), "not toxic"))
            out = label == TOXIC
        else:
            moods = polarities()
            out = F.lower(label).isin(*(name for name, mood in moods.items() if mood in JUDGED))
        asked = of_forum & label.isNull()
        reasons += [
            F.when(asked, _reason("not_judged", judge, F.col(f"{answer}.error"))),
            F.when(of_forum & out, _reason(TOXIC if judge == TOXICITY else "neutral_or_positive", judge, label)),
        ]
        judged_by.append(F.when(of_forum, F.concat_ws(": ", F.lit(judge), F.col(f"{answer}.model"))))
        rows = rows.withColumn(judge, F.when(of_forum, label))
    reason = F.coalesce(*reasons) if reasons else F.lit(None).cast("struct<reason: string, detail: string>")
    known = F.array_compact(F.array(*judged_by)) if judged_by else F.array().cast("array<string>")
    judged = rows.withColumns({"left_out": reason, "judged_by": known}).persist()
    columns = dropped_columns("post", "query_id", F.col("left_out.reason"), 1, F.col("left_out.detail"))
    dropped = judged.where(F.col("left_out").isNotNull()).select(*columns)
    before = dropped if posts.dropped is None else posts.dropped.unionByName(dropped)
    return Outcome(judged.where(F.col("left_out").isNull()), before, rows_in=posts.rows_in)


def _reason(reason: str, judge: str, detail: Column) -> Column:
    return F.struct(F.lit(reason).alias("reason"), F.concat_ws(": ", F.lit(judge), detail).alias("detail"))
