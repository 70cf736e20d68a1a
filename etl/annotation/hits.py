"""Group rows into HITs of one size, in an order of content and seed."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.hashes import content_order


def into_hits(items: DataFrame, per_hit: int, seed: int) -> DataFrame:
    """Add hit (from 0), hit_id and full. Items are ordered by content and seed, with ``per_hit`` items per HIT.

    Items are few (at most 41 x 250 for the crowd), so a global sort is cheap. Only the last HIT can be incomplete. The
    id of a HIT is a hash of its items.
    """
    key = F.concat_ws("/", "dialogue_id", F.col("turn").cast("string"))
    order = Window.orderBy(content_order(key, seed=seed, of="hit"), key)
    placed = items.withColumn("hit", F.floor((F.row_number().over(order) - 1) / per_hit).cast("int"))
    hits = placed.groupBy("hit").agg(F.sort_array(F.collect_list(key)).alias("keys"))
    named = hits.select(
        "hit",
        F.concat(F.lit("h"), F.substring(F.sha2(F.to_json(F.struct(F.lit(seed), "keys")), 256), 1, 12)).alias("hit_id"),
        (F.size("keys") == per_hit).alias("full"),
    )
    return placed.join(F.broadcast(named), "hit")


def in_position(items: DataFrame, seed: int) -> DataFrame:
    """Add position within the HIT, and item_id, which does not reveal quiz items."""
    item = content_order(F.col("hit_id"), F.col("dialogue_id"), F.col("turn").cast("string"), seed=seed, of="item")
    named = items.withColumn("item_id", F.concat(F.lit("i"), F.substring(item, 1, 12)))
    order = Window.partitionBy("hit_id").orderBy(content_order(F.col("item_id"), seed=seed, of="position"))
    return named.withColumn("position", F.row_number().over(order))


def batch_id_of(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return a batch's id: a hash of its HITs' ids, which are hashes of their items."""
    ids = sorted({str(task["hit_id"]) for task in tasks})
    return "b" + hashlib.sha256("\n".join(ids).encode()).hexdigest()[:12]


def hits_of(tasks: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Return (hit_id, rows ordered by position) of each HIT, ordered by hit_id."""
    hits: dict[str, list[Mapping[str, Any]]] = {}
    for task in tasks:
        hits.setdefault(str(task["hit_id"]), []).append(task)
    return [(name, sorted(rows, key=lambda row: int(row["position"]))) for name, rows in sorted(hits.items())]
