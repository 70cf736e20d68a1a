"""What a data set of certain turns costs: dialogues, turns and told faults by the probability asked (ours)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.subtitles.certain_spans import with_spans

PROBABILITIES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


def trade_off(clean: DataFrame, probabilities: tuple[float, ...] = PROBABILITIES) -> list[dict[str, float | str]]:
    """Return how many dialogues and turns stay when their borders are to be right with a probability.

    Args:
        clean: ``subtitles.clean_dialogues``, made without ``min_certainty``.
        probabilities: asked of a dialogue.

    Returns:
        For the whole pool (probability 0), and for each probability the ways ``spans``, ``first`` (the other value of
        ``subtitles.cleaning.certain_turns``) and ``closing`` (``certain_opening=false``): way, asked, dialogues, share
        (of the pool), turns (a dialogue), tokens (a turn), faults: the told share of dialogues with a wrong border,
        which is 1 minus their mean certainty; of ``first`` and ``closing`` without the border before the first turn.
    """
    places = F.sequence(F.lit(0), F.size("turns") - 1)
    given = clean.select("turns", "certainties", "border_certainties", places.alias("places"), "certainty")
    whole = _counted(given.withColumn("kept", F.col("turns")))
    found: list[dict[str, float | str]] = [{"way": "pool", "asked": 0.0, "share": 1.0, **whole}]
    for asked in probabilities:
        ways = {
            "spans": _spans_of(given, asked, opening_counts=True),
            "first": _first_turns(given, asked),
            "closing": _spans_of(given, asked, opening_counts=False),
        }
        for way, kept in ways.items():
            counted = _counted(kept)
            share = counted["dialogues"] / whole["dialogues"] if whole["dialogues"] else 0.0
            found.append({"way": way, "asked": asked, "share": share, **counted})
    return found


def _spans_of(given: DataFrame, asked: float, *, opening_counts: bool) -> DataFrame:
    found = with_spans(given, asked, 2, opening_counts=opening_counts)
    spans = found.select("turns", F.explode("spans").alias("span"))
    cut = F.slice("turns", F.col("span")["first"] + 1, F.col("span")["size"])
    return spans.select(cut.alias("kept"), F.col("span")["certainty"].alias("certainty"))


def _first_turns(given: DataFrame, asked: float) -> DataFrame:
    """Return the first turns of each dialogue that are right together, of at least two, with their certainty."""
    product = F.aggregate(
        "certainties",
        F.array(F.lit(1.0)),
        lambda found, turn: F.concat(found, F.array(F.element_at(found, -1) * turn)),
    )
    products = given.select("turns", F.slice(product, 2, F.size("turns")).alias("products"))
    size = F.size(F.filter("products", lambda right: F.round(right, 4) >= asked))
    sized = products.withColumn("size", size).where("size >= 2")
    return sized.select(F.expr("slice(turns, 1, size)").alias("kept"), F.expr("products[size - 1]").alias("certainty"))


def _counted(rows: DataFrame) -> dict[str, float]:
    tokens = F.aggregate("kept", F.lit(0), lambda n, turn: n + F.size(F.split(turn["text"], " ")))
    (row,) = rows.agg(
        F.count("*").alias("dialogues"),
        (F.sum(F.size("kept")) / F.count("*")).alias("turns"),
        (F.sum(tokens) / F.sum(F.size("kept"))).alias("tokens"),
        (1 - F.avg("certainty")).alias("faults"),
    ).collect()
    return {name: float(value or 0.0) for name, value in row.asDict().items()}
