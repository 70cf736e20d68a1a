"""Compute the four metrics of EDOS 5: perplexity, distinct-1 and -2, sentence embedding similarity."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import cosine
from etl.common.hashes import distinct_texts, text_hash
from etl.replies.regimes import PAPERS

CELL = ("generator", "source")
WORD = r"(?U)[\w']+|[^\w\s]"


def words_of(text: Column) -> Column:
    """Return the lower-case words and marks that distinct-n counts."""
    return F.regexp_extract_all(F.lower(text), F.lit(WORD), F.lit(0))


def perplexities(likelihoods: DataFrame) -> DataFrame:
    """Return the perplexity of each cell per token and per word: generator, source, perplexity, word_perplexity.

    Args:
        likelihoods: ``replies.likelihoods``.
    """
    # Integer ten-thousandths of nats sum exactly in any order.
    total = F.sum(F.round(F.col("nats") * 10_000).cast("bigint")) / F.lit(10_000.0)
    return likelihoods.where("error IS NULL").groupBy(*CELL).agg(
        F.exp(total / F.sum("tokens")).alias("perplexity"), F.exp(total / F.sum("words")).alias("word_perplexity")
    )  # fmt: skip


def distinct_ngrams(generated: DataFrame) -> DataFrame:
    """Return the ratio of distinct unigrams and bigrams to all words of each cell's replies (Li et al., 2016).

    Args:
        generated: generator, source, reply.

    Returns:
        generator, source, distinct_1, distinct_2, mean_words.
    """
    replies = generated.select(*CELL, words_of(F.col("reply")).alias("words"))
    pairs = F.transform(
        F.filter(F.sequence(F.lit(1), F.size("words")), lambda n: n < F.size("words")),
        lambda n: F.slice("words", n, F.lit(2)),
    )
    words = F.size("words")
    counted = replies.groupBy(*CELL).agg(F.sum(words).alias("total"), F.avg(words).alias("mean_words"))
    single = replies.select(*CELL, F.explode("words").alias("gram"))
    double = replies.where(words > 1).select(*CELL, F.explode(pairs).alias("gram"))
    for n, grams in ((1, single), (2, double)):
        kinds = grams.groupBy(*CELL).agg(F.count_distinct("gram").alias(f"kinds_{n}"))
        counted = counted.join(kinds, list(CELL), "left")
    share = [F.try_divide(F.coalesce(f"kinds_{n}", F.lit(0)), F.col("total")).alias(f"distinct_{n}") for n in (1, 2)]
    return counted.select(*CELL, *share, "mean_words")


def similarities(generated: DataFrame, embeddings: DataFrame, model: str) -> DataFrame:
    """Return the mean cosine of each cell's generated and expected replies: generator, source, similarity.

    Args:
        generated: generator, source, reply, expected.
        embeddings: ``replies.embeddings``.
        model: identity of the sentence encoder. Rows of other models are ignored.
    """
    known = embeddings.where((F.col("model") == model) & F.col("error").isNull()).select("text_hash", "embedding")
    hashed = generated.select(
        *CELL, text_hash(F.col("reply")).alias("reply_hash"), text_hash(F.col("expected")).alias("expected_hash")
    )
    both = hashed.join(known.toDF("reply_hash", "ours"), "reply_hash").join(
        known.toDF("expected_hash", "theirs"), "expected_hash"
    )
    score = F.round(cosine(F.col("ours"), F.col("theirs")) * 10_000).cast("bigint")
    return both.groupBy(*CELL).agg((F.sum(score) / F.count("*") / F.lit(10_000.0)).alias("similarity"))


def table_7(likelihoods: DataFrame, generated: DataFrame, embeddings: DataFrame, model: str) -> DataFrame:
    """Return EDOS Table 7 as rows of ``replies.evaluation``.

    Args:
        likelihoods, generated, embeddings: tables of the schema ``replies``.
        model: identity of the sentence encoder.
    """
    written = generated.where(F.col("error").isNull())
    cells = generated.groupBy(*CELL).agg(
        F.max("model").alias("model"), F.count("*").alias("examples"), F.count("error").alias("failed")
    )
    for measured in (perplexities(likelihoods), distinct_ngrams(written), similarities(written, embeddings, model)):
        cells = cells.join(measured, list(CELL), "left")
    trained_on = [f"{regime.generator}/{source}" for regime in PAPERS for source in regime.sources]
    rounded = ("perplexity", "word_perplexity", "distinct_1", "distinct_2", "similarity", "mean_words")
    held_out = F.concat_ws("/", *CELL).isin(*trained_on).alias("held_out")
    return cells.select(
        *CELL, "model", "examples", "failed", *(F.round(name, 4).alias(name) for name in rounded), held_out
    )


def distinct_replies(generated: DataFrame) -> DataFrame:
    """Return the distinct (text_hash, text) of generated and expected replies."""
    return distinct_texts(generated.where(F.col("error").isNull()), F.array("reply", "expected"))


def distinct_answers(steered: DataFrame) -> DataFrame:
    """Return the distinct (history_hash, turns) of histories with their generated reply."""
    written = steered.where(F.col("error").isNull())
    turns = F.concat("context", F.array("reply")).alias("turns")
    return written.select("history_hash", turns).dropDuplicates(["history_hash"])
