"""Accuracy of the turn segmenter and of simpler rules, by source of held-out pairs (EDOS 3.1)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.subtitles.border_segmenter import UNIT
from etl.subtitles.borders import model_certainty
from etl.subtitles.known_speakers import KNOWN_SOURCES
from etl.subtitles.settings import TurnCertainty

GAPS_MS = (250, 500, 1000, 2000, 3000, 5000)
"""Silences tried for the gap rule. Each source reports the best one, which favours the rule.

Shorter silences occur between any two subtitles, so they amount to the same-block rule.
"""
BINS = 10
SEGMENTER = "segmenter"
SEGMENTER_AND_MARKS = "segmenter and marks"
MAJORITY = "majority class"
DASH = "dash rule"
GAP = "gap rule"
SAME_BLOCK = "same-block rule"


def split_held_out(pairs: DataFrame, share: float, fold: int = 0) -> tuple[DataFrame, DataFrame]:
    """Split pairs into training and held-out ones by the hash of split_group, the film or scene.

    Args:
        pairs: rows with split_group.
        share: share of the groups to hold out.
        fold: number of the held-out share in hash order; folds have no group in common.
    """
    place = F.conv(F.substring(F.sha2("split_group", 256), 1, 8), 16, 10).cast("double") / float(16**8)
    held_out = (place >= fold * share) & (place < (fold + 1) * share)
    return pairs.filter(~held_out), pairs.filter(held_out)


def at_most(pairs: DataFrame, count: int, only: Sequence[str] = ()) -> DataFrame:
    """Return at most ``count`` pairs of each source, the first by the hash of their content.

    Args:
        only: the sources that are bounded; () bounds all.
    """
    content = F.sha2(F.concat_ws("\u0001", "source", "split_group", "left_text", "right_text"), 256)
    order = Window.partitionBy("source").orderBy(content, "split_group", "left_text", "right_text")
    free = ~F.col("source").isin(*only) if only else F.lit(False)
    return pairs.withColumn("rank", F.row_number().over(order)).filter(free | (F.col("rank") <= count)).drop("rank")


def rule_accuracies(scored: DataFrame) -> DataFrame:
    """Return (source, rule, pairs, accuracy); accuracy is null where the source lacks what the rule reads.

    The rules: ``segmenter`` (without marks), ``segmenter and marks`` (a mark decides if there is one),
    ``majority class`` (of the source), ``dash rule`` (only a mark opens a turn), ``gap rule`` (a silence longer than
    the source's best of ``GAPS_MS`` opens a turn), ``same-block rule`` (a new block opens a turn).

    Args:
        scored: held-out pairs with the columns of ``turn_pairs.PAIRS`` and the model's ``margin``.
    """
    truth = F.col("label") == 1
    by_model = F.col("margin") > 0

    def share(right: Column) -> Column:
        return F.avg(right.cast("double"))

    gaps = [share(F.coalesce(F.col("silence_ms") > gap, F.lit(False)) == truth) for gap in GAPS_MS]
    rules = {
        SEGMENTER: share(by_model == truth),
        SEGMENTER_AND_MARKS: share(F.coalesce(F.col("mark"), by_model) == truth),
        MAJORITY: F.greatest(share(truth), share(~truth)),
        DASH: F.when(F.count("mark") > 0, share(F.coalesce(F.col("mark"), F.lit(False)) == truth)),
        GAP: F.when(F.count("silence_ms") > 0, F.greatest(*gaps)),
        SAME_BLOCK: F.when(F.count("same_block") > 0, share(F.col("same_block") != truth)),
    }
    wide = scored.groupBy("source").agg(
        F.count("*").alias("pairs"), *(rule.alias(name) for name, rule in rules.items())
    )
    long = wide.unpivot(["source", "pairs"], [f"`{name}`" for name in rules], "rule", "accuracy")
    return long.select("source", "rule", "pairs", "accuracy")


def accuracy_metrics(evaluation: DataFrame) -> dict[str, float]:
    """Return the evaluation as metrics named ``accuracy.<source>.<rule>``."""
    return {
        f"accuracy.{row['source']}.{row['rule'].replace(' ', '_')}": float(row["accuracy"])
        for row in evaluation.collect()
        if row["accuracy"] is not None
    }


def border_figures(label: np.ndarray, log_odds: np.ndarray) -> dict[str, float]:
    """Return how good predicted changes of speaker are at borders of one kind.

    Args:
        label: 1 where the speaker changes, else 0.
        log_odds: as predicted.

    Returns:
        borders; right; floor (always the more frequent answer); auc (null of one answer); true and predicted (shares of
        changes); error (expected calibration error by tenths of the borders); sure_half (right among the surer half);
        told (the mean certainty of the decisions).
    """
    from sklearn.metrics import roc_auc_score

    predicted = 1 / (1 + np.exp(-log_odds))
    right = (log_odds > 0) == (label == 1)
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    error = sum(len(part) * abs(predicted[part].mean() - label[part].mean()) for part in parts) / len(label)
    surest = np.argsort(-np.abs(log_odds), kind="stable")[: max(1, len(label) // 2)]
    share = float(label.mean())
    return {
        "borders": float(len(label)),
        "right": float(right.mean()),
        "floor": max(share, 1 - share),
        "auc": float(roc_auc_score(label, log_odds)) if 0 < share < 1 else float("nan"),
        "true": share,
        "predicted": float((log_odds > 0).mean()),
        "error": float(error),
        "sure_half": float(right[surest].mean()),
        "told": float(_certainty(log_odds).mean()),
    }


def _certainty(log_odds: np.ndarray) -> np.ndarray:
    return model_certainty(log_odds / UNIT, TurnCertainty())


def opening_figures(label: np.ndarray, log_odds: np.ndarray) -> dict[str, float]:
    """Return how many borders open a turn by the segmenter, how many of these are right, and as how many are told."""
    opens = log_odds > 0
    if not opens.any():
        return {}
    right, told = float(label[opens].mean()), float(_certainty(log_odds[opens]).mean())
    return {"borders": float(opens.sum()), "right": right, "told": told}


def turn_figures(pairs: pd.DataFrame) -> dict[str, float]:
    """Return how many turns the segmenter makes, how many are one speaker's and whole, and as how many told.

    Args:
        pairs: split_group, place, label and margin of the pairs of some files whose truth is known. A turn counts that
            begins and ends at a change that the segmenter predicts, with no pair missing between.
    """
    rows = pairs.sort_values(["split_group", "place"], kind="stable")
    goes_on = (rows["split_group"] == rows["split_group"].shift()) & (rows["place"] == rows["place"].shift() + 1)
    odds = UNIT * rows["margin"].to_numpy()
    opens = odds > 0
    # What is decided about a turn: the borders after the one that opens it, up to the one that ends it.
    decided = pd.DataFrame(
        {
            "stretch": np.cumsum(~goes_on.to_numpy()),
            "turn": np.cumsum(opens) - opens,
            "right": opens == (rows["label"].to_numpy() == 1),
            "told": _certainty(odds),
            "ends": opens,
        }
    )
    first = decided.groupby("stretch")["turn"].transform("first")
    found = (
        decided[decided["turn"] > first]
        .groupby(["stretch", "turn"])
        .agg({"right": "all", "told": "prod", "ends": "last"})
    )
    found = found[found["ends"]]
    if found.empty:
        return {}
    return {"borders": float(len(found)), "right": float(found["right"].mean()), "told": float(found["told"].mean())}


HEADER = (
    f"{'segmenter':<26}{'judged on':<26}{'borders':>8}{'right':>7}{'told':>7}{'floor':>7}{'AUC':>7}"
    f"{'changes':>8}{'true':>6}{'error':>7}{'sure half':>10}  trained"
)
_CELLS = {
    "borders": "8,.0f",
    "right": "7.1%",
    "told": "7.1%",
    "floor": "7.1%",
    "auc": "7.3f",
    "predicted": "8.0%",
    "true": "6.0%",
    "error": "7.3f",
    "sure_half": "10.1%",
}


def figures_line(learned: str, judged: str, found: Mapping[str, float], seconds: float | None = None) -> str:
    """Return a row of the printed table under :data:`HEADER`, with the seconds of a training where they are known."""
    cells = "".join(f"{found[name]:>{form}}" for name, form in _CELLS.items() if name in found)
    trained = "" if seconds is None else f"{seconds:>8.0f} s"
    return f"{learned:<26}{judged:<26}{cells}{trained}"


def figures_by_source(scored: DataFrame) -> list[tuple[str, dict[str, float]]]:
    """Return the figures of held-out pairs by source, and by series where speakers are known.

    Of each also how far its openings are right, and of a series its whole turns.

    Args:
        scored: pairs with ``source``, ``split_group``, ``place``, ``label`` and the model's ``margin``.
    """
    series = F.substring_index("split_group", "/", 1)
    known = F.col("source").isin(*KNOWN_SOURCES)
    judged = F.when(known, F.concat(series, F.lit(", "), "source")).otherwise(F.col("source"))
    columns: list[Column | str] = [
        judged.alias("judged"),
        F.when(known, series).alias("series"),
        "split_group",
        "place",
        "label",
        "margin",
    ]
    rows = scored.select(*columns).toPandas()
    found: list[tuple[str, dict[str, float]]] = []
    for name, part in rows.groupby("judged"):
        label, log_odds = part["label"].to_numpy(), UNIT * part["margin"].to_numpy()
        found.append((str(name), border_figures(label, log_odds)))
        found.append((f"{name}: openings", opening_figures(label, log_odds)))
    found += [(f"{name}: whole turns", turn_figures(part)) for name, part in rows.groupby("series")]
    return [(name, figures) for name, figures in found if figures]
