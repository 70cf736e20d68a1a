"""Split films into dialogues at silences of more than 5 s, and clean them (EDOS 3.1, C)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.pipeline import At, FromFiles, Incremental, RowAccounting, StageRun, Units, stage
from etl.pipeline.outcome import Outcome
from etl.pipeline.rows_among import rows_among
from etl.pipeline.spark_api import cached
from etl.pipeline.tables.ops import WORK_VERSION
from etl.subtitles import cleaning as cleaning_stage
from etl.subtitles import film_versions, turn_scoring
from etl.subtitles import published_pool as published
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.gaps import IN_SENTENCE, count_pairs, gap_histogram
from etl.subtitles.settings import CleaningSettings, TurnRules
from etl.subtitles.tables import (
    CHOSEN_UPLOADS,
    CLEAN_DIALOGUES,
    DIALOGUES,
    FILES,
    FILTERED_DIALOGUES,
    GAPS,
    TURN_SCORES,
)
from etl.subtitles.turns import turns_of

Languages = Annotated[tuple[str, ...], At("subtitles.languages")]
SilenceSeconds = Annotated[float, At("subtitles.silence_seconds")]


@stage(
    manual=True,
    reads=(CHOSEN_UPLOADS, FILES),
    writes=GAPS,
    units=RowAccounting("pairs", rows_out=f"coalesce(sum(pairs) FILTER (WHERE kind <> '{IN_SENTENCE}'), 0)"),
    version=2,
)
def measure_gaps(chosen: DataFrame, files: DataFrame) -> Outcome:
    """Count the silences between neighbouring sentences by length, which justify the 5 s (EDOS C, Figure 5)."""
    chosen_files = files.join(chosen.select("source_path"), "source_path", "left_semi")
    return Outcome(gap_histogram(chosen_files), rows_in=count_pairs(chosen_files))


def _scored_files(chosen: DataFrame, files: DataFrame, turn_scores: DataFrame) -> DataFrame:
    counts = files.select("source_path", "sentence_count")
    versions = turn_scores.select("source_path", WORK_VERSION)
    return chosen.select("source_path").join(counts, "source_path").join(versions, "source_path")


@stage(
    reads=(CHOSEN_UPLOADS, FILES, TURN_SCORES),
    writes=DIALOGUES,
    incremental=Incremental(
        "source_path", "sum(sentence_count)", 300_000, prepare=_scored_files, units=Units.VERSIONED, name="files"
    ),
    units=RowAccounting(
        "sentences",
        "sum(sentence_count)",
        # By fields, so that the texts of all dialogues are not read for it.
        "sum(aggregate(turns.sentence_last, 0L, (n, at) -> n + at) - "
        "aggregate(turns.sentence_first, 0L, (n, at) -> n + at) + size(turns.sentence_first))",
    ),
    version=9,
)
def segment_dialogues(chosen: DataFrame, files: DataFrame, turn_scores: DataFrame, rules: TurnRules) -> Outcome:
    """Split each film's turns into dialogues at silences of more than 5 s (EDOS 3.1)."""
    scored = turn_scoring.scored_files(chosen, files, turn_scores)
    turns = turns_of(
        scored,
        explicit_marks=rules.explicit_marks,
        silence_ends_turn_ms=rules.silence_ends_turn_ms,
        rates=rules.certainty,
        carried_marks=rules.carried_marks,
        opening_dash_margin=rules.opening_dash_margin,
    )
    return dialogues_between_silences(turns, rules.silence_seconds)


WORD_LISTS = (
    "not_names.txt",
    "profanity.txt",
    "address_words.txt",
    "function_words.txt",
    "languages/*",
    "credit_patterns.yaml",
)


def _films(dialogues: DataFrame, cleaning: CleaningSettings) -> DataFrame:
    """Return the films to clean; a limit on how often one text is a turn compares them all."""
    return film_versions.films_of(dialogues, together=cleaning.max_turn_frequency is not None)


@stage(
    reads=(DIALOGUES,),
    writes=FILTERED_DIALOGUES,
    incremental=Incremental(
        "source_path", "sum(turns)", 60_000, prepare=_films, units=Units.VERSIONED, beside=True, name="files"
    ),
    units=RowAccounting("turns", "sum(turns)", "sum(size(turns))"),
    resources=WORD_LISTS,
)
def filter_dialogues(
    films: DataFrame,
    dialogues: DataFrame,
    cleaning: CleaningSettings,
    languages: Languages,
    silence_seconds: SilenceSeconds,
) -> Outcome:
    """Clean each film: names, repetitions, lengths, letters, songs, credits, documentaries (EDOS 3.1)."""
    rows = cached(rows_among(dialogues, "source_path", films))
    words = cleaning_words(languages)
    outcome = cleaning_stage.filter_dialogues(rows, cleaning, words, silence_seconds, cached)
    return film_versions.with_emptied_films(outcome, films)


def published_pool(
    paths: Annotated[tuple[str, ...], At("subtitles.published_dialogues")], languages: Languages, run: StageRun
) -> Outcome:
    """Read the clean dialogues that the authors of EDOS published, in place of one's own (EDOS, footnote 1)."""
    return published.published_pool(run.spark, paths, cleaning_words(languages).profanity)


@stage(
    reads=(FILTERED_DIALOGUES,),
    writes=CLEAN_DIALOGUES,
    incremental=Incremental(
        "source_path",
        "sum(turns)",
        120_000,
        prepare=film_versions.films_with_copies,
        units=Units.VERSIONED,
        beside=True,
        name="files",
    ),
    from_files=FromFiles(published.SETTING, published_pool, RowAccounting("turns", rows_out="sum(size(turns))")),
    units=RowAccounting("turns", "sum(turns)", "sum(size(turns))"),
    version=16,
    resources=WORD_LISTS,
)
def clean_dialogues(films: DataFrame, filtered: DataFrame, cleaning: CleaningSettings) -> Outcome:
    """Remove the dialogues that repeat another, of any film or, nearly, of their own (EDOS 3.1)."""
    outcome = film_versions.without_duplicates(films, filtered, cleaning, cached)
    return film_versions.with_emptied_films(outcome, films)
