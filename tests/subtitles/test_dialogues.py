"""The 5-second rule and its missing-time exception (EDOS 3.1)."""

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.tables import DIALOGUES, TURN
from tests.subtitles.counts import count_sentences

FILE = (
    "source_path string, subtitle_id string, movie_id string, release string, language string, year int,"
    f" genres array<string>, sentence_count int, turns array<{TURN}>, certainties array<float>,"
    " borders array<string>, border_certainties array<float>, speakers array<string>"
)


def dialogues_file(spark: SparkSession, files: dict[str, tuple[int, list[tuple]]]) -> DataFrame:
    rows = [
        (
            f"xml/en/2001/1/{name}.xml",
            name,
            "1",
            "v2018",
            "en",
            2001,
            ["Drama"],
            count,
            turns,
            certainties(turns),
            ["mark"] * len(turns),
            certainties(turns),
            [None] * len(turns),
        )
        for name, (count, turns) in files.items()
    ]
    return spark.createDataFrame(rows, FILE)


def certainties(turns: list[tuple]) -> list[float]:
    """One for each turn, of its first sentence."""
    return [one[3] / 8 for one in turns]


def turn(first: int, start: int | None, end: int | None, last: int | None = None) -> tuple:
    return (f"turn from {first}", start, end, first, first if last is None else last)


CASES = {
    # name: (turns, the dialogues as lists of first sentences)
    "exactly-five-seconds-stay": ([turn(0, 0, 1000), turn(1, 6000, 7000)], [[0, 1]]),
    "one-ms-more-parts": ([turn(0, 0, 1000), turn(1, 6001, 7000)], [[0], [1]]),
    "end-missing-stays": ([turn(0, 0, None), turn(1, 90_000, 91_000)], [[0, 1]]),
    "start-missing-stays": ([turn(0, 0, 1000), turn(1, None, 91_000)], [[0, 1]]),
    "both-missing-stay": ([turn(0, 0, None), turn(1, None, 91_000)], [[0, 1]]),
    "after-a-missing-time-the-rule-goes-on": (
        [turn(0, 0, None), turn(1, 50_000, 51_000), turn(2, 60_000, 61_000)],
        [[0, 1], [2]],
    ),
    "time-runs-backwards": ([turn(0, 50_000, 60_000), turn(1, 1000, 2000)], [[0, 1]]),
    "three-dialogues": (
        [turn(0, 0, 1), turn(1, 9000, 9001), turn(2, 9500, 9600), turn(3, 30_000, 30_001)],
        [[0], [1, 2], [3]],
    ),
    "one-turn": ([turn(0, None, None)], [[0]]),
    "the-id-is-the-first-sentence-not-the-turn": ([turn(0, 0, 1, 3), turn(4, 9000, 9001, 6)], [[0], [4]]),
}


def test_silences_part_dialogues_and_missing_times_do_not(spark: SparkSession) -> None:
    files = {name: (turns[-1][4] + 1, turns) for name, (turns, _) in CASES.items()}
    outcome = dialogues_between_silences(dialogues_file(spark, files), 5.0)
    assert outcome.rows.dtypes == [(one.name, one.dataType.simpleString()) for one in DIALOGUES.schema][:-1]
    found: dict[str, list[tuple[str, list[int]]]] = {}
    for row in outcome.rows.collect():
        assert row["certainties"] == certainties(row["turns"])
        found.setdefault(row["subtitle_id"], []).append(
            (row["dialogue_id"], [one["sentence_first"] for one in row["turns"]])
        )
    expected = {name: [(f"{name}-{part[0]}", part) for part in parts] for name, (_, parts) in CASES.items()}
    assert {name: sorted(parts, key=lambda part: part[1]) for name, parts in found.items()} == expected
    assert outcome.dropped is not None
    assert outcome.dropped.count() == 0


@pytest.mark.parametrize(("seconds", "dialogues"), [(0.5, 4), (5, 3), (20.398, 2), (20.4, 1)])
def test_the_silence_is_a_setting(spark: SparkSession, seconds: float, dialogues: int) -> None:
    turns = [turn(0, 0, 1), turn(1, 9000, 9001), turn(2, 9600, 9601), turn(3, 30_000, 30_001)]
    rows = dialogues_between_silences(dialogues_file(spark, {"f": (4, turns)}), seconds).rows
    assert rows.count() == dialogues


def test_every_sentence_is_in_a_turn_or_in_the_ledger(spark: SparkSession) -> None:
    files = dialogues_file(
        spark,
        {
            # sentences 0, 3, 4 and 8 have no words: no turn covers them
            "gaps": (9, [turn(1, 0, 1, 2), turn(5, 9000, 9001, 6), turn(7, 9500, None, 7)]),
            "silent": (3, []),
            "empty": (0, []),
            "whole": (2, [turn(0, None, None, 1)]),
        },
    )
    outcome = dialogues_between_silences(files, 5)
    assert outcome.dropped is not None
    dropped = {(row["unit"], row["id"], row["reason"]): row["units"] for row in outcome.dropped.collect()}
    assert dropped == {
        ("sentence", "gaps-0", "no_words"): 1,
        ("sentence", "gaps-3", "no_words"): 1,
        ("sentence", "gaps-4", "no_words"): 1,
        ("sentence", "gaps-8", "no_words"): 1,
        ("file", "xml/en/2001/1/silent.xml", "no_sentences"): 3,
        ("file", "xml/en/2001/1/empty.xml", "no_sentences"): 0,
    }
    sentences = files.agg(F.sum("sentence_count")).head()[0]
    assert count_sentences(outcome.rows) == 7
    assert sentences == count_sentences(outcome.rows) + sum(dropped.values())
