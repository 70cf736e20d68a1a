"""Rules on whole films, the cap on frequent turns, and what both leave in the ledger."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import DIALOGUES
from tests.frames import outcome_computed
from tests.subtitles.cleaned import clean_dialogues
from tests.subtitles.counts import count_turns
from udfs.vocabulary import count_words

RULES = CleaningSettings(near_duplicates=False)
WORDS = cleaning_words()


def raw_schema() -> StructType:
    """The columns of a raw dialogue, without the framework's."""
    return StructType(DIALOGUES.schema.fields[:-4])


def film(
    name: str, genres: list[str], year: int, texts: list[list[str]], language: str = "en"
) -> list[tuple[object, ...]]:
    """Return rows of ``subtitles.dialogues`` of a film, one for each list of texts."""
    return [
        (
            f"{name}-{number}",
            f"xml/{name}.xml",
            name,
            name,
            "v2018",
            language,
            year,
            genres,
            [(text, i * 1000, i * 1000 + 900, i, i) for i, text in enumerate(turns)],
            [1.0] * len(turns),
        )
        for number, turns in enumerate(texts)
    ]


def cleaned(dialogues: DataFrame, rules: CleaningSettings) -> Outcome:
    return outcome_computed(clean_dialogues(dialogues, rules, WORDS, persist=cached))


def reasons(outcome: Outcome) -> dict[str, tuple[str, str, int]]:
    assert outcome.dropped is not None
    rows = outcome.dropped.collect()
    found = {row["id"]: (row["reason"], row["detail"], row["units"]) for row in rows}
    assert len(found) == len(rows), "a ledger key is there twice"
    return found


def narrated(start: str) -> list[list[str]]:
    return [
        [f"The {start} number {n} is home to many fish .", f"Some of them glow in the {start} {n} ."] for n in range(12)
    ]


def spoken(start: str) -> list[list[str]]:
    return [[f"Do you see my {start} number {n} ?", f"I see your {start} {n} ."] for n in range(12)]


BROKEN = ["S hou ld we tre ad ca ref ully o ver ther ockyl edge {n} ?", "Ne ver m ind th erocks , tr eadf irmly {n} ."]
UNENDED = ["Should we tread carefully over the ledge number {n}", "Never mind the rocks and tread firmly over {n}"]
SOUND = ["Should we tread carefully over the ledge {n} ?", "Never mind the rocks , friend , and tread firmly {n} ."]


def film_of(name: str, year: int | None, texts: list[str], language: str = "en") -> list[tuple[object, ...]]:
    dialogues = [[text.format(n=n) for text in texts] for n in range(20)]
    return film(name, ["Drama"], year, dialogues, language)  # type: ignore[arg-type]


def joined_film() -> list[tuple[object, ...]]:
    """A film whose 60 sentences without end marks are one turn."""
    said = " ".join(text.format(n=n) for n in range(30) for text in UNENDED)
    *about, _, certainties = film("joined", ["Drama"], 1990, [[said]])[0]
    return [(*about, [(said, 0, 900, 0, 59)], certainties)]


BADLY_MADE = [
    *film_of("whole", 1990, SOUND),
    *film_of("undated", None, [f"Really , {text}" for text in SOUND]),
    *film_of("broken", 1990, BROKEN),
    *film_of("fremd", 1990, BROKEN, "de"),
    *film_of("unended", 1990, UNENDED),
    *film_of("early", 1896, [f"Indeed , {text}" for text in SOUND]),
    *joined_film(),
]


CARDS = [[f"The harbour in winter {n} ."] for n in range(9)] + [["Where is he ?", "He is gone ."]]
SUNG = [[f"You hold my hand , my love number {n} .", f"I hold your hand , my dear {n} ."] for n in range(12)]
TOLD = [
    *film("cards", ["Drama"], 1925, CARDS),
    *film("sound", ["Drama"], 1925, spoken("boat")),
    *film("reef", [], 2001, narrated("reef")),
    *film("talk", [], 2001, spoken("coat")),
    *film("song", [], 2001, SUNG),
    *film("known", ["Drama"], 2001, narrated("bay")),
    *film("riff", [], 2001, narrated("riff"), language="de"),
    *film("brief", [], 2001, narrated("cove")[:3]),
]


@pytest.fixture(scope="module")
def by_default(spark: SparkSession) -> Outcome:
    """The films of this module, cleaned by the default rules."""
    return cleaned(spark.createDataFrame([*TOLD, *BADLY_MADE], raw_schema()), RULES)


def test_silent_films_and_narration_without_genre_go(by_default: Outcome) -> None:
    names = {row[3] for row in TOLD}
    kept = by_default.rows.where(F.col("movie_id").isin(*names))
    assert {row["movie_id"] for row in kept.collect()} == {"sound", "talk", "known", "riff", "brief"}
    gone = {name: entry for name, entry in reasons(by_default).items() if name.split("-")[0] in names}
    assert gone["cards-9"] == ("silent_film", "1925: 1.10 turns a dialogue", 2)
    assert gone["reef-0"] == ("narration", "0.0000 words of address, 0 questions", 2)
    assert gone["song-3"][0] == "narration"
    assert gone["song-3"][1].endswith("0 questions")
    assert sum(reason == "narration" for reason, _, _ in gone.values()) == 24
    assert sum(len(row[8]) for row in TOLD) == count_turns(kept) + sum(units for _, _, units in gone.values())


