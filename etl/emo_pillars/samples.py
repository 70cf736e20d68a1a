"""What the analysis looks at: samples by hash of their ids, and the texts in them (Emo Pillars 7, G, H)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import left_out
from etl.common.hashes import text_hash
from etl.common.splits import content_share

NEUTRAL = "neutral"
UTTERANCES, OF_EMOTION, NEUTRALS = "utterances", "utterances of one emotion", "neutral utterances"
ONE_ACTOR, OF_ACTOR = "neutral utterances of one actor", "contexts of one actor"
OF_PLOT, ACROSS = "contexts of one plot, other actors", "contexts across plots"


def first_by_hash(rows: DataFrame, number: int, key: str, *within: str, salt: str) -> DataFrame:
    """So many rows, by the hash of a key, of all or within groups."""
    order = Window.partitionBy(*(within or (F.lit(0),))).orderBy(content_share(F.col(key), salt=salt), key)
    return rows.withColumn("nth", F.row_number().over(order)).where(F.col("nth") <= number).drop("nth")


def utterance_samples(examples: DataFrame, contextual: DataFrame, number: int) -> DataFrame:
    """Utterances that are all compared with each other: kind, label, text.

    Any original ones; neutral ones; and of the context-full data set those of each main emotion (Table 12).

    Args:
        examples: ``emo_pillars.examples``.
        contextual: ``emo_pillars.contextual_examples``.
        number: of each kind and label.
    """
    every = first_by_hash(examples, number, "utterance_id", salt="utterances")
    neutral = first_by_hash(
        examples.where(F.col("primary_label") == NEUTRAL), number, "utterance_id", salt="utterances"
    )
    by_class = first_by_hash(contextual, number, "utterance_id", "primary_label", salt="utterances")
    text = F.col("utterance").alias("text")
    return (
        every.select(F.lit(UTTERANCES).alias("kind"), F.lit("").alias("label"), text)
        .unionByName(neutral.select(F.lit(NEUTRALS).alias("kind"), F.lit("").alias("label"), text))
        .unionByName(by_class.select(F.lit(OF_EMOTION).alias("kind"), F.col("primary_label").alias("label"), text))
    )


def neutral_pairs(examples: DataFrame, number: int) -> DataFrame:
    """Two neutral utterances of one actor: first, second; of so many actors."""
    neutral = examples.where(F.col("primary_label") == NEUTRAL).select("actor_id", "utterance_id", "utterance")
    actors = first_by_hash(neutral.groupBy("actor_id").count().where("count > 1"), number, "actor_id", salt="actors")
    own = neutral.join(actors.select("actor_id"), "actor_id")
    other = own.select("actor_id", F.col("utterance_id").alias("other_id"), F.col("utterance").alias("second"))
    pairs = own.join(other, "actor_id").where(F.col("utterance_id") < F.col("other_id"))
    return pairs.select(F.col("utterance").alias("first"), "second")


def plot_contexts(contexts: DataFrame, examples: DataFrame, plots: int) -> DataFrame:
    """Contexts as they were made, of so many plots: plot_id, actor_id, utterance_id, text.

    Args:
        contexts: ``emo_pillars.contexts``.
        examples: ``emo_pillars.examples``.
        plots: how many.
    """
    found = contexts.join(examples.select("utterance_id", "plot_id", "actor_id"), "utterance_id")
    chosen = first_by_hash(found.select("plot_id").distinct(), plots, "plot_id", salt="plots")
    return found.join(chosen, "plot_id").select("plot_id", "actor_id", "utterance_id", F.col("context").alias("text"))


def changed_examples(contextual: DataFrame, contexts: DataFrame, number: int) -> DataFrame:
    """Examples before and after: utterance_id, utterance, rewritten, context as it was made, clean_context."""
    rows = first_by_hash(contextual, number, "utterance_id", salt="changes")
    cleaned = rows.select("utterance_id", "utterance", "rewritten", F.col("context").alias("clean_context"))
    return cleaned.join(contexts.select("utterance_id", "context"), "utterance_id")


def topic_utterances(examples: DataFrame, emotion: str, number: int) -> DataFrame:
    """Utterances made for one emotion: utterance_id, text (Emo Pillars 7: 3000 of joy)."""
    own = examples.where(F.col("primary_label") == emotion)
    chosen = first_by_hash(own, number, "utterance_id", salt="topics")
    return chosen.select("utterance_id", F.col("utterance").alias("text"))


def texts_to_embed(
    examples: DataFrame, contextual: DataFrame, contexts: DataFrame, settings: object, query: str
) -> DataFrame:
    """(text_hash, text): each text of all samples once, and the query.

    Args:
        settings: ``emo_pillars.analysis``.
    """
    wanted: dict[str, int | str] = vars(settings)
    pairs = neutral_pairs(examples, int(wanted["pairs"]))
    changed = changed_examples(contextual, contexts, int(wanted["pairs"]))
    emotion, number = str(wanted["topic_emotion"]), int(wanted["topic_utterances"])
    frames = [
        utterance_samples(examples, contextual, int(wanted["utterances"])).select("text"),
        plot_contexts(contexts, examples, int(wanted["plots"])).select("text"),
        topic_utterances(examples, emotion, number).select("text"),
        *(pairs.select(F.col(name).alias("text")) for name in ("first", "second")),
        *(changed.select(F.col(name).alias("text")) for name in ("utterance", "rewritten", "context", "clean_context")),
        examples.sparkSession.createDataFrame([(query,)], "text string"),
    ]
    every = frames[0]
    for more in frames[1:]:
        every = every.unionByName(more)
    return every.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def without_vector(
    rows: DataFrame, texts: Sequence[str], embeddings: DataFrame, model: str, key: str = "utterance_id"
) -> DataFrame:
    """The ledger's rows of those of which a text has no embedding (``no_embedding``).

    Args:
        texts: the columns that are embedded.
        embeddings: ``emo_pillars.text_embeddings``.
        model: whose.
        key: the rows' id.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull()).select("text_hash")
    each = rows.select(key, F.explode(F.array(*(text_hash(F.col(name)) for name in texts))).alias("text_hash"))
    missing = each.join(known, "text_hash", "left_anti").select(key).distinct()
    return missing.select(*left_out("example", key, F.lit("no_embedding")))


def with_vector(
    rows: DataFrame, embeddings: DataFrame, model: str, text: str = "text", name: str = "vector"
) -> DataFrame:
    """Adds a text's embedding; rows whose text has none are left out.

    Args:
        embeddings: ``emo_pillars.text_embeddings``.
        model: whose.
    """
    known = embeddings.where((F.col("model") == model) & F.col("embedding").isNotNull()).select(
        F.col("text_hash").alias("_hash"), F.col("embedding").alias(name)
    )
    return rows.join(known, text_hash(F.col(text)) == F.col("_hash")).drop("_hash")


def evaluated(contextual: DataFrame, number: int, seed: int) -> DataFrame:
    """Candidates for the human evaluation: so many with neutral alone, beside others, without, by hash; adds nth."""
    labels = F.col("labels")["label"]
    neutral = F.array_contains(labels, NEUTRAL)
    kind = F.when(~neutral, "none").when(F.size(labels) == 1, "alone").otherwise("beside")
    order = Window.partitionBy("_kind").orderBy(content_share(F.col("utterance_id"), salt=f"evaluated {seed}"))
    ranked = contextual.withColumn("_kind", kind).withColumn("nth", F.row_number().over(order))
    return ranked.where(F.col("nth") <= number).drop("_kind")
