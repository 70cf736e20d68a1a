"""The turn segmenter from marked subtitles to scores and turns."""

import json

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from safetensors.numpy import save

from conf.errors import InputError
from etl.subtitles.turn_evaluation import accuracy_metrics, at_most, rule_accuracies, split_held_out
from etl.subtitles.turn_features import FeatureSpace
from etl.subtitles.turn_pairs import PAIRS, _distinct_pairs, films_by_hash, marked_pairs, pair_rows, without_leaks
from etl.subtitles.turn_scoring import score_turns, with_margins
from etl.subtitles.turn_segmenter import (
    SvmScorer,
    TurnSegmenter,
    lemma_table,
    train_turn_segmenter,
    with_buckets,
)
from etl.subtitles.turns import turns_of
from tests.frames import computed
from tests.subtitles.marked_films import FILES, turn_file, turn_small_talk

SPACE = FeatureSpace(2**11, True)


@pytest.fixture(scope="module")
def turn_films(spark):
    films = [turn_file(f"m{n}.xml", f"m{n}", turn_small_talk(f"m{n}")) for n in range(6)]
    return computed(spark.createDataFrame(films, FILES))


@pytest.fixture(scope="module")
def turn_pairs(turn_films):
    return computed(marked_pairs(turn_films))


@pytest.fixture(scope="module")
def turn_no_lemmas(spark):
    return spark.createDataFrame([("lost", "lose")], "word string, lemma string")


@pytest.fixture(scope="module")
def turn_learned(turn_pairs, turn_no_lemmas) -> TurnSegmenter:
    pairs = turn_pairs.where("split_group < 'm4'")
    return train_turn_segmenter(pairs, lemma_table(turn_no_lemmas), space=SPACE, max_iterations=6)


@pytest.fixture(scope="module")
def turn_scorer(turn_learned, turn_no_lemmas) -> SvmScorer:
    return SvmScorer(turn_learned, lemma_table(turn_no_lemmas))


def test_turn_pairs_from_dashes(turn_pairs) -> None:
    pairs = turn_pairs.where("split_group = 'm0'").toPandas()
    assert list(pairs.columns) == PAIRS.names
    assert set(pairs["source"]) == {"dashes"}
    assert pairs["same_block"].all()
    asked = pairs["left_text"].str.startswith("Where")
    assert (pairs["label"] == asked.astype(int)).all()
    assert asked.any()
    assert not asked.all()
    assert not pairs["left_text"].str.startswith("-").any()
    assert not pairs["right_text"].str.startswith("-").any()
    assert (pairs["density"] == 8.0).all()
    assert pairs["genres"].map(list).map(lambda g: g == ["Drama"]).all()
    assert (pairs["mark"] == asked).all()


