"""Select the annotation page's valid answers and score the workers' assignments (EDOS 3.2, 7)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from conf.edos_settings import AnswerRules
from etl.annotation.claims import claim_fault, copied_answers, latest_first, with_seats_taken, with_signed
from etl.common.labelled_files import NamedFiles, json_lines
from etl.edos.labelled_rows import unit_id
from etl.edos.votes import normalised_answer, several_options
from etl.pipeline.outcome import Outcome, dropped_columns

KEY_DDL = (
    "batch_id string, purpose string, hit_id string, item_id string, dialogue_id string, turn int, "
    "turns array<string>, options array<string>, quiz_label string, label string, confidence float, band string, "
    "stratum_turns bigint, signatures map<string, string>"
)
QUESTION = "label"


def read_keys(spark: SparkSession, files: NamedFiles | Sequence[str]) -> DataFrame:
    """Return one row for each item of the exported batches, read from their key files."""
    keys = json_lines(spark, files, KEY_DDL).drop("value", "broken")
    known = keys.where(
        F.col("hit_id").isNotNull() & F.col("item_id").isNotNull() & F.col("purpose").isin("crowd", "audit")
    )
    # A later batch can repeat a HIT of an earlier one. Only the first by name is kept.
    first = Window.partitionBy("hit_id", "item_id").orderBy("purpose", "batch_id", "dialogue_id")
    return known.withColumn("nth", F.row_number().over(first)).where(F.col("nth") == 1).drop("nth")


def accepted_answers(answers: DataFrame, keys: DataFrame, labels: Sequence[str], annotation: AnswerRules) -> Outcome:
    """Return the valid answers with their items, and drop the others with a reason.

    The rules are ours. They apply in this order: ``not_readable``; ``rejected`` by the requester on the platform;
    ``no_worker``; ``unknown_worker``, if known workers are configured; ``other_question``; ``unknown_item``, found in
    no batch; ``bad_signature``, and ``not_signed`` if signatures are required; ``no_answer``; ``seat_taken``: another
    worker id used the same link before; ``answered_again``: of a worker's answers to the same turn with its history, or
    to the same quiz item, a signed one is kept before others, then the last; ``half_done_hit``: the worker did not
    answer all items of the HIT. An answer outside the taxonomy is kept with a null label and recorded in the ledger
    with 0 units. So are workers with equal answers, see ``etl.annotation.claims.copied_answers``.

    Args:
        answers: rows of ``read_answers``.
        keys: rows of ``read_keys``.
        labels: the taxonomy, lower case.
        annotation: ``edos.annotation``, with known_workers, keep_half_done and require_signed.

    Returns:
        Outcome of ``edos.answers``. The unit is the answer.
    """
    sizes = keys.groupBy("hit_id").agg(F.count("*").cast("int").alias("hit_items"))
    # The key decides which batch an item belongs to, not the answer's file.
    given = answers.drop("batch_id").join(F.broadcast(keys.join(sizes, "hit_id")), ["hit_id", "item_id"], "left")
    given = with_signed(given)
    known_workers = list(annotation.known_workers)
    stranger = ~F.col("worker_id").isin(*known_workers) if known_workers else F.lit(False)
    faults = (
        F.when(F.col("fault").isNotNull(), F.col("fault"))
        .when(F.col("worker_id").isNull(), "no_worker")
        .when(stranger, "unknown_worker")
        .when(F.coalesce("question", F.lit("")) != QUESTION, "other_question")
        .when(F.col("dialogue_id").isNull(), "unknown_item")
        .when(claim_fault(annotation.require_signed).isNotNull(), claim_fault(annotation.require_signed))
        .when(normalised_answer(F.col("value")).isNull(), "no_answer")
        .when(several_options(F.col("value"), labels), "several_options")
    )
    judged = with_seats_taken(given.withColumn("fault", faults))
    # A quiz situation can be in several HITs. A dialogue's turn is one unit in all of them.
    asked_once = (F.col("purpose") == "crowd") & F.col("quiz_label").isNull()
    unit = F.when(asked_once, unit_id()).otherwise(F.concat_ws("/", "hit_id", "item_id"))
    latest = Window.partitionBy("worker_id", unit, F.col("fault").isNull()).orderBy(*latest_first())
    judged = judged.withColumn("nth", F.row_number().over(latest))
    judged = judged.withColumn("fault", F.coalesce("fault", F.when(F.col("nth") > 1, F.lit("answered_again"))))
    known = F.coalesce("fault", F.lit("answered_again")) == "answered_again"
    done = F.size(F.collect_set("item_id").over(Window.partitionBy("worker_id", "hit_id", known)))
    judged = judged.withColumn("whole_hit", done == F.col("hit_items"))
    if not annotation.keep_half_done:
        half = F.when(~F.col("whole_hit"), F.lit("half_done_hit"))
        judged = judged.withColumn("fault", F.coalesce("fault", half))
    return _outcome(judged, labels)


def _outcome(judged: DataFrame, labels: Sequence[str]) -> Outcome:
    """Return answers without a fault as rows, with the label that they name, and the others as dropped."""
    name = normalised_answer(F.col("value"))
    judged = judged.withColumns(
        {
            "named": F.when(name.isin(*labels), name),
            "specified": F.coalesce("other", F.lit(False)) | ~F.array_contains("options", name),
        }
    )
    rows = judged.where(F.col("fault").isNull()).select(
        "hit_id",
        "item_id",
        "worker_id",
        "batch_id",
        "purpose",
        "dialogue_id",
        "turn",
        "turns",
        F.col("value").alias("answer"),
        F.col("named").alias("label"),
        "specified",
        "quiz_label",
        F.col("label").alias("model_label"),
        "confidence",
        "band",
        "stratum_turns",
        "whole_hit",
        "seconds",
        "submitted",
        "signed",
    )
    outside = F.col("fault").isNull() & F.col("named").isNull()
    reason = F.coalesce("fault", F.lit("outside_taxonomy"))
    units = F.when(outside, 0).otherwise(1)
    detail = F.coalesce("detail", F.concat_ws(", ", "worker_id", "hit_id", "item_id", F.left("value", F.lit(100))))
    dropped = judged.where(F.col("fault").isNotNull() | outside)
    told = dropped.select(*dropped_columns("answer", "place", reason, units, detail))
    return Outcome(rows, told.unionByName(copied_answers(judged)))


def assignments(answers: DataFrame, *, pass_at: int, reward: float, bonus: float) -> DataFrame:
    """Return each worker's result for each HIT: quiz, time and pay (EDOS 7: $0.40, and $0.10 from 3 of 5 right).

    A time is unusually long if it is more than 1.5 interquartile ranges above the third quartile (Tukey's fence). The
    paper leaves out workers who took unusually long and does not give its rule.

    Args:
        answers: ``edos.answers``.
        pass_at: number of right quiz answers that pass.
        reward, bonus: dollars.

    Returns:
        Rows of ``edos.assignments``. Only complete HITs are paid.
    """
    quiz = F.col("quiz_label").isNotNull()
    right = quiz & (F.col("label") == F.col("quiz_label"))
    # Integer tenths of seconds sum exactly in any order.
    tenths = F.round(F.col("seconds") * 10).cast("bigint")
    done = answers.groupBy("hit_id", "worker_id", "batch_id", "purpose").agg(
        F.count("*").cast("int").alias("answers"),
        F.bool_and("whole_hit").alias("whole"),
        F.count_if(quiz).cast("int").alias("quiz"),
        F.count_if(right).cast("int").alias("quiz_right"),
        (F.sum(tenths) / 10).alias("seconds"),
    )
    quarters = done.groupBy("purpose").agg(
        F.percentile("seconds", F.lit(0.25)).alias("low"), F.percentile("seconds", F.lit(0.75)).alias("high")
    )
    whole = F.col("whole")
    passed = F.when(F.col("quiz") > 0, F.col("quiz_right") >= pass_at)
    return done.join(F.broadcast(quarters), "purpose").select(
        "hit_id",
        "worker_id",
        "batch_id",
        "purpose",
        "answers",
        "quiz",
        "quiz_right",
        passed.alias("passed"),
        "seconds",
        (F.col("seconds") > F.col("high") + 1.5 * (F.col("high") - F.col("low"))).alias("unusually_long"),
        F.when(whole, reward).otherwise(0).cast("decimal(9,2)").alias("reward"),
        F.when(whole & F.coalesce(passed, F.lit(False)), bonus).otherwise(0).cast("decimal(9,2)").alias("bonus"),
    )
