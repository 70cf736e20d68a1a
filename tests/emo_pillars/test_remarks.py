"""Whether parsers tell models' remarks from what a character says and from stories."""

import pytest

from tests.emo_pillars.remarks import KINDS, half, remarks


@pytest.mark.parametrize("kind", KINDS)
def test_every_remark_is_in_one_half(kind: str) -> None:
    lines = remarks(kind)
    tuning, held_out = half(kind, held_out=False), half(kind, held_out=True)
    assert sorted(tuning + held_out) == sorted(set(lines))
    assert min(len(tuning), len(held_out)) >= len(lines) / 3 and all(line == line.strip() for line in lines)