def test_of_equal_pairs_of_an_upload_the_same_one_stays_in_any_order(turn_pairs) -> None:
    pairs = turn_pairs.where("split_group = 'm0'").withColumn("source_path", F.lit("a.xml"))
    later = pairs.withColumn("silence_ms", F.lit(9_000).cast("bigint"))
    found = [
        _distinct_pairs(one.unionByName(other).repartition(parts)).orderBy("left_text", "right_text").collect()
        for one, other, parts in ((pairs, later, 1), (later, pairs, 1), (later, pairs, 3))
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == pairs.count()


def test_turn_pairs_without_dashes_say_nothing(spark) -> None:
    film = turn_file("a.xml", "a", turn_small_talk("a", dashes=False))
    assert marked_pairs(spark.createDataFrame([film], FILES)).count() == 0


def test_turn_pairs_carried_to_another_upload(spark) -> None:
    rows = turn_small_talk("b")
    apart = [(text.removeprefix("- "), n, n * 2000, n * 2000 + 900) for n, (text, *_) in enumerate(rows)]
    files = spark.createDataFrame([turn_file("b1.xml", "b", rows), turn_file("b2.xml", "b", apart)], FILES)
    carried = marked_pairs(files).where("source = 'carried'").toPandas()
    assert len(carried) > 5
    assert not carried["same_block"].any()
    assert (carried["label"] == carried["left_text"].str.startswith("Where").astype(int)).all()
    assert (carried["silence_ms"] == 1100).all()
    assert carried["mark"].isna().all()
    alone = marked_pairs(files.where("source_path = 'b2.xml'"))
    assert alone.count() == 0


def test_turn_pairs_from_speaker_labels(spark) -> None:
    rows = []
    for n in range(12):
        rows.append((f"{'Anna' if n % 2 else 'Bo'} :", n + 1, n * 3000, None))
        rows.append((f"I saw number {n} .", n + 1, None, None))
        rows.append((f"It was number {n} again .", n + 1, None, n * 3000 + 2500))
    pairs = marked_pairs(spark.createDataFrame([turn_file("c.xml", "c", rows)], FILES)).toPandas()
    assert set(pairs["source"]) == {"labels"}
    assert (pairs["label"] == pairs["right_text"].str.startswith("I saw").astype(int)).all()
    assert len(pairs) == 23
    assert not pairs["right_text"].str.contains(":").any()


def test_turn_pairs_with_two_truths_go(spark) -> None:
    rows = [*turn_small_talk("d"), ("- So ?", 90, 0, None), ("- Stop .", 90, None, 1)]
    rows += [("- Well .", 91, 2, None), ("So ?", 91, None, None), ("Stop .", 91, None, 3)]
    pairs = marked_pairs(spark.createDataFrame([turn_file("d.xml", "d", rows)], FILES)).toPandas()
    assert not ((pairs["left_text"] == "So ?") & (pairs["right_text"] == "Stop .")).any()
    assert ((pairs["left_text"] == "Well .") & (pairs["right_text"] == "So ?")).any()


def test_turn_split_is_by_film_and_caps_are_nested(turn_films, turn_pairs) -> None:
    pairs = turn_pairs
    train, held_out = split_held_out(pairs, 0.5)
    groups = [set(part.select("split_group").distinct().toPandas()["split_group"]) for part in (train, held_out)]
    assert not groups[0] & groups[1]
    assert groups[0]
    assert groups[1]
    assert train.count() + held_out.count() == pairs.count()
    few = {tuple(row) for row in at_most(pairs, 5).select("left_text", "right_text", "split_group").collect()}
    more = {tuple(row) for row in at_most(pairs, 9).select("left_text", "right_text", "split_group").collect()}
    assert len(few) == 5
    assert few < more
    assert len(more) == 9
    films = {row["movie_id"] for row in films_by_hash(turn_films, 2).collect()}
    assert len(films) == 2
    assert films < {row["movie_id"] for row in films_by_hash(turn_films, 3).collect()}


def test_turn_folds_hold_each_film_out_once(turn_pairs) -> None:
    held = [split_held_out(turn_pairs, 1 / 3, fold)[1].select("split_group").distinct().collect() for fold in range(3)]
    films = [row["split_group"] for fold in held for row in fold]
    assert sorted(films) == [f"m{n}" for n in range(6)]


def test_turn_films_of_held_out_scenes_go(spark) -> None:
    columns = ["source", "split_group", "left_text", "right_text", "label"]

    def rows(*pairs: tuple) -> pd.DataFrame:
        return pair_rows(pd.DataFrame([("dashes", *pair, 1) for pair in pairs], columns=columns), spark)

    first = ("Where is my blue umbrella ?", "I 've lost it .")
    second = ("Then we 'll get wet .", "So be it .")
    held_out = rows(("dev", *first), ("dev", *second), ("dev", "No .", "Yes ."))
    training = rows(
        ("both", "where is my blue umbrella", "I've lost it !"),
        ("both", *second),
        ("both", "Fine .", "Fine ."),
        ("one", *first),
        ("one", "No .", "Yes ."),
        ("none", "What a day .", "Too true , my friend , too true ."),
    )
    kept = without_leaks(training, held_out)
    assert {row["split_group"] for row in kept.collect()} == {"one", "none"}
    assert kept.count() == 3


def test_turn_segmenter_learns_and_is_judged(turn_pairs, turn_scorer) -> None:
    held_out = turn_pairs.where("split_group >= 'm4'")
    found = computed(rule_accuracies(with_margins(held_out, turn_scorer)))
    rows = found.toPandas()
    accuracy = rows.set_index("rule")["accuracy"]
    share = held_out.toPandas()["label"].mean()
    assert accuracy["segmenter"] == accuracy["segmenter and marks"] == 1.0
    assert accuracy["dash rule"] == 1.0
    assert accuracy["majority class"] == pytest.approx(max(share, 1 - share))
    assert accuracy["same-block rule"] == pytest.approx(1 - share)
    assert pd.isna(accuracy["gap rule"]), "pairs within a block have no silence between them"
    metrics = accuracy_metrics(found)
    assert metrics["accuracy.dashes.segmenter"] == 1.0
    assert "accuracy.dashes.gap_rule" not in metrics


def test_turn_evaluation_counts_by_hand(spark, turn_scorer) -> None:
    def pair(label, same_block, silence, mark):
        texts = ("t", "g", "Where is the boat ?", "No idea .")
        return Row(*texts, label, same_block, None, None, silence, mark, *[None] * 4)

    rows = [
        pair(1, False, 3000, True),
        pair(1, False, 100, None),
        pair(0, True, None, False),
        pair(0, False, 600, True),
        pair(1, True, None, True),
    ]
    accuracy = rule_accuracies(with_margins(spark.createDataFrame(rows, PAIRS), turn_scorer)).toPandas()
    accuracy = accuracy.set_index("rule")["accuracy"]
    assert accuracy["majority class"] == pytest.approx(3 / 5)
    assert accuracy["dash rule"] == pytest.approx(3 / 5)
    assert accuracy["same-block rule"] == pytest.approx(3 / 5)
    assert accuracy["gap rule"] == pytest.approx(3 / 5)
    assert accuracy["segmenter"] == pytest.approx(3 / 5)
    assert accuracy["segmenter and marks"] == pytest.approx(4 / 5)


@pytest.mark.long
def test_turn_training_is_the_same_on_any_partitioning(turn_pairs, turn_no_lemmas, turn_learned) -> None:
    pairs = turn_pairs.where("split_group < 'm4'")
    again = train_turn_segmenter(pairs.repartition(7), lemma_table(turn_no_lemmas), space=SPACE, max_iterations=6)
    assert again.identity == turn_learned.identity


def test_turn_training_needs_both_classes(spark, turn_no_lemmas) -> None:
    one = pd.DataFrame(
        [("meld", "a", "Hi .", "Ho .", 1)], columns=["source", "split_group", "left_text", "right_text", "label"]
    )
    with pytest.raises(InputError, match="both classes"):
        train_turn_segmenter(pair_rows(one, spark), lemma_table(turn_no_lemmas), space=SPACE, max_iterations=2)


def test_turn_segmenter_is_saved_and_loaded(tmp_path, turn_learned) -> None:
    turn_learned.save(tmp_path / "model")
    loaded = TurnSegmenter.load(tmp_path / "model")
    assert loaded.identity == turn_learned.identity
    assert loaded.space == turn_learned.space
    assert np.array_equal(loaded.weights, turn_learned.weights)
    assert loaded.intercept == turn_learned.intercept


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("segmenter.json", b"{}"),
        ("segmenter.json", b"not json"),
        ("segmenter.json", json.dumps({"format": 99, "buckets": 16, "lengths": True, "intercept": 0}).encode()),
        ("segmenter.json", json.dumps({"format": 3, "buckets": 15, "lengths": True, "intercept": 0}).encode()),
        ("weights.safetensors", b"\x00" * 7),
        ("weights.safetensors", save({"bucket": np.array([1 << 20], dtype=np.int32), "weight": np.array([0.5])})),
        ("weights.safetensors", save({"bucket": np.array([1], dtype=np.int32), "weight": np.array([np.nan])})),
        ("weights.safetensors", save({"bucket": np.array([1, 2], dtype=np.int32), "weight": np.array([0.5])})),
        ("weights.safetensors", save({"bucket": np.array([0.5]), "weight": np.array([0.5])})),
        ("weights.safetensors", save({"weight": np.array([0.5])})),
        ("weights.safetensors", None),
    ],
)
def test_turn_segmenter_refuses_broken_files(tmp_path, turn_learned, name, content) -> None:
    turn_learned.save(tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="turn segmenter"):
        TurnSegmenter.load(tmp_path)


