"""Rules that look at a whole film: silent films, and narration where the genre is not known (ours)."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.subtitles.cleaning_rules import CleaningRules, excluded_genre

LAST_SILENT_YEAR = 1929
TURNS_OF_INTERTITLES = 2.0
"""Mean turns a dialogue below which a film's texts stand alone: 8 silent films of a sample have 1.0 to 1.4, films with
sound 2.3 and more, those among them that the catalogue dates before 1930."""
FEWEST_TURNS = 20


def no_genre(genres: Column) -> Column:
    """Return whether a film has no genre."""
    return F.size(F.filter(F.coalesce(genres, F.array()), lambda genre: F.trim(genre) != "")) == 0


def film_facts(dialogues: DataFrame, address_words: Sequence[str]) -> DataFrame:
    """Return each film's genres, year and language, and count its dialogues, turns, tokens, addresses and questions.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.
        address_words: lower-case words such as I and you.

    Returns:
        source_path, genres, year, language, dialogues, turns, tokens, addresses, questions.
    """
    about = ("genres", "year", "language")
    texts = F.col("turns")["text"]
    tokens = F.split(F.lower(F.array_join(texts, " ")), " ")
    asks = F.filter(texts, lambda text: text.contains("?"))
    counted = dialogues.select(
        "source_path",
        *about,
        F.size("turns").alias("turns"),
        F.size(tokens).alias("tokens"),
        F.size(F.filter(tokens, lambda token: token.isin(*address_words))).alias("addresses"),
        F.size(asks).alias("questions"),
    )
    sums = (F.sum(name).alias(name) for name in ("turns", "tokens", "addresses", "questions"))
    firsts = (F.first(name, ignorenulls=True).alias(name) for name in about)
    return counted.groupBy("source_path").agg(*firsts, F.count("*").alias("dialogues"), *sums)


def film_fault(rules: CleaningRules) -> Column:
    """Return struct(reason, detail) of the first rule that excludes a film, or null.

    Reads the columns of ``film_facts``.

    ``silent_film``: until 1929, less than two turns a dialogue: intertitles, each alone between silences.
    ``narration``: no genre, and hardly a word of address (documentaries of a sample have up to 3 % of tokens, fiction
    5 to 13 %) or no question in 20 turns or more (narration, lyrics). For English films.
    """
    mean_turns = F.col("turns") / F.col("dialogues")
    silent = (F.col("year") <= LAST_SILENT_YEAR) & (mean_turns < TURNS_OF_INTERTITLES)
    share = F.round(F.col("addresses") / F.greatest(F.col("tokens"), F.lit(1)), 4)
    unknown = no_genre(F.col("genres")) & (F.col("language") == "en") & (F.col("turns") >= FEWEST_TURNS)
    found = F.lit(None).cast("struct<reason: string, detail: string>")
    if rules.min_address_share is not None:
        said = F.concat(
            F.format_number(share, 4), F.lit(" words of address, "), F.col("questions"), F.lit(" questions")
        )
        narrated = unknown & ((share < rules.min_address_share) | (F.col("questions") == 0))
        found = F.when(narrated, fault("narration", said))
    if rules.drop_silent_films:
        alone = F.concat(
            F.col("year").cast("string"), F.lit(": "), F.format_number(mean_turns, 2), F.lit(" turns a dialogue")
        )
        return F.when(F.coalesce(silent, F.lit(False)), fault("silent_film", alone)).otherwise(found)
    return found


def judge_films(dialogues: DataFrame, rules: CleaningRules) -> DataFrame:
    """Add film_reason and film_detail, null for films that stay (EDOS 3.1: no documentaries)."""
    genre = excluded_genre(F.col("genres"), rules.excluded_genres)
    detail = F.array_join("genres", ", ")
    if not rules.drop_silent_films and rules.min_address_share is None:
        return dialogues.withColumns({"film_reason": genre, "film_detail": F.when(genre.isNotNull(), detail)})
    doubtful = dialogues.filter(no_genre(F.col("genres")) | (F.col("year") <= LAST_SILENT_YEAR))
    facts = film_facts(doubtful, rules.address_words)
    faults = facts.select("source_path", film_fault(rules).alias("fault")).filter(F.col("fault").isNotNull())
    step = dialogues.join(F.broadcast(faults), "source_path", "left")
    return step.select(
        *dialogues.columns,
        F.coalesce(genre, F.col("fault")["reason"]).alias("film_reason"),
        F.when(genre.isNotNull(), detail).otherwise(F.col("fault")["detail"]).alias("film_detail"),
    )
