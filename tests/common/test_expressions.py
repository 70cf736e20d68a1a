"""Python's regular expressions of ``etl/``, ``udfs/`` and ``jobs/``: none takes squared time on its own characters."""

import re

import pytest

from tests.expressions import python_expressions, slow_unit


@pytest.mark.long
def test_no_expression_of_python_takes_squared_time() -> None:
    # Alternatives of word lists take seconds, and are not repeated.
    tried = [one for one in python_expressions() if len(one[1].pattern) < 4_000]
    assert len(tried) > 200
    assert {place: found for place, one, at_start in tried if (found := slow_unit(one, at_start))} == {}


@pytest.mark.parametrize(("pattern", "is_slow"), [("a+b", True), ("(a|aa)+$", True), ("a{1,9}b", False)])
def test_squared_time_is_found(pattern: str, is_slow: bool) -> None:
    assert (slow_unit(re.compile(pattern)) is not None) == is_slow
    assert slow_unit(re.compile("a+b"), at_start=True) is None
