"""The figures of trainings with different seeds, counted by hand."""

import pandas as pd
import pytest

from tests.benchmarks.bench_seeds import differences, drawn, table


def dialogues(*lengths: int, upload: str = "a", shift: int = 0) -> list[list[dict]]:
    """Return dialogues of so many turns, of one sentence each, the first of them ``shift`` sentences late."""
    found = []
    place = shift
    for length in lengths:
        found.append([{"upload": upload, "first": place + turn} for turn in range(length)])
        place += length
    return found


def test_dialogues_turns_and_other_borders_are_counted() -> None:
    rows = table({("seed", 13): dialogues(3, 1, 2), ("seed", 14): dialogues(3, 1), ("draw", 13): dialogues(2, shift=1)})
    assert rows.loc[("seed", 13)].tolist() == [3, 2, 6, 0]
    assert rows.loc[("seed", 14)].tolist() == [2, 1, 4, 2]
    assert rows.loc[("draw", 13)].tolist() == [1, 1, 2, 0]


def test_the_difference_is_over_the_smallest_number_of_the_same_way() -> None:
    found = differences(table({("seed", n): dialogues(*[2] * n) for n in (20, 21, 19)} | {("draw", 1): dialogues(2)}))
    assert found.loc["seed", "turns"] == pytest.approx(2 / 19)
    assert found.loc["draw", "turns"] == 0


def test_a_draw_takes_whole_films_and_another_share_for_each_seed() -> None:
    pairs = pd.DataFrame({"split_group": [f"film {n // 3}" for n in range(900)]})
    one, other = (drawn(pairs, seed, 0.8) for seed in (1, 2))
    assert set(one["split_group"].value_counts()) == {3}
    assert 0.7 < len(one) / len(pairs) < 0.9
    assert set(one["split_group"]) != set(other["split_group"])
