"""Copy labels to similar dialogues (EDOS 3.3)."""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.hashes import history_hash
from etl.edos.held_out import HELD_OUT, HeldOutRule, near_held_out
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, split_kept_dropped, unit_id, without_known_texts
from etl.edos.training_rows import crowd_rows
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.spark_api import cached

MATCHES = 5
"""Matches of a dialogue that are stored, the best ones (ours)."""


def queries_of(pool: DataFrame, *others: DataFrame) -> DataFrame:
    """Return the distinct (dialogue_id, turn, history_hash) of the pool and of other rows with turns."""
    queries = pool.select("dialogue_id", "turn", "history_hash")
    for other in others:
        hashed = other.select("dialogue_id", "turn", history_hash(F.col("turns")).alias("history_hash"))
        queries = queries.unionByName(hashed)
    return queries.dropDuplicates(["dialogue_id", "turn"])


def matched_units(found: DataFrame, queries: DataFrame, targets: DataFrame, most: int, floor: float) -> Outcome:
    """Join the search's pairs of histories with their units, and keep the best matches of each unlabelled unit.

    Args:
        found: history_hash, matched_hash, score of the search.
        queries: rows of ``queries_of``.
        targets: seed_id, seed_split, label (null for a held-out seed), history_hash.
        most: matches kept per unlabelled unit, separately for labelled and held-out seeds.
        floor: least cosine of the search, for the ledger.

    Returns:
        Outcome of ``edos.similar_matches``. The unit is the dialogue. One ledger row counts those without a match.
    """
    seeds = targets.select("seed_id", "seed_split", "label", F.col("history_hash").alias("matched_hash"))
    pairs = found.distinct().join(queries, "history_hash").join(F.broadcast(seeds), "matched_hash")
    pairs = pairs.where(unit_id() != F.col("seed_id"))
    best = Window.partitionBy("dialogue_id", "turn", F.col("label").isNull()).orderBy(F.col("score").desc(), "seed_id")
    rows = (
        pairs.withColumn("rank", F.row_number().over(best))
        .where(F.col("rank") <= most)
        .select("dialogue_id", "turn", "seed_id", "seed_split", "label", "score", "rank")
        .persist()
    )
    rows_in = queries.count()
    matched = rows.select("dialogue_id", "turn").distinct().count()
    detail = F.lit(f"no cosine of {floor} or more")
    unmatched = rows.sparkSession.range(1).where(F.lit(rows_in > matched))
    columns = dropped_columns("dialogue", F.lit("the rest"), "no_match", F.lit(rows_in - matched), detail)
    return Outcome(rows, unmatched.select(*columns), rows_in=rows_in)


def seed_targets(seeds: DataFrame, splits: Sequence[str] = HELD_OUT) -> DataFrame:
    """Return the seeds as targets of the search, without the labels of held-out seeds (EDOS 3.3).

    Args:
        seeds: ``edos.seeds``.
        splits: the splits that are held out. The authors' script searches from the validation split, too.
    """
    return seeds.select(
        unit_id().alias("seed_id"),
        F.col("split").alias("seed_split"),
        F.when(~F.col("split").isin(*splits), F.col("label")).alias("label"),
        history_hash(F.col("turns")).alias("history_hash"),
    )


def self_targets(self_labelled: DataFrame) -> DataFrame:
    """Return the self-labelled dialogues as the only targets of the second search (EDOS 3.3)."""
    return self_labelled.select(
        unit_id().alias("seed_id"),
        F.lit("train").alias("seed_split"),
        "label",
        history_hash(F.col("turns")).alias("history_hash"),
    )


