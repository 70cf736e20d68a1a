"""Splits: by class share, no near-duplicate group and no film astride (EDOS 3.3)."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from conf.errors import InputError
from etl.common.near_duplicates import NearDuplicates
from etl.common.splits import connected, films_by_split, near_duplicate_groups, split_by_film, with_film_group
from etl.edos.training_rows import split_released

CROWD = "dialogue_id string, turn int, turns array<string>, label string, votes array<string>, source string"


def crowd_frame(spark: SparkSession) -> DataFrame:
    rows: list[tuple] = []
    for number in range(200):
        words = " ".join(f"w{number}x{place}" for place in range(8))
        rows.append((f"d{number:03}", 0, [words], ("sad", "proud")[number % 2], None, "s"))
    tail = "and that is how we lost the boat"
    for number in range(12):  # the same last turn
        rows.append((f"tail{number:02}", 1, [f"opening {number}", tail], "sad", None, "s"))
    for number in range(12):  # one word apart
        text = f"we walked along the harbour wall until the lamps went out at number {number}"
        rows.append((f"near{number:02}", 0, [text], "proud", None, "s"))
    rows += [
        ("cut", 0, ["first words of it"], "sad", None, "s"),
        ("cut", 1, ["first words of it", "quite other words then"], "proud", None, "s"),
        ("nolabel", 0, ["nobody agreed"], None, None, "s"),
    ]
    return spark.createDataFrame(rows, CROWD)


@pytest.fixture(scope="module")
def released(spark: SparkSession) -> dict[tuple[str, int], tuple[str | None, str | None]]:
    """Label and split of each turn."""
    rows = split_released(crowd_frame(spark).repartition(4)).collect()
    return {(row["dialogue_id"], row["turn"]): (row["label"], row["split"]) for row in rows}


@pytest.mark.long
def test_splits_do_not_depend_on_partitions(spark: SparkSession, released: dict) -> None:
    rows = split_released(crowd_frame(spark).repartition(1)).collect()
    assert {(row["dialogue_id"], row["turn"]): (row["label"], row["split"]) for row in rows} == released


def test_groups_stay_together_and_each_class_gets_its_share(released: dict) -> None:
    found = dict(released)
    assert len(found) == 227
    assert found.pop(("nolabel", 0)) == (None, None)
    for prefix in ("tail", "near", "cut"):
        assert len({split for (name, _), (_, split) in found.items() if name.startswith(prefix)}) == 1
    for label in ("sad", "proud"):
        splits = [split for one, split in found.values() if one == label]
        assert pytest.approx(splits.count("test") / len(splits), abs=0.06) == 0.2
        assert pytest.approx(splits.count("validation") / len(splits), abs=0.06) == 0.1


def test_a_short_last_turn_links_nothing_and_links_are_bounded(spark: SparkSession) -> None:
    items = spark.createDataFrame(
        [
            ("a", "1", ["x y", "thank you"]),
            ("b", "2", ["z w", "Thank you !"]),
            ("c", "3", ["q", "so it goes on"]),
            ("d", "4", ["r", "So it goes on ."]),
        ],
        "id string, dialogue_id string, turns array<string>",
    )
    near = NearDuplicates()
    groups = {row["id"]: row["group"] for row in near_duplicate_groups(items, near, 3).collect()}
    assert groups == {"a": "a", "b": "b", "c": "c", "d": "c"}
    with pytest.raises(InputError, match="more than 0 links"):
        near_duplicate_groups(items, near, 3, max_links=0)


def test_connected_takes_the_smallest_id_whatever_the_order() -> None:
    links = [("d", "c"), ("b", "a"), ("c", "b"), ("y", "x")]
    expected = {"a": "a", "b": "a", "c": "a", "d": "a", "x": "x", "y": "x"}
    assert connected(links) == connected(links[::-1]) == expected


def test_films_are_split_whole_and_about_80_10_10(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(str(film), part) for film in range(1500) for part in (0, 1)], "movie_id string, n int"
    )
    found = split_by_film(rows.repartition(3)).collect()
    by_film: dict[str, set[str]] = {}
    for row in found:
        by_film.setdefault(row["movie_id"], set()).add(row["split"])
    assert all(len(splits) == 1 for splits in by_film.values())
    counts = [sum(one in splits for splits in by_film.values()) / 1500 for one in ("train", "validation", "test")]
    assert counts == pytest.approx([0.8, 0.1, 0.1], abs=0.03)


LINES = [f"This is line number {word} of the first film ." for word in ("one", "two", "three", "four", "five", "six")]
OTHERS = [f"Nobody ever asked the {word} about the weather ." for word in ("baker", "king", "cat", "nurse", "smith")]
SHORT = ["Yes .", "No .", "Good morning ."]
CASES = {
    "one": ({"a": LINES, "b": LINES, "c": OTHERS}, {"a": "a", "b": "a", "c": "c"}),
    "two": ({"a": LINES, "b": [*OTHERS, *LINES[:5]], "c": OTHERS}, {"a": "a", "b": "a", "c": "a"}),
    "three": ({"a": LINES, "b": [*OTHERS, *LINES[:4]]}, {"a": "a", "b": "b"}),
    "four": ({"a": SHORT, "b": SHORT}, {"a": "a", "b": "b"}),
    "five": ({"a": LINES, "b": [line.upper() for line in LINES]}, {"a": "a", "b": "a"}),
}
"""Films, and the group of each; a case has words of its own in its long lines."""


def test_films_that_share_their_turns_are_one(spark: SparkSession) -> None:
    rows = [
        (f"{case} {film}", [(line.replace(" ", f" {case} ") if line not in SHORT else line,) for line in pair])
        for case, (films, _) in CASES.items()
        for film, lines in films.items()
        for pair in (lines[start : start + 2] for start in range(0, len(lines), 2))
    ]
    expected = {
        f"{case} {film}": f"{case} {group}" for case, (_, groups) in CASES.items() for film, group in groups.items()
    }
    dialogues = spark.createDataFrame(rows, "movie_id string, turns array<struct<text: string>>")
    found = with_film_group(dialogues).collect()
    assert len(found) == len(rows)
    assert {row["movie_id"]: row["film_group"] for row in found} == expected
    placed = films_by_split(dialogues, test_share=0.3, validation_share=0.3).collect()
    assert {row["movie_id"]: row["film_group"] for row in placed} == expected
    assert len({(row["film_group"], row["split"]) for row in placed}) == len(set(expected.values()))
