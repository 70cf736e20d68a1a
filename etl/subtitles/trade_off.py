"""What a data set of certain turns costs: dialogues, turns and told faults by the probability asked (ours)."""

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.subtitles.certain_spans import with_spans

PROBABILITIES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


def trade_off(
    clean: DataFrame, function_words: Collection[str], probabilities: tuple[float, ...] = PROBABILITIES
) -> list[dict[str, float]]:
    """Return what ``subtitles.cleaning.min_certainty`` keeps, for the whole pool (0) and by its value.

    Args:
        clean: ``subtitles.clean_dialogues``, made without ``min_certainty``.
        function_words: words that say little by themselves.
        probabilities: asked of a dialogue.

    Returns:
        asked, dialogues, share (of the pool), turns (a dialogue), tokens (a turn), faults: the told share of dialogues
        with a wrong border, which is 1 minus their mean certainty.
    """
    places = F.sequence(F.lit(0), F.size("turns") - 1)
    given = clean.select("turns", "certainties", "border_certainties", places.alias("places"), "certainty")
    whole = _counted(given.withColumn("kept", F.col("turns")))
    found = [{"asked": 0.0, "share": 1.0, **whole}]
    for asked in probabilities:
        spans = with_spans(given, asked, 2, function_words).select("turns", F.explode("spans").alias("span"))
        cut = F.slice("turns", F.col("span")["first"] + 1, F.col("span")["size"])
        counted = _counted(spans.select(cut.alias("kept"), F.col("span")["certainty"].alias("certainty")))
        share = counted["dialogues"] / whole["dialogues"] if whole["dialogues"] else 0.0
        found.append({"asked": asked, "share": share, **counted})
    return found


def _counted(rows: DataFrame) -> dict[str, float]:
    tokens = F.aggregate("kept", F.lit(0), lambda n, turn: n + F.size(F.split(turn["text"], " ")))
    (row,) = rows.agg(
        F.count("*").alias("dialogues"),
        (F.sum(F.size("kept")) / F.count("*")).alias("turns"),
        (F.sum(tokens) / F.sum(F.size("kept"))).alias("tokens"),
        (1 - F.avg("certainty")).alias("faults"),
    ).collect()
    return {name: float(value or 0.0) for name, value in row.asDict().items()}
