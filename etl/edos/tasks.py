"""HITs for the crowd: the most readable turns of each class, fifteen to a HIT with five quiz items (EDOS 3.2)."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.annotation.hits import in_position, into_hits
from etl.common.hashes import content_order, shuffled
from etl.edos.quiz import quiz_items
from etl.tables.outcome import Outcome


def most_readable(readability: DataFrame, per_class: int) -> DataFrame:
    """Adds rank in its class and fault: the top so many by readability, stepping down by bands (EDOS 3.2).

    A class takes from its highest confidence band first and from the next only when that is used up: 0.9 does not
    fill 250 in each class of the released file either. Of turns with the same text and history the first by id
    stands for all (ours): nobody is asked the same thing twice.

    Args:
        readability: ``edos.readability``.
        per_class: 250.

    Returns:
        readability with rank (null for a copy) and fault (null, ``same_text_again`` or ``beyond_top_n``).
    """
    copies = Window.partitionBy("history_hash").orderBy("dialogue_id", "turn")
    turns = readability.withColumn("copy", F.row_number().over(copies))
    order = Window.partitionBy("label", F.col("copy") > 1).orderBy(
        F.col("band").cast("double").desc(), F.col("readability").desc(),
        content_order(F.col("dialogue_id"), F.col("turn").cast("string"), seed=0, of="readability"),
    )  # fmt: skip
    ranked = turns.withColumn("rank", F.when(F.col("copy") == 1, F.row_number().over(order)))
    fault = F.when(F.col("copy") > 1, "same_text_again").when(F.col("rank") > per_class, "beyond_top_n")
    return ranked.withColumn("fault", fault).drop("copy")


def annotation_tasks(
    readability: DataFrame, weak_labels: DataFrame, dialogues: DataFrame, situations: DataFrame | None,
    *, per_class: int, per_hit: int, quiz_per_hit: int, seed: int,
) -> Outcome:  # fmt: skip
    """The crowd's HITs (EDOS 3.2): options are the weak labeler's three, shuffled so that their place tells nothing.

    A last HIT that is not full is not sent out: a HIT has one price and one quiz. The authors did the same, it
    seems: of 41 x 250 = 10,250 dialogues they released 10,245 = 683 x 15.

    Args:
        readability: ``edos.readability``.
        weak_labels: ``edos.weak_labels``, for the options.
        dialogues: ``subtitles.clean_dialogues``, for the texts.
        situations: for the quiz; None for HITs without one.
        per_class, per_hit, quiz_per_hit, seed: see ``edos.annotation``.

    Returns:
        Outcome of ``edos.annotation_tasks``. The unit is the turn; what is not taken is noted by class and band,
        ``edos.readability`` has each.
    """
    ranked = most_readable(readability, per_class).cache()
    placed = into_hits(ranked.where(F.col("fault").isNull()), per_hit, seed).cache()
    chosen = (
        placed.where("full")
        .join(weak_labels.select("dialogue_id", "turn", F.col("top3")["label"].alias("top")), ["dialogue_id", "turn"])
        .join(dialogues.select("dialogue_id", F.col("turns")["text"].alias("texts")), "dialogue_id")
    )
    asked = chosen.select(
        "hit_id", "dialogue_id", "turn", "label", "confidence", "band", "rank", "readability",
        F.slice("texts", F.lit(1), F.col("turn") + 1).alias("turns"),
        shuffled(F.col("top"), F.col("hit_id"), F.col("dialogue_id"), seed=seed, of="options").alias("options"),
        F.lit(None).cast("string").alias("quiz_label"),
    )  # fmt: skip
    items = asked
    if situations is not None and quiz_per_hit:
        hits = placed.where("full").select("hit", "hit_id").distinct()
        items = asked.unionByName(quiz_items(hits, situations, quiz_per_hit, seed), allowMissingColumns=True)
    aside = ranked.where(F.col("fault").isNotNull()).select("label", "band", "fault", "readability")
    last = placed.where(~F.col("full")).select(
        "label", "band", F.lit("last_hit_not_full").alias("fault"), "readability"
    )
    return Outcome(
        in_position(items, seed), noted_by_class(aside.unionByName(last), F.col("readability"), "readability")
    )


def noted_by_class(left: DataFrame, value: Column, name: str) -> DataFrame:
    """Ledger rows for turns left out: one for each class, band and fault; the detail gives the range of a value.

    Args:
        left: label, band, fault, and what ``value`` reads.
    """
    groups = left.groupBy("label", "band", "fault").agg(
        F.count("*").alias("units"), F.min(value).alias("least"), F.max(value).alias("most")
    )
    number = [F.format_number(column, 4) for column in ("least", "most")]
    return groups.select(
        F.lit("class").alias("unit"),
        F.concat_ws("/", F.coalesce("label", F.lit("(no label)")), "band", "fault").alias("id"),
        F.col("fault").alias("reason"),
        F.concat(F.lit(f"{name} "), number[0], F.lit(" to "), number[1]).alias("detail"),
        "units",
    )
