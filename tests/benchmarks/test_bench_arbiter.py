"""The parts of the arbiter's benchmark, and the small run of its sibling, counted by hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from conf.prompts import prompt
from etl.subtitles.arbiter import TEMPLATE, Question
from tests.benchmarks.bench_arbiter import answered, decided, drawn, questions_about, table
from tests.benchmarks.bench_pair_encoder import small_part
from tests.benchmarks.turn_folds import read_uploads

LINES = ["Is it late ?", "Not very .", "Then stay .", "I cannot .", "Why ?", "My boat leaves .", "A pity .", "Yes ."]


def uploads() -> pa.RecordBatch:
    sentences = [
        {"index": n, "block_first": n, "block_last": n, "start_ms": 900 * n, "end_ms": 900 * n + 800, "text": text}
        for n, text in enumerate(LINES)
    ]
    return pa.RecordBatch.from_pylist([{"source_path": "a.xml", "sentences": sentences}])


def pairs(*places: int) -> pd.DataFrame:
    rows = [{"source_path": "a.xml", "left_text": LINES[n - 1], "right_text": LINES[n]} for n in places]
    return pd.DataFrame(rows).assign(label=1, SVM=0.05, encoder=-1.0, both=1.0)


def test_questions_about_pairs_know_their_places() -> None:
    asked = questions_about(uploads(), pairs(7, 1, 2))
    assert [(one.asked, places) for one, places in asked] == [((2, 3), [1, 2]), ((5,), [0])]
    assert asked[0][0].text(prompt(TEMPLATE)).count("\n1. Is it late ?\n2. Not very .") == 1


def test_pairs_are_drawn_among_those_that_the_svm_is_unsure_of() -> None:
    rows = pairs(1, 2, 3, 4, 5).assign(SVM=[0.05, 2.0, -0.1, -3.0, 0.0])
    rows.loc[4, "source_path"] = None
    assert set(drawn(rows, 0.6, 9)["right_text"]) == {LINES[1], LINES[3]}
    first = drawn(rows, 0.6, 1)
    assert len(first) == 1
    assert first["right_text"].tolist() == drawn(rows, 0.6, 9)["right_text"].tolist()[:1]


def test_answers_decide_pairs_or_leave_them_with_a_reason() -> None:
    question = Question(0, tuple(LINES), (False,) * len(LINES), (2, 3), (1, 2))
    asked = [(question, [0, 1]), (question, [2, 3]), (question, [4, 5])]
    opens, faults = decided(asked, [("<think>3</think>2", False), ("9", False), (None, False)], 6)
    assert opens.tolist() == [1, 0, -1, -1, -1, -1]
    assert faults == {"unknown_sentence": 2, "not_answered": 2}


def test_borders_without_a_decision_are_the_svm_s() -> None:
    rows = pairs(1, 2, 3, 4).assign(label=[1, 0, 1, 0])
    found = table(rows, np.array([1, 0, -1, -1]))
    assert found.loc["arbiter", ["right", "changes"]].tolist() == [75, 75]
    assert found.loc["SVM", ["right", "changes"]].tolist() == [50, 100]
    assert found.loc["majority", "right"] == 50
    assert found.loc["truth", "changes"] == 50


def test_answers_are_asked_for_once(tmp_path: Path) -> None:
    sent: list[str] = []

    def ask(prompts: Sequence[str]) -> list[tuple[str | None, bool]]:
        sent.extend(prompts)
        return [(f"to {one}", False) for one in prompts]

    kept = tmp_path / "answers.jsonl"
    assert answered(["a", "b"], ask, kept) == [("to a", False), ("to b", False)]
    assert answered(["b", "c", "a"], ask, kept) == [("to b", False), ("to c", False), ("to a", False)]
    assert sorted(sent) == ["a", "b", "c"]
    assert answered(["a", "d"], ask, kept, minutes=0) == [("to a", False), None]


def test_a_small_part_has_the_first_pairs_of_each_source() -> None:
    rows = pd.DataFrame(
        {"source": ["x"] * 5 + ["y"] * 2, "left_text": [*"abcdefg"], "right_text": [*"hijklmn"]}, index=range(3, 10)
    )
    found = small_part(rows, 3)
    assert found["source"].value_counts().to_dict() == {"x": 3, "y": 2}
    assert found.index.is_monotonic_increasing
    assert set(small_part(rows, 2).index) < set(found.index)


def test_some_films_alone_are_read(tmp_path: Path) -> None:
    for film in ("11", "12", "13"):
        (tmp_path / film).mkdir()
        for name in ("1.xml", "2.xml"):
            text = '<document id="1"><s id="1"><w id="1.1">Yes</w><w id="1.2">.</w></s></document>'
            (tmp_path / film / name).write_text(text, "utf-8")
    assert read_uploads(tmp_path).num_rows == 6
    found = read_uploads(tmp_path, 2)
    assert found.num_rows == 4
    assert len(set(found.column("movie_id").to_pylist())) == 2
