"""Human evaluation of labels: the form's exact rules, the answers, the paper's figures (Emo Pillars 8, I)."""

import json
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from conf.taxonomy import goemotions_groups, goemotions_labels, load_emotion_taxonomy
from etl.annotation.batch import Batch
from etl.annotation.collecting import counted_answers, form_keys, read_answers
from etl.annotation.exports import KEY, form_files
from etl.emo_pillars.label_form import (
    JOINED,
    LETTERS,
    NONE,
    REQUIRED,
    LabelTask,
    chosen_examples,
    label_batch,
    label_form,
    label_tasks,
    options_of,
    questions,
)
from etl.emo_pillars.label_scores import PAPER, label_scores, neutral_overlap, total_accuracy

GOEMOTIONS = load_emotion_taxonomy("goemotions")
GROUPS = goemotions_groups()


def test_every_emotion_is_in_one_group() -> None:
    assert set(GROUPS) == set(goemotions_labels()) - {"neutral"}
    assert len(set(GROUPS.values())) == 6


@pytest.mark.parametrize(
    "labels",
    [["joy"], ["neutral", "joy"], ["sadness", "grief"], ["anger", "fear", "surprise", "joy", "love"], ["neutral"]],
    ids=lambda labels: "-".join(labels),
)
def test_options_follow_the_papers_rules(labels: list[str]) -> None:
    right = [label for label in labels if label != "neutral"][:3]
    letters = set()
    for seed in range(60):
        options, letter = options_of(labels, False, Random(seed), GOEMOTIONS)
        sets = [option.split(JOINED) for option in options]
        assert len(sets) == 6
        assert len({frozenset(one) for one in sets}) == 6
        assert len({len(one) for one in sets}) == 1
        assert all(len(set(one)) == len(one) for one in sets)
        emotions = {one for option in sets for one in option}
        assert len(emotions) <= 6
        assert "neutral" not in emotions
        near = {GROUPS[one] for one in right}
        related = [one for one in emotions - set(right) if GROUPS[one] in near]
        letters.add(letter)
        if not right:
            assert letter == NONE
            continue
        assert set(sets[LETTERS.index(letter)]) == set(right)
        assert set(right) <= emotions
        if len(right) == 1:  # all six are options then: three from the group, two more of any
            assert len(related) >= 3
            assert len(emotions) == 6
    assert letters == ({NONE} if not right else set(LETTERS))


def test_ranked_options_keep_the_order_and_others_do_not() -> None:
    labels = ["surprise", "anger", "fear", "joy"]
    orders = {ranked: set() for ranked in (True, False)}
    for seed in range(40):
        for ranked, found in orders.items():
            options, letter = options_of(labels, ranked, Random(seed), GOEMOTIONS)
            found.add(options[LETTERS.index(letter)])
    assert orders[True] == {"surprise & anger & fear"}
    assert len(orders[False]) == 6


def row(name: int, *labels: str) -> dict[str, Any]:
    return {
        "utterance_id": f"u{name}",
        "utterance": f"original {name}",
        "rewritten": f"rewritten {name}",
        "context": f"story {name}",
        "labels": [{"label": one, "level": 0.9} for one in labels],
    }


def drawn() -> list[LabelTask]:
    rows = [row(n, "neutral") for n in range(30)] + [row(n, "joy", "neutral") for n in range(30, 60)]
    rows += [row(n, "fear", "joy") for n in range(60, 200)]
    chosen = chosen_examples(rows, examples=100, alone=0.11, beside=0.18, neutral="neutral")
    return label_tasks(chosen, per_hit=40, ranked_share=0.2, rewritten_share=0.5, seed=13, taxonomy=GOEMOTIONS)


