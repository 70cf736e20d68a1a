"""The report's page: what it says of numbers, of missing ones, and of hostile texts."""

from itertools import pairwise
from typing import Any

import pytest
from lxml import html

from conf.papers import paper_table
from etl.edos import report_labels
from etl.edos.findings import EdosFindings
from etl.edos.report import report
from etl.edos.report_making import REASONS
from etl.publishing import pages
from etl.publishing.ledgers import in_words
from etl.publishing.templates import joined
from tests.publishing.html_pages import checked

HOSTILE = "<img src=x onerror=alert(1)> & </style><script>"


def table_3(dialogues: float, turns: float) -> list[dict[str, Any]]:
    return [
        {"place": 1, "criterion": "Total no. of dialogues", "value": dialogues, "paper": 1e6},
        {"place": 2, "criterion": "Total no. of turns", "value": turns, "paper": 2829426.0},
    ]


def label(name: str, kind: str, share: float, ed: float | None = None) -> dict[str, Any]:
    return {
        "place": 1,
        "label": name,
        "kind": kind,
        "turns": int(share * 1000),
        "accepted_turns": None if kind == "neutral" else 60,
        "share": share,
        "paper_turns": 10,
        "paper_share": 0.1,
        "empathetic_turns": int(1000 * (ed or 0)),
        "empathetic_share": ed,
    }


def example(place: int, turn: int, text: str, confidence: float = 0.3) -> dict[str, Any]:
    return {
        "lowest_confidence_from": 0.25,
        "place": place,
        "dialogue_id": f"d{place}",
        "movie_id": "1",
        "turn": turn,
        "text": text,
        "label": "sad",
        "confidence": confidence,
        "label_accepted": turn == 0,
    }


def accepted(
    name: str, least: float | None, turns: int, accuracy: float, taken: int, right: float | None
) -> dict[str, Any]:
    return {
        "label": name,
        "least_confidence": least,
        "turns": turns,
        "accuracy": accuracy,
        "accepted": taken,
        "accepted_accuracy": right,
    }


def gap(kind: str, start: float | None, end: float | None, pairs: int, so_far: float | None) -> dict[str, Any]:
    return {
        "kind": kind,
        "from_seconds": start,
        "to_seconds": end,
        "pairs": pairs,
        "share_of_gaps": None,
        "share_up_to_here": so_far,
        "share_of_blocks_up_to_here": so_far,
    }


def by_turn(corpus: str, position: int, emotions: float, valence: float | None) -> dict[str, Any]:
    shares = {"emotions": emotions, "intents": 1 - emotions, "neutral": 0.0}
    return {"corpus": corpus, "all_lengths": True, "position": position, "turns": 7, "valence": valence, **shares}


