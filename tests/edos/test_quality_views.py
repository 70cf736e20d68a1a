"""The views of the quality analysis: labels, divergence, flow, confidence, examples, gaps (EDOS 4)."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.papers import paper_table
from conf.taxonomy import edos_labels
from etl.common.labelled_files import local_rows
from etl.edos.empathetic import COLUMNS, labelled_utterances
from etl.edos.tables import EMPATHETIC_TURNS
from etl.pipeline.tables import TABLES
from tests.stand_ins import StandIns

LINES = (
    "dialogue_id string, movie_id string, turns array<struct<text: string, label: string, confidence: float>>,"
    " accepted array<boolean>"
)


def finished(spark: SparkSession, *dialogues: tuple[str, list[tuple[str, float]]]) -> DataFrame:
    """edos.dialogues of (id, [(label, confidence), ...]), accepted from 0.9 on."""
    rows = [
        (
            name,
            "f1",
            [(f"turn {place} of {name}", label, share) for place, (label, share) in enumerate(turns)],
            [share >= 0.9 for _, share in turns],
        )
        for name, turns in dialogues
    ]
    return spark.createDataFrame(rows, LINES)


@pytest.mark.slow
def test_every_view_stands_on_empty_tables(stand_ins: StandIns) -> None:
    query = stand_ins.ask
    counts = {name: len(query(name)) for name in stand_ins.views if name.startswith("analysis.edos_")}
    assert counts["analysis.edos_label_distribution"] == 41
    assert counts["analysis.edos_flow"] == counts["analysis.edos_examples"] == counts["analysis.edos_gaps"] == 0
    assert [row["nats"] for row in query("edos_kl_divergence")] == [None] * 4
    assert query("edos_table_2")[-1]["dialogues"] == 0


def test_shares_and_divergence_of_labels(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    give("edos.dialogues", finished(spark, ("a", [("sad", 0.5), ("questioning", 0.25)]), ("b", [("sad", 0.5)])))
    give(
        "edos.empathetic_turns",
        spark.createDataFrame([("h", 0, "speaker", "sad"), ("h", 1, "listener", "agreeing")], EMPATHETIC_TURNS.schema),
    )
    rows = {row["label"]: row for row in query("edos_label_distribution")}
    assert (rows["sad"]["share"], rows["sad"]["empathetic_share"], rows["sad"]["turns"]) == (0.666667, 0.5, 2)
    assert rows["agreeing"]["share"] == 0
    assert rows["questioning"]["paper_turns"] == 841_556
    assert sum(row["paper_share"] for row in rows.values()) == pytest.approx(1, abs=1e-5)
    # p: 2.5, 1.5, 0.5 and 38 times 0.5 of 23.5; q: 1.5, 0.5, 1.5 and 38 times 0.5 of 22.5.
    nats = {(row["distribution"], row["reference"]): row["nats"] for row in query("edos_kl_divergence")}
    assert nats["EDOS, ours", "EmpatheticDialogues"] == pytest.approx(0.0576, abs=1e-4)
    assert all(value > 0 for value in nats.values())


@pytest.mark.slow
def test_the_papers_table_9_against_the_released_labels(
    spark: SparkSession, stand_ins: StandIns, shared_data: Path
) -> None:
    """0.2675 by our formula, where the paper says 0.2447; our set stands in with the paper's very counts."""
    query = stand_ins.ask
    give = stand_ins.give
    folder = str(shared_data / "empathetic_dialogues")
    found = labelled_utterances(local_rows([folder], COLUMNS, "edos.empathetic_dialogues").rows, edos_labels())
    assert (len(found.rows), found.dropped) == (107_247, [])
    assert len({dialogue for dialogue, *_ in found.rows}) == 24_856
    labels = spark.createDataFrame([(label,) for *_, label in found.rows], "label string")
    give("edos.empathetic_turns", labels.selectExpr("label AS dialogue_id", "0 AS turn", "'' AS speaker", "label"))
    counts = [(label, int(turns) // 10) for label, _, turns in paper_table("edos_paper_table_9").rows]
    line = "named_struct('text', 'x', 'label', label, 'confidence', 0.5F)"
    tenth = spark.createDataFrame(counts, "label string, n int")
    give("edos.dialogues", tenth.selectExpr("label AS dialogue_id", f"array_repeat({line}, n) AS turns"))
    values = [row["nats"] for row in query("edos_kl_divergence")]
    assert values[1] == 0.2675
    assert values[0] == pytest.approx(0.2675, abs=2e-4)
    assert values[3] == 0
    assert [row["paper"] for row in query("edos_kl_divergence")][:2] == [0.2447, 0.2447]


def test_flow_counts_steps_and_ends(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    five = [("sad", 0.9), ("questioning", 0.9), ("sad", 0.9), ("agreeing", 0.9), ("joyful", 0.9)]
    give("edos.dialogues", finished(spark, ("a", five), ("b", five[:2]), ("c", five[:1])))
    give(
        "edos.empathetic_turns",
        spark.createDataFrame([("h", 1, "listener", "agreeing"), ("h", 0, "speaker", "sad")], EMPATHETIC_TURNS.schema),
    )
    rows = {(r["corpus"], r["position"], r["label"], r["to_label"]): r["dialogues"] for r in query("edos_flow")}
    assert rows == {
        ("EDOS", 1, "sad", "questioning"): 2,
        ("EDOS", 1, "sad", None): 1,
        ("EDOS", 2, "questioning", "sad"): 1,
        ("EDOS", 2, "questioning", None): 1,
        ("EDOS", 3, "sad", "agreeing"): 1,
        ("EmpatheticDialogues", 1, "sad", "agreeing"): 1,
        ("EmpatheticDialogues", 2, "agreeing", None): 1,
    }


def test_confidence_in_tenths_after_rounding(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    shares = (0.0, 0.1, 0.29999999, 0.3, 0.9, 1.0, 0.89999)
    give("edos.dialogues", finished(spark, ("a", [("sad", share) for share in shares])))
    assert {row["from_confidence"]: row["turns"] for row in query("edos_confidence")} == {0: 1, 0.1: 1, 0.3: 2, 0.9: 3}


def test_examples_are_twelve_a_quarter_and_not_profane(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    labels = edos_labels()
    many = [(f"d{n:02}", [(labels[n % 41], 0.95), ("sad", 0.3)]) for n in range(20)]
    long = ("long", [("sad", 0.1)] * 5)
    rude = ("rude", [("proud", 0.1), ("sad", 0.2)])
    give("edos.dialogues", finished(spark, *many, long, rude, ("sure", [("sad", 0.8), ("sad", 1.0)])))
    give("subtitles.clean_dialogues", spark.sql("SELECT 'rude' AS dialogue_id, true AS profane"))
    rows = query("edos_examples")
    found: dict[float, set[str]] = {}
    for row in rows:
        found.setdefault(row["lowest_confidence_from"], set()).add(row["dialogue_id"])
    assert set(found) == {0.25, 0.75}
    assert len(found[0.25]) == 12
    assert found[0.75] == {"sure"}
    own = [row for row in rows if row["dialogue_id"] == "sure"]
    told = [(row["turn"], row["label"], row["confidence"], row["label_accepted"]) for row in own]
    assert told == [(0, "sad", 0.8, False), (1, "sad", 1.0, True)]


def test_gaps_run_up_to_one(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    rows = [("gap", 0, 250, 6), ("gap", 250, 500, 3), ("gap", 10_000, None, 1), ("no_time", None, None, 7)]
    give("subtitles.gaps", spark.createDataFrame(rows, TABLES["subtitles.gaps"].schema))
    found = query("edos_gaps")
    assert [row["share_up_to_here"] for row in found] == [0.6, 0.9, 1.0, None]
    assert [row["from_seconds"] for row in found] == [0, 0.25, 10, None]
    assert {row["share_of_blocks_up_to_here"] for row in found} == {None}


def test_gaps_between_blocks_count_those_within_sentences_as_short(spark: SparkSession, stand_ins: StandIns) -> None:
    rows = [("gap", 0, 250, 60), ("gap", 2_750, 3_000, 20), ("gap", 4_750, 5_000, 10), ("gap", 10_000, None, 10)]
    rows += [("in_sentence", None, None, 100), ("no_time", None, None, 7)]
    stand_ins.give("subtitles.gaps", spark.createDataFrame(rows, TABLES["subtitles.gaps"].schema))
    found = {row["to_seconds"]: row["share_of_blocks_up_to_here"] for row in stand_ins.ask("edos_gaps")}
    found.pop(None, None)
    assert found == {0.25: None, 3.0: 0.9, 5.0: 0.95}


def test_table_2_has_the_papers_rows_and_ours(spark: SparkSession, stand_ins: StandIns) -> None:
    query = stand_ins.ask
    give = stand_ins.give
    give("edos.dialogues", finished(spark, ("a", [("sad", 0.5)] * 3)))
    rows = {row["dataset"]: (row["dialogues"], row["utterances"]) for row in query("edos_table_2")}
    assert rows["EDOS, ours"] == (1, 3)
    assert rows["EDOS, the paper's"] == (1_000_000, 3_488_300)
    assert rows["MELD"] == (1_433, 13_708)


def test_empathetic_turns_in_order_and_strange_labels_apart() -> None:
    rows = [
        dict(zip(COLUMNS, row, strict=True))
        for row in [
            ("h1", "situation", "none", "afraid"),
            ("h1", "utterance", "Speaker", " Sad "),
            ("h2", "utterance", "x", ""),
            ("h1", "Utterance", "listener", "hangry"),
            ("h1", "utterance", "speaker", "joyful"),
        ]
    ]
    found = labelled_utterances(rows, edos_labels())
    assert found.rows == [("h1", 0, "speaker", "sad"), ("h1", 2, "speaker", "joyful")]
    assert found.dropped == [
        ("utterance", "h2/0", "unknown_label", "no label", 1),
        ("utterance", "h1/1", "unknown_label", "hangry", 1),
    ]
    assert found.rows_in == 4
