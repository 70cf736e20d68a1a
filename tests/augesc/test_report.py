"""The report on AugESC: its numbers and pictures, what is missing, hostile texts."""

from typing import Any

import pytest

from etl.augesc.report import report
from etl.publishing.findings import Findings
from tests.publishing.html_pages import checked

HOSTILE = "<img src=x onerror=alert(1)> & </style><script>"


def share(requirement: str, percent: float, paper: float | None = 3.0, method: str = "augmenter") -> dict[str, Any]:
    return {
        "method": method,
        "source": "ed",
        "place": 1,
        "requirement": requirement,
        "texts": 2000,
        "number": 1,
        "percent": percent,
        "strict_number": None if paper is None else 2,
        "strict_percent": None if paper is None else 7.7,
        "paper_percent": paper,
        "paper_name": "x",
    }


def size(measure: str, value: float, role: str = "both") -> dict[str, Any]:
    return {"data_set": "total", "role": role, "measure": measure, "value": value, "paper": 9.5}


FULL: dict[str, list[dict[str, Any]]] = {
    "augesc_table_1": [share("format", 0.4), share("final_retention", 48.2, 49.1), share("format", 9.0, None, HOSTILE)],
    "augesc_table_2": [size("sessions", 980.0), size("unique_words", 4321.0), size("utterances", 77.0, "seeker")],
    "augesc_distributions": [
        {"data_set": "ed", "role": "seeker", "measure": measure, "from_value": value, "number": 3, "share": 0.5}
        for measure in ("utterances_per_session", "utterance_length")
        for value in (5, 400)
    ],
    "augesc_figure_3": [
        {
            "text_id": "t",
            "method": "augmenter",
            "source": "ed",
            "query_tokens": 20 + n,
            "mean_utterance_tokens": 12.5,
            "mean_of_all": 12.5,
        }
        for n in range(3)
    ],
    "augesc_figure_4": [
        {
            "data_set": name,
            "role": role,
            "rank": 1,
            "word": HOSTILE,
            "z": 4.0,
            "highly_significant": True,
            "number": 9,
            "others": 1,
            "paper_word": "zoom",
            "paper_z": 3,
        }
        for name in ("esconv", "ed")
        for role in ("seeker", "supporter")
    ],
    "augesc_figure_5": [
        {"data_set": name, "sessions": n * 10, "unique_bigrams": n * 100} for name in ("ed", "esconv") for n in (1, 2)
    ],
    "augesc_table_3": [
        {
            "method": "people",
            "source": "esconv",
            "aspect": "empathy",
            "sessions": 60,
            "ratings": 180,
            "mean": 2.4,
            "paper_mean": 2.42,
            "is_best": True,
            "p_best": None,
            "below_best": None,
            "below_tuned": False,
            "paper_below_tuned": None,
            "paper_name": "ESConv",
        },
        {
            "method": "untuned",
            "source": "ed",
            "aspect": "empathy",
            "sessions": 60,
            "ratings": 180,
            "mean": 1.5,
            "paper_mean": 2.07,
            "is_best": False,
            "p_best": 0.001,
            "below_best": True,
            "below_tuned": True,
            "paper_below_tuned": True,
            "paper_name": "GPT-3",
        },
        {
            "method": "augmenter",
            "source": "ed",
            "aspect": "empathy",
            "sessions": None,
            "ratings": None,
            "mean": None,
            "paper_mean": 2.37,
            "is_best": None,
            "p_best": None,
            "below_best": None,
            "below_tuned": None,
            "paper_below_tuned": None,
            "paper_name": "AugESC-ED",
        },
    ],
    "augesc_agreement": [
        {"aspect": "empathy", "samples": 60, "raters_a_sample": 3.0, "share_within_1": 0.8125, "paper_share": 0.8}
    ],
    "augesc_table_4": [
        {
            "aspect": "overall",
            "pairs": 60,
            "win_percent": 58.3,
            "lose_percent": 28.3,
            "tie_percent": 13.3,
            "p": 0.0175,
            "significance": "< 0.05",
            "paper_win_percent": 58,
            "paper_lose_percent": 28,
            "paper_significance": "< 0.05",
        }
    ],
    "augesc_faults": [
        {
            "method": "people",
            "source": "esconv",
            "texts": 130,
            "percent_with_mixed_up_roles": 5.4,
            "statement_pairs": None,
            "percent_of_pairs_contradictory": None,
            "percent_with_topic_shift": 44.4,
            "percent_of_utterances_shifted": 6.1,
            "percent_shifted_by_supporter": 3.0,
            "percent_seen_in_another_conversation": 71.5,
            "mean_similarity": 0.4,
            "mean_other_similarity": 0.2,
            "percent_with_toxicity": 1.5,
            "toxic_by": "none",
        }
    ],
    "dropped_by_reason": [
        {"stage": "augesc_keep_conversations", "unit": "text", "reason": "utterances", "rows": 5, "units": 5}
    ],
}


