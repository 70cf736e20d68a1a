"""The report on Emo Pillars: its numbers, what is missing, hostile texts."""

from typing import Any

import pytest

from etl.emo_pillars.report import report
from etl.publishing.findings import Findings
from tests.publishing.html_pages import checked

HOSTILE = "<img src=x onerror=alert(1)> & </style><script>"
FULL: dict[str, list[dict[str, Any]]] = {
    "emo_pillars_scale": [
        {"place": 1, "criterion": "examples", "value": 1234.0, "paper": 300000.0},
        {"place": 2, "criterion": "contextual examples", "value": 56.0, "paper": 100000.0},
    ],
    "emo_pillars_labels": [
        {"label": "joy", "polarity": "positive", "primary_labels": 7, "labels": 30, "mean_level": 0.8},
        {"label": "neutral", "polarity": "neutral", "primary_labels": 3, "labels": 10, "mean_level": 0.3},
    ],
    "emo_pillars_coverage": [{"place": 1, "measure": "percent positive", "value": 41.5, "paper": 33.0}],
    "emo_pillars_similarity": [
        {
            "kind": "utterances",
            "pairs": 45,
            "mean": 0.17,
            "paper_mean": 0.12,
            "deviation": 0.1,
            "paper_deviation": 0.1,
            "percentile_99": 0.51,
            "paper_percentile_99": 0.4,
            "model": HOSTILE,
        },
        {
            "kind": "contexts across plots",
            "pairs": None,
            "mean": None,
            "paper_mean": 0.24,
            "deviation": None,
            "paper_deviation": 0.11,
            "percentile_99": None,
            "paper_percentile_99": None,
            "model": None,
        },
    ],
    "emo_pillars_table_12": [
        {
            "label": "joy",
            "utterances": 5,
            "pairs": 10,
            "mean": 0.31,
            "paper_mean": 0.23,
            "deviation": 0.1,
            "paper_deviation": 0.11,
            "percentile_99": 0.6,
            "paper_utterances": 3055,
        }
    ],
    "emo_pillars_topic_sizes": [
        {
            "emotion": "joy",
            "utterances": 30,
            "topics": 12,
            "topics_of_two_or_more": 4,
            "large_topics": 1,
            "paper_topics": 300,
            "paper_large_topics": 20,
        }
    ],
    "emo_pillars_topics": [
        {"emotion": "joy", "topic": 1, "utterances": 20, "share": 0.6, "keywords": "song", "example": HOSTILE}
    ],
    "emo_pillars_named_topics": [
        {"emotion": "joy", "topic": 1, "utterances": 20, "name": HOSTILE, "category": None, "keywords": "song"}
    ],
    "emo_pillars_topic_emotions": [
        {"label": "joy", "polarity": "positive", "number": 9, "share": 0.9, "share_of_all": 0.2},
        {"label": "anger", "polarity": "negative", "number": 1, "share": 0.1, "share_of_all": 0.8},
        {"label": "fear", "polarity": "negative", "number": 0, "share": None, "share_of_all": 0.0},
    ],
    "emo_pillars_changes": [
        {"measure": "tokens of an utterance", "value": 18.5, "paper": 20.0},
        {"measure": "tokens of a context", "value": None, "paper": 145.0},
    ],
    "emo_pillars_markers": [
        {"word": f"word{n}ly", "occurrences": 9, "left_in": 1, "removed_share": 0.8889, "emotions": "fear (0.6)"}
        for n in range(25)
    ],
    "emo_pillars_table_9": [
        {
            "place": None,
            "emotions": None,
            "polarity": None,
            "words": None,
            "shared": None,
            "paper_emotions": "joy, love",
            "paper_polarity": "positive",
            "paper_words": "dearly (0.75)",
        }
    ],
    "emo_pillars_topic_categories": [{"category": HOSTILE, "topics": 2, "utterances": 40, "paper_topics": None}],
    "emo_pillars_intra_dataset": [
        {
            **dict.fromkeys(("passages", "precision", "recall", "f1", "gain", "significant", "majority_f1")),
            "learner": "emo_pillars_contextual",
            "tested_on": "contextual original",
            "paper_precision": 0.81,
            "paper_recall": 0.78,
            "paper_f1": 0.79,
        }
    ],
    "emo_pillars_transfer": [
        {
            **dict.fromkeys(("precision", "recall", "variant", "f1_sd", "gain_over_plain", "paper_precision")),
            "task": task,
            "scored": "28 labels, threshold",
            "average": average,
            "model": None,
            "tuned": True,
            "trials": 3,
            "f1": 0.4321,
            "paper_model": f"RoBERTa of {task}",
            "paper_recall": None,
            "paper_f1": 0.55,
            "paper_f1_sd": 0.007,
            "majority_f1": 0.01,
        }
        for task in ("goemotions", "isear")
        for average in ("macro", "micro")
    ],
    "emo_pillars_transfer_classes": [
        {
            **dict.fromkeys(("trials", "precision", "recall", "f1", "gain_over_goemotions")),
            "task": "goemotions",
            "class": "grief",
            "model": None,
            "tuned": True,
            "paper_precision": 0.5,
            "paper_recall": 0.67,
            "paper_f1": 0.57,
            "goemotions_f1": 0.0,
            "paper_gain": 0.57,
        }
    ],
    "emo_pillars_table_8": [
        {"learner": name, "context": HOSTILE, "utterance": f"turn {n}", "truth": "sad", "labels": "fear (0.90)"}
        for name in ("one", "two")
        for n in range(12)
    ],
    "emo_pillars_marker_overlap": [{"label": "fear", "other_label": "joy", "shared": 1, "overlap": 0.5}],
    "emo_pillars_human_evaluation": [{"measure": "Cohen's kappa", "value": 0.41, "paper": 0.365}],
    "dropped_by_reason": [
        {"stage": "emo_pillars_actors", "unit": "plot", "reason": "nothing_read", "rows": 5, "units": 5}
    ],
}


