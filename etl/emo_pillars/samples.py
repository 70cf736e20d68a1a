"""Draw the samples of the analysis by a hash of their ids, and join texts with embeddings (Emo Pillars 7, G, H)."""

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.hashes import distinct_texts, text_hash
from etl.common.splits import content_share
from etl.emo_pillars.settings import Samples, TopicSample
from etl.pipeline.outcome import dropped_columns

UTTERANCES = "utterances"
OF_EMOTION = "utterances of one emotion"
NEUTRALS = "neutral utterances"
ONE_ACTOR = "neutral utterances of one actor"
OF_ACTOR = "contexts of one actor"
OF_PLOT = "contexts of one plot, other actors"
ACROSS = "contexts across plots"


def first_by_hash(rows: DataFrame, number: int, key: str, *within: str, salt: str) -> DataFrame:
    """Return the first rows by the hash of a key, of all rows or within groups."""
    order = Window.partitionBy(*(within or (F.lit(0),))).orderBy(content_share(F.col(key), salt=salt), key)
    return rows.withColumn("nth", F.row_number().over(order)).where(F.col("nth") <= number).drop("nth")


def utterance_samples(examples: DataFrame, contextual: DataFrame, number: int, neutral_label: str) -> DataFrame:
    """Return utterances to compare with each other: kind, label, text.

    The kinds are any original utterances, neutral ones, and those of each main emotion of the context-full data set
    (Table 12).

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        number: number of utterances per kind and label.
        neutral_label: the label of utterances without an emotion.
    """
    neutral = examples.where(F.col("primary_label") == neutral_label)
    kinds = ((UTTERANCES, examples, ()), (NEUTRALS, neutral, ()), (OF_EMOTION, contextual, ("primary_label",)))
    parts = []
    for kind, rows, within in kinds:
        label = (F.col("primary_label") if within else F.lit("")).alias("label")
        drawn = first_by_hash(rows, number, "utterance_id", *within, salt="utterances")
        parts.append(drawn.select(F.lit(kind).alias("kind"), label, F.col("utterance").alias("text")))
    return reduce(DataFrame.unionByName, parts)


def neutral_pairs(examples: DataFrame, number: int, neutral_label: str) -> DataFrame:
    """Return pairs (first, second) of neutral utterances of one actor, for at most ``number`` actors."""
    neutral = examples.where(F.col("primary_label") == neutral_label).select("actor_id", "utterance_id", "utterance")
    actors = first_by_hash(neutral.groupBy("actor_id").count().where("count > 1"), number, "actor_id", salt="actors")
    chosen = neutral.join(actors.select("actor_id"), "actor_id")
    other = chosen.select("actor_id", F.col("utterance_id").alias("other_id"), F.col("utterance").alias("second"))
    pairs = chosen.join(other, "actor_id").where(F.col("utterance_id") < F.col("other_id"))
    return pairs.select(F.col("utterance").alias("first"), "second")


def plot_contexts(contexts: DataFrame, examples: DataFrame, plots: int) -> DataFrame:
    """Return the generated contexts of at most ``plots`` plots: plot_id, actor_id, utterance_id, text."""
    found = contexts.join(examples.select("utterance_id", "plot_id", "actor_id"), "utterance_id")
    chosen = first_by_hash(found.select("plot_id").distinct(), plots, "plot_id", salt="plots")
    return found.join(chosen, "plot_id").select("plot_id", "actor_id", "utterance_id", F.col("context").alias("text"))


def changed_examples(contextual: DataFrame, contexts: DataFrame, number: int) -> DataFrame:
    """Return examples before and after: utterance_id, utterance, rewritten, context, clean_context."""
    rows = first_by_hash(contextual, number, "utterance_id", salt="changes")
    cleaned = rows.select("utterance_id", "utterance", "rewritten", F.col("context").alias("clean_context"))
    return cleaned.join(contexts.select("utterance_id", "context"), "utterance_id")


def topic_utterances(examples: DataFrame, emotion: str, number: int) -> DataFrame:
    """Return utterances generated for one emotion: utterance_id, text (Emo Pillars 7: 3000 of joy)."""
    of_emotion = examples.where(F.col("primary_label") == emotion)
    chosen = first_by_hash(of_emotion, number, "utterance_id", salt="topics")
    return chosen.select("utterance_id", F.col("utterance").alias("text"))


def texts_to_embed(
    examples: DataFrame,
    contextual: DataFrame,
    contexts: DataFrame,
    sizes: Samples,
    topic: TopicSample,
    query: str,
    neutral_label: str,
) -> DataFrame:
    """Return the distinct (text_hash, text) of all samples and the query.

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        contexts: ``emo_pillars.contexts``.
        topic: whose topics are looked for.
        query: query of ``emo_pillars.query_examples``.
        neutral_label: the label of utterances without an emotion.
    """
    frames = (
        utterance_samples(examples, contextual, sizes.utterances, neutral_label).select(F.array("text")),
        plot_contexts(contexts, examples, sizes.plots).select(F.array("text")),
        topic_utterances(examples, topic.topic_emotion, topic.topic_utterances).select(F.array("text")),
        neutral_pairs(examples, sizes.pairs, neutral_label).select(F.array("first", "second")),
        changed_examples(contextual, contexts, sizes.pairs).select(
            F.array("utterance", "rewritten", "context", "clean_context")
        ),
        examples.sparkSession.createDataFrame([([query],)], "texts array<string>"),
    )
    return distinct_texts(reduce(DataFrame.unionByName, (frame.toDF("texts") for frame in frames)), "texts")


def without_vector(rows: DataFrame, texts: Sequence[str], embeddings: DataFrame, model: str) -> DataFrame:
    """Return ledger rows of the examples with a text that has no embedding (``no_embedding``).

    Args:
        rows: utterance_id, and the columns of ``texts``.
        embeddings: ``emo_pillars.text_embeddings``.
        model: identity of the encoder.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull()).select("text_hash")
    hashes = F.array(*(text_hash(F.col(name)) for name in texts))
    each = rows.select("utterance_id", F.explode(hashes).alias("text_hash"))
    missing = each.join(known, "text_hash", "left_anti").select("utterance_id").distinct()
    return missing.select(*dropped_columns("example", "utterance_id", "no_embedding"))


def with_vector(
    rows: DataFrame, embeddings: DataFrame, model: str, text: str = "text", name: str = "vector"
) -> DataFrame:
    """Add the embedding of a text column, and drop rows without one.

    Args:
        embeddings: ``emo_pillars.text_embeddings``.
        model: identity of the encoder.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull()).select(
        F.col("text_hash").alias("_hash"), F.col("embedding").alias(name)
    )
    return rows.join(known, text_hash(F.col(text)) == F.col("_hash")).drop("_hash")


def evaluated(contextual: DataFrame, number: int, seed: int, neutral_label: str) -> DataFrame:
    """Draw candidates for the human evaluation with neutral alone, beside others, and without; add nth by hash."""
    labels = F.col("labels")["label"]
    neutral = F.array_contains(labels, neutral_label)
    kind = F.when(~neutral, "none").when(F.size(labels) == 1, "alone").otherwise("beside")
    order = Window.partitionBy("_kind").orderBy(content_share(F.col("utterance_id"), salt=f"evaluated {seed}"))
    ranked = contextual.withColumn("_kind", kind).withColumn("nth", F.row_number().over(order))
    return ranked.where(F.col("nth") <= number).drop("_kind")
