"""Groups of emotions that share markers (Emo Pillars Table 9)."""

from etl.emo_pillars.markers import emotion_groups, grouped_markers

MARKERS = [
    ("wildly", "fear", 0.4),
    ("wildly", "nervousness", 0.4),
    ("wildly", "joy", 0.2),
    ("barely", "fear", 0.6),
    ("barely", "nervousness", 0.4),
    ("dearly", "joy", 0.5),
    ("dearly", "love", 0.5),
    ("warmly", "joy", 0.3),
    ("warmly", "love", 0.3),
    ("warmly", "fear", 0.2),
    ("oddly", "surprise", 1.0),
]


def test_emotions_are_grouped_by_shared_markers_and_markers_by_their_ratio() -> None:
    found = grouped_markers(MARKERS, 0.1, 13)
    assert [(row.place, row.emotions) for row in found] == [
        (1, ["fear", "nervousness"]),
        (1, ["fear", "nervousness"]),
        (2, ["joy", "love"]),
        (2, ["joy", "love"]),
    ]
    assert [(row.word, row.ratio) for row in found] == [
        ("barely", 1.0),
        ("wildly", 0.8),
        ("dearly", 1.0),
        ("warmly", 0.75),
    ]
    assert all(set(row.shared_by) == set(row.emotions) for row in found)


def test_the_order_of_markers_does_not_matter() -> None:
    assert grouped_markers(MARKERS[::-1], 0.1, 13) == grouped_markers(MARKERS, 0.1, 13)


def test_emotions_without_enough_overlap_are_in_no_group() -> None:
    assert grouped_markers(MARKERS, 1.0, 13) == []
    assert grouped_markers([], 0.1, 13) == []
    assert emotion_groups({"oddly": {"surprise": 1.0}}, 0.1, 13) == []
    names = {
        name for group in emotion_groups({"a": {"joy": 1, "love": 1}, "b": {"grief": 1}}, 0.1, 13) for name in group
    }
    assert names == {"joy", "love"}
