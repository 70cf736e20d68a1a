"""Stories from files of both formats, and which of them are taken."""

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from conf.errors import InputError
from etl.emo_pillars.plot_files import read_stories
from etl.emo_pillars.plots import Story, cut_to_words, select_plots

LAMP = "Ada keeps the lamp on a far island. Her uncle sails away in spring, and no letter comes."
BAKER = "A baker opens a shop beside the harbour. The town does not like his bread, until a storm comes."
GERMAN = "Der junge Wärter wartet auf seinen Onkel, der im Frühling fortgesegelt ist und niemals schreibt."


def taken(*texts: str, limit: int | None = None, words: int = 100) -> tuple[list[str], dict[str, str]]:
    stories = [Story(f"f:{n}", "The Lamp", text) for n, text in enumerate(texts, 1)]
    found = select_plots(stories, limit, words, 0.5)
    assert found.rows_in == len(texts)
    return [row[3] for row in found.rows], {row[1].split("@")[1]: row[2] for row in found.dropped}


def test_plots_that_are_none_are_left_out_with_a_reason() -> None:
    plots, dropped = taken(LAMP, "", "N/A \n ", "?! 1 2 3", GERMAN, f"  {LAMP}", BAKER)
    assert sorted(plots) == sorted([LAMP, BAKER])
    assert dropped == {
        "f:2": "empty_plot",
        "f:3": "empty_plot",
        "f:4": "empty_plot",
        "f:5": "other_language",
        "f:6": "same_plot",
    }


def test_a_limit_takes_the_same_plots_in_any_order() -> None:
    texts = [f"{LAMP} That was in the year {year}." for year in range(1900, 1930)]
    few, dropped = taken(*texts, limit=7)
    assert len(few) == 7
    assert set(dropped.values()) == {"beyond_limit"}
    assert len(dropped) == 23
    assert taken(*texts[::-1], limit=7)[0] == few
    more, _ = taken(*texts, limit=12)
    assert set(few) < set(more)


def test_ids_are_readable_and_of_the_content() -> None:
    one, other = (select_plots([Story("a:1", title, LAMP)], None, 99, 0).rows[0][0] for title in ("The Lamp!", "母"))
    assert one.startswith("the-lamp-")
    assert other.startswith("plot-")
    assert one.rsplit("-")[-1] == other.rsplit("-")[-1]
    assert select_plots([Story("b:9", "The Lamp!", LAMP)], None, 99, 0).rows[0][0] == one


def test_a_long_plot_is_cut_after_a_sentence_and_that_is_recorded() -> None:
    long = " ".join([LAMP] * 2500)
    assert len(long.split()) > 40_000
    row = select_plots([Story("f:1", "Long", long)], None, 1000, 0.5).rows[0]
    text, words, kept = row[3:6]
    assert words == len(LAMP.split()) * 2500 + 3 * 2500
    assert 900 < kept <= 1000
    assert text.endswith(".")
    assert long.startswith(text)


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("One two. Three four.", 9, ("One two. Three four.", 6, 6)),
        ("One two. Three four. Five", 6, ("One two. Three four.", 7, 6)),
        ("One two three. Four five", 5, ("One two three.", 6, 4)),
        ("One. Two three four five six", 5, ("One. Two three four", 7, 5)),
        ("", 5, ("", 0, 0)),
    ],
)
def test_cut_to_words(text: str, most: int, expected: tuple[str, int, int]) -> None:
    assert cut_to_words(text, most) == expected


def test_csv_with_any_columns_around_the_plot(tmp_path: Path) -> None:
    file = tmp_path / "films.csv.gz"
    with gzip.open(file, "wt", encoding="utf-8", newline="") as content:
        rows = csv.writer(content)
        rows.writerow(["Year", "Title", "Plot"])
        rows.writerow(["1901", "Lamp", 'Ada keeps the lamp.\r\nHer uncle sails, and says "wait".'])
        rows.writerow(["1902", "Long", "word " * 60_000])
        rows.writerow(["1903", "Empty", ""])
    found = list(read_stories(str(file)))
    assert [(one.source, one.title) for one in found] == [
        ("films.csv.gz:1", "Lamp"),
        ("films.csv.gz:2", "Long"),
        ("films.csv.gz:3", "Empty"),
    ]
    assert 'says "wait"' in found[0].text
    assert len(found[1].text) == 300_000


