"""The hashed features of two adjacent sentences."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from etl.subtitles.turn_features import (
    FeatureSpace,
    LemmaTable,
    density_bins,
    hashed_tokens,
    length_bins,
    margins,
    pair_features,
    repeated,
)
from etl.subtitles.turn_ragged import Ragged, mixed, side_by_side
from tests.turn_contexts import pair_context

NO_LEMMAS = LemmaTable.of({})


def turn_ragged(*rows: list[int]) -> Ragged:
    return Ragged(
        np.array([len(row) for row in rows], dtype=np.int64),
        np.array([value for row in rows for value in row], dtype=np.uint64),
    )


def turn_rows(ragged: Ragged) -> list[list[int]]:
    return [
        ragged.values[start:end].tolist() for start, end in zip(ragged.offsets[:-1], ragged.offsets[1:], strict=True)
    ]


def turn_set(left: str, right: str, *, block: int = -1, genres=None, per_minute=np.nan, lemmas=NO_LEMMAS, lengths=True):
    features = pair_features(
        pa.array([left, right]),
        np.array([0]),
        np.array([1]),
        pair_context([block], genres=[genres], density=[per_minute]),
        lemmas,
        FeatureSpace(2**18, lengths),
    )
    return features.values.tolist()


def test_turn_ragged_operations_match_plain_loops() -> None:
    rows = [[1, 2, 3], [], [4], [5, 6]]
    others = [[7], [8, 9], [], [10, 11]]
    first = turn_ragged(*rows)
    second = turn_ragged(*others)

    def hashed(one: int, two: int) -> int:
        return int(mixed(np.array([one], dtype=np.uint64), np.array([two], dtype=np.uint64))[0])

    assert turn_rows(side_by_side([first, second])) == [a + b for a, b in zip(rows, others, strict=True)]
    assert turn_rows(first.rows(np.array([3, 0, 1]))) == [rows[3], rows[0], rows[1]]
    assert turn_rows(first.firsts()) == [[1], [], [4], [5]]
    assert turn_rows(first.lasts()) == [[3], [], [4], [6]]
    assert turn_rows(first.bigrams()) == [[hashed(a, b) for a, b in pairwise(row)] for row in rows]
    assert turn_rows(first.crossed(second)) == [
        [hashed(a, b) for a in row for b in other] for row, other in zip(rows, others, strict=True)
    ]
    assert turn_rows(first.crossed_with_itself()) == [
        [hashed(a, b) for i, a in enumerate(row) for b in row[i + 1 :]] for row in rows
    ]
    assert len(set(first.salted(1).values) & set(first.salted(2).values)) == 0


def test_turn_ragged_of_nothing() -> None:
    none = turn_ragged()
    assert turn_rows(none.bigrams()) == turn_rows(none.crossed(none)) == turn_rows(none.crossed_with_itself()) == []
    assert turn_rows(turn_ragged([], []).bigrams()) == [[], []]


def test_turn_features_of_known_words() -> None:
    count = len(turn_set("Come in .", "No .", lengths=False))
    words = 3 + 2
    bigrams = 2 + 1
    ends = 8
    assert count == words + bigrams + ends + ends * (ends - 1) // 2 + ends * words
    assert len(turn_set("Come in .", "No .", lengths=True)) == count + 2 + 1 + 2 * ends + 2 * words + 2 + 4


def test_turn_features_see_lemmas_and_case_apart() -> None:
    lemmas = LemmaTable.of({"went": "go", "goes": "go", "go": "go"})
    went = set(turn_set("then she went home again", "ok", lemmas=lemmas))
    goes = set(turn_set("Then she goes home again", "ok", lemmas=lemmas))
    assert went == goes
    assert set(turn_set("then she went home again", "ok")) != set(turn_set("then she goes home again", "ok"))
    went_first = set(turn_set("went home", "ok", lemmas=lemmas))
    goes_first = set(turn_set("goes home", "ok", lemmas=lemmas))
    assert went_first != goes_first, "first tokens are surface forms, not lemmas (EDOS 3.1)"


def test_turn_features_tell_left_from_right() -> None:
    assert set(turn_set("yes .", "no .")) != set(turn_set("no .", "yes ."))


def test_turn_features_unknown_is_not_false() -> None:
    unknown = set(turn_set("a b", "c"))
    shared = set(turn_set("a b", "c", block=1))
    apart = set(turn_set("a b", "c", block=0))
    assert unknown < shared
    assert unknown < apart
    assert not (shared - unknown) & (apart - unknown)
    assert set(turn_set("a b", "c", genres=None)) == set(turn_set("a b", "c", genres=[]))
    assert unknown < set(turn_set("a b", "c", genres=["Drama", "Crime"]))
    assert unknown < set(turn_set("a b", "c", per_minute=12.0))


def test_turn_features_of_empty_sentences() -> None:
    assert turn_rows(hashed_tokens(pa.array(["", "a", "a  b"])))[0] == []
    assert turn_set("", "", lengths=False) == []
    assert len(turn_set("", "ok")) > 0


@pytest.mark.parametrize(
    ("per_minute", "bins"),
    [(0.0, [0]), (2.9, [0]), (3.0, [1]), (35.9, [11]), (400.0, [12]), (np.nan, []), (np.inf, [])],
)
def test_turn_features_density(per_minute: float, bins: list[int]) -> None:
    assert turn_rows(density_bins(np.array([per_minute]))) == [bins]


def test_turn_features_lengths_widen() -> None:
    assert turn_rows(length_bins(np.array([0, 1, 2, 3, 4, 8, 1000]))) == [[0], [0], [2], [3], [3], [5], [9]]


def test_turn_features_repeated_lemmas() -> None:
    both = turn_rows(repeated(turn_ragged([1, 2, 2, 3], [1], [], [5]), turn_ragged([2, 2, 3, 9], [2], [4], [5, 5])))
    assert [len(row) for row in both] == [3, 1, 1, 2]
    assert [row[-1] for row in both] == [2, 0, 0, 1]
    many = turn_rows(repeated(turn_ragged(list(range(9))), turn_ragged(list(range(9)))))
    assert len(many[0]) == 10
    assert many[0][-1] == 3


def test_turn_margins_do_not_depend_on_the_batch() -> None:
    space = FeatureSpace(2**10, True)
    rng = np.random.default_rng(5)
    weights = rng.normal(size=space.buckets)
    rows = turn_ragged(*(rng.integers(0, 2**63, size=n).tolist() for n in (3, 0, 200, 1, 0)))
    together = margins(rows, weights, -0.25, space)
    alone = [margins(rows.rows(np.array([i])), weights, -0.25, space)[0] for i in range(5)]
    assert together.tolist() == alone
    assert together[1] == together[4] == -0.25


@pytest.mark.parametrize("copies", [1, 2, 7])
def test_turn_margin_of_a_long_row_is_not_louder(copies: int) -> None:
    """Every row is a vector of one length: a weight of 1 everywhere grows with the root of the number."""
    space = FeatureSpace(2**10, True)
    row = turn_ragged([n << 54 for n in range(copies * 16)])
    found = margins(row, np.ones(space.buckets), 0.5, space)
    assert found[0] == pytest.approx(16 * (copies * 16) ** 0.5 + 0.5)


def test_turn_feature_hashes_are_stable() -> None:
    """Weights learned once are read for ever: a change of hash must be seen."""
    values = turn_set("Come in .", "No .", block=1, genres=["Drama"], per_minute=10.0)
    assert (len(values), int(np.bitwise_xor.reduce(np.array(values, dtype=np.uint64)))) == STABLE


STABLE = (139, 15721620875681169560)