def labelled_by_similarity(matches: DataFrame, pool: DataFrame, threshold: float, origin: str) -> DataFrame:
    """Give each matched dialogue the label of its most similar seed, or a fault (EDOS 3.3).

    The highest score decides between labels. If different labels share it, the dialogue gets no label.

    Args:
        matches: rows of ``matched_units``. Matches with held-out seeds are ignored.
        pool: rows of ``pool_of``.
        threshold: least cosine, on scores of 4 decimals.
        origin: similar or similar_self.

    Returns:
        The columns of labelled rows, fault, and conflict: the evidence if labels above the threshold differ.
    """
    each = F.struct((-F.col("score")).alias("order"), "seed_id", "label", "score")
    units = (
        matches.where(F.col("label").isNotNull())
        .groupBy("dialogue_id", "turn")
        .agg(F.sort_array(F.collect_list(each)).alias("matches"))
    )
    best = F.col("matches")[0]
    rivals = F.filter(
        "matches", lambda other: (other["score"] >= threshold) & (other["label"] != F.col("matches")[0]["label"])
    )
    rival = F.get("rivals", F.lit(0))
    shown = F.concat(
        best["label"],
        F.lit(" "),
        F.format_number(best["score"], 4),
        F.lit(" by "),
        best["seed_id"],
        F.lit("; "),
        rival["label"],
        F.lit(" "),
        F.format_number(rival["score"], 4),
        F.lit(" by "),
        rival["seed_id"],
    )
    flagged = units.withColumn("rivals", rivals).select(
        "dialogue_id",
        "turn",
        best["label"].alias("label"),
        best["score"].alias("score"),
        best["seed_id"].alias("matched_id"),
        F.when(
            best["score"] < threshold,
            fault("below_threshold", F.format_number(best["score"], 4), " to ", best["seed_id"]),
        )
        .when(rival["score"] == best["score"], fault("tied_labels", shown))
        .alias(FAULT),
        F.when((F.size("rivals") > 0) & (rival["score"] < best["score"]), shown).alias("conflict"),
    )
    return flagged.join(pool.select("dialogue_id", "turn", "turns"), ["dialogue_id", "turn"]).select(
        "dialogue_id",
        "turn",
        "turns",
        "label",
        F.lit(origin).alias("origin"),
        "score",
        "matched_id",
        F.lit("pool").alias("source"),
        FAULT,
        "conflict",
    )


def released_as(released: DataFrame, origin: str) -> DataFrame:
    """Return the released rows of one origin as labelled rows."""
    rows = released.where(F.col("origin") == origin)
    return rows.select(*[name for name in COLUMNS if name != "source"], F.lit("released").alias("source"))


def expanded(
    matches: DataFrame,
    pool: DataFrame,
    seeds: DataFrame,
    released: DataFrame,
    clean_dialogues: DataFrame,
    threshold: float,
    held_out: HeldOutRule,
) -> Outcome:
    """Copy the crowd's labels to similar dialogues (EDOS 3.3), and drop those that are near a held-out row.

    Args:
        matches: ``edos.similar_matches``.
        pool: rows of ``pool_of``.
        seeds: ``edos.seeds``.
        released: ``edos.released_dialogues``, whose similar rows are added. The authors chose their threshold.
        clean_dialogues: ``subtitles.clean_dialogues``.
        threshold: least cosine.
        held_out: which candidates are too near a held-out row.

    Returns:
        Outcome of ``edos.similar_dialogues``. The input is the dialogues with a stored match and the released rows.
    """
    ours = labelled_by_similarity(matches, pool, threshold, "similar")
    candidates = cached(_with_released(ours, released, "similar"))
    open_rows = candidates.where(F.col(FAULT).isNull())
    near = near_held_out(open_rows, seeds, matches, clean_dialogues, held_out)
    flagged = candidates.join(near, ["dialogue_id", "turn"], "left").withColumn(FAULT, F.coalesce(FAULT, "near"))
    return _without_known(flagged.drop("near"), crowd_rows(seeds))


def expanded_again(
    matches: DataFrame, pool: DataFrame, before: list[DataFrame], released: DataFrame, threshold: float
) -> Outcome:
    """Copy the self-labelled dialogues' labels to similar dialogues (EDOS 3.3, the second round).

    Args:
        matches: ``edos.similar_self_matches``.
        pool: rows of ``pool_of``.
        before: labelled rows of the earlier origins. A dialogue of the same text is not labelled again.
        released: ``edos.released_dialogues``.
        threshold: least cosine of the second round.

    Returns:
        Outcome of ``edos.similar_self_dialogues``.
    """
    ours = labelled_by_similarity(matches, pool, threshold, "similar_self")
    candidates = _with_released(ours, released, "similar_self")
    return _without_known(candidates, reduce(DataFrame.unionByName, (rows.select(*COLUMNS) for rows in before)))


def _with_released(ours: DataFrame, released: DataFrame, origin: str) -> DataFrame:
    theirs = released_as(released, origin).withColumn(FAULT, F.expr(NO_FAULT))
    return ours.unionByName(theirs.withColumn("conflict", F.lit(None).cast("string")))


def _without_known(candidates: DataFrame, known: DataFrame) -> Outcome:
    """Return the candidates that are not labelled yet. Resolved conflicts are recorded with 0 units."""
    known = known.withColumn(FAULT, F.expr(NO_FAULT)).withColumn("conflict", F.lit(None).cast("string"))
    rows = cached(without_known_texts(candidates, known))
    outcome = split_kept_dropped(rows, "dialogue")
    resolved = rows.where(F.col(FAULT).isNull() & F.col("conflict").isNotNull())
    columns = dropped_columns("dialogue", unit_id(), "label_conflict", 0, F.col("conflict"))
    assert outcome.dropped is not None
    return Outcome(outcome.rows, outcome.dropped.unionByName(resolved.select(*columns)), rows_in=rows.count())
