"""From which confidence on a label of the dialogue classifier, or a weak label, is accepted (ours)."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from etl.common.hashes import history_hash, text_hash
from etl.edos.labelled_rows import unit_id
from etl.pipeline.outcome import Outcome, dropped_columns

PRIOR_ROWS = 20
"""Rows for which the accuracy of all labels at a confidence counts beside a label's own rows."""
MARGIN = 0.5
"""Standard errors by which an accuracy on validation rows has to exceed the one to reach: the best of many confidences
looks better on the rows it is chosen by than on others."""


def _held_out(training_dialogues: DataFrame) -> DataFrame:
    return training_dialogues.where("split IN ('validation', 'test')")


def held_out_histories(training_dialogues: DataFrame) -> DataFrame:
    """Return the distinct (history_hash, turns) of held-out rows of ``edos.training_dialogues``."""
    histories = _held_out(training_dialogues).select(history_hash(F.col("turns")).alias("history_hash"), "turns")
    return histories.dropDuplicates(["history_hash"])


def held_out_answers(training_dialogues: DataFrame, scores: DataFrame, model: str) -> DataFrame:
    """Return the classifier's answers to held-out rows.

    Args:
        training_dialogues: ``edos.training_dialogues``.
        scores: ``edos.held_out_scores``.
        model: identity of the dialogue classifier. Rows of other models are ignored.

    Returns:
        dialogue_id, turn, split, truth (the label of people), and the model's label, confidence and error.
    """
    rows = _held_out(training_dialogues).select(
        "dialogue_id",
        "turn",
        "split",
        F.col("label").alias("truth"),
        history_hash(F.col("turns")).alias("history_hash"),
    )
    answers = scores.where(F.col("model") == model).select("history_hash", "label", "confidence", "error")
    return rows.join(answers, "history_hash").drop("history_hash")


def validation_sentences(spark: SparkSession, rows: Sequence[tuple[str, int]], labels: Sequence[str]) -> DataFrame:
    """Return labelled sentences as dialogue_id, turn (both say their place), text, text_hash and truth."""
    places = [("validation", place, text, labels[label]) for place, (text, label) in enumerate(rows)]
    found = spark.createDataFrame(places, "dialogue_id string, turn int, text string, truth string")
    return found.withColumn("text_hash", text_hash(F.col("text")))


def sentence_answers(sentences: DataFrame, scores: DataFrame) -> DataFrame:
    """Return the weak labeler's answers to labelled sentences.

    Args:
        sentences: of `validation_sentences`.
        scores: text_hash, top3, error.

    Returns:
        dialogue_id, turn, truth, and the model's label, confidence and error.
    """
    best = F.get("top3", F.lit(0))
    answers = scores.select("text_hash", best["label"].alias("label"), best["confidence"].alias("confidence"), "error")
    return sentences.drop("text").join(answers, "text_hash").drop("text_hash")


def label_thresholds(answers: DataFrame, labels: Sequence[str], accuracy: float, model: str) -> Outcome:
    """Choose for each label the least confidence from which on enough of its rows are right.

    The accuracy from a confidence on is estimated by the label's own rows and by `PRIOR_ROWS` rows more that are right
    as often as the rows of all labels from there on: a class has about seventeen validation rows. It has to be
    `MARGIN` standard errors above the accuracy to reach. A label that no row has takes the threshold of all labels
    together.

    Args:
        answers: rows of `held_out_answers` that the classifier did not learn from.
        model: identity of the classifier.

    Returns:
        Outcome of ``edos.label_thresholds`` or ``edos.weak_label_thresholds``, a row a label. Rows on which the model
        failed are dropped.
    """
    read = answers.where(F.col("error").isNull()).withColumn("correct", (F.col("label") == F.col("truth")).cast("int"))
    from_here = Window.orderBy(F.col("confidence").desc()).rangeBetween(Window.unboundedPreceding, Window.currentRow)
    of_label = from_here.partitionBy("label")
    pooled = F.avg("correct").over(from_here)
    weight = F.count("*").over(of_label) + PRIOR_ROWS
    own = (F.sum("correct").over(of_label) + PRIOR_ROWS * pooled) / weight
    judged = read.select(
        "label",
        "confidence",
        "correct",
        _with_margin(pooled, F.count("*").over(from_here)).alias("pooled"),
        _with_margin(own, weight).alias("own"),
    )
    least = judged.groupBy("label").agg(F.min(F.when(F.col("own") >= accuracy, F.col("confidence"))).alias("own"))
    of_all = judged.agg(F.min(F.when(F.col("pooled") >= accuracy, F.col("confidence"))).alias("pooled"))
    names = read.sparkSession.createDataFrame([(name,) for name in labels], "label string")
    chosen = names.join(least.withColumn("seen", F.lit(True)), "label", "left").crossJoin(of_all)
    chosen = chosen.select("label", F.when(F.col("seen"), F.col("own")).otherwise(F.col("pooled")).alias("threshold"))
    counted = chosen.join(judged.select("label", "confidence", "correct"), "label", "left")
    over = F.coalesce(F.col("confidence") >= F.col("threshold"), F.lit(False))
    rows = counted.groupBy("label", "threshold").agg(
        F.count("confidence").alias("predicted"),
        F.count_if(over).alias("accepted"),
        F.count_if(over & (F.col("correct") == 1)).alias("correct"),
    )
    failed = answers.where(F.col("error").isNotNull())
    return Outcome(
        rows.select(F.lit(model).alias("model"), "label", "threshold", "predicted", "accepted", "correct"),
        failed.select(*dropped_columns("validation row", unit_id(), "model_failed", 1, F.col("error"))),
    )


def shown_label(label: str, accepted: bool | None) -> str:
    """Return a label as people read it: in brackets where it is not accepted; None: nobody knows."""
    return f"({label})" if accepted is False else label


def _with_margin(share: Column, rows: Column) -> Column:
    return share - MARGIN * F.sqrt(share * (1 - share) / rows)
