"""Measure the similarity of texts: mean, deviation and 99th percentile over pairs, and changes (Emo Pillars 7)."""

from collections.abc import Iterator
from difflib import SequenceMatcher

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import cosine
from etl.common.hashes import text_hash
from etl.emo_pillars import samples
from etl.emo_pillars.samples import with_vector
from etl.emo_pillars.settings import Samples
from udfs.pair_similarities import BINS, counts_by_owner, counts_of_groups, counts_of_pairs
from udfs.words import token_count


def counts_of_samples(
    examples: DataFrame,
    contextual: DataFrame,
    contexts: DataFrame,
    embeddings: DataFrame,
    model: str,
    sizes: Samples,
    neutral_label: str,
) -> DataFrame:
    """Return all comparisons of section 7 and Table 12, as counts of cosines.

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        contexts: ``emo_pillars.contexts``.
        embeddings: ``emo_pillars.text_embeddings``.
        model: identity of the encoder.
        neutral_label: the label of utterances without an emotion.
    """

    def vectors(rows: DataFrame) -> DataFrame:
        return with_vector(rows, embeddings, model)

    every = counts_of_groups(vectors(samples.utterance_samples(examples, contextual, sizes.utterances, neutral_label)))
    neutral = paired(samples.neutral_pairs(examples, sizes.pairs, neutral_label), "first", "second", embeddings, model)
    generated = vectors(samples.plot_contexts(contexts, examples, sizes.plots)).cache()
    of_plots = counts_by_owner(generated, "plot_id", "actor_id", samples.OF_ACTOR, samples.OF_PLOT)
    one_each = samples.first_by_hash(generated, 1, "utterance_id", "plot_id", salt="across").select(
        F.lit(samples.ACROSS).alias("kind"), F.lit("").alias("label"), "vector"
    )
    return (
        every.unionByName(counts_of_pairs(neutral, samples.ONE_ACTOR))
        .unionByName(of_plots)
        .unionByName(counts_of_groups(one_each))
    )


def paired(rows: DataFrame, first: str, second: str, embeddings: DataFrame, model: str) -> DataFrame:
    """Add the cosine of the texts of two columns, and drop rows without both embeddings."""
    found = with_vector(rows, embeddings, model, first, "_first")
    found = with_vector(found, embeddings, model, second, "_second")
    return found.withColumn("cosine", F.round(cosine(F.col("_first"), F.col("_second")), 4)).drop("_first", "_second")


def changes(contextual: DataFrame, contexts: DataFrame, embeddings: DataFrame, model: str, number: int) -> DataFrame:
    """Compare examples before and after cleaning and rewriting, as rows of ``emo_pillars.changes`` (Emo Pillars 7).

    Tokens are NLTK's, as the paper does not name its tokenizer.
    """
    rows = samples.changed_examples(contextual, contexts, number)
    rows = paired(rows, "utterance", "rewritten", embeddings, model).withColumnRenamed("cosine", "utterance_similarity")
    both = paired(rows, "context", "clean_context", embeddings, model)
    return both.select(
        "utterance_id",
        token_count(F.col("utterance")).alias("utterance_tokens"),
        token_count(F.col("rewritten")).alias("rewritten_tokens"),
        partial_ratios(F.col("utterance"), F.col("rewritten")).alias("partial_ratio"),
        token_count(F.col("context")).alias("context_tokens"),
        token_count(F.col("clean_context")).alias("clean_context_tokens"),
        "utterance_similarity",
        F.col("cosine").alias("context_similarity"),
    )


def unmeasured_changes(
    contextual: DataFrame, contexts: DataFrame, embeddings: DataFrame, model: str, number: int
) -> DataFrame:
    """Return ledger rows of the examples that :func:`changes` drops because a text has no embedding."""
    rows = samples.changed_examples(contextual, contexts, number)
    texts = ("utterance", "rewritten", "context", "clean_context")
    return samples.without_vector(rows, texts, embeddings, model)


def count_pairs(counts: DataFrame) -> int:
    """Return the number of compared pairs in the rows of ``counts_of_samples``."""
    row = counts.agg(F.coalesce(F.sum("pairs"), F.lit(0))).first()
    return int(row[0]) if row is not None else 0


def nearest_to(query: str, examples: DataFrame, embeddings: DataFrame, model: str, number: int) -> DataFrame:
    """Return the embedded examples nearest to a query as rows of ``emo_pillars.query_examples``."""
    known = with_vector(examples.withColumn("query", F.lit(query)), embeddings, model, "utterance")
    target = embeddings.where((F.col("model") == model) & (F.col("text_hash") == text_hash(F.lit(query))))
    found = known.crossJoin(F.broadcast(target.select(F.col("embedding").alias("target"))))
    near = found.withColumn("similarity", F.round(cosine(F.col("vector"), F.col("target")), 4))
    order = Window.partitionBy("query").orderBy(F.col("similarity").desc(), "utterance_id")
    ranked = near.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= number)
    return ranked.select("rank", "utterance_id", "similarity", "utterance", F.col("labels")["label"].alias("labels"))


def summarised(counts: DataFrame, model: str) -> DataFrame:
    """Summarise binned counts as rows of ``emo_pillars.similarities``.

    Args:
        counts: rows of ``udfs.pair_similarities.COUNTS``. A bin can have several rows.
        model: identity of the encoder.
    """
    sums = {name: F.sum(name).alias(name) for name in ("pairs", "total", "squares")}
    binned = counts.groupBy("kind", "label", "bin").agg(*sums.values())
    group = Window.partitionBy("kind", "label")
    so_far = F.sum("pairs").over(group.orderBy("bin"))
    binned = binned.withColumns({"so_far": so_far, "all": F.sum("pairs").over(group)})
    upper = F.when(F.col("so_far") >= 0.99 * F.col("all"), (F.col("bin") + 1) / F.lit(BINS / 2) - 1)
    whole = binned.groupBy("kind", "label").agg(*sums.values(), F.min(upper).alias("upper"))
    mean = F.col("total") / F.col("pairs")
    variance = F.greatest(F.col("squares") / F.col("pairs") - mean * mean, F.lit(0.0))
    return whole.select(
        "kind",
        "label",
        "pairs",
        F.round(mean, 4).alias("mean"),
        F.round(F.sqrt(variance), 4).alias("deviation"),
        F.round("upper", 3).alias("percentile_99"),
        F.lit(model).alias("model"),
    )


def partial_ratio(first: str, second: str) -> int:
    """Return how much of the shorter text is contained in the longer one, in percent.

    The result is the best difflib ratio of the shorter text and the parts of the longer text that have the same length
    and are aligned by a matching block. Under 200 characters fuzzywuzzy without its C extension has the same; in longer
    texts it ignores frequent letters, as difflib does by default.
    """
    shorter, longer = sorted((first, second), key=len)
    if not shorter:
        return 0 if longer else 100
    blocks = SequenceMatcher(None, shorter, longer, autojunk=False).get_matching_blocks()
    starts = {max(block.b - block.a, 0) for block in blocks}
    best = max(
        SequenceMatcher(None, shorter, longer[start : start + len(shorter)], autojunk=False).ratio() for start in starts
    )
    return 100 if best > 0.995 else round(100 * best)


def partial_ratios(first: Column, second: Column) -> Column:
    """Apply ``partial_ratio`` to two columns."""

    def ratios(batches: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for left, right in batches:
            found = [partial_ratio(one, other) for one, other in zip(left, right, strict=True)]
            yield pd.Series(found, dtype="int32")

    return F.pandas_udf(ratios, "int")(first, second)  # type: ignore[call-overload, no-any-return]
