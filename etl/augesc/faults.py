"""Faults of conversations, measured: inconsistency, topic shifts; toxicity apart (AugESC 6.4).

The paper found inconsistent facts and improper topic transitions by reading, and gives no numbers. The measures are
ours, meant for comparing methods under one ruler, not as rates of faults:

- *Topic shift*: an utterance of some length whose embedding is far from its neighbour's and from the mean of all before
  it. It sees a change of subject in words. It sees neither a drift by small steps, nor whether a change is improper:
  people change subjects, too, so sessions of people stand beside. How many of the utterances it would call out of place
  in another conversation of the set, says how much it can see at all.
- *Inconsistency*: rules over plain facts and role words (``etl.augesc.consistency``), and where
  ``models.contradiction`` is set, a model of entailment over pairs of a speaker's statements that are alike. Such
  models take a change of mind or of time for a contradiction.
- *Toxicity*: ``models.toxicity``, else the words of ``conf/profanity.txt``, which see coarse words and no insult in
  polite ones; quoting somebody's rude words counts.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.augesc.consistency import SCHEMA, inconsistent, role_phrases
from etl.common.columns import computed_once, left_out
from etl.common.hashes import text_hash
from etl.common.splits import content_share
from etl.common.texts import word_pattern
from etl.tables.outcome import Outcome
from udfs.conversation_vectors import pairs_of_speakers

WORD_LIST = "none"
"""The model's name in ``augesc.toxicity_scores`` where a list of words stands in for one."""


def sample_texts(measured: DataFrame, sampled: int) -> DataFrame:
    """So many texts of each method and source, by the hash of their ids, with two utterances or more.

    Args:
        measured: ``augesc.measured_texts``.
        sampled: how many.

    Returns:
        text_id, method, source, turns, and other_id: the next text of the set, the first after the last.
    """
    own = Window.partitionBy("method", "source")
    order = own.orderBy(content_share(F.col("text_id"), salt="faults"), "text_id")
    chosen = measured.where(F.size("turns") > 1).withColumn("nth", F.row_number().over(order))
    chosen = chosen.where(F.col("nth") <= sampled)
    other = F.coalesce(F.lead("text_id").over(order), F.first("text_id").over(order))
    return chosen.select(
        "text_id", "method", "source", "turns", F.when(other != F.col("text_id"), other).alias("other_id")
    )


