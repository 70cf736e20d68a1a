"""Similar dialogues take the label of those that they are similar to (EDOS 3.3)."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.common.hashes import history_hash
from etl.edos.held_out import HELD_OUT, near_held_out
from etl.edos.labelled_rows import COLUMNS, FAULT, NO_FAULT, first_of_same_text, split_kept_dropped, unit_id
from etl.edos.training_rows import crowd_rows
from etl.tables.outcome import Outcome


def queries_of(pool: DataFrame, *others: DataFrame) -> DataFrame:
    """(dialogue_id, turn, history_hash) of the pool and of other rows with turns, each unit once."""
    queries = pool.select("dialogue_id", "turn", "history_hash")
    for other in others:
        hashed = other.select("dialogue_id", "turn", history_hash(F.col("turns")).alias("history_hash"))
        queries = queries.unionByName(hashed)
    return queries.dropDuplicates(["dialogue_id", "turn"])


def matched_units(found: DataFrame, queries: DataFrame, targets: DataFrame, most: int, floor: float) -> Outcome:
    """Pairs of equal histories as pairs of labelled units, the best so many for each unlabelled one.

    Args:
        found: history_hash, matched_hash, score: what the search found.
        queries: of ``queries_of``.
        targets: seed_id, seed_split, label (null for a held-out seed), history_hash.
        most: matches kept of each unlabelled unit: so many with a label, and so many held out.
        floor: what the search began from, for the ledger.

    Returns:
        Outcome of ``edos.similar_matches``. The unit is the dialogue; those without a match are one ledger row.
    """
    seeds = targets.select("seed_id", "seed_split", "label", F.col("history_hash").alias("matched_hash"))
    pairs = found.distinct().join(queries, "history_hash").join(F.broadcast(seeds), "matched_hash")
    pairs = pairs.where(unit_id() != F.col("seed_id"))
    best = Window.partitionBy("dialogue_id", "turn", F.col("label").isNull()).orderBy(F.col("score").desc(), "seed_id")
    rows = pairs.withColumn("rank", F.row_number().over(best)).where(F.col("rank") <= most).select(
        "dialogue_id", "turn", "seed_id", "seed_split", "label", "score", "rank"
    ).persist()  # fmt: skip
    rows_in = queries.count()
    matched = rows.select("dialogue_id", "turn").distinct().count()
    unmatched = rows.sparkSession.range(1).where(F.lit(rows_in > matched)).select(
        F.lit("dialogue").alias("unit"), F.lit("the rest").alias("id"), F.lit("no_match").alias("reason"),
        F.lit(f"no cosine of {floor} or more").alias("detail"),
        F.lit(rows_in - matched).cast("bigint").alias("units"),
    )  # fmt: skip
    return Outcome(rows, unmatched, rows_in=rows_in)


def seed_targets(seeds: DataFrame) -> DataFrame:
    """The seeds as targets of the search; a held-out seed's label is not even looked at (EDOS 3.3)."""
    return seeds.select(
        unit_id().alias("seed_id"), F.col("split").alias("seed_split"),
        F.when(~F.col("split").isin(*HELD_OUT), F.col("label")).alias("label"),
        history_hash(F.col("turns")).alias("history_hash"),
    )  # fmt: skip


def self_targets(self_labelled: DataFrame) -> DataFrame:
    """The self-labelled dialogues as targets of the second search: they alone (EDOS 3.3)."""
    return self_labelled.select(
        unit_id().alias("seed_id"), F.lit("train").alias("seed_split"), "label",
        history_hash(F.col("turns")).alias("history_hash"),
    )  # fmt: skip


