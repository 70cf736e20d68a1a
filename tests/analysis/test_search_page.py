"""The files of a page that searches all rows: JSON in ASCII, numbered labels, what the page is told of them."""

import json
import re

import pytest
from lxml import html

from etl.analysis.search_page import Item, Row, RowFiles, SearchPage, Source, search_page

HOSTILE = '</script>"); alert(1); //\u2028\u2029\n\\u0041 <b> ${x} \U0001f600 \x00'
TOLD = SearchPage("t", "All", "Filter <them>.", "rows", "label", "least", ("genre", "context"), "source", "report.html")


def content(text: str) -> tuple[str, int, object]:
    """What a file calls, with what: the file is one call with JSON, and nothing else."""
    call = re.fullmatch(r"(rows|sources)\((\d+), (.*)\);\n", text, re.DOTALL)
    assert call is not None
    return call[1], int(call[2]), json.loads(call[3])


@pytest.mark.parametrize("text", [HOSTILE, "", "plain", "\ud800", "'); }} {{ 1 }}"])
def test_a_text_cannot_end_its_file(text: str) -> None:
    row = Row(text, text, [Item(text, [(text, 0.5)])], [[text], []], source=Source(text, [(text, text)]))
    files = dict(RowFiles().add([row]))
    assert list(files) == ["rows-0.js", "sources-0.js"]
    for file in files.values():
        assert file.isascii()
        assert file.count("\n") == 1
    assert content(files["rows-0.js"])[2] == [[text, text, None, 0, [[0], []], [[text, [[0, 0.5]]]], 1]]
    assert content(files["sources-0.js"])[2] == {text: [text, [[text, text]]]}


def test_labels_have_one_number_in_all_files() -> None:
    files = RowFiles()
    first = Row("a", "", [Item("x", [("sad", 0.1), ("angry", 0.2)])], [["Drama"], ["no"]], 1999)
    second = Row("b", "", [Item("y", [("angry", None)])], [["Crime", "Drama"], ["no"]], 1950, crude=True)
    written = {name: text for rows in ([first], [second]) for name, text in files.add(rows)}
    assert content(written["rows-1.js"])[2] == [["b", "", 1950, 1, [[1, 0], [0]], [["y", [[1, None]]]], 0]]
    assert list(written) == ["rows-0.js", "rows-1.js"]
    assert files.files == [(1, 1999, 1999), (1, 1950, 1950)]
    assert (files.count, files.years, files.has_crude) == (2, (1950, 1999), True)


def test_the_page_knows_labels_choices_and_files() -> None:
    files = RowFiles()
    list(files.add([Row(HOSTILE, "", [Item("x", [(HOSTILE, 0.1), ("angry", 0.2)])], [[HOSTILE], ["no"]], None)]))
    text = search_page(TOLD, files, "folder")
    assert "script-src 'sha256-" in text
    assert "' 'self';" in text
    page = html.fromstring(text)
    (form,) = page.xpath("//form")
    about = json.loads(form.get("data-about"))
    assert about["labels"] == [HOSTILE, "angry"]
    assert about["files"] == [[1, None, None]]
    assert (about["folder"], about["count"]) == ("folder", 1)
    options = {select.get("name"): select.xpath("option/@value") for select in page.xpath("//select")}
    assert options == {"label": ["", "0", "1"], "choice-0": ["", "0"], "choice-1": ["", "0"]}
    assert not page.xpath("//input[@name='from'] | //input[@name='crude']")
    assert len(page.xpath("//script")) == 1
    assert page.xpath("//a/@href") == ["report.html"]
