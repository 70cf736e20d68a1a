"""Film rules: what leaves a whole film out; documentaries (EDOS 3.1), and ours."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import fault
from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.settings import CleaningSettings
from udfs.vocabulary import small_words

LAST_SILENT_YEAR = 1929
TURNS_OF_INTERTITLES = 2.0
"""Mean turns a dialogue below which a film's texts stand alone: 8 silent films of a sample have 1.0 to 1.4, films with
sound 2.3 and more, those among them that the catalogue dates before 1930."""
FEWEST_TURNS = 20
FIRST_SOUND_YEAR = 1927
FEWEST_WORDS = 200
"""Words in small letters from which on their share of unknown ones says something."""


def excluded_genre(genres: Column, excluded: Sequence[str]) -> Column:
    """Return a film's first excluded genre in lower case, or null; EDOS 3.1 excludes Documentary."""
    names = [genre.strip().lower() for genre in excluded]
    if not names:
        return F.lit(None).cast("string")
    known = F.transform(genres, lambda genre: F.lower(F.trim(genre)))
    return F.get(F.filter(known, lambda genre: genre.isin(*names)), F.lit(0))


def no_genre(genres: Column) -> Column:
    """Return whether a film has no genre."""
    return F.size(F.filter(F.coalesce(genres, F.array()), lambda genre: F.trim(genre) != "")) == 0


def film_facts(dialogues: DataFrame, address_words: Sequence[str], *, vocabulary: bool = False) -> DataFrame:
    """Return each film's genres, year and language, and count its dialogues, turns, sentences and what they hold.

    Args:
        dialogues: the columns of ``subtitles.dialogues``.
        address_words: lower-case words such as I and you.
        vocabulary: whether words are looked up in a dictionary, which takes Python workers; otherwise 0 are unknown.

    Returns:
        source_path, genres, year, language; the numbers of dialogues, turns, sentences, tokens, addresses (tokens that
        are address words), questions, unended (turns that end in a letter or digit), small_words (tokens in small
        letters) and unknown_words (those that the dictionary lacks).
    """
    about = ("genres", "year", "language")
    texts = F.col("turns")["text"]
    whole = F.array_join(texts, " ")
    tokens = F.split(F.lower(whole), " ")
    asks = F.filter(texts, lambda text: text.contains("?"))
    unended = F.filter(texts, lambda text: text.rlike(r"[\p{L}\p{Nd}]\s*$"))
    counted = dialogues.select(
        "source_path",
        *about,
        F.size("turns").alias("turns"),
        F.aggregate("turns", F.lit(0), _add_sentences).alias("sentences"),
        F.size(tokens).alias("tokens"),
        F.size(F.filter(tokens, lambda token: token.isin(*address_words))).alias("addresses"),
        F.size(asks).alias("questions"),
        F.size(unended).alias("unended"),
        (small_words(whole) if vocabulary else _no_words()).alias("counted"),
    ).select("*", "counted.*")
    counts = ("turns", "sentences", "tokens", "addresses", "questions", "unended", "small_words", "unknown_words")
    sums = (F.sum(name).alias(name) for name in counts)
    firsts = (F.first(name, ignorenulls=True).alias(name) for name in about)
    return counted.groupBy("source_path").agg(*firsts, F.count("*").alias("dialogues"), *sums)


def _add_sentences(count: Column, turn: Column) -> Column:
    return count + turn["sentence_last"] - turn["sentence_first"] + 1


def _no_words() -> Column:
    return F.struct(F.lit(0).alias("small_words"), F.lit(0).alias("unknown_words"))


