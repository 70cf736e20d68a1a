"""The views on expansion: origins beside the paper's, Table 8 at every threshold, the released pairs."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.papers import paper_table
from etl.common.hashes import history_hash
from etl.pipeline.tables import TABLES
from tests.stand_ins import StandIns

ROWS = {
    "edos.training_dialogues": [
        {"dialogue_id": "1", "turn": 0, "label": "sad", "origin": "crowd", "split": "train"},
        {"dialogue_id": "2", "turn": 0, "label": "sad", "origin": "crowd", "split": "test"},
        {"dialogue_id": "3", "turn": 0, "label": "sad", "origin": "similar", "split": "train", "score": 0.93},
        {"dialogue_id": "4", "turn": 0, "label": "proud", "origin": "similar", "split": "train", "score": 0.95},
    ],
    "edos.similar_matches": [
        {"dialogue_id": "a", "turn": 0, "seed_id": "s/0", "label": "sad", "score": 0.92, "rank": 1},
        {"dialogue_id": "a", "turn": 0, "seed_id": "u/0", "label": "proud", "score": 0.91, "rank": 2},
        {"dialogue_id": "b", "turn": 0, "seed_id": "s/0", "label": "sad", "score": 0.9299, "rank": 1},
        {"dialogue_id": "c", "turn": 0, "seed_id": "u/0", "label": "proud", "score": 0.95, "rank": 1},
        {"dialogue_id": "c", "turn": 0, "seed_id": "t/0", "label": None, "score": 0.99, "rank": 1},
    ],
    "edos.similar_self_matches": [
        {"dialogue_id": "a", "turn": 0, "seed_id": "w/0", "label": "sad", "score": 0.9, "rank": 1},
    ],
    "edos.seeds": [
        {"dialogue_id": "s", "turn": 0, "turns": ["it 's 'over'"], "label": "sad", "split": "train"},
        {"dialogue_id": "u", "turn": 0, "turns": ["look", "at me"], "label": "proud", "split": "train"},
    ],
    "edos.self_labelled": [{"dialogue_id": "w", "turn": 0, "turns": ["oh no"], "label": "sad"}],
    "subtitles.clean_dialogues": [{"dialogue_id": name, "turns": [{"text": f"I am {name}"}]} for name in "abc"],
    "edos.released_dialogues": [
        {
            "origin": "similar",
            "dialogue_id": "r",
            "turn": 1,
            "turns": ["a", "b"],
            "label": "sad",
            "score": 0.95,
            "matched_id": "s/0",
            "matched_turns": ["c"],
        },
        {"origin": "self", "dialogue_id": "r2", "turn": 0, "turns": ["a"], "label": "sad", "score": 0.7},
        {"origin": "self", "dialogue_id": "b", "turn": 0, "turns": ["no"], "label": "sad", "score": 0.7},
        {"origin": "similar_self", "dialogue_id": "c", "turn": 0, "turns": ["me"], "label": "sad", "score": 0.9},
        {"origin": "similar", "dialogue_id": "a", "turn": 0, "turns": ["me"], "label": "sad", "score": 0.9},
    ],
}


@pytest.fixture()
def views(spark: SparkSession, stand_ins: StandIns) -> StandIns:
    """The views over small tables."""
    hashes = spark.createDataFrame([(["a", "b"],), (["c"],)], "turns array<string>").select(
        history_hash(F.col("turns"))
    )
    first, second = [row[0] for row in hashes.collect()]
    rows = {
        **ROWS,
        "edos.dialogue_embeddings": [
            {"history_hash": first, "model": "m", "embedding": [0.6, 0.8]},
            {"history_hash": second, "model": "m", "embedding": [0.0, 1.0]},
            {"history_hash": second, "model": "other", "embedding": [0.0, 1.0]},
        ],
    }
    for name, content in rows.items():
        filled = [{field: row.get(field) for field in TABLES[name].columns} for row in content]
        stand_ins.give(name, spark.createDataFrame(filled, TABLES[name].schema))
    return stand_ins


def test_origins_beside_the_papers(views: StandIns) -> None:
    assert sum(int(rows) for _, _, rows in paper_table("edos_paper_origins").rows) == 18_327
    rows = views.ask("edos_origins")
    assert [(row.origin, row.rows, row.train, row.test, row.paper) for row in rows] == [
        ("crowd", 2, 1, 1, 8_913),
        ("similar", 2, 2, 0, 3_196),
        ("self", 0, 0, 0, 4_100),
        ("similar_self", 0, 0, 0, 2_118),
        ("total", 4, 3, 1, 18_327),
    ]
    assert rows[1].least_score == pytest.approx(0.93)


def test_thresholds_count_from_the_top_and_show_pairs(views: StandIns) -> None:
    rows = views.ask("edos_similarity_thresholds")
    assert [(row.origin, row.threshold, row.dialogues, row.with_rival_label) for row in rows] == [
        ("similar", 0.95, 1, 0),
        ("similar", 0.92, 3, 1),
        ("similar_self", 0.9, 1, 0),
    ]
    assert [tuple(sample) for sample in rows[0].samples] == [(0.95, "proud", "look | at me", "I am c")]
    assert {sample.similar for sample in rows[1].samples} == {"I am a", "I am b"}


def test_released_pairs_have_our_score(views: StandIns) -> None:
    rows = views.ask("edos_released_pairs")
    assert [(row.dialogue_id, row.released_score, row.our_score, row.model) for row in rows] == [("r", 0.95, 0.8, "m")]
    assert (rows[0].labelled, rows[0].similar) == ("c", "a | b")
