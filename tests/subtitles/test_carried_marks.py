"""Marks of a film's other uploads: keys of borders, votes, scores and turns."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from etl.subtitles.borders import Borders
from etl.subtitles.carried_marks import border_keys, marks_of_other_uploads
from etl.subtitles.tables import SENTENCE
from etl.subtitles.turn_features import PairContext
from etl.subtitles.turn_marks import NEW_TURN, SAME_TURN, UNMARKED, spoken
from etl.subtitles.turn_scoring import score_turns
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import turns_of
from tests.frames import computed
from tests.subtitles.marked_files import marks_files

FILES = (
    "source_path string, subtitle_id string, movie_id string, language string, genres array<string>, "
    f"subtitle_duration_ms int, sentences array<{SENTENCE}>"
)
Rows = list[tuple[str, int]]
STORY = [
    ("Where did you leave the boat ?", "Down by the old mill ."),
    ("That was not very clever .", "I know it now ."),
    ("Bring me the long rope then .", "It is still in the shed ."),
    ("We leave before the sun is up .", "Fine by me ."),
]


def story(first: str, second: str, apart: bool = False) -> Rows:
    """The story with a prefix for each first and second sentence, two in a block or apart."""
    rows = []
    for n, (left, right) in enumerate(STORY):
        rows += [(first + left, 2 * n), (second + right, 2 * n + apart)]
    return rows


def upload(path: str, rows: Rows, film: str | None = None, language: str = "en") -> tuple:
    """Return a file of a film, by default of the film that its folder names."""
    sentences = [(i, block, block, i * 1000, i * 1000 + 900, text) for i, (text, block) in enumerate(rows)]
    return (path, path[:-4], film or path.split("/")[0], language, ["Drama"], 60_000, sentences)


MARKED = story("- ", "- ")
BARE = story("", "")
LATER = [("Wait for me .", 0), *((text, n + 1) for n, (text, _) in enumerate(BARE))]
SAYS_SAME = [*BARE[:2], ("- And the dog ?", 0), *BARE[2:]]
OPENS = [BARE[0], ("- " + BARE[1][0], 1), ("- And the dog ?", 1), *((text, block + 2) for text, block in BARE[2:])]
UPLOADS = [
    upload("blocks/a.xml", MARKED),
    upload("blocks/b.xml", BARE),
    upload("apart/a.xml", MARKED),
    upload("apart/c.xml", story("", "", apart=True)),
    upload("marked/a.xml", MARKED),
    upload("marked/b.xml", BARE),
    upload("same/a.xml", [("Wait for me .", 0), (BARE[0][0], 0), ("- " + BARE[1][0], 0), *BARE[2:]]),
    upload("same/b.xml", LATER),
    upload("film/a.xml", MARKED, "another film"),
    upload("film/b.xml", BARE),
    upload("film/c.xml", BARE),
    upload("language/a.xml", MARKED, language="de"),
    upload("language/b.xml", BARE),
    upload("language/c.xml", BARE),
    upload("unknown/a.xml", MARKED, "file:1"),
    upload("unknown/b.xml", BARE, "file:1"),
    upload("sources/a.xml", MARKED),
    upload("sources/b.xml", [*BARE, ("- Who is there ?", 90), ("- Me .", 90), ("( knocks )", 91)]),
    upload("opens/a.xml", SAYS_SAME),
    upload("opens/b.xml", OPENS),
    upload("alone/b.xml", OPENS),
]
CHOSEN = ["marked/a.xml", "apart/c.xml"] + [
    f"{film}/b.xml" for film in ("blocks", "same", "film", "language", "unknown", "sources", "opens", "alone")
]
"""Of each film the upload to which marks are carried."""


@pytest.fixture(scope="module")
def uploads(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """(the chosen uploads, the marks of the others)."""
    files = computed(spark.createDataFrame(UPLOADS, FILES).repartition(2))
    chosen = files.where(F.col("source_path").isin(CHOSEN))
    return chosen, computed(marks_of_other_uploads(chosen, files))


@pytest.fixture(scope="module")
def carried(uploads: tuple[DataFrame, DataFrame]) -> dict[str, dict[int, bool]]:
    """The marks by upload and sentence."""
    rows = uploads[1].collect()
    assert {row["source_path"] for row in rows} <= set(CHOSEN)
    found = {row["source_path"]: {one["sentence"]: one["new_turn"] for one in row["carried"]} for row in rows}
    return {path: found.get(path, {}) for path in CHOSEN}


def carried_to(spark: SparkSession, chosen: str, *uploads: tuple) -> dict[int, bool]:
    files = spark.createDataFrame(list(uploads), FILES).repartition(2)
    rows = marks_of_other_uploads(files.where(f"source_path = '{chosen}'"), files).collect()
    assert {row["source_path"] for row in rows} <= {chosen}
    return {one["sentence"]: one["new_turn"] for row in rows for one in row["carried"]}


def test_border_keys_are_words_around_the_border() -> None:
    files = [
        [("Is it far to the old mill ?", 1), ("No .", 1), ("You can walk , Anna .", 2), ("Good .", 3)],
        [("- Is it far to the OLD MILL ?", 1), ("No ! you can walk", 2), ("Anna , good day !", 2)],
        [("Far", 1), ("from here .", 1)],
        [("a b c . d e f", 1), ("g h i", 2), ("a b c", 3), ("g h i", 3)],
    ]
    lines = spoken(Sentences.of(marks_files(files)))
    key, found = border_keys(lines)
    assert found.tolist() == [False, True, True, False, False, True, True, False, False, False, True, True, True]
    assert key[1] == key[5]
    assert len(set(key[found].tolist())) == int(found.sum()) - 1


def test_border_keys_that_a_file_repeats_are_none() -> None:
    rows = [("one two three", 1), ("four five six", 2), ("one two three", 3), ("four five six", 4)]
    _, found = border_keys(spoken(Sentences.of(marks_files([rows, rows[:2]]))))
    assert found.tolist() == [False, False, True, False, False, True]


def test_border_keys_of_nothing() -> None:
    key, found = border_keys(spoken(Sentences.of(marks_files([[], None]))))
    assert len(key) == len(found) == 0


def test_carried_marks_decide_between_other_blocks_and_within_unmarked_ones(carried: dict) -> None:
    assert carried["blocks/b.xml"] == {1: True, 3: True, 5: True, 7: True}
    assert carried["apart/c.xml"] == {1: True, 3: True, 5: True, 7: True}
    assert carried["marked/a.xml"] == {}


def test_carried_marks_say_same_turn_too(carried: dict) -> None:
    assert carried["same/b.xml"] == {1: False, 2: True}


@pytest.mark.parametrize("unlike", ["film", "language"])
def test_carried_marks_stay_in_their_film_and_language(carried: dict, unlike: str) -> None:
    assert carried[f"{unlike}/b.xml"] == {}


def test_carried_marks_need_a_known_film(carried: dict) -> None:
    assert carried["unknown/b.xml"] == {}


@pytest.mark.slow
def test_carried_marks_by_most_uploads(spark: SparkSession) -> None:
    new = upload("f/a.xml", MARKED)
    bare = upload("f/b.xml", BARE)
    rows = [(text, n // 2) for n, (text, _) in enumerate(BARE)]
    says_same = [(text, block) for text, block in rows[:2]] + [("- And the dog ?", 0)] + rows[2:]
    same = [upload(f"f/{name}.xml", says_same) for name in "cd"]
    assert carried_to(spark, "f/b.xml", new, bare)[1] is True
    assert 1 not in carried_to(spark, "f/b.xml", new, bare, same[0])
    assert carried_to(spark, "f/b.xml", new, bare, *same)[1] is False


def half_sure(texts: pa.Array, left: np.ndarray, right: np.ndarray, context: PairContext) -> np.ndarray:
    return np.where(np.arange(len(left)) % 2 == 0, 0.5, -0.5)


@pytest.fixture(scope="module")
def scored(uploads: tuple[DataFrame, DataFrame]) -> DataFrame:
    """The chosen uploads with their scores."""
    chosen, marks = uploads
    scores = score_turns(chosen, half_sure, "half", marks)
    return computed(chosen.join(scores.select("source_path", "scores", "sources", "carried"), "source_path"))


def scores_of(scored: DataFrame, path: str) -> Row:
    (row,) = scored.where(F.col("source_path") == path).collect()
    return row


def test_scores_keep_the_source_of_each_decision(scored: DataFrame) -> None:
    row = scores_of(scored, "sources/b.xml")
    assert row["carried"] == [True, None, True, None, True, None, True, None, None, None]
    assert row["sources"] == ["carried", "model"] * 3 + ["carried", "model", "mark", None]
    assert len(row["scores"]) == 10
    frame = scored.where("source_path = 'sources/b.xml'").drop("sources")

    def turns(**options: bool) -> list[int]:
        found = turns_of(frame, explicit_marks=True, silence_ends_turn_ms=None, **options).head()
        assert found is not None
        return [turn["sentence_first"] for turn in found["turns"]]

    with_carried = turns()
    without = turns(carried_marks=False)
    by_score = {i + 1 for i, score in enumerate(row["scores"][:8]) if score > 0}
    assert without == sorted({0, *by_score, 9})
    assert with_carried == sorted({0, *by_score, 1, 3, 5, 7, 9})


def test_scores_without_other_uploads_and_without_sentences(spark: SparkSession) -> None:
    uploads = [upload("a.xml", BARE, "f"), upload("b.xml", [("Oh .", 1)], "f"), upload("c.xml", [], "f")]
    files = spark.createDataFrame(uploads, FILES)
    rows = {row["source_path"]: row for row in score_turns(files, half_sure, "half").collect()}
    assert rows["a.xml"]["carried"] == [None] * 7
    assert rows["a.xml"]["sources"] == ["model"] * 7
    assert rows["b.xml"]["sources"] == rows["c.xml"]["sources"] == []


def test_a_carried_mark_overrides_a_dash_that_opens_its_block(scored: DataFrame) -> None:
    row = scores_of(scored, "opens/b.xml")
    assert row["carried"][0] is False
    assert row["sources"][:2] == ["carried", "mark"]
    alone = scores_of(scored, "alone/b.xml")
    assert alone["carried"][0] is None
    assert alone["sources"][:2] == ["model", "mark"]


@pytest.mark.parametrize(
    ("marks", "carried", "margin", "opens"),
    [
        pytest.param(True, None, -0.1, True, id="above the limit of such a dash"),
        pytest.param(True, None, -0.3, False, id="below it"),
        pytest.param(False, None, -0.1, False, id="marks are off"),
        pytest.param(True, SAME_TURN, 0.9, False, id="another upload goes on"),
        pytest.param(True, NEW_TURN, -0.9, True, id="another upload has a mark"),
    ],
)
def test_a_dash_that_opens_its_block_lowers_the_limit(
    marks: bool, carried: int | None, margin: float, opens: bool
) -> None:
    sentences = Sentences.of(marks_files([[("Hi .", 1), ("- So ?", 2), ("- Yes .", 2), ("( knocks )", 3)]]))
    others = None if carried is None else np.array([UNMARKED, carried, UNMARKED, UNMARKED])
    found = Borders.of(sentences, np.full(4, margin), others, explicit_marks=marks, opening_dash_margin=-0.2)
    assert found.starts.tolist() == [True, opens, marks, False]


def test_a_dash_without_a_pair_to_score_opens_a_turn() -> None:
    sentences = Sentences.of(marks_files([[("...", 1), ("Hi .", 1)], [("Oh .", 1), ("- ( laughs )", 2)]]))
    found = Borders.of(sentences, np.full(4, -1.0))
    assert found.starts.tolist() == [True, False, True, True]
