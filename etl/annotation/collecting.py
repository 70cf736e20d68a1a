"""Answers to questionnaires: which of them count, and why the others do not. The same rules for every form."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.annotation.exports import Form
from etl.tables.outcome import Outcome
from udfs.answer_files import DDL, read_batches


def form_keys(spark: SparkSession, files: Sequence[str], form: Form) -> DataFrame:
    """One row for each item of a form's batches that went out, from their key files; each item once."""
    ddl = f"batch_id string, purpose string, hit_id string, item_id string, {form.facts}"
    if not files:
        return spark.createDataFrame([], ddl)
    keys = spark.read.json(list(files), schema=ddl)
    known = keys.where(F.col("hit_id").isNotNull() & F.col("item_id").isNotNull() & (F.col("purpose") == form.purpose))
    first = Window.partitionBy("hit_id", "item_id").orderBy("batch_id", *form.fact_names)
    return known.withColumn("nth", F.row_number().over(first)).where(F.col("nth") == 1).drop("nth", "purpose")


def counted_answers(
    answers: DataFrame, keys: DataFrame, questions: Mapping[str, Sequence[str] | None], required: int, settings: Any
) -> Outcome:
    """The answers that count, each with what its item is; the others with the first rule they break (ours).

    ``not_readable``; ``no_worker``; ``unknown_worker``, not among those that the settings name, where they name any;
    ``unknown_item``, in none of the batches at hand; ``other_question``; ``no_answer``; ``out_of_range``, none of the
    question's options; ``answered_again``: of one person's answers to one question the last one submitted counts;
    ``half_done``: required questions of the task are without an answer.

    Args:
        answers: rows of ``udfs.answer_files``.
        keys: of ``form_keys``.
        questions: each question to the values it may have; None: any.
        required: how many of the questions must be answered for each item; they come first.
        settings: known_raters, keep_half_done.

    Returns:
        Outcome of the key's columns, worker_id, question, value, seconds, submitted; the unit is the answer.
    """
    sizes = keys.groupBy("hit_id").agg(F.count("*").alias("hit_items"))
    asked = keys.join(sizes, "hit_id").withColumn("is_known", F.lit(True))
    given = answers.drop("batch_id").join(F.broadcast(asked), ["hit_id", "item_id"], "left")
    value = F.when(F.lower("value") == "true", F.lit("true")).otherwise(F.col("value"))
    given = given.withColumn("value", value).withColumn("question", F.coalesce("question", F.lit("")))
    raters = list(settings.known_raters)
    stranger = ~F.col("worker_id").isin(*raters) if raters else F.lit(False)
    limited = [
        (F.col("question") == name) & ~F.col("value").isin(*values)
        for name, values in questions.items()
        if values is not None
    ]
    outside = F.lit(False)
    for one in limited:
        outside = outside | one
    fault = (
        F.when(F.col("fault").isNotNull(), F.col("fault"))
        .when(F.col("worker_id").isNull(), "no_worker")
        .when(stranger, "unknown_worker")
        .when(F.col("is_known").isNull(), "unknown_item")
        .when(~F.col("question").isin(*questions), "other_question")
        .when(F.col("value").isNull(), "no_answer")
        .when(outside, "out_of_range")
    )
    latest = Window.partitionBy("worker_id", "hit_id", "item_id", "question", F.col("fault").isNull()).orderBy(
        F.col("submitted").desc_nulls_last(), "place"
    )
    judged = given.withColumn("fault", fault).withColumn("nth", F.row_number().over(latest))
    judged = judged.withColumn("fault", F.coalesce("fault", F.when(F.col("nth") > 1, F.lit("answered_again"))))
    needed = F.col("fault").isNull() & F.col("question").isin(*list(questions)[:required])
    done = F.count_if(needed).over(Window.partitionBy("worker_id", "hit_id"))
    if not settings.keep_half_done:
        half = F.when(done < F.col("hit_items") * required, F.lit("half_done"))
        judged = judged.withColumn("fault", F.coalesce("fault", half))
    rows = judged.where(F.col("fault").isNull()).select(
        *keys.columns, "worker_id", "question", "value", "seconds", "submitted"
    )
    dropped = judged.where(F.col("fault").isNotNull()).select(
        F.lit("answer").alias("unit"), F.col("place").alias("id"), F.col("fault").alias("reason"),
        F.coalesce(
            "detail", F.concat_ws(", ", "worker_id", "hit_id", "item_id", "question", F.left("value", F.lit(100)))
        ).alias("detail"),
        F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows, dropped)


def read_answers(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """One row for each answer in files of the page; see ``udfs.answer_files``."""
    if not files:
        return spark.createDataFrame([], DDL)
    contents = spark.read.format("binaryFile").load(list(files)).select("path", "content")
    return contents.mapInArrow(read_batches, DDL)  # type: ignore[arg-type]
