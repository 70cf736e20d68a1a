"""The four metrics of EDOS 5: perplexity, distinct-1 and -2, sentence embedding similarity."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import cosine
from etl.common.hashes import text_hash
from etl.replies.regimes import PAPERS

CELL = ("generator", "source")
WORD = r"(?U)[\w']+|[^\w\s]"


def words_of(text: Column) -> Column:
    """Words and marks in lower case: what distinct-n counts."""
    return F.regexp_extract_all(F.lower(text), F.lit(WORD), F.lit(0))


def perplexities(likelihoods: DataFrame) -> DataFrame:
    """Perplexity of each cell: e to the loss of a token, and to that of a word; all tokens count alike.

    Args:
        likelihoods: ``replies.likelihoods``.

    Returns:
        generator, source, perplexity, word_perplexity.
    """
    # Nats have four decimals: sums of whole ten-thousandths are the same in any order.
    total = F.sum(F.round(F.col("nats") * 10_000).cast("bigint")) / F.lit(10_000.0)
    return likelihoods.where("error IS NULL").groupBy(*CELL).agg(
        F.exp(total / F.sum("tokens")).alias("perplexity"), F.exp(total / F.sum("words")).alias("word_perplexity")
    )  # fmt: skip


def distinct_ngrams(generated: DataFrame) -> DataFrame:
    """Distinct unigrams and bigrams of each cell's replies over all their words (Li et al., 2016).

    Args:
        generated: generator, source, reply.

    Returns:
        generator, source, distinct_1, distinct_2, mean_words.
    """
    said = generated.select(*CELL, words_of(F.col("reply")).alias("words"))
    pairs = F.transform(
        F.filter(F.sequence(F.lit(1), F.size("words")), lambda n: n < F.size("words")),
        lambda n: F.slice("words", n, F.lit(2)),
    )
    totals = said.groupBy(*CELL).agg(F.sum(F.size("words")).alias("total"), F.avg(F.size("words")).alias("mean_words"))
    single = said.select(*CELL, F.explode("words").alias("gram"))
    double = said.where(F.size("words") > 1).select(*CELL, F.explode(pairs).alias("gram"))
    kinds = [
        rows.groupBy(*CELL).agg(F.count_distinct("gram").alias(f"kinds_{n}")) for n, rows in ((1, single), (2, double))
    ]
    counted = totals.join(kinds[0], list(CELL), "left").join(kinds[1], list(CELL), "left")
    share = [F.try_divide(F.coalesce(f"kinds_{n}", F.lit(0)), F.col("total")).alias(f"distinct_{n}") for n in (1, 2)]
    return counted.select(*CELL, *share, "mean_words")


def similarities(generated: DataFrame, embeddings: DataFrame, model: str) -> DataFrame:
    """Mean cosine of each cell's replies and what was said there.

    Args:
        generated: generator, source, reply, expected.
        embeddings: ``replies.embeddings``; only this model's rows count.
        model: identity of the sentence encoder.

    Returns:
        generator, source, similarity.
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


def table_7(
    likelihoods: DataFrame, generated: DataFrame, embeddings: DataFrame, model: str
) -> DataFrame:  # fmt: skip
    """Rows of ``replies.evaluation``: EDOS Table 7.

    Args:
        likelihoods, generated, embeddings: the tables of those names.
        model: identity of the sentence encoder.
    """
    written = generated.where(F.col("error").isNull())
    counts = generated.groupBy(*CELL).agg(
        F.max("model").alias("model"), F.count("*").alias("examples"), F.count("error").alias("failed")
    )
    cells = counts
    for measured in (perplexities(likelihoods), distinct_ngrams(written), similarities(written, embeddings, model)):
        cells = cells.join(measured, list(CELL), "left")
    own = F.array(*(F.lit(f"{regime.generator}/{source}") for regime in PAPERS for source in regime.sources))
    rounded = ("perplexity", "word_perplexity", "distinct_1", "distinct_2", "similarity", "mean_words")
    held_out = F.array_contains(own, F.concat_ws("/", *CELL)).alias("held_out")
    return cells.select(
        *CELL, "model", "examples", "failed", *(F.round(name, 4).alias(name) for name in rounded), held_out
    )


def distinct_replies(generated: DataFrame) -> DataFrame:
    """(text_hash, text): each reply, written or expected, once."""
    texts = generated.where(F.col("error").isNull()).select(F.explode(F.array("reply", "expected")).alias("text"))
    return texts.select(text_hash(F.col("text")).alias("text_hash"), "text").dropDuplicates(["text_hash"])


def distinct_answers(steered: DataFrame) -> DataFrame:
    """(history_hash, turns): each history with the reply that was written to it, once."""
    written = steered.where(F.col("error").isNull())
    turns = F.concat("context", F.array("reply")).alias("turns")
    return written.select("history_hash", turns).dropDuplicates(["history_hash"])
