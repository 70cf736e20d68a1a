"""Select queries: posts that start a conversation (AugESC 4.2, A)."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.common.columns import fault, with_columns_once
from etl.common.labelled_files import NamedFiles, read_files
from etl.common.text_comparison import normalised, word_pattern
from etl.pipeline.outcome import Outcome, dropped_columns
from udfs.posts import DDL, SCHEMA, posts_in
from udfs.words import token_count

COLUMNS = ("context", "Dialog_ID", "Type", "Text")
POSTS = (
    "query_id string, source string, forum string, emotion string, text string, media boolean, fault string, "
    "detail string"
)
LINK = r"(?i)https?://|www\.\S|youtu\.be/|\]\(\s*/?\w|\.(?:com|org|net|jpe?g|png|gif|mp4)\b"


def first_posts(rows: Iterable[Mapping[str, str]]) -> list[tuple[str, str, str]]:
    """Return each EmpatheticDialogues conversation's first utterance as (dialogue_id, emotion, text).

    Args:
        rows: context, Dialog_ID, Type (situation or utterance), Text; a conversation's rows in order.
    """
    first: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            first.setdefault(row["Dialog_ID"].strip(), (row["context"].strip().lower(), " ".join(row["Text"].split())))
    return [(dialogue_id, emotion, text) for dialogue_id, (emotion, text) in first.items()]


def empathetic_posts(spark: SparkSession, rows: Iterable[Mapping[str, str]]) -> DataFrame:
    """Return EmpatheticDialogues' first posts as candidates for queries, with the conversation's emotion."""
    found = [(f"ed/{name}", "ed", None, emotion, text, False, None, None) for name, emotion, text in first_posts(rows)]
    return spark.createDataFrame(found, POSTS)


def forum_posts(spark: SparkSession, files: NamedFiles | Sequence[str]) -> DataFrame:
    """Return the posts of JSON Lines dumps as candidates for queries. Invalid lines have a fault."""
    posts = read_files(spark, files, posts_in, SCHEMA, DDL)
    content = F.substring(F.sha2(F.coalesce("text", "detail", F.lit("")), 256), 1, 16)
    return posts.select(
        F.concat(F.lit("reddit/"), F.coalesce(F.nullif("post_id", F.lit("")), content)).alias("query_id"),
        F.lit("reddit").alias("source"),
        "forum",
        F.lit(None).cast("string").alias("emotion"),
        "text",
        "media",
        "fault",
        "detail",
    )


def with_lengths(posts: DataFrame) -> DataFrame:
    """Add tokens: the number of the text's NLTK word tokens. The column is expensive, so callers can cache it."""
    return with_columns_once(posts, tokens=token_count(F.col("text")))


def listed_word(text: Column, entries: Sequence[str]) -> Column:
    """Return the first listed word or phrase in a text, as the text spells it; null without a match.

    Entries match whole words. An entry with capitals is case-sensitive (``OP`` does not match "post-op"). A final
    ``*`` matches any ending (AugESC A, 3 and 4).
    """
    cased = [entry for entry in entries if entry != entry.lower()]
    uncased = [entry for entry in entries if entry == entry.lower()]
    patterns = [word_pattern(uncased)] if uncased else []
    patterns += [word_pattern(cased).replace("(?iu)", "(?u)")] if cased else []
    found = [F.nullif(F.regexp_extract(text, pattern, 0), F.lit("")) for pattern in patterns]
    return F.coalesce(*found, F.lit(None).cast("string"))


def chosen_queries(
    posts: DataFrame,
    *,
    tokens: tuple[int, int],
    emotions: Sequence[str],
    sensitive: Sequence[str],
    medication: Sequence[str],
    forum_words: Sequence[str],
    forums: Sequence[str],
) -> Outcome:
    """Select the posts that start conversations, and drop the others with the first rule that they violate.

    The rules are: ``not_readable`` and ``no_text``; ``other_forum``; ``other_emotion`` (EmpatheticDialogues: not a
    negative label); ``link_or_media`` (AugESC A, 1); ``length``: too few words to start a conversation, or so many that
    utterances become long (AugESC 4.2); ``sensitive``; ``medication``; ``forum_word`` (posts of forums); ``duplicate``:
    the same words as an earlier query by source and id. The paper applies the word lists to Reddit only, we apply them
    to both sources. ``etl.augesc.post_judges`` then judges emotion and toxicity.

    Args:
        posts: rows of ``empathetic_posts`` and ``forum_posts``, with lengths.
        tokens: least and greatest number of NLTK word tokens.
        sensitive, medication, forum_words: lists of ``conf/augesc``.
        forums: lower-case names of forums to keep; empty for all.

    Returns:
        Outcome of ``augesc.queries``. The unit is the post.
    """
    rows = with_columns_once(
        posts,
        sensitive=listed_word(F.col("text"), sensitive),
        medication=listed_word(F.col("text"), medication),
        forum_word=listed_word(F.col("text"), forum_words),
        words=F.sha2(normalised(F.col("text")), 256),
    )
    of_forum = F.col("source") == "reddit"
    text = F.col("text")
    known = F.lower(F.coalesce("forum", F.lit(""))).isin(*forums) if forums else F.lit(True)
    broken = (
        F.when(F.col("fault").isNotNull(), F.struct(F.col("fault").alias("reason"), "detail"))
        .when(of_forum & ~known, fault("other_forum", F.coalesce("forum", F.lit(""))))
        .when(~of_forum & ~F.col("emotion").isin(*emotions), fault("other_emotion", F.col("emotion")))
        .when(F.col("media") | text.rlike(LINK), fault("link_or_media", F.left(text, F.lit(200))))
        .when(~F.col("tokens").between(*tokens), fault("length", F.col("tokens"), " tokens"))
        .when(F.col("sensitive").isNotNull(), fault("sensitive", F.col("sensitive")))
        .when(F.col("medication").isNotNull(), fault("medication", F.col("medication")))
        .when(of_forum & F.col("forum_word").isNotNull(), fault("forum_word", F.col("forum_word")))
    )
    judged = rows.withColumn("fault", broken)
    order = [F.col("fault").isNotNull(), F.col("source"), F.col("query_id"), F.col("text")]
    for key in ("words", "query_id"):
        window = Window.partitionBy(key).orderBy(*order)
        judged = judged.withColumns({"nth": F.row_number().over(window), "first": F.first("query_id").over(window)})
        again = F.col("fault").isNull() & (F.col("nth") > 1)
        judged = judged.withColumn("fault", F.when(again, fault("duplicate", F.col("first"))).otherwise(F.col("fault")))
    dropped = judged.where(F.col("fault").isNotNull()).groupBy("query_id", "fault").agg(F.count("*").alias("units"))
    columns = dropped_columns("post", "query_id", F.col("fault.reason"), F.col("units"), F.col("fault.detail"))
    return Outcome(judged.where(F.col("fault").isNull()), dropped.select(*columns))