def page_of(**changes: Any) -> tuple[str, Any]:
    text = report(Findings({**FULL, **changes}, made_with={"rule": HOSTILE}))
    return text, checked(text)


def words(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_the_page_is_whole_and_needs_nothing() -> None:
    _, page = page_of()
    targets = {target.lstrip("#") for target in page.xpath("//nav//@href")}
    assert targets == set(page.xpath("//section/@id"))
    assert len(targets) == 11


def test_each_distribution_is_a_table() -> None:
    shares = [
        {"data_set": name, "role": role, "measure": measure, "from_value": value, "number": 1, "share": share}
        for name, role, measure, value, share in (
            ("ed", "seeker", "utterances_per_session", 3, 0.25),
            ("ed", "seeker", "utterances_per_session", 50, 0.25),
            ("ed", "seeker", "utterances_per_session", 400, 0.5),
            ("esconv", "seeker", "utterances_per_session", 3, 1.0),
            ("reddit", "supporter", "utterance_length", 15, 0.6),
            ("reddit", "supporter", "utterance_length", 105, 0.4),
        )
    ]
    _, page = page_of(augesc_distributions=shares)
    tables = page.xpath("//section[@id='table-2']//details//table")
    assert [[[words(cell) for cell in row] for row in table.iter("tr")] for table in tables] == [
        [
            ["utterances of a role in a conversation", "ESConv, seekers, %", "AugESC-ED, seekers, %"],
            ["3", "100", "25"],
            ["50 and more", "0", "75"],
        ],
        [
            ["tokens of an utterance", "AugESC-Reddit, supporters, %"],
            ["15 to 19", "60"],
            ["100 and more", "40"],
        ],
    ]


def test_it_says_the_numbers() -> None:
    _, page = page_of()
    said = words(page)
    for fact in (
        "980 conversations between",
        "48.2%",
        "paper 49.1%",
        "different words 4,321",
        "tuned model, ED: 2,000",
        "empathy",
        "1.50*† (2.07†)",
        "7.7%",
        "zoom 3",
        "All lengths are in NLTK's word tokens",
        "2.40 (2.42)",
        "81.2%",
        "0.0175",
        "71.5",
        "by: a list of words",
    ):
        assert fact in said, fact
    assert "rated by people yet" not in said


@pytest.mark.parametrize("missing", [*FULL, "all"])
def test_what_is_not_there_is_left_out(missing: str) -> None:
    gone: dict[str, list[Any]] = {name: [] for name in FULL if missing in (name, "all")}
    text, page = page_of(**gone)
    assert page.xpath("//section[@id='limits']")
    assert "None" not in words(page)
    assert "nan" not in text
    if missing in ("augesc_table_3", "all"):
        assert "rated by people yet" in words(page)


@pytest.mark.parametrize(
    ("models", "told"),
    [("recorded:answers.jsonl#sha256:1f", True), ("hf:some/model, recorded:a.jsonl", True), ("hf:recorded", False)],
)
def test_recorded_answers_are_told(models: str, told: bool) -> None:
    page = checked(report(Findings(FULL, made_with={"written by": models})))
    assert ("No model was asked" in words(page)) is told