@pytest.mark.long
def test_silent_films_and_narration_stay_where_the_rules_are_off(spark: SparkSession) -> None:
    off = RULES.model_copy(update={"drop_silent_films": False, "min_address_share": None, "exact_duplicates": False})
    rows = clean_dialogues(spark.createDataFrame(TOLD, raw_schema()), off, WORDS, persist=cached).rows
    kept = {row["movie_id"] for row in rows.collect()}
    assert kept == {"cards", "sound", "reef", "talk", "song", "known", "riff", "brief"}


FREQUENT = [
    [f"Where is number {n} ?", "Never .", f"Not even number {n} ?", "Never .", f"Well then , number {n} ."]
    for n in range(8)
]
OFTEN = RULES.model_copy(update={"exact_duplicates": False, "max_turn_frequency": 5})


def test_of_a_frequent_text_so_many_occurrences_stay(spark: SparkSession) -> None:
    dialogues = spark.createDataFrame(film("boat", ["Drama"], 2001, FREQUENT), raw_schema())
    outcome = cleaned(dialogues, OFTEN)
    kept = {row["dialogue_id"]: [turn["text"] for turn in row["turns"]] for row in outcome.rows.collect()}
    gone = reasons(outcome)
    assert sum(turns.count("Never .") for turns in kept.values()) == 5
    assert all(turns == FREQUENT[int(name.split("-")[1])][: len(turns)] for name, turns in kept.items())
    first = [name for name, (reason, _, _) in gone.items() if reason == "frequent_turn"]
    assert len(first) == 6
    assert all(gone[name][1] == "16 times: Never ." for name in first)
    after = [detail for reason, detail, _ in gone.values() if reason == "after_removed_turn"]
    assert set(after) == {"turn 1 went: frequent_turn", "turn 3 went: frequent_turn"}
    assert count_turns(dialogues) == count_turns(outcome.rows) + sum(units for _, _, units in gone.values())


@pytest.mark.long
def test_the_occurrences_that_stay_do_not_depend_on_partitions(spark: SparkSession) -> None:
    dialogues = spark.createDataFrame(film("boat", ["Drama"], 2001, FREQUENT), raw_schema())
    found = []
    for parts in (1, 5):
        rows = clean_dialogues(dialogues.repartition(parts), OFTEN, WORDS, persist=cached).rows
        found.append({row["dialogue_id"]: len(row["turns"]) for row in rows.collect()})
    assert found[0] == found[1]


def test_the_ledger_keeps_the_raw_places_of_turns(spark: SparkSession) -> None:
    texts = [["Where is it ?", "[ DOOR SLAMS ]", "Never .", "Sit down .", "Subtitles : Ana Roca", "Goodness ."]]
    other = [[f"Is it number {n} ?", "Never ."] for n in range(3)]
    dialogues = spark.createDataFrame(film("boat", ["Drama"], 2001, texts + other), raw_schema())
    outcome = cleaned(dialogues, OFTEN.model_copy(update={"max_turn_frequency": 1}))
    gone = {name: entry for name, entry in reasons(outcome).items() if name.startswith("boat-0/")}
    assert gone["boat-0/1"][0] == "nothing_said"
    assert gone["boat-0/4"] == ("credit", "Subtitles : Ana Roca", 1)
    assert gone["boat-0/5"] == ("after_removed_turn", "turn 4 went: credit", 1)
    assert count_turns(dialogues) == count_turns(outcome.rows) + sum(u for _, _, u in reasons(outcome).values())


def test_films_that_nobody_can_read_are_left_out_by_the_preset_trusted(
    spark: SparkSession, by_default: Outcome
) -> None:
    off = dict.fromkeys(("exact_duplicates", "near_duplicates", "corpus_duplicates"), False)
    dialogues = spark.createDataFrame(BADLY_MADE, raw_schema())
    outcome = cleaned(dialogues, CleaningSettings(preset="trusted", **off))
    assert {row["movie_id"] for row in outcome.rows.collect()} == {"whole", "undated", "fremd"}
    gone = reasons(outcome)
    assert gone["broken-0"][0] == "broken_words"
    assert gone["unended-0"] == ("no_end_marks", "1.0000 unended turns", 2)
    assert gone["early-0"] == ("wrong_year", "1896: 2.00 turns a dialogue", 2)
    assert gone["joined-0"] == ("no_end_marks", "1.0000 unended turns", 1)
    assert len(gone) == 61
    assert {row["movie_id"] for row in by_default.rows.collect()} >= {"broken", "unended", "early"}


def test_words_in_small_letters_are_looked_up() -> None:
    assert count_words("Ada should walk to the harbour , xqou ldzz she ?") == (8, 2)
    assert count_words("ROCKS Rocks R2 o'clock ...") == (0, 0)
    assert count_words(None) == (0, 0)