FULL: dict[str, list[dict[str, Any]]] = {
    "edos_table_3": table_3(400.0, 1000.0),
    "edos_table_2": [
        {
            "place": 1,
            "dataset": name,
            "labels": int(n),
            "dialogues": int(d),
            "utterances": int(u),
            "publicly_available": o == "true",
        }
        for _, name, n, d, u, o in paper_table("edos_paper_table_2").rows
    ],
    "edos_label_distribution": [
        label("questioning", "intent", 0.5, 0.2),
        label("sad", "emotion", 0.3, 0.0),
        label("neutral", "neutral", 0.2, 0.1),
    ],
    "edos_kl_divergence": [
        {"place": 1, "distribution": "EDOS, ours", "reference": "EmpatheticDialogues", "nats": 0.3456, "paper": 0.2447}
    ],
    "edos_flow": [
        {"corpus": "EDOS", "position": 1, "label": "sad", "to_label": "questioning", "dialogues": 30},
        {"corpus": "EDOS", "position": 1, "label": "sad", "to_label": "sad", "dialogues": 10},
        {"corpus": "EDOS", "position": 1, "label": "neutral", "to_label": None, "dialogues": 60},
    ],
    "edos_emotions_by_turn": [
        by_turn("EDOS", 1, 0.75, -0.5),
        by_turn("EDOS", 2, 0.5, None),
        by_turn("paper", 1, 0.4, 0.25),
        by_turn("paper", 2, 0.3, 0.5),
    ],
    "edos_confidence": [
        {"from_confidence": 0.2, "to_confidence": 0.3, "turns": 250, "share": 0.25},
        {"from_confidence": 0.9, "to_confidence": 1.0, "turns": 750, "share": 0.75},
    ],
    "edos_label_curve": [
        {"surest_share": 0.1, "turns": 100, "least_confidence": 0.9, "accuracy": 0.96},
        {"surest_share": 1.0, "turns": 1000, "least_confidence": 0.05, "accuracy": 0.625},
    ],
    "edos_accepted_labels": [
        accepted("all labels", None, 1000, 0.625, 400, 0.815),
        accepted("sad", 0.6, 200, 0.5, 50, 0.8),
        accepted("proud", None, 10, 0.1, 0, None),
    ],
    "edos_examples": [example(1, 0, HOSTILE), example(1, 1, "Fine ."), example(3, 0, "never shown")],
    "edos_gaps": [
        gap("gap", 0, 0.25, 900, 0.9),
        gap("gap", 4.75, 5.0, 50, 0.95),
        gap("gap", 10, None, 50, 1.0),
        gap("no_time", None, None, 77, None),
    ],
    "edos_funnel": [
        {"place": 1, "step": "subtitle files found", "unit": "files", "units": 10, "paper": 3_700_000},
        {"place": 5, "step": "after cleaning", "unit": "dialogues", "units": 400, "paper": 4_000_000},
        {"place": 6, "step": "most emotional by weak label", "unit": "dialogues", "units": 399, "paper": 1_000_000},
        {"place": 8, "step": "films they come from", "unit": "films", "units": 9, "paper": None},
    ],
    "cleaning_cost": [
        {
            "rule": "too_few_letters",
            "turns": 253,
            "turns_after": 1_549,
            "dialogues": 200,
            "dialogues_dropped": 0,
            "turns_of_dialogues": 0,
        }
    ],
    "edos_weighting": [
        {
            **dict.fromkeys(("encoder", "epochs", "seeds", "weighted_f1", "unweighted_f1", "gain", "gain_sd")),
            "trained_on": "crowd + similar",
            "paper_weighted_f1": 64.86,
            "paper_unweighted_f1": 63.44,
            "paper_gain": 1.42,
        }
    ],
    "edos_similarity_thresholds": [
        {"origin": "similar", "threshold": 0.92, "dialogues": 4123, "with_rival_label": 17, "samples": None}
    ],
    "edos_table_7": [
        {
            **dict.fromkeys(f"{prefix}{name}" for prefix in ("", "paper_") for name in ("distinct_1", "distinct_2")),
            "generator": "edos",
            "source": "edos",
            "setting": "held-out",
            "examples": 321,
            "perplexity": 45.5,
            "similarity": 0.2,
            "paper_perplexity": 54.24,
            "paper_similarity": 0.17,
        }
    ],
    "edos_table_10": [
        {
            **dict.fromkeys(f"paper_{name}" for name in ("epochs", "hours", "validation_perplexity")),
            "generator": "pretrained",
            "parameters": 5_800_000,
            "epochs": 3,
            "hours": 0.5,
            "validation_perplexity": 77.7,
            "paper_parameters": 121_000_000,
        }
    ],
    "edos_table_4": [{"place": 1, "criterion": "Total no.", "value": 12.0, "paper": 10250.0, "paper_recount": 10245.0}],
    "dropped_by_reason": [
        {"stage": "clean_dialogues", "unit": "turn", "reason": "too_long", "rows": 1234, "units": 1234},
        {"stage": "select_emotional", "unit": "dialogue", "reason": "below_top_n", "rows": 1, "units": 1},
    ],
}


def page_of(**changes: Any) -> tuple[str, Any]:
    found = EdosFindings({**FULL, **changes}, {"rule": HOSTILE}, {"macro_f1": 0.5886, "accuracy": 0.6124}, 5.0)
    text = report(found, examples=2)
    return text, checked(text)


def words(element: Any) -> str:
    return " ".join(" ".join(element.itertext()).split())


def test_hostile_texts_are_texts() -> None:
    text, page = page_of()
    assert page.xpath("count(//style)") == 1
    assert text.count("&lt;img src=x") == 2


