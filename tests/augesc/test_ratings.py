"""Human evaluation of conversations: the draw, the form, which answers count, Tables 3 and 4."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.annotation.batch import Batch
from etl.annotation.collecting import counted_answers, form_keys, read_answers
from etl.annotation.exports import KEY, form_files
from etl.augesc import comparisons as compared
from etl.augesc.comparisons import COMPARISON_FORM, comparison_scores, comparisons, paired_chats
from etl.augesc.rating_form import ASPECTS, QUESTIONS, RATING_FORM, rating_batch
from etl.augesc.ratings import SETS, RatingScore, rating_scores, rating_tasks, ratings
from etl.augesc.tables import MEASURED_TEXTS, VIOLATIONS

COUNTS = {
    "fluency": (28, 8),
    "identification": (41, 13),
    "comforting": (33, 13),
    "suggestion": (35, 9),
    "overall": (35, 17),
}
EVERYBODY = SimpleNamespace(known_raters=(), keep_half_done=False)


def task(position: int, hit: str = "h1") -> dict[str, Any]:
    turns = [{"role": "seeker", "text": "I lost my keys."}, {"role": "supporter", "text": "How annoying!"}]
    return {
        "hit_id": hit,
        "position": position,
        "item_id": f"i{position}",
        "method": "augmenter",
        "source": "ed",
        "text_id": f"t{position}",
        "turns": turns,
    }


def answered(worker: str, item: str, when: str = "2026-01-01", hit: str = "h1", **answers: object) -> dict[str, Any]:
    given = {aspect.name: {"value": "2"} for aspect in ASPECTS} | {
        name: {"value": value} for name, value in answers.items()
    }
    return {
        "format": "edos-lakehouse answers 1",
        "batch_id": "b",
        "hit_id": hit,
        "worker_id": worker,
        "submitted": when,
        "answers": [{"item_id": item, "position": 1, "seconds": 9.5, "answers": given}],
    }


@pytest.fixture(scope="module")
def texts(spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    measured = []
    violations = []
    for method, source in (*SETS, ("people", "failed_esconv")):
        for n in range(4):
            name = f"{method}-{source}-{n}"
            turns = [("seeker", f"I am {name}", 3), ("supporter", "Tell me more", 3)]
            measured.append((name, method, source, "o", 0, None, 9, "nltk", 0, None, turns, None, None, None))
            fault = n == 3
            violations.append((name, method, source, *[False] * 4, fault, *[False] * 3, [], not fault))
    return (
        spark.createDataFrame(measured, MEASURED_TEXTS.schema),
        spark.createDataFrame(violations, VIOLATIONS.schema),
    )


def test_each_set_gives_so_many_and_the_rest_is_noted(texts: tuple[DataFrame, DataFrame]) -> None:
    outcome = rating_tasks(*texts, per_set=3, per_hit=4, seed=13)
    rows = outcome.rows.collect()
    by_set = {
        (method, source): [r for r in rows if (r.method, r.source) == (method, source)] for method, source in SETS
    }
    assert {len(own) for own in by_set.values()} == {3}
    assert len(rows) == 15
    assert {row.text_id for row in by_set["augmenter", "ed"]} == {f"augmenter-ed-{n}" for n in range(3)}
    assert outcome.dropped is not None
    left = {row.id: row.units for row in outcome.dropped.collect()}
    assert left == {
        "people/failed_esconv/set_not_compared": 4,
        "people/esconv/not_drawn": 1,
        "role_models/ed/not_drawn": 1,
        "untuned/ed/violates_requirements": 1,
        "augmenter/ed/violates_requirements": 1,
        "augmenter/reddit/violates_requirements": 1,
    }
    again = rating_tasks(texts[0].repartition(5), texts[1], per_set=3, per_hit=4, seed=13)
    assert sorted(again.rows.collect()) == sorted(rows)
    hits = {row.hit_id for row in rows}
    assert len(hits) == 4
    assert max(row.position for row in rows) == 4


def test_the_form_asks_seven_things_and_tells_no_set() -> None:
    batch_id, files = form_files(RATING_FORM, [task(1), task(2)], None)
    assert set(files) == {"annotate.html", KEY}
    assert "augmenter" not in files["annotate.html"]
    assert '"t1"' not in files["annotate.html"]
    batch: Batch = rating_batch([task(1), task(2)])
    assert batch.batch_id == batch_id
    assert [one.id for one in batch.questions] == [one.name for one in ASPECTS]
    assert all(tuple(o.value for o in one.options) == QUESTIONS[one.id] and one.note for one in batch.questions)
    assert [one.section for one in batch.questions if one.section] == [
        "The seeker",
        "The supporter",
        "The whole conversation",
    ]
    key = [json.loads(line) for line in files[KEY].splitlines()]
    assert {(line["item_id"], line["method"], line["text_id"]) for line in key} == {
        ("i1", "augmenter", "t1"),
        ("i2", "augmenter", "t2"),
    }


def counted(spark: SparkSession, folder: Path, settings: Any, *documents: object) -> tuple[list[Any], dict[str, int]]:
    _, files = form_files(RATING_FORM, [task(1), task(1, hit="h2")], None)
    (folder / KEY).write_text(files[KEY], "utf-8")
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, documents)) + "\n{", "utf-8")
    keys = form_keys(spark, [str(folder / KEY)], RATING_FORM)
    answers = read_answers(spark, [str(folder / "answers.jsonl")])
    outcome = counted_answers(answers, keys, QUESTIONS, len(QUESTIONS), settings)
    assert outcome.dropped is not None
    reasons = {
        row.reason: row.n
        for row in outcome.dropped.groupBy("reason").agg({"units": "sum"}).toDF("reason", "n").collect()
    }
    rows = ratings(outcome.rows).collect()
    assert answers.count() == len(rows) + sum(reasons.values())
    return rows, reasons


def test_answers_count_by_rule(spark: SparkSession, tmp_path: Path) -> None:
    settings = SimpleNamespace(known_raters=("ann", "bob", "cy"), keep_half_done=False)
    rows, reasons = counted(
        spark,
        tmp_path,
        settings,
        answered("ann", "i1", "2026-01-01", empathy="1", ethical_risk=1),
        answered("ann", "i1", "2026-01-02", empathy="4", ethical_risk=1),  # again, another mind
        answered("bob", "i1", logic="5"),  # no such option: the task is half done
        answered("cy", "i9"),
        answered("cy", "i1", taste="2"),
        answered("eve", "i1"),
        answered("cy", "i1", hit="h2", empathy=""),
    )
    assert reasons == {
        "not_readable": 1,
        "answered_again": 7,
        "out_of_range": 1,
        "half_done": 6 + 6,
        "unknown_item": 7,
        "other_question": 1,
        "unknown_worker": 7,
        "no_answer": 1,
    }
    found = {(row.worker_id, row.aspect): row for row in rows}
    assert len(rows) == 14
    assert {row.worker_id for row in rows} == {"ann", "cy"}
    assert (found["ann", "empathy"].option, found["ann", "empathy"].score) == (4, 0)
    assert found["ann", "ethical_risk"].score == 3  # the first option is the most unethical
    assert (found["cy", "logic"].method, found["cy", "logic"].text_id, found["cy", "logic"].seconds) == (
        "augmenter",
        "t1",
        9.5,
    )


@pytest.mark.slow
def test_half_done_tasks_count_where_it_is_said(spark: SparkSession, tmp_path: Path) -> None:
    settings = SimpleNamespace(known_raters=(), keep_half_done=True)
    rows, reasons = counted(spark, tmp_path, settings, answered("bob", "i1", logic="9"))
    assert len(rows) == 6
    assert reasons == {"not_readable": 1, "out_of_range": 1}


def rated(method: str, source: str, aspect: str, *sessions: tuple[int, ...]) -> list[dict[str, Any]]:
    return [
        {"method": method, "source": source, "text_id": f"{method}{source}{n}", "aspect": aspect, "score": score}
        for n, scores in enumerate(sessions)
        for score in scores
    ]


def test_table_3_marks_what_is_below_the_best_and_below_the_tuned_model() -> None:
    rows = [
        *rated("people", "esconv", "empathy", (3, 3, 2), (3, 3, 3), (2, 3, 3)),
        *rated("augmenter", "ed", "empathy", (3, 2, 2), (3, 3, 3), (2, 3, 3)),
        *rated("untuned", "ed", "empathy", (0, 0, 1), (0, 1, 0), (1, 0, 0)),
        *rated("people", "esconv", "ethical_risk", (0, 0, 1), (0, 0, 0)),
        *rated("untuned", "ed", "ethical_risk", (0, 0, 0), (0, 0, 0)),
    ]
    found: dict[tuple[str, str], RatingScore] = {
        (row.aspect, row.method): row for row in rating_scores(rows, significance=0.01)
    }
    best, tuned, untuned = (found["empathy", name] for name in ("people", "augmenter", "untuned"))
    assert best.is_best
    assert best.p_best is None
    assert best.mean == pytest.approx(25 / 9, abs=1e-4)
    assert tuned.below_best is False
    assert tuned.p_tuned is None
    assert untuned.below_best
    assert untuned.below_tuned
    assert (untuned.sessions, untuned.ratings) == (3, 9)
    assert found["empathy", "people"].below_tuned is False
    assert found["ethical_risk", "untuned"].is_best
    assert found["ethical_risk", "people"].p_best is None
    assert rating_scores([], significance=0.01) == []


def test_table_4_from_counts() -> None:
    rows = [
        {"aspect": aspect, "outcome": outcome}
        for aspect, (wins, losses) in COUNTS.items()
        for outcome, number in (("win", wins), ("lose", losses), ("tie", 60 - wins - losses))
        for _ in range(number)
    ]
    found = comparison_scores(rows)
    assert [row.aspect for row in found] == list(COUNTS)
    assert {row.pairs for row in found} == {60}
    assert [round(100 * row.wins / 60) for row in found] == [47, 68, 55, 58, 58]
    assert [row.p is not None and row.p < 0.005 for row in found] == [True] * 4 + [False]


def chat(pair: str, bot: str, first: str = "I am stuck.", pairs: int = 2) -> str:
    turns = [{"role": "seeker", "text": first if not n else f"More {n}"} for n in range(pairs)]
    turns = [turn for one in turns for turn in (one, {"role": "supporter", "text": f"{bot[:1]} says so"})]
    return json.dumps({"pair_id": pair, "bot": bot, "turns": turns})


def test_talks_are_paired_by_rule_and_answers_name_the_winner(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        *(chat(f"p{n}", bot) for n in range(6) for bot in compared.BOTS),
        chat("alone", "esconv"),
        chat("short", "esconv", pairs=1),
        chat("short", "augesc"),
        chat("other", "esconv", "Hi"),
        chat("other", "augesc"),
        chat("p0", "augesc", pairs=3),
        chat("p1", "third"),
        "{",
        "",
    ]
    (tmp_path / "chats.jsonl").write_text("\n".join(lines), "utf-8")
    outcome = paired_chats(spark, [str(tmp_path / "chats.jsonl")], least=2, seed=13)
    tasks = [row.asDict(recursive=True) for row in outcome.rows.collect()]
    assert outcome.dropped is not None
    reasons: dict[str, int] = {}
    for row in outcome.dropped.collect():
        reasons[row.reason] = reasons.get(row.reason, 0) + row.units
    assert reasons == {"unpaired": 1, "too_short": 2, "other_beginning": 2, "repeated_chat": 1, "not_readable": 2}
    assert outcome.rows_in == 2 * len(tasks) + sum(reasons.values())
    assert len(tasks) == 6
    assert {one["left_bot"] for one in tasks} == set(compared.BOTS)
    batch_id, files = form_files(COMPARISON_FORM, tasks, None)
    assert "esconv" not in files["annotate.html"]
    (tmp_path / KEY).write_text(files[KEY], "utf-8")
    given = []
    for one in tasks:
        value = "left" if one["left_bot"] == "augesc" else "right"
        answers = {name: {"value": value if name != "overall" else "tie"} for name in compared.ASPECTS}
        own = {"item_id": one["item_id"], "seconds": 3, "answers": answers}
        for worker, when in (("second", "2026-01-02"), ("first", "2026-01-01")):
            given.append(
                {
                    "format": "edos-lakehouse answers 1",
                    "batch_id": batch_id,
                    "hit_id": one["hit_id"],
                    "worker_id": worker,
                    "submitted": when,
                    "answers": [own],
                }
            )
    (tmp_path / "answers.json").write_text(json.dumps(given), "utf-8")
    keys = form_keys(spark, [str(tmp_path / KEY)], COMPARISON_FORM)
    answers = read_answers(spark, [str(tmp_path / "answers.json")])
    found = comparisons(counted_answers(answers, keys, compared.QUESTIONS, 5, EVERYBODY))
    rows = found.rows.collect()
    assert {(row.aspect, row.outcome) for row in rows} == {
        (name, "tie" if name == "overall" else "win") for name in compared.ASPECTS
    }
    assert len(rows) == 30
    assert {row.worker_id for row in rows} == {"first"}
    assert found.dropped is not None
    assert {(row.reason, row["count"]) for row in found.dropped.groupBy("reason").count().collect()} == {
        ("another_participant", 30)
    }
