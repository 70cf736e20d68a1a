"""Labels by similarity: the better score wins, ties and known texts do not, held-out rows keep dialogues away."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.edos.held_out import HeldOutRule, held_out_splits, near_held_out
from etl.edos.labelled_rows import COLUMNS, pool_of
from etl.edos.similar import expanded, expanded_again, matched_units, queries_of, seed_targets, self_targets
from etl.edos.training_rows import crowd_rows, gathered
from etl.pipeline.outcome import Outcome
from tests.edos.expansions import LABELLED, RELEASED, SEEDS, balanced, clean_frame, told

MATCHES = "dialogue_id string, turn int, seed_id string, seed_split string, label string, score double, rank int"


def test_the_pool_is_whole_dialogues_and_a_smaller_share_is_part_of_a_larger(spark: SparkSession) -> None:
    clean = clean_frame(spark, {f"d{number}": ("f", ["a", f"b{number}"]) for number in range(400)})
    shares = [{row.dialogue_id for row in pool_of(clean, True, share).collect()} for share in (0.1, 0.3, 1.0)]
    assert shares[0] < shares[1] < shares[2]
    assert len(shares[2]) == 400
    assert 15 < len(shares[0]) < 70
    assert pool_of(clean, False, 1.0).count() == 0
    row = pool_of(clean, True, 1.0).where("dialogue_id = 'd7'").collect()[0]
    assert (row.turn, row.turns, row.movie_id) == (1, ["a", "b7"], "f")


def test_matches_keep_the_best_seeds_and_no_held_out_label(spark: SparkSession) -> None:
    seeds = spark.createDataFrame(
        [
            ("s1", 0, ["thanks ."], "grateful", "train"),
            ("s2", 0, ["thanks ."], "proud", "train"),
            ("s3", 0, ["thank you"], "grateful", "train"),
            ("t1", 0, ["oh thanks"], "grateful", "test"),
        ],
        SEEDS,
    )
    targets = seed_targets(seeds)
    assert {row.seed_id: row.label for row in targets.collect()}["t1/0"] is None
    hashes = {row.seed_id: row.history_hash for row in targets.collect()}
    pool = pool_of(clean_frame(spark, {"p": ("f", ["x", "thanks"]), "q": ("f", ["y", "no"])}), True, 1.0)
    released = spark.createDataFrame([("similar", "r", 0, ["ta"], "grateful", 0.95, "s1/0", ["thanks ."])], RELEASED)
    queries = queries_of(pool, released)
    key = {row.dialogue_id: row.history_hash for row in queries.collect()}
    found = spark.createDataFrame(
        [
            (key["p"], hashes["s1/0"], 0.95),
            (key["p"], hashes["s3/0"], 0.93),
            (key["p"], hashes["t1/0"], 0.9),
            (key["r"], hashes["t1/0"], 0.94),
            (hashes["s1/0"], hashes["s3/0"], 0.99),
        ],
        "history_hash string, matched_hash string, score double",
    ).repartition(3)
    outcome = matched_units(found, queries, targets, 2, 0.85)
    rows = {(row.dialogue_id, row.seed_id): (row.label, row.score, row.rank) for row in outcome.rows.collect()}
    assert rows == {
        ("p", "s1/0"): ("grateful", 0.95, 1),
        ("p", "s2/0"): ("proud", 0.95, 2),
        ("p", "t1/0"): (None, 0.9, 1),
        ("r", "t1/0"): (None, 0.94, 1),
    }
    assert outcome.dropped is not None
    assert [(row.reason, row.units) for row in outcome.dropped.collect()] == [("no_match", 1)]
    assert outcome.rows_in == 3


def test_a_dialogue_does_not_match_itself(spark: SparkSession) -> None:
    own = spark.createDataFrame([("p", 1, ["a", "b"], "sad", "self", 0.95, None, "pool")], LABELLED)
    targets = self_targets(own)
    pool = pool_of(clean_frame(spark, {"p": ("f", ["a", "b"])}), True, 1.0)
    key = targets.collect()[0].history_hash
    found = spark.createDataFrame([(key, key, 1.0)], "history_hash string, matched_hash string, score double")
    outcome = matched_units(found, queries_of(pool), targets, 5, 0.8)
    assert outcome.rows.count() == 0
    assert outcome.rows_in == 1


DIALOGUES = {
    "good": ("f1", ["well , well", "what a lovely day it is"]),
    "exact": ("f1", ["I am so proud of you ."]),
    "low": ("f1", ["say it", "nothing of the sort"]),
    "tied": ("f1", ["who knows", "either way will do"]),
    "rival": ("f1", ["now then", "quite a thing to say"]),
    "near": ("f1", ["so", "words that are their own"]),
    "tail": ("f1", ["another opening", "We lost the boat !"]),
    "film": ("f2", ["free of all likeness", "to anything at all"]),
    "crowd-film": ("f2", ["held out text itself", "from the second film"]),
    "copy-a": ("f1", ["twice the same", "said the same way"]),
    "copy-b": ("f3", ["Twice the same .", "Said the same way ."]),
}


@pytest.fixture(scope="module")
def expansion(spark: SparkSession) -> tuple[Outcome, DataFrame, DataFrame, DataFrame]:
    clean = clean_frame(spark, DIALOGUES)
    seeds = spark.createDataFrame(
        [
            ("s1", 0, ["I am so proud of you !"], "proud", "train"),
            ("s2", 0, ["a fine day"], "joyful", "train"),
            ("t1", 1, ["before that", "we lost the boat"], "sad", "test"),
            ("crowd-film", 1, ["held out text itself", "from the second film"], "sad", "validation"),
        ],
        SEEDS,
    )
    best = {
        "good": 0.97,
        "exact": 1.0,
        "low": 0.9199,
        "tied": 0.93,
        "rival": 0.94,
        "near": 0.96,
        "tail": 0.95,
        "film": 0.92,
        "copy-a": 0.93,
        "copy-b": 0.95,
    }
    turn = {name: len(turns) - 1 for name, (_, turns) in DIALOGUES.items()}
    rows = [(name, turn[name], "s1/0", "train", "proud", score, 1) for name, score in best.items()]
    rows += [
        ("tied", 1, "s2/0", "train", "joyful", 0.93, 2),
        ("rival", 1, "s2/0", "train", "joyful", 0.92, 2),
        ("good", 1, "s2/0", "train", "joyful", 0.9, 2),
        ("near", 1, "t1/1", "test", None, 0.92, 1),
        ("good", 1, "t1/1", "test", None, 0.9199, 1),
        ("rel-near", 1, "t1/1", "test", None, 0.98, 1),
    ]
    matches = spark.createDataFrame(rows, MATCHES).repartition(3)
    released = spark.createDataFrame(
        [
            ("similar", "rel", 0, ["released words"], "proud", 0.95, "s9/0", ["x"]),
            ("similar", "rel-near", 1, ["other", "released words here"], "sad", 0.95, "s9/0", ["x"]),
            ("similar", "rel-seed", 0, ["labelled by one held out"], "sad", 0.95, "t1/1", ["x"]),
            ("self", "own", 0, ["not of this step"], "sad", 0.95, None, None),
        ],
        RELEASED,
    )
    outcome = expanded(matches, pool_of(clean, True, 1.0), seeds, released, clean, 0.92, HeldOutRule(0.92))
    assert outcome.dropped is not None
    # As tables, which later steps read: plans of one step do not go on into the next.
    rows = spark.createDataFrame(outcome.rows.select(*COLUMNS).collect(), LABELLED)
    dropped = spark.createDataFrame(outcome.dropped.collect(), outcome.dropped.schema)
    return Outcome(rows, dropped, rows_in=outcome.rows_in), seeds, matches, clean


def test_labels_pass_on_from_the_threshold_on(expansion: tuple) -> None:
    outcome = expansion[0]
    rows = {row.dialogue_id: (row.label, row.score, row.matched_id, row.source) for row in outcome.rows.collect()}
    assert rows == {
        "good": ("proud", 0.97, "s1/0", "pool"),
        "rival": ("proud", 0.94, "s1/0", "pool"),
        "copy-b": ("proud", 0.95, "s1/0", "pool"),
        "rel": ("proud", 0.95, "s9/0", "released"),
    }
    assert told(outcome) == {
        "exact/0": ("labelled_already", "s1/0 is proud by crowd"),
        "low/1": ("below_threshold", "0.9199 to s1/0"),
        "tied/1": ("tied_labels", "proud 0.9300 by s1/0; joyful 0.9300 by s2/0"),
        "near/1": ("near_held_out", "cosine 0.9200 to t1/1"),
        "tail/1": ("held_out_duplicate", "same last turn as t1/1"),
        "film/1": ("held_out_film", "film f2 has crowd-film/1"),
        "copy-a/1": ("labelled_already", "copy-b/1 is proud by similar"),
        "rel-near/1": ("near_held_out", "cosine 0.9800 to t1/1"),
        "rel-seed/0": ("held_out_match", "labelled by t1/1"),
    }
    assert outcome.dropped is not None
    noted = outcome.dropped.where("units = 0").collect()
    assert [(row.id, row.reason, row.detail) for row in noted] == [
        ("rival/1", "label_conflict", "proud 0.9400 by s1/0; joyful 0.9200 by s2/0")
    ]
    assert balanced(outcome)


def test_the_paper_leaves_no_row_out_for_what_is_held_out(expansion: tuple) -> None:
    outcome, seeds, matches, clean = expansion
    rows = outcome.rows.select("dialogue_id", "turn", "turns", "matched_id")
    near = near_held_out(rows, seeds, matches, clean, HeldOutRule(0.0, drop=False))
    assert near.columns == ["dialogue_id", "turn", "near"]
    assert near.count() == 0


def test_the_second_round_leaves_what_has_a_label(spark: SparkSession, expansion: tuple) -> None:
    outcome, seeds, _, clean = expansion
    own = spark.createDataFrame([("low", 1, DIALOGUES["low"][1], "calm", "self", 0.95, None, "pool")], LABELLED)
    again = spark.createDataFrame(
        [
            ("low", 1, "x/0", "train", "sad", 0.99, 1),
            ("good", 1, "low/1", "train", "calm", 0.99, 1),
            ("film", 1, "low/1", "train", "calm", 0.9, 1),
            ("near", 1, "low/1", "train", "calm", 0.8999, 1),
        ],
        MATCHES,
    )
    released = spark.createDataFrame([("similar_self", "ss", 0, ["of the second"], "sad", 0.9, "z/0", ["x"])], RELEASED)
    before = [crowd_rows(seeds), outcome.rows, own]
    second = expanded_again(again, pool_of(clean, True, 1.0), before, released, 0.9)
    assert {(row.dialogue_id, row.label, row.origin) for row in second.rows.collect()} == {
        ("film", "calm", "similar_self"),
        ("ss", "sad", "similar_self"),
    }
    assert told(second) == {
        "low/1": ("labelled_already", "low/1 is calm by self"),
        "good/1": ("labelled_already", "good/1 is proud by similar"),
        "near/1": ("below_threshold", "0.8999 to low/1"),
    }
    assert balanced(second)


def test_gathering_keeps_people_first_and_held_out_rows_alone(spark: SparkSession, expansion: tuple) -> None:
    outcome, seeds, matches, clean = expansion
    own = spark.createDataFrame(
        [
            ("good", 1, DIALOGUES["good"][1], "sad", "self", 0.99, None, "pool"),
            ("low", 1, DIALOGUES["low"][1], "sad", "self", 0.95, None, "pool"),
            ("near", 1, DIALOGUES["near"][1], "sad", "self", 0.97, None, "pool"),
            ("s-copy", 0, ["A fine day ."], "sad", "self", 0.97, None, "released"),
            ("jaccard", 1, ["held out text itself now", "from the second film"], "sad", "self", 0.9, None, "released"),
        ],
        LABELLED,
    )
    more = spark.createDataFrame(
        [("low", 1, DIALOGUES["low"][1], "proud", "similar_self", 0.99, "good/1", "pool")], LABELLED
    )
    found = [frame.repartition(3) for frame in (outcome.rows, own, more)]
    result = gathered(seeds, found, matches, clean, HeldOutRule(0.92))
    rows = {(row.dialogue_id, row.turn): (row.label, row.origin, row.split) for row in result.rows.collect()}
    assert rows == {
        ("s1", 0): ("proud", "crowd", "train"),
        ("s2", 0): ("joyful", "crowd", "train"),
        ("t1", 1): ("sad", "crowd", "test"),
        ("crowd-film", 1): ("sad", "crowd", "validation"),
        ("good", 1): ("proud", "similar", "train"),
        ("rival", 1): ("proud", "similar", "train"),
        ("copy-b", 1): ("proud", "similar", "train"),
        ("rel", 0): ("proud", "similar", "train"),
        ("low", 1): ("sad", "self", "train"),
    }
    assert result.dropped is not None
    left_out = sorted((row.id, row.reason) for row in result.dropped.collect())
    assert left_out == [
        ("good/1", "labelled_already"),
        ("jaccard/1", "held_out_duplicate"),
        ("low/1", "labelled_already"),
        ("near/1", "near_held_out"),
        ("s-copy/0", "labelled_already"),
    ]
    assert balanced(result)


@pytest.mark.parametrize(
    ("search_from", "labels"),
    [
        ("train", {"s1/0": "grateful", "v1/0": None, "t1/0": None}),
        ("train_and_validation", {"s1/0": "grateful", "v1/0": "proud", "t1/0": None}),
    ],
)
def test_the_search_starts_from_the_splits_of_the_setting(spark: SparkSession, search_from, labels) -> None:
    seeds = spark.createDataFrame(
        [
            ("s1", 0, ["thanks ."], "grateful", "train"),
            ("v1", 0, ["i did it"], "proud", "validation"),
            ("t1", 0, ["oh thanks"], "grateful", "test"),
        ],
        SEEDS,
    )
    targets = seed_targets(seeds, held_out_splits(search_from))
    assert {row.seed_id: row.label for row in targets.collect()} == labels