def test_turn_features_of_training_are_those_of_scoring(turn_films, turn_pairs, turn_no_lemmas, turn_learned) -> None:
    """The margin of a pair: Spark's vector product, the pair table's and the files' own."""
    pairs = turn_pairs.where("split_group = 'm5'")
    table = lemma_table(turn_no_lemmas)
    bucketed = with_buckets(pairs, table, SPACE).orderBy("left_text", "right_text").toPandas()
    margins = with_margins(pairs, SvmScorer(turn_learned, table)).orderBy("left_text", "right_text").toPandas()
    by_hand = [turn_learned.weights[b].sum() * 16 / len(b) ** 0.5 + turn_learned.intercept for b in bucketed["buckets"]]
    assert np.allclose(margins["margin"], by_hand, atol=1e-9)
    files = turn_films.where("movie_id = 'm5'")
    scores = score_turns(files, SvmScorer(turn_learned, table), turn_learned.identity).head()
    texts = [row["text"].removeprefix("- ") for row in files.head()["sentences"]]
    assert len(scores["scores"]) == len(texts) - 1
    assert scores["model"] == turn_learned.identity
    known = {(row.left_text, row.right_text): row.margin for row in margins.itertuples()}
    found = 0
    for left, right, score in zip(texts, texts[1:], scores["scores"], strict=False):
        if (left, right) in known:
            found += 1
            assert score == pytest.approx(known[left, right], abs=1e-4)
    assert found >= len(known)


