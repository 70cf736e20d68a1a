"""Pictures: well-formed, escaped, and in proportion."""

import pytest
from lxml import etree

from etl.publishing.pictures import Bar, bars, histogram, number

HOSTILE = '<script>alert("x")</script> & \'"'


def parsed(svg: str) -> etree._Element:
    return etree.fromstring(svg)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.5, "1.5"), (1e-9, "0"), (100, "100"), (33.333333, "33.33"), (float("nan"), "0"), (1e6, "1000000")],
)
def test_numbers_are_plain(value: float, text: str) -> None:
    assert number(value) == text


def test_bars_are_in_proportion_and_stay_in_their_place() -> None:
    drawn = parsed(bars([Bar(0.5, "emotion", HOSTILE), Bar(3, "paper", ""), Bar(-1, "paper", "")], 6, 2))
    assert [rect.get("width") for rect in drawn.findall("rect")] == ["50%", "100%", "0%"]
    assert [rect.get("y") for rect in drawn.findall("rect")] == ["0", "8", "16"]
    assert drawn.findtext("rect/title") == HOSTILE
    assert drawn.get("height") == "22"
    assert parsed(bars([])).get("height") == "1"


def test_a_histogram_has_its_columns_marks_and_scale() -> None:
    svg = histogram(
        [Bar(1, "emotion", "all"), Bar(0.25, "neutral", HOSTILE)],
        [(0, "0 s"), (0.5, "5"), (1, HOSTILE)],
        [(0.5, HOSTILE)],
        [(1, "100")],
        HOSTILE,
        f"seconds {HOSTILE}",
        "turns",
        height=162,
    )
    drawn = parsed(svg)
    tall, short = drawn.findall("rect")
    assert float(tall.get("height")) == 4 * float(short.get("height")) == 100
    assert float(tall.get("y")) + 100 == float(short.get("y")) + 25
    assert drawn.get("aria-label") == HOSTILE
    assert drawn.get("role") == "img"
    assert [text.get("text-anchor") for text in drawn.findall("text")][1:4] == ["start", "middle", "end"]
    assert [text.text for text in drawn.findall("text[@class='head']")] == [f"seconds {HOSTILE} →", "↑ turns"]
    assert "<script" not in svg
