"""Select the annotation page's valid answers and score the workers' assignments (EDOS 3.2, 7)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.annotation.collecting import Rule, batch_keys, detail_of_answer, judged_answers
from etl.common.labelled_files import NamedFiles
from etl.edos.labelled_rows import unit_id
from etl.edos.labelling import CROWD
from etl.edos.settings import AnswerRules
from etl.edos.votes import normalised_answer, refused_answers, several_options
from etl.pipeline.outcome import Outcome

KEY_DDL = (
    "batch_id string, purpose string, hit_id string, item_id string, dialogue_id string, turn int, "
    "turns array<string>, options array<string>, quiz_label string, label string, confidence float, band string"
)
QUESTION = "label"
QUIZ_TO_PASS = 3
"""Right answers that earn the bonus (EDOS 7)."""


def read_keys(spark: SparkSession, files: NamedFiles | Sequence[str]) -> DataFrame:
    """Return one row for each item of the exported batches, read from their key files."""
    return batch_keys(spark, files, KEY_DDL, CROWD, ("dialogue_id",))


def accepted_answers(answers: DataFrame, keys: DataFrame, labels: Sequence[str], annotation: AnswerRules) -> Outcome:
    """Return the valid answers with their items, and drop the others; see `etl.annotation.collecting.judged_answers`.

    A dialogue's turn is one unit in all HITs, a quiz situation in each. An answer outside the taxonomy is kept with a
    null label and recorded in the ledger with 0 units.

    Args:
        answers: rows of ``read_answers``.
        keys: rows of ``read_keys``.
        labels: the taxonomy, lower case.
        annotation: ``edos.annotation``, with known_workers and keep_half_done.

    Returns:
        Outcome of ``edos.answers``. The unit is the answer.
    """
    several = F.when(several_options(F.col("value"), labels), "several_options")
    answers = answers.withColumn("fault", F.coalesce("fault", several))
    unit = F.when(F.col("quiz_label").isNull(), unit_id()).otherwise(F.concat_ws("/", "hit_id", "item_id"))
    rule = Rule({QUESTION: None}, 1, annotation.known_workers, annotation.keep_half_done, unit)
    said = F.when(normalised_answer(F.col("value")).isNotNull(), F.col("value"))
    judged = judged_answers(answers.withColumn("value", said), keys, rule)
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
        F.col("whole").alias("whole_hit"),
        "seconds",
        "submitted",
    )
    return Outcome(rows, refused_answers(judged, "answer", F.col("place"), detail_of_answer(), label="named"))


def assignments(answers: DataFrame, *, reward: float, bonus: float) -> DataFrame:
    """Return each worker's result for each HIT: quiz, time and pay (EDOS 7: $0.40, and $0.10 from 3 of 5 right).

    A time is unusually long if it is more than 1.5 interquartile ranges above the third quartile (Tukey's fence). The
    paper leaves out workers who took unusually long and does not give its rule.

    Args:
        answers: ``edos.answers``.
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
    passed = F.when(F.col("quiz") > 0, F.col("quiz_right") >= QUIZ_TO_PASS)
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
