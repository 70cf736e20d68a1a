"""Map EDOS's 41 labels to the 28 labels by two models' answers to the same turns (ours)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import EmotionTaxonomy
from etl.common.hashes import history_hash, text_hash
from etl.emo_pillars.intra_dataset import given_labels
from etl.pipeline.outcome import dropped_columns


def unanswered(dialogues: DataFrame, scores: DataFrame, answers: DataFrame, edos: str, pillars: str) -> DataFrame:
    """Return a ledger row for each dialogue with turns that a model has not answered (``no_answer``)."""
    ours = _answered(scores, edos).select("history_hash", F.lit(True).alias("ours"))
    theirs = _answered(answers, pillars).select("text_hash", F.lit(True).alias("theirs"))
    found = _turns(dialogues).join(ours, "history_hash", "left").join(theirs, "text_hash", "left")
    missing = found.where(F.col("ours").isNull() | F.col("theirs").isNull())
    each = missing.groupBy("dialogue_id").agg(F.count("*").alias("units"))
    return each.select(*dropped_columns("dialogue", "dialogue_id", "no_answer", F.col("units")))


def taxonomy_map(
    dialogues: DataFrame,
    scores: DataFrame,
    answers: DataFrame,
    edos: str,
    pillars: str,
    taxonomy: EmotionTaxonomy,
) -> DataFrame:
    """Count how often two models give an EDOS label and one of the 28 labels to the same turn.

    EDOS's classifier reads a turn with its history and gives one label. The other model reads only the turn and gives
    all labels above its threshold, or neutral. Repeated turns are counted repeatedly.

    Args:
        dialogues: dialogue_id, turns.
        scores: ``edos.dialogue_scores``.
        answers: ``emo_pillars.turn_answers``.
        edos, pillars: identities of the two models. Rows of other models are ignored.
        taxonomy: of the second model.

    Returns:
        (edos_label, label, turns, edos_turns, label_turns, all_turns, share_of_edos, share_of_label, lift, pmi) of the
        pairs that occur. The shares are P(label | edos_label) and P(edos_label | label). The lift is the ratio to the
        frequency by chance, and pmi is its binary logarithm.
    """
    turns = _turns(dialogues)
    ours = _answered(scores, edos).select("history_hash", F.col("label").alias("edos_label"))
    named = given_labels(taxonomy.names)
    given = F.when(F.size(named) > 0, named).otherwise(F.array(F.lit(taxonomy.neutral)))
    theirs = _answered(answers, pillars).select("text_hash", given.alias("labels"))
    both = turns.join(ours, "history_hash").join(theirs, "text_hash")
    # A turn can have several of the 28 labels, so their counts add up to more than all turns.
    of_edos = both.groupBy("edos_label").agg(F.count("*").alias("edos_turns"))
    each = both.select("edos_label", F.explode("labels").alias("label"))
    of_label = each.groupBy("label").agg(F.count("*").alias("label_turns"))
    pairs = each.groupBy("edos_label", "label").agg(F.count("*").alias("turns"))
    total = both.agg(F.count("*").alias("all_turns"))
    rows = pairs.join(of_edos, "edos_label").join(of_label, "label").crossJoin(total)
    lift = F.col("turns").cast("double") * F.col("all_turns") / (F.col("edos_turns") * F.col("label_turns"))
    return rows.select(
        "edos_label",
        "label",
        "turns",
        "edos_turns",
        "label_turns",
        "all_turns",
        F.round(F.col("turns") / F.col("edos_turns"), 4).alias("share_of_edos"),
        F.round(F.col("turns") / F.col("label_turns"), 4).alias("share_of_label"),
        F.round(lift, 4).alias("lift"),
        F.round(F.log2(lift), 4).alias("pmi"),
    )


def _turns(dialogues: DataFrame) -> DataFrame:
    """Return the keys of each turn for both models: dialogue_id, history_hash, text_hash."""
    return dialogues.select("dialogue_id", "turns", F.posexplode("turns").alias("turn", "text")).select(
        "dialogue_id",
        history_hash(F.slice("turns", F.lit(1), F.col("turn") + 1)).alias("history_hash"),
        text_hash(F.col("text")).alias("text_hash"),
    )


def _answered(answers: DataFrame, model: str) -> DataFrame:
    return answers.where((F.col("model") == model) & F.col("error").isNull())