def test_wikiplots_pair_of_files_and_a_folder_of_both_kinds(tmp_path: Path) -> None:
    (tmp_path / "plots").write_text("Ada keeps the lamp.\nHer uncle sails.\n<EOS>\n<EOS>\nA baker bakes.\n", "utf-8")
    (tmp_path / "titles").write_text("Lamp\nNothing\nBread\n", "utf-8")
    (tmp_path / "more.csv").write_text("plot,title\nA storm comes.,Storm\n", "utf-8")
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n", "utf-8")
    stories = list(read_stories(str(tmp_path)))
    assert [one for one in stories if one.fault] == [("notes.csv", "", "plot", "no_column", 0)]
    assert [one[:3] for one in stories if not one.fault] == [
        ("more.csv:1", "Storm", "A storm comes."),
        ("plots:1", "Lamp", "Ada keeps the lamp.\nHer uncle sails."),
        ("plots:2", "Nothing", ""),
        ("plots:3", "Bread", "A baker bakes."),
    ]


@pytest.mark.parametrize(
    ("titles", "kept"), [("A\nC\n", ["A", "C"]), ("A\nC\n\n\n", ["A", "C"]), ("A\n", ["", ""]), ("A\nB\nC\n", ["", ""])]
)
def test_no_title_goes_to_another_plot(tmp_path: Path, titles: str, kept: list[str]) -> None:
    (tmp_path / "plots").write_text("a b.\n<EOS>\nc d.\n<EOS>\n", "utf-8")
    (tmp_path / "titles").write_text(titles, "utf-8")
    assert [one.title for one in read_stories(str(tmp_path))] == kept


def test_plots_that_cannot_be_read_are_left_out_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(f'plot,title\n"{LAMP}\n"{BAKER}",Bread\n'.encode() + b"caf\x81,X\n")
    (tmp_path / "b.jsonl").write_text(json.dumps({"Plot": LAMP}) + "\n[]\n{}\n", "utf-8")
    (tmp_path / "c.csv.gz").write_bytes(b"\x1f\x8b no gzip")
    found = select_plots(read_stories(str(tmp_path)), None, 100, 0.5)
    assert sorted(row[3] for row in found.rows) == sorted([BAKER, LAMP])
    assert {row[:3] + row[4:] for row in found.dropped} == {
        ("plot", "a.csv:1", "open_quote", 1),
        ("plot", "a.csv:3", "not_unicode", 1),
        ("file", "c.csv.gz", "bad_gzip", 0),
        ("plot", "b.jsonl:2", "no_object", 1),
        ("plot", "b.jsonl:3", "no_column", 1),
    }
    assert found.rows_in == 6


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (None, b"", "does not exist"),
        ("a.csv", b"title,text\nx,y\n", "holds no file with a column plot"),
        ("a.csv", b"plot\n\xff\xfe\xfa\n", "a.csv:1: not_unicode"),
        ("a.csv.gz", b"\x1f\x8b no gzip", "a.csv.gz: bad_gzip"),
        ("plots", b"A line.\n<EOS>\n", "no_titles: no file `titles` beside it"),
        ("a.txt", b"A line.\n", "a.txt: unknown_format"),
    ],
)
def test_files_that_are_no_stories_are_told_in_one_line(
    tmp_path: Path, name: str | None, content: bytes, message: str
) -> None:
    file = tmp_path / (name or "away.csv")
    if name is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        list(read_stories(str(file)))
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_real_plots_are_read(shared_data: Path) -> None:
    found = select_plots(read_stories(str(shared_data / "plots")), 50, 1500, 0.5)
    assert len(found.rows) == 50
    assert found.rows_in > 4_000
    reasons = Counter(row[2] for row in found.dropped)
    assert reasons["beyond_limit"] > 4_000
    assert reasons["other_language"] == 0
    assert reasons["empty_plot"] == 21  # all of them say N/A
