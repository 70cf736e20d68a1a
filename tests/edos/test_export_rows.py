"""Rows for others: splits by film, references in place of texts, and texts put back."""

from functools import partial

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from etl.common.splits import films_by_split
from etl.edos.export_rows import published_rows, restored
from etl.edos.tables import DIALOGUES
from etl.subtitles.cleaning import judge_turns
from etl.subtitles.cleaning_words import CleaningWords
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import CLEAN_DIALOGUES, FILES
from etl.subtitles.turn_texts import joined_sentences, turn_texts
from etl.subtitles.turns import turns_of
from tests.frames import computed

RULES = CleaningSettings(preset="paper", strip_brackets=True, cues_end_dialogue=False)
WORDS = CleaningWords(not_names=("note",))
SAID = partial(turn_texts, rules=RULES, words=WORDS)


SENTENCES = (
    ("- Where is the key ?", 1, 0, 900),
    ("- ANNA : In the door .", 1, 900, 1_500),
    ("", 2, 1_500, 1_600),
    ("[ DOOR SLAMS ] And it stays there .", 2, 1_600, 2_000),
    ("- – - no -", 3, 2_100, 2_600),
    ("— ( whispering ) Note : leave now .", 4, 2_700, 3_000),
    ("Naïve café 漢字 \U0001f600 !", 4, 3_000, 3_500),
    ("- Then go .", 5, 3_600, 4_000),
    ("-", 6, 4_100, 4_200),
    ("MAN # 2 : I will !", 6, 4_300, 5_000),
)


def files_of(spark: SparkSession, films: int = 6) -> DataFrame:
    """subtitles.files of small films, with the marks and oddities that texts lose on their way."""
    rows = []
    for film in range(films):
        sentences = [
            (place, block, block, start, end, text.replace("key", f"key {film}"))
            for place, (text, block, start, end) in enumerate(SENTENCES)
        ]
        row = dict.fromkeys(FILES.columns)
        row |= {
            "source_path": f"en.zip!{film}.xml",
            "release": "v2018",
            "language": "en",
            "movie_id": f"film{film}",
            "subtitle_id": str(film),
            "sentence_count": len(sentences),
            "sentences": sentences,
        }
        rows.append(tuple(row[name] for name in FILES.columns))
    return spark.createDataFrame(rows, FILES.schema)


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame]:
    """(files, clean dialogues, finished dialogues), the last two by the pipeline's own rules."""
    files = computed(files_of(spark))
    scored = files.selectExpr("*", "transform(sequence(1, size(sentences) - 1), i -> -1F) AS scores")
    turns = turns_of(scored, explicit_marks=True, silence_ends_turn_ms=5_000)
    dialogues = dialogues_between_silences(turns, 5.0).rows
    clean = judge_turns(dialogues, RULES, WORDS).selectExpr(
        *CLEAN_DIALOGUES.columns[:-4], "false AS profane", "raw_dialogue_id", "0.9F AS certainty"
    )
    clean = computed(clean)
    finished = clean.selectExpr(
        "dialogue_id",
        "movie_id",
        "'m' AS model",
        "transform(turns, t -> struct(t.text AS text, 'sad' AS label, 0.123456F AS confidence)) AS turns",
        "transform(turns, (t, at) -> at > 0) AS accepted",
    )
    assert [field.name for field in DIALOGUES.schema] == finished.columns
    return files, clean, computed(finished)


@pytest.fixture(scope="module")
def referred(made: tuple[DataFrame, DataFrame, DataFrame]) -> DataFrame:
    """The rows with references in place of texts."""
    _, clean, finished = made
    films = films_by_split(finished, test_share=0.2, validation_share=0.2)
    return computed(published_rows(finished, clean, films, references=True))


@pytest.fixture(scope="module")
def whole(made: tuple[DataFrame, DataFrame, DataFrame], referred: DataFrame) -> dict[str, Row]:
    """The rows with texts."""
    _, clean, finished = made
    rows = published_rows(finished, clean, referred.select("movie_id", "split"), references=False).collect()
    return {row["dialogue_id"]: row for row in rows}


