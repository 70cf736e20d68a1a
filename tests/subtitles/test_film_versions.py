"""Nights of the cleaning: a film is cleaned again where its dialogues change, or which of them repeat others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.settings import Settings, load_settings
from etl.cli.running import run_stages
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stages import REGISTRY
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS, WORK_VERSION
from etl.subtitles.film_versions import films_of, films_with_copies
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import CLEAN_DIALOGUES, DIALOGUES, FILTERED_DIALOGUES
from jobs import all_stages

LOST = ["I lost my job today .", "Oh no , what happened there ?"]
WON = ["We won the big match !", "I am so happy for all of you ."]
KEY = ["Where is the blue key ?", "It hangs beside the kitchen door ."]
CAT = ["Did you feed the cat ?", "No , who should have fed her ?"]
REEF = ["The reef is home to many fish .", "Some of them glow at night ."]
Films = Mapping[str, list[list[str]]]


def raw_dialogues(spark: SparkSession, films: Films) -> DataFrame:
    """Return ``subtitles.dialogues`` of films, which are numbers; the film "9" is a documentary."""
    rows = []
    for film, talks in films.items():
        for place, talk in enumerate(talks):
            turns = [
                {"text": text, "start_ms": 0, "end_ms": 9, "sentence_first": n, "sentence_last": n}
                for n, text in enumerate(talk, 10 * place)
            ]
            one: dict[str, Any] = dict.fromkeys(DIALOGUES.columns)
            one |= {"dialogue_id": f"{film}-{10 * place}", "source_path": f"{film}.xml", "subtitle_id": film}
            one |= {"movie_id": film, "release": "v2018", "language": "en", "year": 1990}
            one |= {"genres": ["Documentary" if film == "9" else "Drama"], "turns": turns}
            rows.append(one)
    return spark.createDataFrame(rows, DIALOGUES.schema)


def cleaned(spark: SparkSession, root: Path, films: Films, *given: str) -> tuple[Settings, dict[str, list[str]]]:
    """Run both stages on these films in a lakehouse; returns its settings and rows by table."""
    rules = ("edos.preset=paper", "subtitles.cleaning.near_duplicates=true", *given)
    settings = load_settings("local", (), [f"lakehouse.root={root}", "spark.short_session=true", *rules])
    Lakehouse(spark, settings.lakehouse).replace(DIALOGUES, raw_dialogues(spark, films), {})
    all_stages()
    run_stages(spark, settings, [REGISTRY["filter_dialogues"], REGISTRY["clean_dialogues"]], [])
    house = Lakehouse(spark, settings.lakehouse)
    own = {"run_id", "slice"}
    tables = {
        table.name: sorted(
            str({name: value for name, value in row.asDict(recursive=True).items() if name not in own})
            for row in house.read(table).collect()
        )
        for table in (FILTERED_DIALOGUES, CLEAN_DIALOGUES, DROPPED)
    }
    return settings, tables


def worked_on(spark: SparkSession, settings: Settings) -> dict[str, set[str]]:
    """Return the files whose rows, in the table or the ledger, are of the last run of each stage."""
    house = Lakehouse(spark, settings.lakehouse)
    runs = house.read(STAGE_RUNS).where("event = 'done'").orderBy("started").collect()
    last = {row["stage"]: row["run_id"] for row in runs}
    rows = house.read(DROPPED).collect()
    return {stage: {row["work_key"] for row in rows if row["run_id"] == run} for stage, run in last.items()}


OLD: Films = {"2": [LOST, KEY], "3": [WON, CAT], "4": [KEY], "9": [REEF]}
GROWN: Films = {"1": [LOST, CAT], **OLD}
OTHER: Films = {**GROWN, "2": [LOST]}
NIGHTS: list[tuple[str, Films]] = [
    ("first", OLD),
    ("a film with a smaller id has a dialogue of 2", GROWN),
    ("the same again", GROWN),
    ("2 says something else, so that 4 has the first copy", OTHER),
    ("1 is withdrawn", {name: talks for name, talks in OTHER.items() if name != "1"}),
]


@pytest.mark.long
@pytest.mark.parametrize(
    "given", [(), ("subtitles.cleaning.corpus_duplicates=true",), ("subtitles.cleaning.max_turn_frequency=1",)]
)
def test_nights_end_with_the_tables_of_a_first_run(spark: SparkSession, tmp_path: Path, given: tuple[str, ...]) -> None:
    for number, (what, films) in enumerate(NIGHTS):
        (settings, grown) = cleaned(spark, tmp_path / "nights", films, *given)
        (_, whole) = cleaned(spark, tmp_path / f"whole-{number}", films, *given)
        assert grown == whole, what
        assert len(whole[DROPPED.name]) > 0
    if not given:
        assert worked_on(spark, settings)["filter_dialogues"] == set()


def test_a_night_works_on_the_films_alone_that_changed(spark: SparkSession, tmp_path: Path) -> None:
    cleaned(spark, tmp_path, OLD)
    (settings, tables) = cleaned(spark, tmp_path, GROWN)
    assert worked_on(spark, settings) == {"filter_dialogues": set(), "clean_dialogues": {"2.xml", "3.xml"}}
    assert sum("'reason': 'duplicate'" in row for row in tables[DROPPED.name]) == 3
    before = Lakehouse(spark, settings.lakehouse).identity(CLEAN_DIALOGUES)
    cleaned(spark, tmp_path, GROWN)
    assert Lakehouse(spark, settings.lakehouse).identity(CLEAN_DIALOGUES) == before


def test_a_version_is_of_all_that_a_film_has_whatever_the_order(spark: SparkSession) -> None:
    films: Films = {"2": [LOST, KEY], "3": [WON]}

    def versions(dialogues: DataFrame, **rules: object) -> list[dict[str, Any]]:
        units = (films_of(dialogues), films_with_copies(dialogues, CleaningSettings(**rules)))
        return [{row["source_path"]: row[WORK_VERSION] for row in frame.collect()} for frame in units]

    rows = raw_dialogues(spark, films)
    once = versions(rows)
    assert versions(rows.repartition(3, "dialogue_id")) == once
    (raw, copied) = versions(raw_dialogues(spark, {**films, "1": [LOST]}))
    assert raw["2.xml"] == once[0]["2.xml"]
    assert copied["3.xml"] == once[1]["3.xml"]
    assert copied["2.xml"] != once[1]["2.xml"]
    (raw, _) = versions(raw_dialogues(spark, {"2": [LOST, KEY], "3": [CAT]}))
    assert raw["3.xml"] != once[0]["3.xml"]
    (_, one) = versions(raw_dialogues(spark, {**films, "4": [CAT]}), corpus_duplicates=True)
    assert len(set(one.values())) == 1