def labelled_by_similarity(matches: DataFrame, pool: DataFrame, threshold: float, origin: str) -> DataFrame:
    """Each matched dialogue with the label of its most similar seed, or with its fault (EDOS 3.3).

    Between two labels the higher score decides; where two share it there is no label.

    Args:
        matches: of ``matched_units``; those to held-out seeds give no label.
        pool: of ``pool_of``.
        threshold: least cosine, on scores of 4 decimals.
        origin: similar or similar_self.

    Returns:
        The columns of labelled rows, fault, and conflict: the evidence where labels above the threshold differ.
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
        best["label"], F.lit(" "), F.format_number(best["score"], 4), F.lit(" by "), best["seed_id"], F.lit("; "),
        rival["label"], F.lit(" "), F.format_number(rival["score"], 4), F.lit(" by "), rival["seed_id"],
    )  # fmt: skip
    flagged = units.withColumn("rivals", rivals).select(
        "dialogue_id", "turn",
        best["label"].alias("label"), best["score"].alias("score"), best["seed_id"].alias("matched_id"),
        F.when(best["score"] < threshold,
               fault("below_threshold", F.format_number(best["score"], 4), " to ", best["seed_id"]))
        .when(rival["score"] == best["score"], fault("tied_labels", shown)).alias(FAULT),
        F.when((F.size("rivals") > 0) & (rival["score"] < best["score"]), shown).alias("conflict"),
    )  # fmt: skip
    return flagged.join(pool.select("dialogue_id", "turn", "turns"), ["dialogue_id", "turn"]).select(
        "dialogue_id", "turn", "turns", "label", F.lit(origin).alias("origin"), "score", "matched_id",
        F.lit("pool").alias("source"), FAULT, "conflict",
    )  # fmt: skip


def released_as(released: DataFrame, origin: str) -> DataFrame:
    """The released rows of one origin as labelled rows."""
    rows = released.where(F.col("origin") == origin)
    return rows.select(*[name for name in COLUMNS if name != "source"], F.lit("released").alias("source"))


def expanded(
    matches: DataFrame,
    pool: DataFrame,
    seeds: DataFrame,
    released: DataFrame,
    clean_dialogues: DataFrame,
    threshold: float,
    held_out_threshold: float,
) -> Outcome:
    """The crowd's labels on similar dialogues (EDOS 3.3), without what is near a held-out row.

    Args:
        matches: ``edos.similar_matches``.
        pool: of ``pool_of``.
        seeds: ``edos.seeds``.
        released: ``edos.released_dialogues``; its similar rows join ours, their threshold was the authors'.
        clean_dialogues: ``subtitles.clean_dialogues``.
        threshold, held_out_threshold: cosines.

    Returns:
        Outcome of ``edos.similar_dialogues``; in = dialogues with a match stored, and the released rows.
    """
    ours = labelled_by_similarity(matches, pool, threshold, "similar")
    candidates = _with_released(ours, released, "similar").persist()
    open_rows = candidates.where(F.col(FAULT).isNull())
    near = near_held_out(open_rows, seeds, matches, clean_dialogues, held_out_threshold)
    flagged = candidates.join(near, ["dialogue_id", "turn"], "left").withColumn(FAULT, F.coalesce(FAULT, "near"))
    return _without_known(flagged.drop("near"), crowd_rows(seeds))


def expanded_again(
    matches: DataFrame,
    pool: DataFrame,
    before: list[DataFrame],
    released: DataFrame,
    threshold: float,
) -> Outcome:
    """The self-labelled dialogues' labels on dialogues similar to them (EDOS 3.3, the second round).

    Args:
        matches: ``edos.similar_self_matches``.
        pool: of ``pool_of``.
        before: labelled rows of the earlier origins; a dialogue that says the same is not labelled again.
        released: ``edos.released_dialogues``.
        threshold: cosine, the second round's own.

    Returns:
        Outcome of ``edos.similar_self_dialogues``.
    """
    ours = labelled_by_similarity(matches, pool, threshold, "similar_self")
    candidates = _with_released(ours, released, "similar_self").persist()
    known = before[0].select(*COLUMNS)
    for more in before[1:]:
        known = known.unionByName(more.select(*COLUMNS))
    return _without_known(candidates, known)


def _with_released(ours: DataFrame, released: DataFrame, origin: str) -> DataFrame:
    theirs = released_as(released, origin).withColumn(FAULT, F.expr(NO_FAULT))
    return ours.unionByName(theirs.withColumn("conflict", F.lit(None).cast("string")))


def _without_known(candidates: DataFrame, known: DataFrame) -> Outcome:
    """Candidates that nobody labelled before; conflicts that were resolved are noted with 0 units."""
    known = known.withColumn(FAULT, F.expr(NO_FAULT)).withColumn("conflict", F.lit(None).cast("string"))
    both = candidates.withColumn("own", F.lit(True)).unionByName(known.withColumn("own", F.lit(False)))
    rows = first_of_same_text(both).where("own").drop("own").persist()
    outcome = split_kept_dropped(rows, "dialogue")
    noted = rows.where(F.col(FAULT).isNull() & F.col("conflict").isNotNull()).select(
        F.lit("dialogue").alias("unit"), unit_id().alias("id"), F.lit("label_conflict").alias("reason"),
        F.col("conflict").alias("detail"), F.lit(0).cast("bigint").alias("units"),
    )  # fmt: skip
    assert outcome.dropped is not None
    return Outcome(outcome.rows, outcome.dropped.unionByName(noted), rows_in=rows.count())
