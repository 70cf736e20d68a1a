"""Statistics of conversations (AugESC 5): sizes, lengths, words, bigrams, words typical of a set.

Functions of ``conversations`` take data_set, session_id, turns array<struct<role, text, tokens>>.
"""

from math import ceil

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.common.splits import content_share
from udfs.words import lower_words

TOTAL = "total"
"""Both sources of generated conversations together (AugESC Table 2)."""


def conversations_by_set(measured: DataFrame, conversations: DataFrame) -> DataFrame:
    """Return conversations by data set: esconv and failed_esconv of people; ed, reddit and total of the tuned model.

    Args:
        measured: ``augesc.measured_texts``, whose sessions of people need not meet the requirements.
        conversations: ``augesc.conversations``.
    """
    people = measured.where(F.col("method") == "people").select(
        F.col("source").alias("data_set"), F.col("text_id").alias("session_id"), "turns"
    )
    kept = conversations.select(
        F.col("source").alias("data_set"), F.col("conversation_id").alias("session_id"), "turns"
    )
    return people.unionByName(kept).unionByName(kept.withColumn("data_set", F.lit(TOTAL)))


def count_conversations(measured: DataFrame, conversations: DataFrame) -> int:
    """Count the rows of :func:`conversations_by_set`. A generated conversation is in its data set and in the total."""
    return measured.where(F.col("method") == "people").count() + 2 * conversations.count()


def count_sizes(conversations: DataFrame, points: int) -> int:
    """Count the sizes that :func:`bigram_growth` returns: equal steps up to each set's number of conversations."""
    numbers = [row["count"] for row in conversations.groupBy("data_set").count().collect()]
    return sum(ceil(number / max(1, ceil(number / points))) for number in numbers)


def count_typical_words(counts: DataFrame, top: int) -> int:
    """Count the words that :func:`most_typical` returns: at most ``top`` of each set and role."""
    words = counts.groupBy("data_set", "role").agg(F.least(F.count("*"), F.lit(top)).alias("words"))
    return sum(row["words"] for row in words.collect())


def sampled(conversations: DataFrame, sessions: int) -> DataFrame:
    """Sample at most ``sessions`` conversations of each set, by the hash of their ids (AugESC 5.3: 10 K)."""
    order = Window.partitionBy("data_set").orderBy(content_share(F.col("session_id"), salt="sampled"), "session_id")
    return conversations.withColumn("nth", F.row_number().over(order)).where(F.col("nth") <= sessions).drop("nth")


def role_statistics(conversations: DataFrame) -> DataFrame:
    """Return the statistics of AugESC Table 2: conversations, utterances by role, lengths and distinct words.

    Words are lower-case NLTK tokens with a letter. Lengths count all tokens.

    Returns:
        data_set, role (``both`` for measures of whole conversations), measure, value.
    """
    lines = conversations.select("data_set", "session_id", F.inline("turns"))
    words = _words(conversations)
    of_role = lines.groupBy("data_set", "role").agg(F.count("*").alias("utterances"), F.sum("tokens").alias("tokens"))
    sessions = conversations.groupBy("data_set").agg(
        F.count("*").alias("sessions"),
        F.sum(F.aggregate("turns", F.lit(0), lambda total, turn: total + turn["tokens"])).alias("all_tokens"),
    )
    distinct = words.groupBy("data_set", "role").agg(F.count_distinct("word").alias("unique_words"))
    both = words.groupBy("data_set").agg(F.count_distinct("word").alias("unique_words"))
    roles = of_role.join(distinct, ["data_set", "role"], "left").join(sessions, "data_set")
    whole = sessions.join(both, "data_set", "left").withColumn("role", F.lit("both"))
    unique_words = F.coalesce("unique_words", F.lit(0))
    by_role = _long(
        roles,
        utterances=F.col("utterances"),
        utterances_per_session=F.col("utterances") / F.col("sessions"),
        utterance_length=F.col("tokens") / F.col("utterances"),
        unique_words=unique_words,
    )
    session_length = F.col("all_tokens") / F.col("sessions")
    of_all = _long(whole, sessions=F.col("sessions"), session_length=session_length, unique_words=unique_words)
    return by_role.unionByName(of_all)


