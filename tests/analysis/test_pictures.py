"""Pictures: well-formed, escaped, and in proportion."""

import re

import pytest
from lxml import etree

from etl.analysis.pictures import Bar, Link, Node, bars, histogram, number, sankey
from etl.analysis.report_labels import frequent_labels, grouped_flow

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


COLUMNS = [
    [Node("a", "A", "emotion"), Node("b", "B", "intent")],
    [Node("a", HOSTILE, "emotion"), Node("b", "B", "intent")],
]
LINKS = [
    Link(0, "a", "a", 30),
    Link(0, "a", "b", 50),
    Link(0, "a", "", 20),
    Link(0, "b", "b", 100),
    Link(0, "b", "a", 0),
]


def test_a_sankey_is_as_thick_as_its_values() -> None:
    svg = sankey(COLUMNS, LINKS, "flow", height=230, gap=6, heads=["turn 1", "turn 2"])
    drawn = parsed(svg)
    nodes = drawn.findall("svg/rect")
    paths = drawn.findall("svg/path")
    assert [float(node.get("height")) for node in nodes] == [100, 100, 30, 150]  # (230 - 24 - 6) / 200 px for each
    assert [float(node.get("y")) for node in nodes] == [24, 130, 24, 60]
    assert len(paths) == 3
    assert "<script" not in svg
    for path, value in zip(paths, (30, 50, 100), strict=True):
        numbers = [float(text) for text in re.findall(r"[\d.]+", path.get("d"))]
        top = numbers[7]
        bottom = numbers[8]
        assert bottom - top == pytest.approx(value), path.get("d")
    assert [text.text for text in drawn.findall("text") if text.get("class")] == ["turn 1", "turn 2"]


def test_a_sankey_of_nothing_is_still_a_picture() -> None:
    assert parsed(sankey([], [], "nothing")).get("role") == "img"
    assert parsed(sankey([[Node("a", "A", "x")]], [], "one")).findall("svg/rect") == []


ROWS = [
    {"position": 1, "label": "sad", "to_label": "questioning", "dialogues": 5},
    {"position": 1, "label": "proud", "to_label": None, "dialogues": 2},
    {"position": 1, "label": "agreeing", "to_label": "angry", "dialogues": 1},
    {"position": 2, "label": "questioning", "to_label": "neutral", "dialogues": 4},
    {"position": 2, "label": "angry", "to_label": "suggesting", "dialogues": 1},
]
KINDS = {
    "sad": "emotion",
    "proud": "emotion",
    "angry": "emotion",
    "neutral": "neutral",
    "questioning": "intent",
    "agreeing": "intent",
    "suggesting": "intent",
}


def test_rare_labels_are_together_by_kind() -> None:
    shown = frequent_labels(ROWS, 2)
    assert shown == ["sad", "questioning"]
    columns, links = grouped_flow(ROWS, KINDS, shown)
    assert [[node.text for node in column] for column in columns] == [
        ["sad", "other emotions", "other intents"],
        ["other emotions", "questioning"],
        ["neutral", "other intents"],
    ]
    assert Link(0, "sad", "questioning", 5) in links
    assert Link(0, "other emotions", "", 2) in links
    assert sum(link.value for link in links) == sum(row["dialogues"] for row in ROWS)
    assert {node.style for column in columns for node in column} == {"emotion", "intent", "neutral"}
    parsed(sankey(columns, links, "flow"))
