"""Queries: first posts that begin a conversation (AugESC 4.2, A). Each rule is a small function with its threshold."""

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from etl.common.columns import computed_once, fault
from etl.common.texts import normalised, word_pattern
from etl.tables.outcome import Outcome
from udfs.posts import DDL, read_lines
from udfs.words import token_count

COLUMNS = ("context", "Dialog_ID", "Type", "Text")
POSTS = (
    "query_id string, source string, forum string, emotion string, text string, media boolean, fault string, "
    "detail string"
)
LINK = r"(?i)https?://|www\.\S|youtu\.be/|\]\(\s*/?\w|\.(?:com|org|net|jpe?g|png|gif|mp4)\b"


def first_posts(rows: Iterable[Mapping[str, str]]) -> list[tuple[str, str, str]]:
    """Each conversation's first utterance in EmpatheticDialogues, as (dialogue_id, emotion, text).

    Args:
        rows: context, Dialog_ID, Type (situation or utterance), Text; a conversation's rows in order.
    """
    first: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row["Type"].strip().lower() == "utterance":
            first.setdefault(row["Dialog_ID"].strip(), (row["context"].strip().lower(), " ".join(row["Text"].split())))
    return [(dialogue_id, emotion, text) for dialogue_id, (emotion, text) in first.items()]


def empathetic_posts(spark: SparkSession, rows: Iterable[Mapping[str, str]]) -> DataFrame:
    """EmpatheticDialogues' first posts as candidates for queries; the label is the one that the talk was about."""
    found = [(f"ed/{name}", "ed", None, emotion, text, False, None, None) for name, emotion, text in first_posts(rows)]
    return spark.createDataFrame(found, POSTS)


def forum_posts(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Posts of a dump in JSON Lines as candidates for queries; a line that is no post has a fault."""
    if not files:
        return spark.createDataFrame([], POSTS)
    posts = spark.read.text(list(files)).mapInArrow(read_lines, DDL)  # type: ignore[arg-type]
    content = F.substring(F.sha2(F.coalesce("text", "detail", F.lit("")), 256), 1, 16)
    return posts.select(
        F.concat(F.lit("reddit/"), F.coalesce(F.nullif("post_id", F.lit("")), content)).alias("query_id"),
        F.lit("reddit").alias("source"), "forum", F.lit(None).cast("string").alias("emotion"), "text", "media",
        "fault", "detail",
    )  # fmt: skip


def with_lengths(posts: DataFrame) -> DataFrame:
    """Adds tokens, the text's NLTK word tokens: what costs most here, so that the caller may hold it."""
    return computed_once(posts, tokens=token_count(F.col("text")))


def has_link(text: Column) -> Column:
    """Whether a text holds a URL, or what leads to pictures and videos (AugESC A, 1)."""
    return text.rlike(LINK)


def listed_word(text: Column, entries: Sequence[str]) -> Column:
    """The first word or phrase of a list that a text has as whole words, as the text writes it; else null.

    An entry with capitals is found as it stands (``OP`` is not "post-op"); one without, in any case; a final ``*``
    stands for any ending (AugESC A, 3 and 4).
    """
    cased = [entry for entry in entries if entry != entry.lower()]
    patterns = (
        [word_pattern([entry for entry in entries if entry == entry.lower()])] if len(cased) < len(entries) else []
    )
    patterns += [word_pattern(cased).replace("(?iu)", "(?u)")] if cased else []
    found = [F.nullif(F.regexp_extract(text, pattern, 0), F.lit("")) for pattern in patterns]
    return F.coalesce(*found, F.lit(None).cast("string"))


def outside_length(tokens: Column, least: int, most: int) -> Column:
    """Whether a query has too few words for a conversation to begin, or so many that utterances grow (AugESC 4.2)."""
    return ~tokens.between(least, most)


def chosen_queries(
    posts: DataFrame, *, tokens: tuple[int, int], emotions: Sequence[str], sensitive: Sequence[str],
    medication: Sequence[str], forum_words: Sequence[str], forums: Sequence[str],
) -> Outcome:  # fmt: skip
    """The posts that begin conversations; the others with the first rule that they break.

    ``not_readable`` and ``no_text``; ``other_forum``; ``other_emotion`` (EmpatheticDialogues: not a negative label);
    ``link_or_media``; ``length``; ``sensitive``; ``medication``; ``forum_word`` (posts of forums); ``duplicate``: the
    same words as a query that comes before it by source and id. The paper has the lists of words for Reddit alone; ours
    hold for both sources. Its classifiers of emotion and toxicity are not among these rules.

    Args:
        posts: rows of ``empathetic_posts`` and ``forum_posts``, with lengths.
        tokens: fewest and most NLTK word tokens.
        emotions: labels that are kept.
        sensitive, medication, forum_words: lists of ``conf/augesc``.
        forums: names in lower case that are kept; none for all.

    Returns:
        Outcome of ``augesc.queries``; the unit is the post.
    """
    rows = computed_once(
        posts, sensitive=listed_word(F.col("text"), sensitive), medication=listed_word(F.col("text"), medication),
        forum_word=listed_word(F.col("text"), forum_words), words=F.sha2(normalised(F.col("text")), 256),
    )  # fmt: skip
    of_forum, text = F.col("source") == "reddit", F.col("text")
    known = F.lower(F.coalesce("forum", F.lit(""))).isin(*forums) if forums else F.lit(True)
    broken = (
        F.when(F.col("fault").isNotNull(), F.struct(F.col("fault").alias("reason"), "detail"))
        .when(of_forum & ~known, fault("other_forum", F.coalesce("forum", F.lit(""))))
        .when(~of_forum & ~F.col("emotion").isin(*emotions), fault("other_emotion", F.col("emotion")))
        .when(F.col("media") | has_link(text), fault("link_or_media", F.left(text, F.lit(200))))
        .when(outside_length(F.col("tokens"), *tokens), fault("length", F.col("tokens"), " tokens"))
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
    return Outcome(
        judged.where(F.col("fault").isNull()),
        dropped.select(
            F.lit("post").alias("unit"), F.col("query_id").alias("id"), "fault.reason", "fault.detail", "units"
        ),
    )