def bigram_growth(conversations: DataFrame, points: int) -> DataFrame:
    """Count the distinct bigrams of growing numbers of conversations (AugESC Figure 5).

    Conversations are ordered by their ids' hashes. A bigram is two neighbouring words of one utterance. Counting first
    occurrences gives the number at every size in one pass.

    Args:
        conversations: rows of :func:`conversations_by_set`.
        points: number of equally spaced sizes. The last one is all conversations.

    Returns:
        data_set, sessions, unique_bigrams.
    """
    order = Window.partitionBy("data_set").orderBy(content_share(F.col("session_id"), salt="growth"), "session_id")
    placed = conversations.select(
        "data_set",
        F.row_number().over(order).alias("place"),
        F.col("turns")["text"].alias("texts"),
        F.count("*").over(Window.partitionBy("data_set")).alias("sessions"),
    )
    step = F.greatest(F.lit(1), F.ceil(F.col("sessions") / points))
    size = F.least(F.ceil(F.col("place") / step) * step, F.col("sessions")).cast("int")
    words = with_columns_once(placed.withColumn("size", size), words=lower_words(F.col("texts")))
    pairs = F.flatten(F.transform("words", _pairs))
    bigrams = words.select("data_set", "size", F.explode(pairs).alias("bigram"))
    first = bigrams.groupBy("data_set", "bigram").agg(F.min("size").alias("size"))
    new = first.groupBy("data_set", "size").agg(F.count("*").alias("new"))
    sizes = words.select("data_set", "size").distinct().join(new, ["data_set", "size"], "left")
    grown = F.sum(F.coalesce("new", F.lit(0))).over(Window.partitionBy("data_set").orderBy("size"))
    return sizes.select("data_set", F.col("size").alias("sessions"), grown.alias("unique_bigrams"))


def word_counts(conversations: DataFrame) -> DataFrame:
    """Count each role's words in each set: data_set, role, word, number."""
    return _words(conversations).groupBy("data_set", "role", "word").agg(F.count("*").alias("number"))


def _words(conversations: DataFrame) -> DataFrame:
    """Return (data_set, role, word) of all lower-case words."""
    texts = conversations.select("data_set", F.inline("turns")).select(
        "data_set", "role", F.array("text").alias("texts")
    )
    words = with_columns_once(texts, words=lower_words(F.col("texts")))
    return words.select("data_set", "role", F.explode(F.element_at("words", 1)).alias("word"))


def log_odds(counts: DataFrame, prior: float) -> DataFrame:
    """Return the z-scored log-odds ratio of each word in a set against all other sets, with a Dirichlet prior.

    AugESC 5.3, Figure 4, after Monroe et al. (2008): with y a word's count, n the count of all words, a the word's
    prior and A the sum of priors, the log-odds of a set is log((y + a) / (n + A - y - a)). The difference from the
    other sets is divided by its standard deviation, the square root of 1 / (y + a) + 1 / (other y + a). A word's prior
    is proportional to its count in all sets. Roles are separate.

    Args:
        counts: rows of ``word_counts`` of disjoint sets.
        prior: A, in words.

    Returns:
        data_set, role, word, number, others, log_odds, z.
    """
    by_role = Window.partitionBy("role")
    by_word = Window.partitionBy("role", "word")
    by_set = Window.partitionBy("role", "data_set")
    sets = counts.select("role", "data_set").distinct()
    every = counts.select("role", "word").distinct().join(sets, "role")
    filled = every.join(counts, ["role", "data_set", "word"], "left").fillna(0, ["number"])
    sums = filled.withColumns(
        {"n": F.sum("number").over(by_set), "all": F.sum("number").over(by_role), "same": F.sum("number").over(by_word)}
    )
    a = F.lit(prior) * F.col("same") / F.col("all")
    y = F.col("number")
    other = F.col("same") - F.col("number")
    n = F.col("n")
    other_n = F.col("all") - F.col("n")
    rows = sums.withColumns(
        {
            "others": other,
            "log_odds": _log_odds(y, n, a, prior) - _log_odds(other, other_n, a, prior),
            "deviation": F.sqrt(1 / (y + a) + 1 / (other + a)),
        }
    )
    return rows.where(F.col("number") > 0).select(
        "data_set",
        "role",
        "word",
        "number",
        "others",
        F.round("log_odds", 4).alias("log_odds"),
        F.round(F.col("log_odds") / F.col("deviation"), 4).alias("z"),
    )


def most_typical(odds: DataFrame, top: int) -> DataFrame:
    """Add rank by descending z within each set and role, and keep the first ``top`` words (AugESC Figure 4)."""
    order = Window.partitionBy("data_set", "role").orderBy(F.col("z").desc(), "word")
    return odds.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= top)


def _log_odds(number: Column, total: Column, prior: Column, priors: float) -> Column:
    return F.log((number + prior) / (total + F.lit(priors) - number - prior))


def _pairs(words: Column) -> Column:
    """Return pairs of neighbouring words, joined by a blank."""
    return F.zip_with(
        F.slice(words, 1, F.greatest(F.size(words) - 1, F.lit(0))),
        F.slice(words, 2, F.size(words)),
        lambda first, second: F.concat_ws(" ", first, second),
    )


def _long(rows: DataFrame, **measures: Column) -> DataFrame:
    values = [
        F.struct(F.lit(name).alias("measure"), value.cast("double").alias("value")) for name, value in measures.items()
    ]
    return rows.select("data_set", "role", F.inline(F.array(*values)))