def page_of(**changes: Any) -> tuple[str, Any]:
    text = report(Findings({**FULL, **changes}, made_with={"rule": HOSTILE}))
    return text, checked(text)


def words(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_the_page_is_whole_and_says_the_numbers() -> None:
    _, page = page_of()
    targets = {target.lstrip("#") for target in page.xpath("//nav//@href")}
    assert targets == set(page.xpath("//section/@id"))
    assert len(targets) == 14
    said = words(page)
    for fact in (
        "1,234 utterances that",
        "75.0%",
        "41.5",
        "0.17",
        "12 topics",
        "90.0% of their labels are positive",
        "18.5",
        "All markers: 25",
        "dearly (0.75)",
        "contextual original",
        "RoBERTa of isear",
        "grief",
        "turn 9",
        "0.41",
    ):
        assert fact in said, fact
    assert "checked by people yet" not in said
    assert "turn 10" not in said
    assert said.count("RoBERTa of goemotions") == 1


@pytest.mark.parametrize("missing", [*FULL, "all"])
def test_what_is_not_there_is_left_out(missing: str) -> None:
    gone: dict[str, list[Any]] = {name: [] for name in FULL if missing in (name, "all")}
    text, page = page_of(**gone)
    assert page.xpath("//section[@id='limits']")
    assert "None" not in words(page)
    assert "nan" not in text


@pytest.mark.parametrize(
    ("models", "told"),
    [("recorded:answers.jsonl#sha256:1f", True), ("hf:some/model, recorded:a.jsonl", True), ("hf:recorded", False)],
)
def test_recorded_answers_are_told(models: str, told: bool) -> None:
    page = checked(report(Findings(FULL, made_with={"written by": models})))
    assert ("No model was asked" in words(page)) is told
