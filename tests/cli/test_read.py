"""``read``: what a person sees of the dialogues, the sources of turn borders, reasons and labels."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.cli.printed_dialogues import read_dialogues
from etl.cli.read_shell import lines
from etl.edos import tables as edos
from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.pipeline.tables.model import Table
from etl.pipeline.tables.ops import DROPPED
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import CLEAN_DIALOGUES, DIALOGUES, FILES, TURN_SCORES
from etl.subtitles.turns import turns_of
from tests.frames import computed
from tests.subtitles.cleaned import clean_dialogues

# text, block, start, end, the model's score that a turn starts here
SENTENCES = (
    ("Where is the boat ?", 1, 0, 900, 0.0),
    ("Don 't tell me .", 2, 1_000, 1_900, -0.5),
    ("- It sank last night .", 3, 2_000, 2_900, -0.5),
    ("I know that .", 4, 3_000, 3_900, 0.7),
    ("Subtitles : Ana Roca", 5, 4_000, 4_900, 0.7),
    ("Never mind that .", 6, 5_000, 5_900, 0.7),
    ("Alone .", 7, 15_000, 15_900, -0.5),
    ("Who are you ?", 8, 25_000, 25_900, 0.1),
    ("- I am \x1b[31mnobody .", 9, 26_000, 26_900, 0.1),
)


# dialogue_id, turns that cleaning leaves, certainty
CLEANED = (("5-0", 3, 0.38), ("5-7", 2, 0.99))
# stage, unit, id, reason, detail
LEFT_OUT = (
    ("clean_dialogues", "turn", "5-0/3", "credit", "Subtitles : Ana Roca"),
    ("clean_dialogues", "turn", "5-0/4", "after_removed_turn", "turn 3 went: credit"),
    ("clean_dialogues", "dialogue", "5-6", "one_turn_left", "1 of 1 turns left"),
    ("select_emotional", "dialogue", "5-7", "below_top_n", "rank 9"),
)


@pytest.fixture(scope="module")
def made(spark: SparkSession) -> dict[str, DataFrame]:
    """The tables of one film: dialogues by the pipeline's rules, and what cleaning makes of them."""
    sentences = [(i, block, block, start, end, text) for i, (text, block, start, end, _) in enumerate(SENTENCES)]
    row = dict.fromkeys(FILES.columns)
    row |= {
        "source_path": "a.xml",
        "release": "v2018",
        "language": "en",
        "movie_id": "77",
        "subtitle_id": "5",
        "year": 1999,
        "genres": ["Drama"],
        "sentence_count": len(sentences),
        "sentences": sentences,
    }
    files = spark.createDataFrame([tuple(row[name] for name in FILES.columns)], FILES.schema)
    scores = [score for *_, score in SENTENCES[1:]]
    scored = spark.createDataFrame([("a.xml", "5", "m", scores, None, None, None)], TURN_SCORES.schema)
    turns = turns_of(
        files.join(scored.select("source_path", "scores"), "source_path"),
        explicit_marks=True,
        silence_ends_turn_ms=5_000,
    )
    raw = computed(dialogues_between_silences(turns, 5.0).rows)
    left = spark.createDataFrame(list(CLEANED), "dialogue_id string, number int, certain double")
    clean = raw.join(left, "dialogue_id").withColumn("turns", F.expr("slice(turns, 1, number)"))
    weak = spark.sql("SELECT '5-0' AS dialogue_id, 1 AS turn, 'sad' AS label, 0.75F AS confidence")
    return {
        FILES.name: files,
        TURN_SCORES.name: scored,
        DIALOGUES.name: raw,
        edos.WEAK_LABELS.name: weak,
        CLEAN_DIALOGUES.name: computed(clean.withColumn("certainty", F.col("certain").cast("float"))),
        DROPPED.name: spark.createDataFrame(
            list(LEFT_OUT), "stage string, unit string, id string, reason string, detail string"
        ),
    }


READ = """\
5-0  film 77  0:00:00  3 of 5 turns
  > 5-0  certain to 0.38
    start   1.00 Where is the boat? Don't tell me.
    mark    0.99 It sank last night.  [weak: sad 0.75]
    model   0.75 I know that.
  x model   0.75 Subtitles: Ana Roca  (credit)
  x model   0.75 Never mind that.  (after_removed_turn)
5-6  film 77  0:00:15  dropped
  x one_turn_left in clean_dialogues: 1 of 1 turns left
    silence 1.00 Alone.
5-7  film 77  0:00:25  2 of 2 turns
  x below_top_n in select_emotional: rank 9
  > 5-7  certain to 0.99
    silence 1.00 Who are you?
    mark    0.99 I am  [31mnobody."""


@pytest.mark.long
def test_cleaning_leaves_these_turns(made: dict[str, DataFrame]) -> None:
    settings = CleaningSettings(min_alphabetic_share=0.5)
    outcome: Outcome = clean_dialogues(made[DIALOGUES.name], settings, cleaning_words(), persist=cached)
    left = [(row.dialogue_id, len(row.turns), round(row.certainty, 2)) for row in outcome.rows.collect()]
    assert sorted(left) == list(CLEANED)
    assert outcome.dropped is not None
    found = {(row.unit, row.id, row.reason, row.detail) for row in outcome.dropped.collect()}
    assert found == {row[1:] for row in LEFT_OUT if row[0] == "clean_dialogues"}


def test_a_film_is_printed_with_borders_labels_and_reasons(spark: SparkSession, made: dict[str, DataFrame]) -> None:
    def tables(table: Table) -> DataFrame:
        return made.get(table.name, spark.createDataFrame([], table.schema))

    film = read_dialogues(tables, "77", 20)
    assert "\n".join(line for dialogue in film for line in lines(dialogue)) == READ
    first = read_dialogues(tables, "77", 1)
    assert [dialogue.dialogue_id for dialogue in first] == ["5-0"]
    drawn = read_dialogues(tables, None, 20)
    assert sorted(dialogue.dialogue_id for dialogue in drawn) == ["5-0", "5-7"]
    with pytest.raises(InputError, match="no dialogues of film 78"):
        read_dialogues(tables, "78", 20)


def test_dialogues_are_drawn_by_seed_with_what_was_dropped_of_their_parts(
    spark: SparkSession, made: dict[str, DataFrame]
) -> None:
    """Parts that were cut off a dialogue and then dropped are in no table; ``ops.dropped`` has their own ids."""
    lost = "SELECT 'clean_dialogues' stage, 'dialogue' unit, '5-8' id, 'profanity' reason, 'word' detail"
    known = made | {DROPPED.name: made[DROPPED.name].unionByName(spark.sql(lost), allowMissingColumns=True)}

    def tables(table: Table) -> DataFrame:
        return known.get(table.name, spark.createDataFrame([], table.schema))

    found = [dialogue for seed in (0, 3) for dialogue in read_dialogues(tables, None, 1, seed)]
    dropped = {dialogue.dialogue_id: dialogue.dropped for dialogue in found}
    assert dropped.keys() == {"5-0", "5-7"}
    assert dropped["5-7"] == [
        ("select_emotional", "below_top_n", "rank 9"),
        ("clean_dialogues", "profanity", "5-8: word"),
    ]
