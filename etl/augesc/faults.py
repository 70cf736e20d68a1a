"""Measure faults of conversations: inconsistency, topic shifts and toxicity (AugESC 6.4).

The paper found inconsistent facts and improper topic transitions by reading, and gives no numbers. The measures are
ours. They compare methods and are not rates of faults:

- *Topic shift*: the embedding of a longer utterance is far from its neighbour's and from the mean of all earlier ones.
  This detects a sudden change of subject, but no gradual drift, and not whether the change is improper. Sessions of
  people are measured for comparison, as people change subjects too. The share of utterances that would be a shift in
  another conversation of the set shows how sensitive the measure is.
- *Inconsistency*: rules over role phrases (``etl.augesc.consistency``), and, if ``models.contradiction`` is set, an
  entailment model over pairs of similar statements of one speaker. Such models also report changes of mind or of time.
- *Toxicity*: ``models.toxicity``, or else the words of ``conf/profanity.txt``, which miss polite insults and count
  quoted words.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.augesc.consistency import SCHEMA, confused, role_phrases
from etl.common.columns import with_columns_once
from etl.common.hashes import distinct_texts, text_hash
from etl.common.splits import content_share
from etl.common.text_comparison import word_pattern
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.conversation_vectors import pairs_of_speakers

WORD_LIST = "none"
"""The model name in ``augesc.toxicity_scores`` if a word list is used."""


def sample_texts(measured: DataFrame, sampled: int) -> DataFrame:
    """Sample texts of two or more utterances from each method and source, by the hash of their ids.

    Args:
        measured: ``augesc.measured_texts``.
        sampled: number of texts per method and source.

    Returns:
        text_id, method, source, turns, and other_id: the next text of the set, cyclically.
    """
    order = Window.partitionBy("method", "source").orderBy(content_share(F.col("text_id"), salt="faults"), "text_id")
    chosen = measured.where(F.size("turns") > 1).withColumn("nth", F.row_number().over(order))
    chosen = chosen.where(F.col("nth") <= sampled)
    other = F.coalesce(F.lead("text_id").over(order), F.first("text_id").over(order))
    return chosen.select(
        "text_id", "method", "source", "turns", F.when(other != F.col("text_id"), other).alias("other_id")
    )


def distinct_utterances(texts: DataFrame) -> DataFrame:
    """Return the distinct (text_hash, text) of the texts' utterances."""
    return distinct_texts(texts, "turns.text")