def test_every_picture_is_well_formed() -> None:
    _, page = page_of()
    for picture in page.xpath("//svg[@role='img']"):
        assert picture.get("aria-label")
    assert len(page.xpath("//svg[@role='img']")) == 1  # silences


def test_it_says_the_numbers() -> None:
    _, page = page_of()
    said = words(page)
    for fact in (
        "400 short dialogues from 9 films",
        "Preset released: the paper's method",
        "The highest 399 of 400 clean dialogues were chosen",
        "10,250 10,245",
        "1,000 turns",
        "macro-F1 is 58.9",
        "accuracy 61.2 of 100",
        "25.0% of the turns have a confidence under 50%",
        "the surest 10%: 96.0% right, 100 turns 96.0% 0.90",
        "right as often as all are, 62.5%",
        "40.0% of the test turns, 81.5% of them right",
        "most frequent label is questioning with 50.0%",
        "intents together have 50.0%",
        "Accepted are 15.0% of the labels and 20.0% of the emotions",
        "(sad) 0.30 Fine.",
        "0.3456",
        "crowd + similar",
        "0.92 4,123 17",
        "121,000,000",
        "paper perplexity",
        "40.0% of the dialogues open with an emotion",
        "75.0% of those are answered with an intent",
        "90.0% of the silences are shorter than 3 s",
        "5.0% are 5 s or longer",
        "77 without a time",
        "−1,802 turns: too few letters (253 its own, 1,549 after them)",
        "−1 dialogue: less emotional than those chosen",
    ):
        assert fact in said, fact
    assert "never shown" not in said
    assert "checked by people yet" not in said


def test_links_lead_to_sections_and_headings_are_in_order() -> None:
    _, page = page_of()
    targets = {target.lstrip("#") for target in page.xpath("//nav//@href")}
    assert targets == set(page.xpath("//section/@id"))
    assert len(targets) >= 10
    levels = [int(heading.tag[1]) for heading in page.xpath("//h1 | //h2 | //h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("missing", [*FULL, "all"])
def test_what_is_not_there_is_left_out(missing: str) -> None:
    gone: dict[str, list[Any]] = {name: [] for name in FULL if missing in (name, "all")}
    text, page = page_of(**gone)
    assert page.xpath("//section[@id='limits']")
    assert "None" not in words(page)
    assert "nan" not in text


def test_the_cost_of_each_cleaning_rule_is_a_row() -> None:
    _, page = page_of()
    (row,) = page.xpath("//section[@id='left-out' or @id='dropped']//tr[contains(., 'too few letters')]")
    assert [" ".join(cell.itertext()).strip() for cell in row.xpath("*")][1:] == ["253", "1,549", "200", "0", "0"]


def test_a_list_of_labels_filters_the_dialogues() -> None:
    _, page = page_of()
    assert page.xpath("//*[@id='label-filter']//option/text()") == ["any label", "sad"]
    assert page.xpath("//article/@data-labels") == ["sad|sad"]


def test_an_empty_set_is_reported_too() -> None:
    text = report(EdosFindings({"edos_table_3": table_3(0.0, 0.0)}))
    assert "0 short dialogues from 0 films" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (1234567, "1,234,567"),
        (1e6, "1,000,000"),
        (0.46, "0.46"),
        (2.8299999, "2.83"),
        ("a_b", "a_b"),
        (0.00001, "0"),
    ],
)
def test_cells_are_readable(value: object, text: str) -> None:
    assert pages.shown(value) == text


def test_a_frame_holds_a_whole_page_without_code() -> None:
    frame = html.fromstring(pages.framed("Title & more", pages.paragraph(HOSTILE), 300))
    (inner,) = frame.xpath("//iframe")
    assert inner.get("sandbox") == ""
    assert inner.get("title") == "Title & more"
    page = html.fromstring(inner.get("srcdoc"))
    assert page.xpath("//p/text()") == [HOSTILE]
    assert not page.xpath("//script | //img")
    assert "script-src 'none'" in inner.get("srcdoc")


