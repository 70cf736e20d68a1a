"""Make HITs for the crowd: the first turns of each class, fifteen per HIT with five quiz items (EDOS 3.2)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.hits import in_position, into_hits
from etl.common.hashes import content_order, shuffled
from etl.edos.quiz import quiz_items
from etl.edos.settings import HitRules
from etl.pipeline.outcome import Outcome, dropped_columns

SEED = 13
"""Seed of the order of items, and of the options of the quiz."""


def ranked_turns(readability: DataFrame, per_class: int) -> DataFrame:
    """Add rank within the class (null for a copy) and fault (null, ``same_text_again`` or ``beyond_top_n``).

    Turns are ranked by confidence band, then by readability (EDOS 3.2): a lower band is used only if the higher ones
    have fewer than ``per_class`` turns. In the released file too, band 0.9 has fewer than 250 turns for some classes.
    Of turns with the same text and history only the first by id is used (ours).

    Args:
        readability: ``edos.readability``.
        per_class: number of turns per class (250).
    """
    copies = Window.partitionBy("history_hash").orderBy("dialogue_id", "turn")
    turns = readability.withColumn("copy", F.row_number().over(copies))
    order = Window.partitionBy("label", F.col("copy") > 1).orderBy(
        F.col("band").cast("double").desc(),
        F.col("readability").desc(),
        content_order(F.col("dialogue_id"), F.col("turn").cast("string"), seed=0, of="readability"),
    )
    ranked = turns.withColumn("rank", F.when(F.col("copy") == 1, F.row_number().over(order)))
    fault = F.when(F.col("copy") > 1, "same_text_again").when(F.col("rank") > per_class, "beyond_top_n")
    return ranked.withColumn("fault", fault).drop("copy")


def annotation_tasks(
    readability: DataFrame,
    weak_labels: DataFrame,
    dialogues: DataFrame,
    situations: DataFrame | None,
    annotation: HitRules,
) -> Outcome:
    """Return the crowd's HITs, with the weak labeler's three labels as shuffled options (EDOS 3.2).

    An incomplete last HIT is dropped, because all HITs have the same price and quiz. The authors seem to have done the
    same: of 41 x 250 = 10,250 dialogues they released 10,245 = 683 x 15.

    Args:
        readability: ``edos.readability``.
        weak_labels: ``edos.weak_labels``, for the options.
        dialogues: ``subtitles.clean_dialogues``, for the texts.
        situations: situations for the quiz; None for HITs without a quiz.
        annotation: ``edos.annotation``.

    Returns:
        Outcome of ``edos.annotation_tasks``. The unit is the turn. Dropped turns are counted by class and band.
    """
    per_class = annotation.per_class
    quiz_per_hit = annotation.quiz_per_hit
    ranked = ranked_turns(readability, per_class).cache()
    placed = into_hits(ranked.where(F.col("fault").isNull()), annotation.dialogues_per_hit, SEED).cache()
    chosen = (
        placed.where("full")
        .join(weak_labels.select("dialogue_id", "turn", F.col("top3")["label"].alias("top")), ["dialogue_id", "turn"])
        .join(dialogues.select("dialogue_id", F.col("turns")["text"].alias("texts")), "dialogue_id")
    )
    asked = chosen.select(
        "hit_id",
        "dialogue_id",
        "turn",
        "label",
        "confidence",
        "band",
        "rank",
        "readability",
        F.slice("texts", F.lit(1), F.col("turn") + 1).alias("turns"),
        shuffled(F.col("top"), F.col("hit_id"), F.col("dialogue_id"), seed=SEED, of="options").alias("options"),
        F.lit(None).cast("string").alias("quiz_label"),
    )
    items = asked
    if situations is not None and quiz_per_hit:
        hits = placed.where("full").select("hit", "hit_id").distinct()
        items = asked.unionByName(quiz_items(hits, situations, quiz_per_hit, SEED), allowMissingColumns=True)
    columns = ("label", "band", "fault", "readability")
    last = placed.where(~F.col("full")).withColumn("fault", F.lit("last_hit_not_full")).select(*columns)
    rest = ranked.where(F.col("fault").isNotNull()).select(*columns).unionByName(last)
    return Outcome(in_position(items, SEED), dropped_by_class(rest, F.col("readability"), "readability"))


def dropped_by_class(turns: DataFrame, value: Column, name: str) -> DataFrame:
    """Return a ledger row for each class, band and fault of dropped turns, with the range of a value.

    Args:
        turns: label, band, fault, and the columns of ``value``.
    """
    groups = turns.groupBy("label", "band", "fault").agg(
        F.count("*").alias("units"), F.min(value).alias("least"), F.max(value).alias("most")
    )
    group = F.concat_ws("/", F.coalesce("label", F.lit("(no label)")), "band", "fault")
    least, most = (F.format_number(column, 4) for column in ("least", "most"))
    detail = F.concat(F.lit(f"{name} "), least, F.lit(" to "), most)
    return groups.select(*dropped_columns("class", group, F.col("fault"), F.col("units"), detail))
