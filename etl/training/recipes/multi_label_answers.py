"""The answers of Emo Pillars' models to the data set's own test sets."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.emo_pillars.intra_dataset import TESTED_ON, given_labels, with_f1
from etl.pipeline.stage_run import StageRun
from etl.tables.outcome import Outcome
from etl.training.recipes.multi_label import contextless, contextual
from udfs.predict import answer_passages


def answers_on_tests(examples: DataFrame, contextual_examples: DataFrame, run: StageRun) -> Outcome:
    """Each model's answers: context-less models read utterances alone, on all three test sets (Emo Pillars Table 1);
    context-aware ones read contexts too, on the two that have them (Table 5).

    Raises:
        InputError: the settings leave no model.
    """
    sets = dict(zip(TESTED_ON, (contextless(examples), *_sets(contextual_examples, False)), strict=True))
    with_contexts = dict(zip(TESTED_ON[1:], _sets(contextual_examples, True), strict=True))
    parts = [
        _answers(with_contexts if learner.startswith("emo_pillars_contextual") else sets, learner, run)
        for learner in run.models
        if run.has_model(learner)
    ]
    if not parts:
        raise InputError("no model to test: set models.emo_pillars_contextless or another of its kind")
    found = reduce(DataFrame.unionByName, parts).persist()
    rows = found.where(F.col("error").isNull())
    dropped = found.where(F.col("error").isNotNull()).select(
        F.lit("answer").alias("unit"), F.concat_ws("/", "learner", "tested_on", "passage_id").alias("id"),
        F.lit("model_failed").alias("reason"), F.col("error").alias("detail"), F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows, dropped, rows_in=found.count())


def _sets(contextual_examples: DataFrame, with_context: bool) -> tuple[DataFrame, DataFrame]:
    original, rewritten = (contextual(contextual_examples, one, with_context) for one in (False, True))
    return original, rewritten


def _answers(sets: Mapping[str, DataFrame], learner: str, run: StageRun) -> DataFrame:
    """One model's answers to its test sets, in one pass."""
    tests = [
        passages.where(F.col("split") == "test").withColumn("tested_on", F.lit(tested_on))
        for tested_on, passages in sets.items()
    ]
    key = F.concat_ws("/", "tested_on", "passage_id")
    test = reduce(DataFrame.unionByName, tests).withColumn("place", key)
    answers = answer_passages(test.select("place", "utterance", "context"), **run.model_arguments(learner))
    joined = test.select("place", "tested_on", "passage_id", "labels").join(answers, "place")
    return with_f1(joined.withColumn("given", given_labels())).select(F.lit(learner).alias("learner"), "*")