def with_vectors(texts: DataFrame, embeddings: DataFrame, model: str) -> DataFrame:
    """Return the texts whose utterances all have an embedding, with the vectors in order.

    Args:
        texts: rows of ``sample_texts``.
        embeddings: ``augesc.utterance_embeddings``.
        model: identity of the sentence encoder.

    Returns:
        text_id, other_id, roles, texts, tokens, vectors.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull())
    lines = texts.select("text_id", "other_id", F.size("turns").alias("size"), F.posexplode("turns").alias("n", "turn"))
    lines = lines.withColumn("text_hash", text_hash(F.col("turn.text"))).join(
        known.select("text_hash", "embedding"), "text_hash"
    )
    line = F.struct("n", "turn.role", "turn.text", "turn.tokens", "embedding")
    gathered = lines.groupBy("text_id", "other_id", "size").agg(F.sort_array(F.collect_list(line)).alias("lines"))
    columns = (("roles", "role"), ("texts", "text"), ("tokens", "tokens"), ("vectors", "embedding"))
    return gathered.where(F.size("lines") == F.col("size")).select(
        "text_id", "other_id", *(F.col("lines")[field].alias(name) for name, field in columns)
    )


def with_others(conversations: DataFrame) -> DataFrame:
    """Add other: the vectors of the conversation other_id; null if it has none."""
    other = conversations.select(F.col("text_id").alias("other_id"), F.col("vectors").alias("other"))
    return conversations.join(other, "other_id", "left")


def count_utterances(texts: DataFrame) -> int:
    """Return the number of utterances of all texts."""
    row = texts.agg(F.coalesce(F.sum(F.size("turns")), F.lit(0))).first()
    return int(row[0]) if row is not None else 0


def unscored_utterances(texts: DataFrame, conversations: DataFrame, least: int) -> DataFrame:
    """Return a ledger row for each text with utterances that have no topic score.

    The reason is ``no_embedding`` if an utterance of the text has none, otherwise ``nothing_before``, which also counts
    the utterances that are too short.

    Args:
        texts: rows of ``sample_texts``.
        conversations: rows of ``with_vectors``.
        least: least number of tokens of a scored utterance.
    """
    embedded = conversations.select("text_id", F.lit(True).alias("embedded"))
    counted = F.size(F.filter("turns", lambda turn: turn["tokens"] >= least))
    scored = F.greatest(counted - 1, F.lit(0))
    sizes = texts.join(embedded, "text_id", "left").select(
        "text_id", "embedded", (F.size("turns") - F.when(F.col("embedded"), scored).otherwise(0)).alias("units")
    )
    reason = F.when(F.col("embedded"), "nothing_before").otherwise("no_embedding")
    return sizes.where("units > 0").select(*dropped_columns("text", "text_id", reason, F.col("units")))


def statement_pairs(conversations: DataFrame, least: int, related: float, most: int) -> Outcome:
    """Return pairs of similar statements of one speaker as an outcome of ``augesc.statement_pairs``.

    Pairs of equal statements (``same_statement``) and repeated pairs (``repeated_pair``) are dropped. The unit is the
    pair.
    """
    both = F.concat_ws("", text_hash(F.col("first")), text_hash(F.col("second")))
    found = pairs_of_speakers(conversations, least, related, most).withColumn("text_hash", F.sha2(both, 256)).cache()
    key = ["text_id", "role", "text_hash"]
    pairs = found.where(F.col("first") != F.col("second"))
    again = found.where(F.col("first") == F.col("second")).groupBy("text_id").agg(F.count("*").alias("units"))
    twice = pairs.groupBy(*key).count().groupBy("text_id").agg(F.sum(F.col("count") - 1).alias("units"))
    dropped = again.select(*dropped_columns("text", "text_id", "same_statement", F.col("units"))).unionByName(
        twice.where("units > 0").select(*dropped_columns("text", "text_id", "repeated_pair", F.col("units")))
    )
    rows = pairs.dropDuplicates(key).select(*key, "first", "second", "similarity")
    return Outcome(rows, dropped, rows_in=found.count())


def listed_toxicity(utterances: DataFrame, words: Sequence[str]) -> DataFrame:
    """Score utterances by a word list: 1 if any word occurs, else 0."""
    found = F.col("text").rlike(word_pattern(words)) if words else F.lit(False)
    return utterances.select(
        "text_hash",
        F.lit(WORD_LIST).alias("model"),
        found.cast("float").alias("score"),
        F.lit(None).cast("string").alias("error"),
    )


def faults(
    texts: DataFrame,
    topics: DataFrame,
    toxicity: DataFrame,
    pairs: DataFrame,
    contradictions: DataFrame,
    *,
    near: float,
    toxic: float,
    contradicts: float,
) -> DataFrame:
    """Count the faults of each text, as rows of ``augesc.faults``.

    Args:
        texts: rows of ``sample_texts``.
        topics: ``augesc.topic_scores``.
        toxicity: ``augesc.toxicity_scores`` of one model.
        pairs: ``augesc.statement_pairs``.
        contradictions: ``augesc.contradiction_scores`` of one model.
        near, toxic, contradicts: thresholds, see ``augesc.faults``.
    """
    lines = texts.select("text_id", F.posexplode("turns").alias("turn", "line")).select(
        "text_id", "turn", "line.role", text_hash(F.col("line.text")).alias("text_hash")
    )
    far = F.greatest("neighbour_similarity", "before_similarity") < near
    shifts = (
        topics.join(lines, ["text_id", "turn"])
        .groupBy("text_id")
        .agg(
            _number("*").alias("topical"),
            _number(far).alias("shifted"),
            _number(far & (F.col("role") == "supporter")).alias("shifted_supporter"),
            _number(F.col("other_similarity") < near).alias("other_shifted"),
            F.round(F.avg("before_similarity"), 4).alias("mean_similarity"),
            F.round(F.avg("other_similarity"), 4).alias("mean_other_similarity"),
        )
    )
    scored = toxicity.where(F.col("score").isNotNull()).select("text_hash", "score", "model")
    rude = (
        lines.join(scored, "text_hash")
        .groupBy("text_id")
        .agg(_number(F.col("score") >= toxic).alias("toxic"), F.max("model").alias("toxic_by"))
    )
    judged = pairs.join(contradictions.where(F.col("score").isNotNull()).select("text_hash", "score"), "text_hash")
    contradicted = judged.groupBy("text_id").agg(
        _number("*").alias("statement_pairs"), _number(F.col("score") >= contradicts).alias("contradictory_pairs")
    )
    rules = F.pandas_udf(confused(role_phrases()), SCHEMA)(F.col("turns"))  # type: ignore[call-overload]
    rows = with_columns_once(texts, rules=rules).select(
        "text_id", "method", "source", F.size("turns").alias("utterances"), "rules.*"
    )
    for counts in (contradicted, shifts, rude):
        rows = rows.join(counts, "text_id", "left")
    return rows


def _number(condition: Column | str) -> Column:
    return (F.count("*") if isinstance(condition, str) else F.count_if(condition)).cast("int")