def test_texts_go_and_come_back_the_same(
    made: tuple[DataFrame, DataFrame, DataFrame], referred: DataFrame, whole: dict[str, Row]
) -> None:
    files, _, finished = made
    told = referred.collect()
    texts = {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in finished.collect()}
    assert len(told) == len(texts) == 6
    assert all(len(turns) >= 3 for turns in texts.values())
    words = {word for turns in texts.values() for text in turns for word in text.split() if len(word) > 2}
    assert {"Naïve", "key", "stays"} <= words
    assert not [word for word in words if word in str(told)]  # nothing of what was said is left
    outcome = restored(referred, files, SAID)
    back = outcome.rows.collect()
    assert {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in back} == texts
    assert {row["dialogue_id"]: row for row in back} == whole
    assert outcome.dropped is not None
    assert outcome.dropped.collect() == []
    assert whole["0-0"]["turns"][0]["confidence"] == pytest.approx(0.1235, abs=1e-6)
    assert [turn["label_accepted"] for turn in whole["0-0"]["turns"][:2]] == [False, True]


def test_another_copy_and_forged_references_fail_their_dialogues_alone(
    made: tuple[DataFrame, DataFrame, DataFrame], referred: DataFrame
) -> None:
    files = made[0]
    changed = "transform(sentences, s -> struct(s.index, s.block_first, s.block_last, s.start_ms, s.end_ms, "
    changed += "if(subtitle_id = '1', replace(s.text, 'key', 'lock'), s.text) AS text))"
    shorter = f"if(subtitle_id = '2', slice({changed}, 1, 2), {changed})"
    theirs = files.where("subtitle_id != '0'").withColumn("sentences", F.expr(shorter))
    forged = F.transform(
        "turns", lambda t: t.withField("sentence_first", F.lit(-5)).withField("sentence_last", F.lit(9999))
    )
    mixed = referred.withColumn("turns", F.when(F.col("dialogue_id") == "3-0", forged).otherwise(F.col("turns")))
    outcome = restored(mixed, theirs, SAID)
    assert sorted(row["dialogue_id"] for row in outcome.rows.collect()) == ["4-0", "5-0"]
    assert outcome.dropped is not None
    reasons = {row["id"]: (row["reason"], row["units"]) for row in outcome.dropped.collect()}
    assert reasons == {
        "0-0": ("no_such_file", 1),
        "1-0": ("other_text", 1),
        "2-0": ("other_text", 1),
        "3-0": ("other_text", 1),
    }


def test_no_film_is_in_two_splits(made: tuple[DataFrame, DataFrame, DataFrame]) -> None:
    _, clean, finished = made
    twice = finished.unionByName(
        finished.selectExpr("concat(dialogue_id, 'b') AS dialogue_id", "movie_id", "model", "turns", "accepted")
    )
    placed = films_by_split(twice, test_share=0.4, validation_share=0.3)
    rows = published_rows(twice, clean, placed, references=False).collect()
    films = {}
    for row in rows:
        films.setdefault(row["movie_id"], set()).add(row["split"])
    assert len(rows) == 12
    assert all(len(splits) == 1 for splits in films.values())
    assert len(set.union(*films.values())) > 1


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        (["- Yes .", "No ."], "Yes . No ."),
        ([None, "", "Go ."], "Go ."),
        (["-"], ""),
        ([], ""),
        (None, ""),
        (["-- so it", "– is"], "-- so it is"),
    ],
)
def test_sentences_of_a_turn_become_its_text(sentences: list[str | None] | None, text: str) -> None:
    lists = pa.array([["first"], sentences, ["last"]], pa.list_(pa.string()))
    assert joined_sentences(lists).to_pylist() == ["first", text, "last"]
    assert joined_sentences(lists.slice(1, 1)).to_pylist() == [text]


def test_rows_say_what_is_known_about_film_and_turns(whole: dict[str, Row]) -> None:
    assert whole["0-0"]["language"] == "en"
    assert whole["0-0"]["certainty"] == pytest.approx(0.9)
    first = whole["0-0"]["turns"][0]
    assert first["border"] == "start"
    assert first["border_certainty"] == 1.0
    assert 0 < first["certainty"] <= 1
    assert first["end_ms"] >= first["start_ms"]