def distinct_utterances(texts: DataFrame) -> DataFrame:
    """(text_hash, text): each utterance of the texts once."""
    said = texts.select(F.explode("turns.text").alias("text"))
    return said.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def with_vectors(texts: DataFrame, embeddings: DataFrame, model: str) -> DataFrame:
    """Texts whose every utterance has an embedding, with the vectors in order.

    Args:
        texts: of ``sample_texts``.
        embeddings: ``augesc.utterance_embeddings``.
        model: whose.

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


def beside_others(conversations: DataFrame) -> DataFrame:
    """Adds other: the vectors of the conversation that other_id names, null where it has none."""
    other = conversations.select(F.col("text_id").alias("other_id"), F.col("vectors").alias("other"))
    return conversations.join(other, "other_id", "left")


def number_of_utterances(texts: DataFrame) -> int:
    """The utterances of all texts."""
    row = texts.agg(F.coalesce(F.sum(F.size("turns")), F.lit(0))).first()
    return int(row[0]) if row is not None else 0


def without_topic(texts: DataFrame, conversations: DataFrame, least: int) -> DataFrame:
    """The ledger's rows of utterances that get no topic score, a text each.

    Those of a text with an utterance that has no embedding (``no_embedding``); else those that are too short, and a
    text's first counted one (``nothing_before``).

    Args:
        texts: of ``sample_texts``.
        conversations: of ``with_vectors``.
        least: tokens of an utterance that is counted.
    """
    embedded = conversations.select("text_id", F.lit(True).alias("embedded"))
    counted = F.size(F.filter("turns", lambda turn: turn["tokens"] >= least))
    scored = F.greatest(counted - 1, F.lit(0))
    sizes = texts.join(embedded, "text_id", "left").select(
        "text_id", "embedded", (F.size("turns") - F.when(F.col("embedded"), scored).otherwise(0)).alias("units")
    )
    reason = F.when(F.col("embedded"), "nothing_before").otherwise("no_embedding")
    return sizes.where("units > 0").select(*left_out("text", "text_id", reason, F.col("units")))


def statement_pairs(conversations: DataFrame, least: int, related: float, most: int) -> Outcome:
    """Pairs of a speaker's statements that are alike, as ``augesc.statement_pairs``.

    Left out are a statement that is said again (``same_statement``) and a pair of texts that a talk has twice
    (``repeated_pair``); the unit is the pair.
    """
    both = F.concat_ws("", text_hash(F.col("first")), text_hash(F.col("second")))
    found = pairs_of_speakers(conversations, least, related, most).withColumn("text_hash", F.sha2(both, 256)).cache()
    key = ["text_id", "role", "text_hash"]
    pairs = found.where(F.col("first") != F.col("second"))
    again = found.where(F.col("first") == F.col("second")).groupBy("text_id").agg(F.count("*").alias("units"))
    twice = pairs.groupBy(*key).count().groupBy("text_id").agg(F.sum(F.col("count") - 1).alias("units"))
    dropped = again.select(*left_out("text", "text_id", F.lit("same_statement"), F.col("units"))).unionByName(
        twice.where("units > 0").select(*left_out("text", "text_id", F.lit("repeated_pair"), F.col("units")))
    )
    rows = pairs.dropDuplicates(key).select(*key, "first", "second", "similarity")
    return Outcome(rows, dropped, rows_in=found.count())


def listed_toxicity(utterances: DataFrame, words: Sequence[str]) -> DataFrame:
    """Scores of utterances by a list of words: 1 with any of them, else 0."""
    found = F.col("text").rlike(word_pattern(words)) if words else F.lit(False)
    return utterances.select(
        "text_hash", F.lit(WORD_LIST).alias("model"), found.cast("float").alias("score"),
        F.lit(None).cast("string").alias("error"),
    )  # fmt: skip


def faults(
    texts: DataFrame, topics: DataFrame, toxicity: DataFrame, pairs: DataFrame, contradictions: DataFrame,
    *, near: float, toxic: float, contradicts: float,
) -> DataFrame:  # fmt: skip
    """How often each fault was found in each text.

    Args:
        texts: of ``sample_texts``.
        topics: ``augesc.topic_scores``.
        toxicity: ``augesc.toxicity_scores`` of one model.
        pairs: ``augesc.statement_pairs``.
        contradictions: ``augesc.contradiction_scores`` of one model.
        near, toxic, contradicts: thresholds, see ``augesc.faults``.

    Returns:
        Rows of ``augesc.faults``.
    """
    lines = texts.select("text_id", F.posexplode("turns").alias("turn", "said")).select(
        "text_id", "turn", "said.role", text_hash(F.col("said.text")).alias("text_hash")
    )
    far = F.greatest("neighbour_similarity", "before_similarity") < near
    shifts = topics.join(lines, ["text_id", "turn"]).groupBy("text_id").agg(
        _number("*").alias("topical"), _number(far).alias("shifted"),
        _number(far & (F.col("role") == "supporter")).alias("shifted_supporter"),
        _number(F.col("other_similarity") < near).alias("other_shifted"),
        F.round(F.avg("before_similarity"), 4).alias("mean_similarity"),
        F.round(F.avg("other_similarity"), 4).alias("mean_other_similarity"),
    )  # fmt: skip
    scored = toxicity.where(F.col("score").isNotNull()).select("text_hash", "score", "model")
    poison = lines.join(scored, "text_hash").groupBy("text_id").agg(
        _number(F.col("score") >= toxic).alias("toxic"), F.max("model").alias("toxic_by")
    )  # fmt: skip
    judged = pairs.join(contradictions.where(F.col("score").isNotNull()).select("text_hash", "score"), "text_hash")
    against = judged.groupBy("text_id").agg(
        _number("*").alias("statement_pairs"), _number(F.col("score") >= contradicts).alias("contradictory_pairs")
    )
    rules = F.pandas_udf(inconsistent(role_phrases()), SCHEMA)(F.col("turns"))  # type: ignore[call-overload]
    rows = computed_once(texts, rules=rules).select(
        "text_id", "method", "source", F.size("turns").alias("utterances"), "rules.*"
    )
    for more in (against, shifts, poison):
        rows = rows.join(more, "text_id", "left")
    return rows


def _number(condition: Column | str) -> Column:
    counted = F.count("*") if isinstance(condition, str) else F.count_if(condition)
    return counted.cast("int")
