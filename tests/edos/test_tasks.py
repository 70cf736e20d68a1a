"""HITs for the crowd: who is chosen, what is offered, what is left out (EDOS 3.2)."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.taxonomy import edos_labels
from etl.common.labelled_files import labelled_rows
from etl.edos.quiz import COLUMNS, EMOTION, situations
from etl.edos.settings import AnnotationSettings
from etl.edos.tables import ANNOTATION_TASKS
from etl.edos.tasks import annotation_tasks, ranked_turns

READABLE = (
    "dialogue_id string, turn int, label string, confidence float, band string, history_hash string, readability double"
)
TWO = AnnotationSettings(per_class=2, dialogues_per_hit=2, quiz_per_hit=6)
ED = "place string, context string, Dialog_ID string, Type string, Actor string, Text string, Label string"


def readable(spark: SparkSession) -> DataFrame:
    """22 sad turns, 12 of them in the first band, one of those a copy; 4 proud ones in the second."""
    rows = [
        (f"d{n:02}", 1, "sad", 0.95 if n < 12 else 0.85, "0.9" if n < 12 else "0.8", f"s{n}", n / 100)
        for n in range(22)
    ]
    rows += [(f"p{n}", 0, "proud", 0.81, "0.8", f"p{n}", 0.5) for n in range(4)]
    rows += [("copy", 3, "sad", 0.95, "0.9", "s11", 0.11)]
    return spark.createDataFrame(rows, READABLE)


def sources(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    keys = [(row["dialogue_id"], row["turn"], row["label"]) for row in readable(spark).collect()]
    weak = [(key, turn, [(label, 0.9), ("content", 0.05), ("caring", 0.01)]) for key, turn, label in keys]
    texts = [(key, [(f"{key} says {turn}",) for turn in range(5)]) for key, _, _ in keys]
    return (
        spark.createDataFrame(
            weak, "dialogue_id string, turn int, top3 array<struct<label: string, confidence: float>>"
        ),
        spark.createDataFrame(texts, "dialogue_id string, turns array<struct<text: string>>"),
    )


def talks(spark: SparkSession) -> DataFrame:
    rows = [
        (label, f"hit:{n}_conv:{n}", "situation", "none", f"This happened to me, number {n}.", "x")
        for n, label in enumerate(["afraid", "proud", "sad", "Joyful "])
    ]
    rows += [
        ("sad", "hit:9", "situation", "none", "Too short.", "sad"),
        ("sad", "hit:9", "situation", "none", "x" * 200, "sad"),
        ("bored", "hit:10", "situation", "none", "An emotion that we do not know.", "sad"),
        ("sad", "hit:11", "utterance", "speaker", "Something that somebody says then.", "sad"),
        ("angry", "hit:12", "situation", "none", "THIS happened to me,  number 0.", "sad"),  # a copy
        (None, None, "situation", None, None, None),
    ]
    named = [("talks.csv:2", *row) for row in rows]
    named.append(("folder/guilty.csv.gz:7", None, "hit:13", "situation", "none", "I broke it, and nobody knows.", "x"))
    return spark.createDataFrame(named, ED)


def test_a_class_steps_down_by_bands_and_nobody_is_asked_twice(spark: SparkSession) -> None:
    ranked = ranked_turns(readable(spark).repartition(4), 14)
    chosen = {row["dialogue_id"]: row["rank"] for row in ranked.where("fault IS NULL AND label = 'sad'").collect()}
    # The copy comes first by id and stands for d11; the first band is used up before the second.
    assert sorted(chosen, key=lambda key: chosen[key]) == [
        "copy",
        *(f"d{n:02}" for n in range(10, -1, -1)),
        "d21",
        "d20",
    ]
    faults = Counter(row["fault"] for row in ranked.where("fault IS NOT NULL").collect())
    assert faults == {"same_text_again": 1, "beyond_top_n": 8}


@pytest.mark.long
def test_hits_do_not_depend_on_partitions(spark: SparkSession) -> None:
    weak, dialogues = sources(spark)
    pool = situations(talks(spark), edos_labels())
    given = AnnotationSettings(per_class=14, dialogues_per_hit=5, quiz_per_hit=2)
    found = []
    for parts in (1, 5):
        frames = (readable(spark).repartition(parts), weak.repartition(parts), dialogues, pool.repartition(parts))
        rows = annotation_tasks(*frames, given).rows.select(*ANNOTATION_TASKS.columns)
        found.append(sorted(rows.collect()))
    assert found[0] == found[1]


def test_hits_of_dialogues_and_quiz_items(spark: SparkSession) -> None:
    weak, dialogues = sources(spark)
    pool = situations(talks(spark), edos_labels())
    assert sorted((row["quiz_label"], row["dialogue_id"]) for row in pool.collect()) == [
        ("afraid", "hit:0_conv:0"),
        ("guilty", "hit:13"),
        ("joyful", "hit:3_conv:3"),
        ("proud", "hit:1_conv:1"),
        ("sad", "hit:2_conv:2"),
    ]
    given = AnnotationSettings(per_class=14, dialogues_per_hit=5, quiz_per_hit=2)
    outcome = annotation_tasks(readable(spark), weak, dialogues, pool, given)
    rows = outcome.rows.select(*ANNOTATION_TASKS.columns).collect()
    assert len(rows) == 3 * 7  # 18 turns: three full HITs, three turns left over
    hits: dict[str, list] = {}
    for row in rows:
        hits.setdefault(row["hit_id"], []).append(row)
    for items in hits.values():
        assert sorted(row["position"] for row in items) == list(range(1, 8))
        quiz = [row for row in items if row["quiz_label"]]
        assert len({row["dialogue_id"] for row in quiz}) == 2
        for row in quiz:
            assert row["quiz_label"] in row["options"]
            assert len(set(row["options"])) == 3
            assert row["label"] is None
    asked = [row for row in rows if row["quiz_label"] is None]
    for row in asked:
        assert sorted(row["options"]) == sorted([row["label"], "content", "caring"])
        assert row["turns"] == [f"{row['dialogue_id']} says {turn}" for turn in range(row["turn"] + 1)]
    assert len({row["options"].index(row["label"]) for row in asked}) > 1  # the place tells nothing
    assert len({row["item_id"] for row in rows}) == len(rows)
    assert {len(row["item_id"]) for row in rows} == {13}
    assert outcome.dropped is not None
    dropped = outcome.dropped.groupBy("reason").agg(F.sum("units").alias("units")).collect()
    left = {row["reason"]: row["units"] for row in dropped}
    assert left == {"same_text_again": 1, "beyond_top_n": 8, "last_hit_not_full": 3}
    assert len(asked) + sum(left.values()) == readable(spark).count()


def test_without_situations_there_is_no_quiz(spark: SparkSession) -> None:
    weak, dialogues = sources(spark)
    rows = annotation_tasks(readable(spark), weak, dialogues, None, TWO).rows.collect()
    assert len(rows) == 4
    assert not [row for row in rows if row["quiz_label"]]


def test_a_pool_too_small_and_a_wrong_file_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    weak, dialogues = sources(spark)
    pool = situations(talks(spark), edos_labels())
    with pytest.raises(InputError, match="5 situations fit a quiz, but a HIT needs 6"):
        annotation_tasks(readable(spark), weak, dialogues, pool, TWO)
    (tmp_path / "talks.csv").write_text("context,Text\nsad,It rains .\n", "utf-8")
    with pytest.raises(InputError, match=r"talks\.csv: no_column: Dialog_ID, Type"):
        labelled_rows(spark, [str(tmp_path)], COLUMNS, "edos.empathetic_dialogues")


@pytest.mark.long
def test_real_situations_serve_for_683_hits(spark: SparkSession, shared_data: Path) -> None:
    read = labelled_rows(
        spark, [str(shared_data / "empathetic_dialogues")], COLUMNS, "edos.empathetic_dialogues", optional=(EMOTION,)
    )
    pool = situations(read.rows, edos_labels())
    counts = {row["quiz_label"]: row["count"] for row in pool.groupBy("quiz_label").count().collect()}
    assert len(counts) == 32
    assert min(counts.values()) > 300
    assert sum(counts.values()) > 5 * 683
