"""Cleaning from raw to clean dialogues, as ``filter_dialogues`` and ``clean_dialogues`` do one after the other."""

from collections.abc import Callable

from pyspark.sql import DataFrame

from etl.pipeline.outcome import Outcome
from etl.subtitles.cleaning import filter_dialogues
from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.film_versions import films_with_copies, without_duplicates
from etl.subtitles.settings import CleaningSettings


def clean_dialogues(
    dialogues: DataFrame,
    rules: CleaningSettings,
    words: CleaningWords,
    silence_seconds: float = 5.0,
    persist: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> Outcome:
    """Return the clean dialogues with the ledger rows of both stages."""
    filtered = filter_dialogues(dialogues, rules, words, silence_seconds, persist)
    rows = persist(filtered.rows)
    outcome = without_duplicates(persist(films_with_copies(rows, rules)), rows, rules, persist)
    assert filtered.dropped is not None
    assert outcome.dropped is not None
    return Outcome(outcome.rows, filtered.dropped.unionByName(outcome.dropped))
