"""Compute the four metrics of EDOS 5: perplexity, distinct-1 and -2, sentence embedding similarity."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import cosine
from etl.common.hashes import distinct_texts, history_hash, text_hash
from etl.replies.baselines import CEILING, FLOORS
from etl.replies.conversations import EMPATHETIC
from etl.replies.regimes import COMPARED
from etl.replies.requests import first_by_hash

CELL = ("generator", "source")
WORD = r"(?U)[\w']+|[^\w\s]"


def words_and_marks(text: Column) -> Column:
    """Return the lower-case words and marks that distinct-n counts."""
    return F.regexp_extract_all(F.lower(text), F.lit(WORD), F.lit(0))


def perplexities(likelihoods: DataFrame) -> DataFrame:
    """Return the perplexity of each cell per token and per word: generator, source, perplexity, word_perplexity.

    Args:
        likelihoods: ``replies.likelihoods``.
    """
    # Integer ten-thousandths of nats sum exactly in any order.
    total = F.sum(F.round(F.col("nats") * 10_000).cast("bigint")) / F.lit(10_000.0)
    return (
        likelihoods.where("error IS NULL")
        .groupBy(*CELL)
        .agg(F.exp(total / F.sum("tokens")).alias("perplexity"), F.exp(total / F.sum("words")).alias("word_perplexity"))
    )


def equal_numbers(generated: DataFrame) -> DataFrame:
    """Return as many replies of each cell as the smallest cell has, chosen by the hash of the example.

    The shares of distinct n-grams fall with the number of replies, so they compare at equal numbers only.

    Args:
        generated: generator, source, example_id, reply.

    Returns:
        The rows chosen, with their cells' number as ``distinct_replies``.
    """
    sizes = generated.groupBy(*CELL).agg(F.count("*").alias("size"))
    least = sizes.agg(F.min("size").alias("distinct_replies"))
    order = Window.partitionBy(*CELL).orderBy(F.xxhash64("example_id"), "example_id")
    placed = generated.withColumn("place", F.row_number().over(order)).crossJoin(F.broadcast(least))
    return placed.where("place <= distinct_replies").drop("place")


def distinct_ngrams(generated: DataFrame) -> DataFrame:
    """Return the ratio of distinct unigrams and bigrams to all words of each cell's replies (Li et al., 2016).

    Args:
        generated: generator, source, reply.

    Returns:
        generator, source, distinct_1, distinct_2, mean_words, distinct_replies.
    """
    replies = generated.select(*CELL, words_and_marks(F.col("reply")).alias("words"))
    pairs = F.transform(
        F.filter(F.sequence(F.lit(1), F.size("words")), lambda n: n < F.size("words")),
        lambda n: F.slice("words", n, F.lit(2)),
    )
    words = F.size("words")
    counted = replies.groupBy(*CELL).agg(
        F.sum(words).alias("total"), F.avg(words).alias("mean_words"), F.count("*").alias("distinct_replies")
    )
    single = replies.select(*CELL, F.explode("words").alias("gram"))
    double = replies.where(words > 1).select(*CELL, F.explode(pairs).alias("gram"))
    for n, grams in ((1, single), (2, double)):
        kinds = grams.groupBy(*CELL).agg(F.count_distinct("gram").alias(f"kinds_{n}"))
        counted = counted.join(kinds, list(CELL), "left")
    share = [F.try_divide(F.coalesce(f"kinds_{n}", F.lit(0)), F.col("total")).alias(f"distinct_{n}") for n in (1, 2)]
    return counted.select(*CELL, *share, "mean_words", "distinct_replies")


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


def table_7(
    likelihoods: DataFrame, generated: DataFrame, baselines: DataFrame, embeddings: DataFrame, model: str
) -> DataFrame:
    """Return EDOS Table 7 with its floors and its ceiling as rows of ``replies.evaluation``.

    Args:
        likelihoods, generated, baselines, embeddings: tables of the schema ``replies``.
        model: identity of the sentence encoder.
    """
    columns = (*CELL, "model", "example_id", "reply", "expected", "error")
    every = generated.select(*columns).unionByName(
        baselines.withColumn("model", F.lit(None).cast("string")).select(*columns)
    )
    written = every.where(F.col("error").isNull())
    cells = every.groupBy(*CELL).agg(
        F.max("model").alias("model"), F.count("*").alias("examples"), F.count("error").alias("failed")
    )
    distinct = distinct_ngrams(equal_numbers(written)).drop("mean_words")
    lengths = written.groupBy(*CELL).agg(F.avg(F.size(words_and_marks(F.col("reply")))).alias("mean_words"))
    for measured in (perplexities(likelihoods), distinct, lengths, similarities(written, embeddings, model)):
        cells = cells.join(measured, list(CELL), "left")
    trained_on = [f"{regime.generator}/{source}" for regime in COMPARED for source in regime.sources]
    rounded = ("perplexity", "word_perplexity", "distinct_1", "distinct_2", "similarity", "mean_words")
    kind = F.when(F.col("generator").isin(*FLOORS), "floor").when(F.col("generator") == CEILING, "ceiling")
    held_out = F.when(kind.isNull(), F.concat_ws("/", *CELL).isin(*trained_on)).alias("held_out")
    return cells.select(
        *CELL,
        "model",
        "examples",
        "failed",
        *(F.round(name, 4).alias(name) for name in rounded),
        held_out,
        F.coalesce(kind, F.lit("model")).alias("kind"),
        "distinct_replies",
    )


def distinct_replies(generated: DataFrame, baselines: DataFrame) -> DataFrame:
    """Return the distinct (text_hash, text) of generated, expected and baselines' replies."""
    columns = ("reply", "expected", "error")
    both = generated.select(*columns).unionByName(baselines.select(*columns))
    return distinct_texts(both.where(F.col("error").isNull()), F.array("reply", "expected"))


def distinct_answers(steered: DataFrame, examples: DataFrame, most: int) -> DataFrame:
    """Return the distinct (history_hash, turns) of histories with their generated reply, and with true replies.

    The classifier's readings of true replies are the ceiling of the steered ones'.

    Args:
        steered, examples: tables of the schema ``replies``.
        most: true replies of each intent, of the test split of EmpatheticDialogues.
    """
    written = steered.where(F.col("error").isNull())
    asked = written.select("history_hash", F.concat("context", F.array("reply")).alias("turns"))
    labelled = examples.where(
        (F.col("source") == EMPATHETIC) & (F.col("split") == "test") & F.col("intent").isNotNull()
    )
    turns = F.concat("context", F.array("reply"))
    true = first_by_hash(labelled, most, "intent").select(
        history_hash(turns).alias("history_hash"), turns.alias("turns")
    )
    return asked.unionByName(true).dropDuplicates(["history_hash"])
