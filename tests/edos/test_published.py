"""The data that the authors of EDOS published: the pool and the finished set, read into a set of their own."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from conf.settings import Settings, load_settings
from conf.taxonomy import load_taxonomy
from etl.cli.running import run_stages
from etl.edos.tables import DIALOGUES
from etl.edos.votes import dialogue_turns
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.planner import chosen, in_sets
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS
from etl.publishing.views import all_views, named_in
from etl.subtitles.tables import CLEAN_DIALOGUES
from jobs import all_stages
from udfs import turn_rows
from udfs.turn_rows import dialogues_in

TO = "clean_dialogues,annotate_dialogues,read_empathetic_dialogues"
LABELS = load_taxonomy("edos").names
POOL = """,dialogue_id,text
0,11,Where did you put my umbrella ?
1,11,"In the hall , I think ."
2,12,"It "" rained "" all day ."
3,12,  So   we stayed
4,13,
5,13,Nobody said a word .
6,,A row of nobody .
7,14,The end is near .
8,11,This id came before .
"""
EDOS = """dialogue_id,text,label,confidence
11,Where did you put my umbrella ?,questioning,0.97
11,"In the hall , I think .",Agreeing,0.4
12,I lost him .,sad,0.91
12,I am sorry .,sympathising,0.8
14,The end is near .,afraid,1.4
"""


def read(text: str | bytes, name: str = "a.csv", labelled: bool = False) -> list[dict[str, Any]]:
    own = {"dialogue_id": "dialogue_id", "text": "text"}
    own |= {"label": "label", "confidence": "confidence"} if labelled else {}
    content = text.encode() if isinstance(text, str) else text
    return list(dialogues_in(name, io.BytesIO(content), columns={name: own}, labels=LABELS))


def test_neighbouring_rows_of_an_id_are_a_dialogue() -> None:
    good = [(row["dialogue_id"], row["texts"]) for row in read(POOL) if row["fault"] is None]
    assert good == [
        ("11", ["Where did you put my umbrella ?", "In the hall , I think ."]),
        ("12", ['It " rained " all day .', "So we stayed"]),
        ("14", ["The end is near ."]),
        ("11", ["This id came before ."]),
    ]


def test_what_cannot_be_used_says_why_and_counts_its_rows() -> None:
    faults = [(row["unit"], row["line"], row["units"], row["fault"]) for row in read(POOL) if row["fault"]]
    assert faults == [("row", 8, 1, "no_dialogue"), ("dialogue", 6, 2, "no_text")]
    assert sum(row["units"] for row in read(POOL)) == 9


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("1,Good .,sad,0.5", None),
        ("1,Good .,SAD ,1", None),
        ("1.0,Good .,sad,0", None),
        ("1,Good .,sad,", "no_confidence"),
        ("1,Good .,sad,nan", "no_confidence"),
        ("1,Good .,sad,1e9", "no_confidence"),
        ("1,Good .,sad,-0.1", "no_confidence"),
        ("1,Good .,hungry,0.5", "outside_taxonomy"),
        ("1,Good .,,0.5", "outside_taxonomy"),
        ("1, \u00a0 ,sad,0.5", "no_text"),
        (",Good .,sad,0.5", "no_dialogue"),
        ('1,"Good .,sad,0.5', "unclosed_quote"),
        ("1,Good .,sad,0.5\n1,\udcff,sad,0.5\n1,Good .,sad,0.5", "torn"),
    ],
)
def test_faults_of_labelled_rows(rows: str, fault: str | None) -> None:
    text = f"dialogue_id,text,label,confidence\n{rows}\n".encode("utf-8", "surrogateescape")
    found = read(text, labelled=True)
    if fault is None:
        assert [(row["dialogue_id"], row["labels"]) for row in found] == [("1", ["sad"])]
    else:
        assert found[-1]["fault"] is not None
        assert fault in {row["fault"] for row in found} or fault == "unclosed_quote"
        assert not [row for row in found if row["fault"] is None]


def test_a_file_of_one_id_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_rows, "MAX_TURNS", 3)
    (row,) = read("dialogue_id,text\n" + "7,Again .\n" * 50)
    assert (row["fault"], row["units"], row.get("texts")) == ("too_long", 50, None)


def settings_of(root: Path, pool: Path, edos: Path, *given: str) -> Settings:
    files = [f"subtitles.published_dialogues=[{pool}]", f"edos.published_dialogues=[{edos}]"]
    own = [f"lakehouse.root={root}", "lakehouse.set=published", "spark.short_session=true"]
    return load_settings("local", [], [*own, *files, *given])


@pytest.fixture(scope="module")
def settings(spark: SparkSession, tables: None, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("published")
    with gzip.open(folder / "pool.csv.gz", "wt", encoding="utf-8") as file:
        file.write(POOL)
    lines = [dict(zip(EDOS.splitlines()[0].split(","), row, strict=True)) for row in rows_of(EDOS)]
    (folder / "edos.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = settings_of(folder / "lakehouse", folder / "pool.csv.gz", folder / "edos.jsonl")
    made(spark, found)
    return found


def rows_of(text: str) -> list[list[str]]:
    import csv

    return list(csv.reader(io.StringIO(text)))[1:]


def made(spark: SparkSession, settings: Settings) -> None:
    stages = [stage.under(settings) for stage in all_stages()]
    run_stages(spark, settings, in_sets(chosen(stages, to=TO)), [])


def test_the_stages_of_the_films_are_not_needed(settings: Settings) -> None:
    stages = [stage.under(settings) for stage in all_stages()]
    names = [stage.name for stage in in_sets(chosen(stages, to="annotate_dialogues,export_dataset,report_dataset"))]
    assert not {"find_subtitles", "ingest_subtitles", "segment_dialogues", "train_emotion_classifier"} & set(names)
    assert {"clean_dialogues", "annotate_dialogues", "export_dataset", "report_dataset"} <= set(names)


def test_the_tables_have_what_is_published(spark: SparkSession, settings: Settings) -> None:
    house = Lakehouse(spark, settings.lakehouse)
    clean = {row.dialogue_id: row for row in house.read(CLEAN_DIALOGUES).collect()}
    assert {name: [turn.text for turn in row.turns] for name, row in clean.items()} == {
        "11": ["Where did you put my umbrella ?", "In the hall , I think ."],
        "12": ['It " rained " all day .', "So we stayed"],
        "14": ["The end is near ."],
    }
    one = clean["11"]
    assert (one.movie_id, one.release, one.language, one.profane) == ("dialogue:11", "v2018", "en", False)
    assert (one.source_path, one.certainty, one.turns[0].start_ms) == (None, None, None)
    (edos,) = house.read(DIALOGUES).collect()
    labels = [(turn.label, round(turn.confidence, 2)) for turn in edos.turns]
    assert labels == [("questioning", 0.97), ("agreeing", 0.4)]
    assert not (Path(settings.lakehouse.root) / "edos").exists()


def test_nothing_is_lost(spark: SparkSession, settings: Settings) -> None:
    house = Lakehouse(spark, settings.lakehouse)
    runs = {row.stage: row for row in house.read(STAGE_RUNS).where("event = 'done'").collect()}
    accounts = {name: (row.rows_in, row.rows_out, row.rows_dropped) for name, row in runs.items()}
    assert accounts.pop("read_empathetic_dialogues") == (0, 0, 0)
    assert accounts == {"clean_dialogues": (9, 5, 4), "annotate_dialogues": (5, 2, 3)}
    reasons = {(row.stage, row.reason): row.units for row in house.read(DROPPED).collect()}
    assert reasons == {
        ("clean_dialogues", "no_dialogue"): 1,
        ("clean_dialogues", "no_text"): 2,
        ("clean_dialogues", "repeated_dialogue"): 1,
        ("annotate_dialogues", "outside_taxonomy"): 2,
        ("annotate_dialogues", "no_confidence"): 1,
    }


def test_the_papers_tables_come_from_these_rows(spark: SparkSession, settings: Settings) -> None:
    house = Lakehouse(spark, settings.lakehouse)
    names = [f"analysis.edos_{name}" for name in ("table_3", "table_9", "label_distribution", "flow")]
    house.register(*named_in(names, all_views(settings.edos.taxonomy)))
    table_9 = {row.label: (row.dialogues, row.turns) for row in spark.table("analysis.edos_table_9").collect()}
    assert table_9["questioning"] == (1, 1)
    assert table_9["total"] == (1, 2)
    flow = spark.table("analysis.edos_flow").where("corpus = 'EDOS'").collect()
    assert ("questioning", "agreeing") in {(row.label, row.to_label) for row in flow}


def test_a_set_of_files_has_a_name(tmp_path: Path) -> None:
    given = settings_of(tmp_path, tmp_path / "pool.csv", tmp_path / "edos.csv", "lakehouse.set=''")
    with pytest.raises(InputError, match=r"subtitles\.published_dialogues makes a set of its own"):
        [stage.under(given) for stage in all_stages()]


@pytest.mark.parametrize(
    ("text", "message"),
    [("id,words\n1,a\n", "no file has the columns dialogue_id or dialog_id, text"), (None, "does not exist")],
)
def test_files_without_the_columns_are_refused(
    spark: SparkSession, tmp_path: Path, text: str | None, message: str
) -> None:
    from etl.common.turn_rows import TURN, read_dialogues

    file = tmp_path / "pool.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_dialogues(spark, [str(file)], TURN, "subtitles.published_dialogues")


@pytest.mark.long
def test_released_rows_in_the_published_form_come_back(spark: SparkSession, shared_data: Path, tmp_path: Path) -> None:
    """Put the released self-labelled dialogues into the form of the pool, and read them: none is lost or changed."""
    from etl.common.labelled_files import labelled_rows
    from etl.common.turn_rows import TURN, read_dialogues

    source = str(shared_data / "edos" / "self_labeled_dialogs_4k.csv.gz")
    columns = ("os_dialog_id", "os_dialog")
    given = labelled_rows(spark, [source], columns, "edos.released_labels").rows
    turns = given.select("os_dialog_id", dialogue_turns(given["os_dialog"]).alias("turns")).collect()
    expected = {row.os_dialog_id: [" ".join(text.split()) for text in row.turns] for row in turns}
    import csv

    with (tmp_path / "pool.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", "dialogue_id", "text"])
        writer.writerows(("", name, text) for name, texts in expected.items() for text in texts)
    read_again = read_dialogues(spark, [str(tmp_path / "pool.csv")], TURN, "subtitles.published_dialogues")
    assert {row.dialogue_id: row.texts for row in read_again.rows.collect()} == expected
    assert read_again.rows_in == sum(map(len, expected.values()))
    assert len(expected) > 4_000
