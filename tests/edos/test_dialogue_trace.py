"""The views of the trace: a dialogue from its film to what depends on it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pyspark.sql import Row, SparkSession

from conf.taxonomy import load_taxonomy
from etl.pipeline.stages import REGISTRY
from etl.pipeline.tables import TABLES, Table
from etl.publishing.views import all_views, sql_views
from jobs import all_stages
from tests.stand_ins import StandIns

ME = "5-3"
OTHER = "5-40"
TURN = "struct<text: string, start_ms: int, end_ms: int, sentence_first: int, sentence_last: int>"
RAW = f"dialogue_id string, source_path string, subtitle_id string, movie_id string, year int, turns array<{TURN}>"
SENTENCES = "array<struct<index: int, start_ms: int, end_ms: int, text: string>>"
TRAINING = "train_emotion_classifier"
CHAMPION = "models:/edos-emotion-classifier/2#x"
STARTED = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def traced(spark: SparkSession) -> Iterator[list[Row]]:
    """The trace: of one dialogue, with another one beside it in every table, and of the parts of a third."""
    stand_ins = StandIns(spark, all_views(load_taxonomy("edos")))

    def give(table: str, schema: str, *rows: tuple) -> None:
        stand_ins.give(table, spark.createDataFrame(list(rows), schema))

    turns = [("Who ?", 3_000, 3_900, 3, 3), ("Me . Alone .", 4_000, 5_900, 4, 5)]
    other = (OTHER, "z!5.xml", "5", "77", 1999, turns[:1])
    cut = [(f"{i} .", None, None, i, i) for i in (40, 42, 44, 46)]
    whole = [("9-40", "a.xml", "9", "77", 1999, cut), ("9-50", "a.xml", "9", "77", 1999, cut[:1])]
    give("subtitles.dialogues", RAW, (ME, "z!5.xml", "5", "77", 1999, turns), other, *whole)
    clean = (ME, "z!5.xml", "5", "77", 1999, turns[:1], ME)
    part = ("9-42", "a.xml", "9", "77", 1999, cut[1:2], "9-40")
    give("subtitles.clean_dialogues", f"{RAW}, raw_dialogue_id string", clean, part)
    upload = "source_path string, subtitle_id string, choice int, uploads int"
    give("subtitles.chosen_uploads", upload, ("z!5.xml", "5", 1, 3))
    found_file = (
        "source_path string, container string, member string, offset bigint, bytes bigint, crc bigint, tag string"
    )
    member = ("z!5.xml", "s3://b/en.zip", "OpenSubtitles/5.xml", 99, 1_000, 255, "tag1")
    give("subtitles.manifest", found_file, member, ("q.xml", "s3://b/q.xml", None, 0, 5, None, None))
    sentences = [(i, 1_000 * i, 1_000 * i + 900, f"sentence {i}") for i in range(8)]
    give("subtitles.files", f"source_path string, sentences {SENTENCES}", ("z!5.xml", sentences), ("q.xml", sentences))
    scored = "source_path string, model string, scores array<float>, sources array<string>"
    sources = [None, None, None, "model", "mark", None, None]
    give("subtitles.turn_scores", scored, ("z!5.xml", "m1", [0.5] * 3 + [1.5, -0.25] + [0.0] * 2, sources))
    dropped = "stage string, unit string, id string, reason string, detail string"
    give(
        "ops.dropped",
        dropped,
        ("clean_dialogues", "turn", f"{ME}/1", "too_long", "x"),
        ("a", "file", ME, "no", "no"),
        ("c", "dialogue", "9-44", "duplicate", "of 1-1"),
        ("c", "turn", "9-40/0", "song", "x"),
        ("c", "turn", "9-50/0", "song", "y"),
    )
    weak = "dialogue_id string, turn int, label string, confidence float, model string"
    give("edos.weak_labels", weak, (ME, 0, "sad", 0.5, "weak1"), (OTHER, 0, "glad", 0.5, "weak1"))
    labelled = "dialogue_id string, turn int, label string, origin string, score float, matched_id string, split string"
    mine = (ME, 0, "sad", "crowd", None, None, "train")
    alike = (OTHER, 0, "sad", "similar", 0.95, f"{ME}/0", "train")
    give("edos.training_dialogues", labelled, mine, alike)
    example = "example_id string, source string, split string, reply string, intent string"
    reply = (f"edos/{ME}/0", "edos", "train", "yes", "sad")
    give("replies.examples", example, reply, ("empathetic/5-3/0", "empathetic", "", "", ""))
    give(
        "ops.stage_runs",
        "stage string, run_id string, event string, started timestamp, input_versions map<string, string>, "
        "settings_hash string, stage_version int, models map<string, string>, output_version string",
        ("clean_dialogues", "old", "done", STARTED, {}, "a", 1, {}, "t:1"),
        ("clean_dialogues", "new", "done", STARTED.replace(day=3), {"subtitles.dialogues": "t:1"}, "b", 2, {}, "t:2"),
        (TRAINING, "r", "done", STARTED, {"edos.training_dialogues": "t:5"}, "c", 1, {"encoder": "e"}, CHAMPION),
        (TRAINING, "s", "started", STARTED.replace(day=4), {}, "c", 1, {}, None),
    )
    found = stand_ins.ask("dialogue_trace")
    yield sorted(found, key=lambda row: (row["place"], row["number"] or 0, row["decision"]))
    stand_ins.drop()


def test_the_way_and_what_depends_on_it(traced: list[Row]) -> None:
    traced = [row for row in traced if row["dialogue_id"] == ME]
    assert [(row["step"], row["number"], row["decision"], row["detail"], row["model"]) for row in traced] == [
        ("film", None, "77", "1999", None),
        ("upload", None, "5", "choice 1 of 3 uploads", None),
        (
            "file",
            None,
            "s3://b/en.zip",
            "member OpenSubtitles/5.xml at byte 99, 1000 bytes, CRC FF, version tag1",
            None,
        ),
        ("sentence", 3, "sentence 3", "3000 to 3900 ms", None),
        ("sentence", 4, "sentence 4", "4000 to 4900 ms", None),
        ("sentence", 5, "sentence 5", "5000 to 5900 ms", None),
        ("turn change", 4, "opens a turn", "by model, margin 1.5000", "m1"),
        ("turn change", 5, "goes on", "by mark, margin -0.2500", None),
        ("raw dialogue", None, "2 turns", "sentences 3 to 5", None),
        ("turn dropped", 1, "too_long", "x", None),
        ("clean turn", 0, "Who ?", "sentences 3 to 3", None),
        ("weak label", 0, "sad", "confidence 0.5000", "weak1"),
        ("training row", 0, "sad", "crowd, train", None),
        ("gave its label to", 0, "5-40/0", "sad, similar, train", None),
        ("reply to learn from", 0, "yes", "edos, train, sad", None),
        ("read by", None, CHAMPION, "edos.training_dialogues version t:5", None),
    ]
    by_step = {row["step"]: row for row in traced}
    clean = by_step["clean turn"]
    assert (clean["run_id"], clean["stage_version"], clean["settings_hash"], clean["version"]) == ("new", 2, "b", "t:2")
    assert by_step["read by"]["models"] == {"encoder": "e"}
    assert by_step["film"]["run_id"] is None


def test_a_part_follows_its_raw_dialogue(traced: list[Row]) -> None:
    """Of a dialogue of four turns one part is clean, and one was dropped after the cut: the ledger alone has its id."""

    def steps(name: str) -> list[tuple[str, str]]:
        return [(row["step"], row["decision"]) for row in traced if row["dialogue_id"] == name and row["place"] >= 60]

    assert steps("9-42") == [("part of", "9-40"), ("clean turn", "42 .")]
    assert steps("9-44") == [("dialogue dropped", "duplicate")]
    assert steps("9-40") == [
        ("raw dialogue", "4 turns"),
        ("turn dropped", "song"),
        ("part", "9-42"),
        ("part dropped", "duplicate"),
    ]


def test_every_step_names_the_stage_that_writes_its_table() -> None:
    """The names in the view are those of the registry."""
    all_stages()
    writers = {stage.writes.name: stage.name for stage in REGISTRY.values() if isinstance(stage.writes, Table)}
    query = sql_views()["analysis.dialogue_steps"].sql
    _names_of_columns, *parts = query.split("UNION ALL")
    named = 0
    for part in parts:
        (source,) = {"".join(found) for found in re.findall(r"concat\('(\w+)', '(\.\w+)'\)", part)}
        assert source in TABLES
        assert not [name for name in TABLES if f"'{name}'" in part], "the prefix of schemas would change it"
        if source == "ops.dropped":  # each row of it has its stage
            assert re.search(r"\bstage\b", part), part
        else:
            assert re.search(rf"'{writers[source]}'", part), part
            named += 1
    assert named == len(parts) - 2 > 12
