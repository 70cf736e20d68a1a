"""Read the answers to questionnaires and select the valid ones, by the same rules for every form."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.form_settings import FormAnswers
from etl.annotation.exports import Form
from etl.common.labelled_files import NamedFiles, json_lines, read_files
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.answer_files import DDL, SCHEMA, answers_in


def form_keys(spark: SparkSession, files: NamedFiles | Sequence[str], form: Form) -> DataFrame:
    """Return one row for each item of a form's exported batches, read from their key files."""
    ddl = f"batch_id string, purpose string, hit_id string, item_id string, {form.facts}"
    return batch_keys(spark, files, ddl, form.purpose, form.fact_names).drop("purpose")


def batch_keys(
    spark: SparkSession, files: NamedFiles | Sequence[str], ddl: str, purpose: str, order: Sequence[str]
) -> DataFrame:
    """Return one row for each item of the batches of a purpose, read from their key files.

    A later batch can repeat a HIT of an earlier one. Only the first by name is kept.

    Args:
        ddl: the columns of the key files.
        purpose: the others' batches are left out.
        order: columns that break a tie between rows of one batch.
    """
    keys = json_lines(spark, files, ddl).drop("value", "broken")
    known = keys.where(F.col("hit_id").isNotNull() & F.col("item_id").isNotNull() & (F.col("purpose") == purpose))
    first = Window.partitionBy("hit_id", "item_id").orderBy("batch_id", *order)
    return known.withColumn("nth", F.row_number().over(first)).where(F.col("nth") == 1).drop("nth")


def counted_answers(
    answers: DataFrame,
    keys: DataFrame,
    questions: Mapping[str, Sequence[str] | None],
    required: int,
    settings: FormAnswers,
) -> Outcome:
    """Return the valid answers to a form with their items, and drop the others; see `judged_answers`.

    Returns:
        Outcome of the key's columns, worker_id, question, value, seconds, submitted. The unit is the answer.
    """
    value = F.when(F.lower("value") == "true", F.lit("true")).otherwise(F.col("value"))
    rule = Rule(questions, required, settings.known_raters, settings.keep_half_done)
    judged = judged_answers(answers.withColumn("value", value), keys, rule)
    own = ("worker_id", "question", "value", "seconds", "submitted")
    rows = judged.where(F.col("fault").isNull()).select(*keys.columns, *own)
    dropped = dropped_columns("answer", "place", F.col("fault"), 1, detail_of_answer())
    return Outcome(rows, judged.where(F.col("fault").isNotNull()).select(*dropped))


class Rule(NamedTuple):
    """The rule by which answers are counted.

    Attributes:
        questions: the valid values of each question; None for any.
        required: number of required questions per item, which come first.
        known: ids of workers; () for everybody.
        keep_half_done: whether also count answers of unfinished tasks.
        unit: what one worker answers once; the item by default.
    """

    questions: Mapping[str, Sequence[str] | None]
    required: int
    known: Sequence[str]
    keep_half_done: bool
    unit: Column | None = None


def judged_answers(answers: DataFrame, keys: DataFrame, rule: Rule) -> DataFrame:
    """Add to answers their items, ``whole`` (all of the task is answered) and ``fault``, the first rule broken (ours).

    The rules are: ``not_readable``; ``rejected`` by the requester on the platform; ``no_worker``; ``unknown_worker``,
    if known ones are configured; ``unknown_item``, found in no batch; ``other_question``; ``no_answer``;
    ``out_of_range``: not an option of the question; ``answered_again``: of a worker's answers to a question the last is
    kept; ``half_done``: required questions of the task are not answered.

    Args:
        answers: rows of ``udfs.answer_files``.
        keys: items of the batches: hit_id, item_id and further columns.
    """
    sizes = keys.groupBy("hit_id").agg(F.count("*").alias("hit_items"))
    asked = keys.join(sizes, "hit_id").withColumn("is_known", F.lit(True))
    # The key decides which batch an item belongs to, not the answer's file.
    given = answers.drop("batch_id").join(F.broadcast(asked), ["hit_id", "item_id"], "left")
    given = given.withColumn("question", F.coalesce("question", F.lit("")))
    stranger = ~F.col("worker_id").isin(*rule.known) if rule.known else F.lit(False)
    fault = (
        F.when(F.col("fault").isNotNull(), F.col("fault"))
        .when(F.col("worker_id").isNull(), "no_worker")
        .when(stranger, "unknown_worker")
        .when(F.col("is_known").isNull(), "unknown_item")
        .when(~F.col("question").isin(*rule.questions), "other_question")
        .when(F.col("value").isNull(), "no_answer")
        .when(_out_of_range(rule.questions), "out_of_range")
    )
    unit = F.concat_ws("/", "hit_id", "item_id") if rule.unit is None else rule.unit
    latest = Window.partitionBy("worker_id", unit, "question", F.col("fault").isNull()).orderBy(*latest_first())
    judged = given.withColumn("fault", fault).withColumn("nth", F.row_number().over(latest))
    judged = judged.withColumn("fault", F.coalesce("fault", F.when(F.col("nth") > 1, F.lit("answered_again"))))
    # A turn that was answered again in another task is done in this one.
    known = F.coalesce("fault", F.lit("answered_again")) == "answered_again"
    needed = F.when(
        known & F.col("question").isin(*list(rule.questions)[: rule.required]), F.struct("item_id", "question")
    )
    done = F.size(F.collect_set(needed).over(Window.partitionBy("worker_id", "hit_id")))
    judged = judged.withColumn("whole", done == F.col("hit_items") * rule.required)
    half = F.when(~F.col("whole"), F.lit("half_done"))
    return judged if rule.keep_half_done else judged.withColumn("fault", F.coalesce("fault", half))


def detail_of_answer() -> Column:
    """Return the detail of a dropped answer: what the reader says, or the answer itself."""
    answer = F.concat_ws(", ", "worker_id", "hit_id", "item_id", "question", F.left("value", F.lit(100)))
    return F.coalesce("detail", answer)


def latest_first() -> list[Column]:
    """Return the order in which answers to one question replace each other: the latest first, then as in the files."""
    return [
        F.col("submitted").desc_nulls_last(),
        F.regexp_extract("place", "^(.*?)(#[0-9]+)?$", 1),
        F.expr("try_cast(regexp_extract(place, '#([0-9]+)$', 1) AS int)"),
        F.col("place"),
    ]


def _out_of_range(questions: Mapping[str, Sequence[str] | None]) -> Column:
    outside = F.lit(False)
    for name, values in questions.items():
        if values is not None:
            outside = outside | ((F.col("question") == name) & ~F.col("value").isin(*values))
    return outside


def read_answers(spark: SparkSession, files: NamedFiles | Sequence[str]) -> DataFrame:
    """Read one row for each answer in files of the page, see ``udfs.answer_files``."""
    return read_files(spark, files, answers_in, SCHEMA, DDL)


def refuse_all_dropped(outcome: Outcome, setting: str) -> Outcome:
    """Return an outcome of a stage that reads files of answers, unless one reason dropped all of them.

    Raises:
        InputError: answers came in, none is left, and all were dropped for one reason.
    """
    if not outcome.rows_in or outcome.dropped is None or not outcome.rows.isEmpty():
        return outcome
    dropped = outcome.dropped.where("units > 0").groupBy("reason")
    found = dropped.agg(F.sum("units").alias("units"), F.min_by("detail", "id").alias("detail")).take(2)
    if len(found) == 1:
        first = found[0]
        raise InputError(f"{setting}: all {first.units:,} answers were dropped as {first.reason}: {first.detail}")
    return outcome