def test_neutral_is_raised_and_the_first_fifth_ranked() -> None:
    tasks = drawn()
    assert len(tasks) == 100
    assert tasks == drawn()
    kinds = [task.neutral for task in tasks]
    assert (kinds.count("alone"), kinds.count("beside"), kinds.count("none")) == (11, 18, 71)
    assert [task.ranked for task in tasks] == [True] * 20 + [False] * 80
    assert [(task.position, task.hit_id == tasks[0].hit_id) for task in (tasks[39], tasks[40])] == [
        (40, True),
        (1, False),
    ]
    assert 30 < sum(task.rewritten for task in tasks) < 70
    assert all(task.shown.startswith("rewritten" if task.rewritten else "original") for task in tasks)
    assert all((task.answer == NONE) == (task.neutral == "alone") for task in tasks)


def test_the_page_hides_the_context_and_tells_no_label() -> None:
    tasks = [task._asdict() for task in drawn()[:3]]
    batch: Batch = label_batch(tasks, taxonomy=GOEMOTIONS)
    assert [one.id for one in batch.questions] == list(questions(GOEMOTIONS))
    assert [one.required for one in batch.questions] == [True] * REQUIRED + [False] * (
        len(questions(GOEMOTIONS)) - REQUIRED
    )
    item = batch.hits[0].items[0]
    assert item.hidden == tasks[0]["context"]
    assert [one.value for one in item.options] == [*LETTERS, NONE]
    _, files = form_files(label_form(GOEMOTIONS), tasks, None)
    assert all(f'"{name}"' not in files["annotate.html"] for name in ("answer", "ranked", tasks[0]["utterance_id"]))
    key = [json.loads(line) for line in files[KEY].splitlines()]
    assert {(one["item_id"], one["answer"], one["ranked"]) for one in key} == {
        (task["item_id"], task["answer"], task["ranked"]) for task in tasks
    }


@pytest.mark.slow
def test_answers_come_back_with_what_they_are_about(spark: SparkSession, tmp_path: Path) -> None:
    tasks = [task._asdict() for task in drawn()[:1]]
    batch_id, files = form_files(label_form(GOEMOTIONS), tasks, None)
    (tmp_path / KEY).write_text(files[KEY], "utf-8")
    given = {
        "neutral": {"value": "no"},
        "choice": {"value": "B"},
        "context": {"value": True},
        "unfit": {"value": "joy"},
        "no_emotion": {"values": ["yes"]},
        "other_emotion": {"value": "neutral"},
    }
    document = {
        "format": "edos-lakehouse answers 1",
        "batch_id": batch_id,
        "hit_id": tasks[0]["hit_id"],
        "worker_id": "ann",
        "answers": [{"item_id": tasks[0]["item_id"], "answers": given}],
    }
    (tmp_path / "answers.json").write_text(json.dumps(document), "utf-8")
    answers = read_answers(spark, [str(tmp_path / "answers.json")])
    keys = form_keys(spark, [str(tmp_path / KEY)], label_form(GOEMOTIONS))
    settings = SimpleNamespace(known_raters=(), keep_half_done=False)
    found = counted_answers(answers, keys, questions(GOEMOTIONS), REQUIRED, settings)
    rows = {one.question: one for one in found.rows.collect()}
    assert {name: one.value for name, one in rows.items()} == {
        "neutral": "no",
        "choice": "B",
        "context": "true",
        "unfit": "joy",
        "no_emotion": "yes",
    }
    assert (rows["choice"].answer, rows["choice"].ranked) == (tasks[0]["answer"], True)
    assert found.dropped is not None
    assert [one.reason for one in found.dropped.collect()] == ["out_of_range"]


def said(item: int, rater: str, choice: str, vote: str = "no", consulted: bool = False, **facts: Any) -> list[Any]:
    known = {
        "utterance_id": f"u{item}",
        "worker_id": rater,
        "answer": "A",
        "ranked": False,
        "neutral": "none",
        "rewritten": False,
    } | facts
    answers = {"neutral": vote, "choice": choice} | ({"context": "true"} if consulted else {})
    return [{**known, "question": name, "value": value} for name, value in answers.items()]


