"""The views over the EDOS tables run and hold what the paper's tables hold."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.papers import paper_table
from conf.taxonomy import edos_labels, load_taxonomy
from etl.pipeline import tables
from etl.publishing.views import all_views
from tests.stand_ins import StandIns

DIALOGUE = (
    "array(named_struct('text', 'Is it over ?', 'label', 'sad', 'confidence', 0.5f),"
    " named_struct('text', 'It is .', 'label', 'proud', 'confidence', 0.5f)) AS turns"
)
TABLES = {
    "edos.dialogues": DIALOGUE,
    "ops.dropped": "'s' AS stage, 'turn' AS unit, '1' AS id, 'too_short' AS reason, 2L AS units",
    "ops.stage_runs": "'s' AS stage, 'r' AS run_id, 'done' AS event, current_timestamp() AS started, 'turn' AS unit,"
    " 9L AS rows_in, 6L AS rows_out, 2L AS rows_dropped, 1L AS rows_quarantined",
    "subtitles.turn_scores": "'p' AS source_path, 'f' AS subtitle_id, array(-0.5f, 1.5f) AS scores",
}


@pytest.fixture()
def views(spark: SparkSession, stand_ins: StandIns) -> StandIns:
    """The views over tables of one row."""
    for name, row in TABLES.items():
        stand_ins.give(name, spark.sql(f"SELECT {row}"))
    return stand_ins


def test_the_papers_counts_add_up_to_its_totals() -> None:
    labels, dialogues, turns = zip(*paper_table("edos_paper_table_9").rows, strict=True)
    assert set(labels) == set(edos_labels())
    assert sum(map(int, dialogues)) == 1_000_000
    assert sum(map(int, turns)) == 2_829_426


def test_table_9_counts_first_turns_and_turns_for_every_label(views: StandIns) -> None:
    rows = views.ask("edos_table_9")
    assert [row["label"] for row in rows] == [*edos_labels(), "total"]
    ours = {row["label"]: (row["dialogues"], row["turns"]) for row in rows if row["turns"]}
    assert ours == {"sad": (1, 1), "proud": (0, 1), "total": (1, 2)}
    assert (rows[-1]["paper_dialogues"], rows[-1]["paper_turns"]) == (1_000_000, 2_829_426)


def test_table_3_and_the_ledgers(views: StandIns) -> None:
    table_3 = [row["value"] for row in views.ask("edos_table_3")]
    assert table_3 == [1, 2, 7, 2, 7, 3.5]
    assert views.ask("reconciliation")[0]["unexplained"] == 0
    assert views.ask("dropped_by_reason")[0]["units"] == 2


def test_the_funnel_has_films_turns_and_what_is_not_certain(spark: SparkSession, stand_ins: StandIns) -> None:
    kind = tables.TABLES["subtitles.dialogues"].schema["turns"].dataType.simpleString()
    said = '[{"text": "Is it over ?"}, {"text": "It is ."}]'
    for name, rows in (
        ("subtitles.dialogues", f"('1-0', '1', '{said}'), ('1-9', '1', '{said}'), ('2-0', '2', '{said}')"),
        ("subtitles.clean_dialogues", f"('1-0', '1', '{said}')"),
    ):
        select = f"SELECT id AS dialogue_id, film AS movie_id, from_json(turns, '{kind}') AS turns FROM VALUES {rows}"
        stand_ins.give(name, spark.sql(f"{select} AS t(id, film, turns)"))
    stand_ins.give("edos.dialogues", spark.sql(f"SELECT '1' AS movie_id, array(true, false) AS accepted, {DIALOGUE}"))
    lost = "('1-9/0', 'turn', 'uncertain_turn', '', 1L), ('2-0', 'dialogue', 'documentary', '', 2L)"
    lost += ", ('1-9/1', 'turn', 'after_removed_turn', '0 went: uncertain_turn', 1L)"
    ledger = f"SELECT 'clean_dialogues' AS stage, * FROM VALUES {lost} AS t(id, unit, reason, detail, units)"
    stand_ins.give("ops.dropped", spark.sql(ledger))
    costs = [
        (row["rule"], row["turns"], row["turns_after"], row["all_turns"]) for row in stand_ins.ask("cleaning_cost")
    ]
    assert costs == [("documentary", 0, 0, 2), ("uncertain_turn", 1, 1, 2)]
    found = {
        row["place"]: (row["units"], row["films"], row["turns"], row["note"]) for row in stand_ins.ask("edos_funnel")
    }
    assert found[4] == (3, 2, 6, None)
    assert found[5] == (1, 1, 2, "turns left out as not certain enough: 2")
    assert found[7] == (1, 1, 2, "turns with an accepted label: 1")


def test_the_funnel_has_the_steps_whose_tables_are_there() -> None:
    view = "analysis.edos_funnel"
    absent = {"edos.initial", "edos.dialogues", "subtitles.manifest"}
    (sql,) = (
        one.sql for name, one in tables.present_views(all_views(load_taxonomy("edos")), absent).items() if name == view
    )
    assert re.findall(r"(\d) AS place", sql) == ["2", "3", "4", "5"]


def test_the_last_two_runs_of_a_stage_stand_side_by_side(spark: SparkSession, stand_ins: StandIns) -> None:
    runs = "('s', 1, 5L, 'a'), ('s', 2, 6L, 'a'), ('s', 3, 8L, 'b'), ('t', 4, 1L, 'a')"
    stand_ins.give(
        "ops.stage_runs",
        spark.sql(
            "SELECT stage, concat('r', day) AS run_id, 'done' AS event, rows_out, 7 AS stage_version,"
            " make_timestamp(2026, 1, day, 0, 0, 0) AS started, settings_hash"
            f" FROM VALUES {runs} AS t(stage, day, rows_out, settings_hash)"
        ),
    )
    found = [
        (
            row["run_id"],
            row["run_id_before"],
            row["rows_out"],
            row["rows_out_before"],
            row["settings_changed"],
            row["rules_changed"],
        )
        for row in stand_ins.ask("last_two_runs")
    ]
    assert found == [("r3", "r2", 8, 6, True, False), ("r4", None, 1, None, None, None)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It 's over , is n't it ?", "It's over, is n't it?"),
        ("' ll 'll 've 's", "' ll'll've's"),
        ("qu 't\u00e9 ( $ 5 )\u00a0", "qu 't\u00e9 ($5 )\u00a0"),
        (" a\u000b\n'S . . . ", "a'S..."),
    ],
)
def test_plain_text_has_no_blanks_of_tokens(spark: SparkSession, stand_ins: StandIns, text: str, plain: str) -> None:
    turns = [("1-0", "1", [{"text": text, "label": "sad", "confidence": 0.5}], [True])]
    kinds = "dialogue_id string, movie_id string, turns array<struct<text: string, label: string, confidence: float>>"
    stand_ins.give("edos.dialogues", spark.createDataFrame(turns, f"{kinds}, accepted array<boolean>"))
    assert [row.plain_text for row in stand_ins.ask("edos.turns")] == [plain]


def test_turns_per_dialogue_before_and_after_the_choice(spark: SparkSession, stand_ins: StandIns) -> None:
    turn = "named_struct('text', '{}', 'start_ms', 0, 'end_ms', 0, 'sentence_first', 0, 'sentence_last', 0)"
    two = ", ".join(turn.format(text) for text in ("Is it over ?", "It is ."))
    five = ", ".join([turn.format("a b c d")] * 5)
    clean = f"SELECT * FROM VALUES ('a', array({two})), ('b', array({five})) AS rows(dialogue_id, turns)"
    stand_ins.give("subtitles.clean_dialogues", spark.sql(clean))
    stand_ins.give("edos.initial", spark.sql("SELECT 'a' AS dialogue_id, array('Is it over ?', 'It is .') AS turns"))
    before, after = stand_ins.ask("edos_turns_per_dialogue")
    assert (before["dialogues"], before["turns"]) == (2, 7)
    assert (before["turns_per_dialogue"], before["paper_turns"]) == (3.5, 4.75)
    assert (before["two_turns"], before["three_or_four_turns"], before["more_turns"]) == (0.5, 0, 0.5)
    assert (after["turns_per_dialogue"], after["paper_turns"], after["tokens_per_turn"]) == (2.0, 2.83, 3.5)
    assert (after["ratio"], after["paper_ratio"]) == (1.75, 1.68)


def test_kinds_and_valence_by_turn(views: StandIns, spark: SparkSession) -> None:
    talks = [("e", 0, "joyful"), ("e", 1, "questioning"), ("e", 2, "surprised"), ("e", 3, "neutral"), ("f", 0, "sad")]
    views.give("edos.empathetic_turns", spark.createDataFrame(talks, "dialogue_id string, turn int, label string"))
    rows = views.ask("edos_emotions_by_turn")
    found = {(row.corpus, row.all_lengths, row.position): row for row in rows}
    ours = [(row.emotions, row.valence) for row in rows if row.corpus == "EDOS"]
    assert ours == [(1.0, -1.0), (1.0, 1.0)]
    paper = [(row.position, row.turns, row.emotions, row.intents) for row in rows if row.corpus == "paper"]
    assert [row[:2] for row in paper] == [(1, 1_000_000), (2, 1_829_426)]
    assert [row[2:] for row in paper] == [(0.4675, 0.5248), (0.521, 0.4526)]
    first = found["EmpatheticDialogues", True, 1]
    assert (first.turns, first.positive, first.negative, first.valence) == (2, 0.5, 0.5, 0.0)
    assert found["EmpatheticDialogues", False, 1].valence == 1.0
    assert found["EmpatheticDialogues", True, 2].intents == 1.0
    third = found["EmpatheticDialogues", True, 3]
    assert (third.emotions, third.valence) == (1.0, None)
    assert found["EmpatheticDialogues", True, 4].neutral == 1.0


def test_every_emotion_but_three_has_a_valence() -> None:
    sql = Path(str(files("etl.edos") / "views" / "analysis.edos_emotions_by_turn.sql")).read_text("utf-8")
    valued = set(re.findall(r"'([a-z]+)'", sql[sql.index("labelled.label IN") : sql.index("END AS valence")]))
    emotions = {one.label for one in load_taxonomy("edos").labels if one.kind == "emotion"}
    assert emotions - valued == {"surprised", "sentimental", "nostalgic"}
    assert valued <= emotions


def test_the_papers_averages_follow_from_its_totals(views: StandIns) -> None:
    paper = [row.paper for row in views.ask("edos_table_3")]
    dialogues, turns, tokens = paper[:3]
    assert [round(turns / dialogues, 2), round(tokens / dialogues, 2), round(tokens / turns, 2)] == paper[3:]