def test_texts_among_parts_are_escaped() -> None:
    assert joined([pages.heading("a"), "<b>"]).strip().endswith("&lt;b&gt;")


def test_the_step_of_reading_accounts_for_files_that_could_not_be_read() -> None:
    steps = [
        {"place": 1, "step": "subtitle files found", "unit": "files", "units": 155, "paper": 3_700_000},
        {"place": 2, "step": "read", "unit": "files", "units": 136, "paper": None},
        *FULL["edos_funnel"][1:],
    ]
    again = {"stage": "ingest_subtitles", "unit": "file", "reason": "same_upload_again", "rows": 3, "units": 3}
    page, _ = page_of(edos_funnel=steps, dropped_by_reason=[again])
    assert "−16 files: quarantined" in page
    assert "−3 files: a second copy of an upload" in page
    page, _ = page_of(edos_funnel=steps, dropped_by_reason=[{**again, "rows": 19, "units": 19}])
    assert "files: quarantined" not in page


@pytest.mark.parametrize(
    ("nats", "said"),
    [
        (0.2675, "its Table 9 gives 0.2675 by this formula."),
        (0.53, "its Table 9 gives 0.2675 by this formula against the whole of EmpatheticDialogues, and 0.53 against"),
        (None, "its Table 9 gives 0.2675 by this formula."),
    ],
)
def test_the_note_on_the_divergence_agrees_with_its_row(nats: float | None, said: str) -> None:
    rows = [
        {"place": 1, "distribution": "EDOS, ours", "reference": "EmpatheticDialogues", "nats": 0.4, "paper": 0.2447},
        {"place": 2, "distribution": PAPER_ROW, "reference": "EmpatheticDialogues", "nats": nats, "paper": 0.2447},
    ]
    labels = [label("sad", "emotion", 0.6, 0.5), label("questioning", "intent", 0.4, 0.5)]
    page = str(
        report_labels.labels(
            EdosFindings(
                {"edos_kl_divergence": rows, "edos_label_distribution": labels, "edos_table_3": table_3(4, 10)}
            )
        )
    )
    assert said in " ".join(html.fromstring(page).text_content().split())


PAPER_ROW = report_labels.CORPORA[report_labels.PAPER]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("EmpatheticDialogues", "Empathetic<wbr/>Dialogues"),
        ("EDOS, ours", "EDOS, ours"),
        ("MiniLM", "MiniLM"),
        ("version of edos.training_dialogues", "version of edos.<wbr/>training_<wbr/>dialogues"),
        ("0.5 and .gz", "0.5 and .gz"),
        ("<b>OtherWords</b>", "&lt;b&gt;Other<wbr/>Words&lt;/b&gt;"),
    ],
)
def test_joined_words_break_between_them(text: str, shown: str) -> None:
    assert str(pages.breakable(text)) == shown


@pytest.mark.parametrize(
    ("reason", "words"),
    [("below_top_n", "less emotional than those chosen"), ("documentary", "documentary"), ("new_rule", "new rule")],
)
def test_reasons_are_words(reason: str, words: str) -> None:
    assert in_words(reason, REASONS) == words


def cells(chart: Any) -> list[list[str]]:
    """The names and numbers of a chart's rows, without its bars."""
    return [[words(cell) for cell in row.xpath("th | td[@class='n']")] for row in chart.xpath(".//tbody/tr")]


def test_scores_by_label_name_the_run_and_the_best_comes_first() -> None:
    scores = [("sad", 0.25), (HOSTILE, 0.75)]
    rows = [{"label": name, "precision": 0.5, "recall": 0.4, "f1": f1, "support": 7} for name, f1 in scores]
    page = checked(report(EdosFindings(FULL, classes=rows, training="crowd, seed 13")))
    (section,) = page.xpath("//section[@id='classes']")
    (chart,) = section.xpath(".//table[@class='chart']")
    assert cells(chart) == [[HOSTILE, "75.0%", "7"], ["sad", "25.0%", "7"]]
    assert [words(one) for one in section.xpath(".//details//tbody/tr")][1] == "sad 0.25 0.5 0.4 7"
    assert "The MLflow run crowd, seed 13 has them" in words(section)
    assert not page_of()[1].xpath("//section[@id='classes']")