def test_the_papers_figures() -> None:
    rows = [
        *(said(1, rater, "A", ranked=True) for rater in "abc"),  # all agree, right, ranked
        *(said(2, rater, "B") for rater in "abc"),  # all agree, wrong
        said(3, "a", "A", consulted=True, rewritten=True),
        said(3, "b", "A", rewritten=True),
        said(3, "c", "C", consulted=True, rewritten=True),  # two agree, right
        said(4, "a", "A"),
        said(4, "b", "B"),
        said(4, "c", "C", consulted=True),  # nobody agrees
        said(5, "a", "G", "yes", answer="G", neutral="alone"),
        said(5, "b", "G", "yes", answer="G", neutral="alone"),
        said(5, "c", "F", "no", answer="G", neutral="alone"),
        *(said(6, rater, "G", answer="G", neutral="alone") for rater in "abc"),  # right, but no neutral vote
        said(7, "a", "A"),
        said(7, "b", "A"),  # two raters only
    ]
    flat = [one for own in rows for one in own]
    found = {(one.measure, one.rater): one for one in label_scores(flat, 3)}
    of_all = {measure: (round(found[measure, ""].value or 0, 4), found[measure, ""].number) for measure in PAPER}
    assert of_all["accuracy, all raters agree"] == (0.6667, 3)
    assert of_all["accuracy, two or more agree"] == (0.75, 4)
    assert of_all["recall of neutral"] == (0.5, 2)
    assert of_all["share without a neutral vote"] == (0.8333, 6)
    assert of_all["examples called neutral"] == (0.6667, 2)
    assert [found["examples called neutral", rater].value for rater in "abc"] == [1, 1, 0]
    assert found["neutral examples that a rater with more shares", "a by b"].value == 1
    assert of_all["accuracy, ranked"] == (1.0, 3)
    assert (found["accuracy, shuffled", "a"].value, found["accuracy, shuffled", "c"].value) == (0.75, 0.25)
    assert of_all["accuracy, ranked and shuffled"][1] == 15
    assert found["consulted contexts of rewritten utterances", "c"].value == 0.5
    assert found["consulted contexts of rewritten utterances", ""].value == 0.75
    assert all(one.paper is None for (_, rater), one in found.items() if rater)
    kappa = found["Cohen's kappa, mean of pairs", ""]
    assert kappa.value is not None
    assert 0 < kappa.value < 1
    assert kappa.number == 5


def test_neutral_examples_overlap_as_in_the_paper() -> None:
    first = {f"u{n}" for n in range(6)}
    second = {f"u{n}" for n in range(47)}
    third = {f"u{n}" for n in range(42)} | {f"v{n}" for n in range(19)}
    found = neutral_overlap({"a": first, "c": third, "b": second, "d": set()})
    assert {pair: round(share, 2) for pair, share in found.items()} == {
        ("a", "b"): 1.0,
        ("a", "c"): 1.0,
        ("b", "c"): 0.89,
    }
    assert round(sum(found.values()) / 3, 3) == 0.965
    assert neutral_overlap({"a": set()}) == {}


def test_no_answers_give_no_figures() -> None:
    found = label_scores([], 3)
    assert [one.measure for one in found] == list(PAPER)
    assert all(one.value is None for one in found)


@pytest.mark.parametrize(
    ("ranked", "shuffled", "total"),
    [(21 / 26, 50 / 102, 0.5537), (12 / 26, 54 / 102, 0.5158), (16 / 26, 53 / 102, 0.5388)],
)
def test_totals_are_those_of_table_14(ranked: float, shuffled: float, total: float) -> None:
    hits = [
        [place < round(share * number) for place in range(number)] for share, number in ((ranked, 26), (shuffled, 102))
    ]
    assert total_accuracy(*hits) == pytest.approx(total, abs=0.0002)


def test_a_part_without_answers_has_no_weight() -> None:
    assert total_accuracy([True, False], []) == 0.5
    assert total_accuracy([], []) is None
