"""A second language end to end: German SubRip files, from the folder to clean dialogues, by German word lists."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.wordlists import words_in_languages
from etl.subtitles.cleaning_words import CleaningWords, cleaning_words, credit_patterns
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.ingest import ingest_subtitles
from etl.subtitles.manifest import find_subtitles
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.turn_rules import turn_fault
from etl.subtitles.turns import turns_of
from tests.subtitles.cleaned import clean_dialogues

GERMAN = cleaning_words(("de",))
FILM = """1
00:00:01,000 --> 00:00:02,000
Was bisher geschah: Jonas ging fort.

2
00:00:02,500 --> 00:00:03,500
- Er kommt zurück.
- Wirklich?

3
00:00:12,000 --> 00:00:14,000
- Hr. Vogt, wie geht's Ihnen?
- Danke, schon besser.

4
00:00:14,500 --> 00:00:16,000
- LENA: Ich hab' mir
große Sorgen gemacht.
- Achtung: Der Boden ist nass!

5
00:00:30,000 --> 00:00:31,000
- Wer hat das übersetzt?
- Untertitel von Karla Beispiel
"""


def test_the_german_lists_have_their_words() -> None:
    assert words_in_languages(("de",), "address_words") == (), "the rule on narration is measured for English only"
    assert "achtung" in GERMAN.not_names
    assert "note" not in GERMAN.not_names
    assert GERMAN.recaps
    assert GERMAN.credits
    both = cleaning_words(("en", "de"))
    assert set(both.not_names) == set(GERMAN.not_names) | set(cleaning_words().not_names)
    assert cleaning_words(()) == cleaning_words(), "without languages: English"
    assert cleaning_words(("../de", "xx")) == CleaningWords(credit_patterns=credit_patterns())


@pytest.mark.slow
def test_a_german_film_becomes_clean_dialogues(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "film.de.srt").write_bytes(FILM.encode("cp1252"))
    (tmp_path / "film.en.srt").write_text(FILM, "utf-8")
    manifest = find_subtitles(spark, [str(tmp_path)], ["de"], "v2018")
    files = ingest_subtitles(manifest, languages=["de"], sources=[str(tmp_path)]).rows.persist()
    (film,) = files.select("source_path", "language", "movie_id", "encoding", "sentence_count").collect()
    assert tuple(film) == ("film.de.srt", "de", "file:film", "cp1252", 9)
    scored = files.withColumn("scores", F.array().cast("array<float>"))
    turns = turns_of(scored, explicit_marks=True, silence_ends_turn_ms=5_000)
    raw = dialogues_between_silences(turns, 5.0).rows.persist()
    outcome = clean_dialogues(raw, CleaningSettings(), GERMAN)
    assert outcome.dropped is not None
    clean = {row.dialogue_id: row.texts for row in outcome.rows.selectExpr("dialogue_id", "turns.text texts").collect()}
    assert clean == {
        "film.de-3": [
            "Hr. Vogt , wie geht 's Ihnen ?",
            "Danke , schon besser .",
            "Ich hab ' mir große Sorgen gemacht .",
            "Achtung : Der Boden ist nass !",
        ]
    }
    dropped = {row.id: row.reason for row in outcome.dropped.collect()}
    assert dropped == {
        "film.de-0/0": "previously_on",
        "film.de-0/1": "after_removed_turn",
        "film.de-0/2": "after_removed_turn",
        "film.de-0": "no_turns_left",
        "film.de-7/1": "credit",
        "film.de-7": "one_turn_left",
    }


REASONS = {
    "Was bisher geschah ...": "previously_on",
    '" Zuvor in Bergdorf :': "previously_on",
    "Was bisher geschahen ist , zählt nicht .": None,
    "Zuletzt bei Anna , wie immer .": "previously_on",
    "Übersetzung : Karla Beispiel": "credit",
    "UNTERTITEL VON KARLA BEISPIEL": "credit",
    "Die Übersetzung : Sie fehlt noch .": None,
    "Regie : Karla Beispiel": "credit",
    "Wir haben die Untertitel von gestern .": None,
    "Musik , bitte , und zwar laut .": None,
}


def test_recaps_and_credits(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(text,) for text in REASONS], "text string")
    turn = F.struct("text", F.col("text").alias("spoken"))
    nothing = F.array(F.lit("")), F.array().cast("array<string>")
    german, english = (
        turn_fault(turn, F.lit(0), *nothing, CleaningSettings(), words)["reason"]
        for words in (GERMAN, cleaning_words())
    )
    rows = frame.select("text", german.alias("german"), english.alias("english")).collect()
    assert {row["text"]: row["german"] for row in rows} == REASONS
    assert not {row["english"] for row in rows} & {"previously_on", "credit"}, "English lists do not know them"
