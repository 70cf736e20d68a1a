"""Silences between neighbouring sentences by length (EDOS C, Figure 5)."""

from pyspark.sql import SparkSession

from etl.subtitles.gaps import count_pairs, gap_histogram
from etl.subtitles.tables import SENTENCE

FILE = f"source_path string, sentences array<{SENTENCE}>"


def sentence(index: int, block: int, start: int | None, end: int | None) -> tuple:
    return index, block, block, start, end, "words"


def test_pairs_by_the_silence_between_them(spark: SparkSession) -> None:
    one = [
        sentence(0, 1, 0, 1_000),
        sentence(1, 1, 1_000, 2_000),  # the same block, whatever its times say
        sentence(2, 2, 2_000, 3_000),  # no silence at all
        sentence(3, 3, 3_249, 4_000),
        sentence(4, 4, 4_250, 5_000),
        sentence(5, 5, 4_900, 6_000),  # starts before the last one ends
        sentence(6, 6, None, 7_000),
        sentence(7, 7, 17_000, None),  # at the edge of the last bin
        sentence(8, 8, 40_000, 41_000),  # nobody knows when the last one ended
        sentence(9, 9, 3_600_000, 3_601_000),
    ]
    files = spark.createDataFrame([("a", one), ("b", one[:1]), ("c", [])], FILE)
    rows = {(row["kind"], row["from_ms"], row["to_ms"]): row["pairs"] for row in gap_histogram(files).collect()}
    assert rows == {
        ("same_block", None, None): 1,
        ("gap", 0, 250): 2,
        ("gap", 250, 500): 1,
        ("overlap", None, None): 1,
        ("no_time", None, None): 2,
        ("gap", 10_000, None): 2,
    }
    assert count_pairs(files) == sum(rows.values()) == 9


def test_blocks_within_a_sentence_are_a_class_of_their_own(spark: SparkSession) -> None:
    long = (0, 1, 3, 0, 9_000, "over three blocks")
    rows = [long, (1, 3, 4, 9_000, 12_000, "two"), (2, None, None, 12_100, 13_000, "none"), (3, 9, 8, 13_000, 1, "odd")]
    files = spark.createDataFrame([("a", rows)], FILE)
    found = {row["kind"]: row["pairs"] for row in gap_histogram(files).collect()}
    assert found == {"same_block": 1, "gap": 2, "in_sentence": 3}
    assert count_pairs(files) == 3


def test_no_files_have_no_gaps(spark: SparkSession) -> None:
    files = spark.createDataFrame([], FILE)
    assert gap_histogram(files).collect() == []
    assert count_pairs(files) == 0