def film_fault(rules: CleaningSettings) -> Column:
    """Return struct(reason, detail) of the first rule that excludes a film, or null.

    Reads the columns of ``film_facts``.

    ``silent_film``: until 1929, less than two turns a dialogue: intertitles, each alone between silences.
    ``wrong_year``: before 1927, as many turns a dialogue as a film with sound: another film is filed there.
    ``narration``: no genre, and hardly a word of address (documentaries of a sample have up to 3 % of tokens, fiction
    5 to 13 %) or no question in 20 turns or more (narration, lyrics). For English films.
    ``broken_words``: more unknown words than dialect has ("S hou ld we"), or another language; of 84 films of a sample
    one has 14 %, the others up to 5 %. For English films, as ``no_end_marks``.
    ``no_end_marks``: the turns end without ".", "?" or another mark, so that their ends are not known. All sentences of
    such a film may be one turn.
    """
    mean_turns = F.col("turns") / F.col("dialogues")
    turns_detail = F.concat(
        F.col("year").cast("string"), F.lit(": "), F.format_number(mean_turns, 2), F.lit(" turns a dialogue")
    )
    enough = F.col("turns") >= FEWEST_TURNS
    english = F.col("language") == "en"
    found: list[tuple[Column, str, Column]] = []
    if rules.drop_silent_films:
        silent = (F.col("year") <= LAST_SILENT_YEAR) & (mean_turns < TURNS_OF_INTERTITLES)
        found.append((silent, "silent_film", turns_detail))
    if rules.drop_wrong_years:
        dated = (F.col("year") < FIRST_SOUND_YEAR) & (mean_turns >= TURNS_OF_INTERTITLES)
        found.append((dated & enough, "wrong_year", turns_detail))
    if rules.max_unknown_words is not None:
        share = _share("unknown_words", "small_words")
        broken = (share > rules.max_unknown_words) & (F.col("small_words") >= FEWEST_WORDS)
        found.append((broken & english, "broken_words", _share_detail(share, "unknown words")))
    if rules.max_unended_turns is not None:
        share = _share("unended", "turns")
        found.append(
            (
                (share > rules.max_unended_turns) & english & (F.col("sentences") >= FEWEST_TURNS),
                "no_end_marks",
                _share_detail(share, "unended turns"),
            )
        )
    if rules.min_address_share is not None:
        share = _share("addresses", "tokens")
        narrated = (share < rules.min_address_share) | (F.col("questions") == 0)
        detail = F.concat(
            F.format_number(share, 4), F.lit(" words of address, "), F.col("questions"), F.lit(" questions")
        )
        found.append((narrated & no_genre(F.col("genres")) & english & enough, "narration", detail))
    first = F.lit(None).cast("struct<reason: string, detail: string>")
    for broken, reason, detail in reversed(found):
        first = F.when(F.coalesce(broken, F.lit(False)), fault(reason, detail)).otherwise(first)
    return first


def _share(part: str, whole: str) -> Column:
    return F.round(F.col(part) / F.greatest(F.col(whole), F.lit(1)), 4)


def _share_detail(share: Column, what: str) -> Column:
    return F.concat(F.format_number(share, 4), F.lit(f" {what}"))


def judge_films(dialogues: DataFrame, rules: CleaningSettings, words: CleaningWords) -> DataFrame:
    """Add film_reason and film_detail, null for films that stay (EDOS 3.1: no documentaries)."""
    genre = excluded_genre(F.col("genres"), rules.excluded_genres)
    detail = F.array_join("genres", ", ")
    vocabulary = rules.max_unknown_words is not None
    all_films = vocabulary or rules.max_unended_turns is not None
    if not (all_films or rules.drop_silent_films or rules.drop_wrong_years or rules.min_address_share is not None):
        return dialogues.withColumns({"film_reason": genre, "film_detail": F.when(genre.isNotNull(), detail)})
    doubtful = no_genre(F.col("genres")) | (F.col("year") <= LAST_SILENT_YEAR)
    looked_at = dialogues if all_films else dialogues.filter(doubtful)
    facts = film_facts(looked_at, words.address_words, vocabulary=vocabulary)
    faults = facts.select("source_path", film_fault(rules).alias("fault")).filter(F.col("fault").isNotNull())
    step = dialogues.join(F.broadcast(faults), "source_path", "left")
    return step.select(
        *dialogues.columns,
        F.coalesce(genre, F.col("fault")["reason"]).alias("film_reason"),
        F.when(genre.isNotNull(), detail).otherwise(F.col("fault")["detail"]).alias("film_detail"),
    )