def test_turn_scores_of_odd_files(spark, turn_scorer) -> None:
    files = [
        turn_file("none.xml", "x", []),
        turn_file("one.xml", "x", [("Hello .", 1, 0, 1)], genres=(), minutes=None),
        turn_file("empty.xml", "x", [("", 1, 0, 1), ("", 2, 0, 1), ("[ rain ]", 3, 0, 1)], minutes=0),
        turn_file("gap.xml", "x", [("Where is it ?", 1, 0, 1), ("", 2, 2, 3), ("No idea .", 2, 3, 4)]),
    ]
    frame = spark.createDataFrame([*files, ("null.xml", "null", "x", None, None, None, 0, None)], FILES).repartition(1)
    rows = {row["source_path"]: row["scores"] for row in score_turns(frame, turn_scorer, "svm").collect()}
    assert rows["none.xml"] == rows["one.xml"] == rows["null.xml"] == []
    assert rows["empty.xml"] == [0.0, 0.0]
    assert rows["gap.xml"][0] > 0
    assert rows["gap.xml"][1] == 0.0
    assert round(rows["gap.xml"][0], 4) == pytest.approx(rows["gap.xml"][0], abs=1e-6)


MARKED = [
    ("- Hello .", 1, 1000, None),
    ("- Hi .", 1, None, 2000),
    ("I am Bo .", 2, 2100, 3000),
    ("You are late .", 3, 3100, 4000),
    ("Anna :", 4, 4100, None),
    ("I know .", 4, None, 5000),
    ("", 5, 5100, 5200),
    ("Sorry .", 6, 5300, 6000),
    ("Anna : It rained .", 7, 11500, 12000),
]
MARKED_SCORES = [-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0]
SILENT = [("We wait .", 1, 0, 1000), ("And wait .", 2, 6001, 7000)]
"""A silence of 5,001 ms: more than a limit of 5,000 ends a turn, the limit itself does not."""
WORDLESS = {
    "no words": ([("", 1, 0, 1), ("", 2, 2, 3)], [0.0]),
    "nothing": ([], []),
    "words between": ([("", 1, 0, 1), ("Hello .", 2, 2, 3), ("", 3, None, None)], [0.0, 0.0]),
}


def turn_texts(spark, films: dict[str, tuple[list, list]], *, marks: bool = True, silence: int | None = 5000) -> dict:
    """Return each film's turns, by its rows and scores."""
    files = [(*turn_file(f"{name}.xml", name, rows), scores) for name, (rows, scores) in films.items()]
    frame = spark.createDataFrame(files, FILES + ", scores array<float>")
    turns = turns_of(frame, explicit_marks=marks, silence_ends_turn_ms=silence)
    assert "sentences" not in turns.columns
    assert "scores" not in turns.columns
    return {row["movie_id"]: row["turns"] for row in turns.collect()}


@pytest.fixture(scope="module")
def turns_by_default(spark) -> dict:
    films = {"marked": (MARKED, MARKED_SCORES), "silent": (SILENT, [-1.0]), **WORDLESS}
    return turn_texts(spark, films)


def test_turns_by_marks_scores_and_silence(turns_by_default) -> None:
    assert [tuple(turn) for turn in turns_by_default["marked"]] == [
        ("Hello .", 1000, None, 0, 0),
        ("Hi . I am Bo .", None, 3000, 1, 2),
        ("You are late .", 3100, 4000, 3, 3),
        ("Anna : I know .", 4100, 5000, 4, 5),
        ("Sorry .", 5100, 6000, 6, 7),
        ("Anna : It rained .", 11500, 12000, 8, 8),
    ]


def test_turns_end_at_long_silences(spark, turns_by_default) -> None:
    assert len(turns_by_default["silent"]) == 2
    assert len(turn_texts(spark, {"silent": (SILENT, [-1.0])}, silence=5001)["silent"]) == 1


def test_turns_without_marks_and_silences_are_by_scores_alone(spark) -> None:
    films = {"marked": (MARKED, MARKED_SCORES), "silent": (SILENT, [-1.0])}
    found = turn_texts(spark, films, marks=False, silence=None)
    assert found["marked"][0]["text"] == "Hello . Hi . I am Bo ."
    assert len(found["silent"]) == 1


def test_turns_of_sentences_without_words(turns_by_default) -> None:
    assert turns_by_default["no words"] == turns_by_default["nothing"] == []
    [turn] = turns_by_default["words between"]
    assert tuple(turn) == ("Hello .", 0, None, 0, 2)
