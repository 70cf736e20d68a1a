"""A batch as files for a crowd platform, and the key that stays at home."""

import csv
import io
import json
import re

import pytest

from conf.errors import InputError
from conf.taxonomy import load_taxonomy
from etl.annotation.batch import Batch
from etl.annotation.exports import Tasks, fitting_tasks
from etl.edos.crowd_batches import batch_files
from etl.edos.crowd_platform import hits_csv, safe_cell, template
from etl.edos.labelling import labelling_batch
from etl.edos.settings import AnnotationSettings
from tests.annotation.batches import task

TAXONOMY = load_taxonomy("edos")


def test_one_row_a_hit_with_everything_escaped() -> None:
    tasks = [
        task("h1", 1, turns=['=HYPERLINK("x")', "<b>bold</b> & 'more'"]),
        task("h1", 2, turns=["- No ."], options=["sad"]),
        task("h2", 1, turns=["Yes .\nNo ."]),
    ]
    rows = list(csv.DictReader(io.StringIO(hits_csv(tasks))))
    assert [row["hit_id"] for row in rows] == ["h1", "h2"]
    assert rows[0]["dialog_1"] == ("→ =HYPERLINK(&quot;x&quot;)<br>→ &lt;b&gt;bold&lt;/b&gt; &amp; &#x27;more&#x27;")
    assert rows[0]["dialog_2"] == "→ - No."
    assert rows[0]["option_2_1"] == "Sad"
    assert rows[0]["option_2_2"] == ""
    assert rows[1]["dialog_1"] == "→ Yes. No."
    assert rows[1]["dialog_2"] == ""
    assert list(rows[0])[:4] == ["hit_id", "batch_id", "item_1", "item_2"]
    assert not [cell for row in rows for cell in row.values() if cell[:1] in tuple("=+-@\t\r")]


def test_cells_that_look_like_formulas_are_quoted() -> None:
    assert [safe_cell(text) for text in ("=1", "+1", "-1", "@x", "\tx", "x=1", "")] == [
        "'=1",
        "'+1",
        "'-1",
        "'@x",
        "'\tx",
        "x=1",
        "",
    ]


def test_the_template_uses_the_tables_columns_and_no_others() -> None:
    tasks = [task("h1", 1), task("h1", 2), task("h2", 1)]
    rows = list(csv.DictReader(io.StringIO(hits_csv(tasks))))
    used = set(re.findall(r"\$\{(\w+)\}", template(tasks, TAXONOMY)))
    assert used == {name for name in rows[0] if name.startswith(("dialog_", "option_"))}
    assert set(re.findall(r'name="(\w+)"', template(tasks, TAXONOMY))) == {
        f"{field}_{place}" for field in ("label", "other", "own") for place in (1, 2)
    }


def test_only_the_key_knows_the_answers() -> None:
    tasks = [task("h1", 1), task("h1", 2, quiz_label="proud", label=None, confidence=None)]
    batch_id, files = batch_files(tasks, TAXONOMY, AnnotationSettings())
    assert set(files) == {
        "annotate.html",
        "hits.csv",
        "template.html",
        "hit_type.json",
        "key.jsonl",
        "label_studio.json",
        "label_studio.xml",
    }
    assert batch_files(list(reversed(tasks)), TAXONOMY, AnnotationSettings()) == (batch_id, files)
    assert batch_files([task("h9", 1)], TAXONOMY, AnnotationSettings())[0] != batch_id
    key = [json.loads(line) for line in files["key.jsonl"].splitlines()]
    assert [row.get("quiz_label") for row in key] == [None, "proud"]
    assert {row["batch_id"] for row in key} == {batch_id}
    assert {row["purpose"] for row in key} == {"crowd"}
    for name in files.keys() - {"key.jsonl"}:
        assert "77-1" not in files[name]
        assert "0.93" not in files[name]


def test_the_hit_type_says_what_is_paid_and_who_may_work() -> None:
    _, files = batch_files([task("h1", 1)], TAXONOMY, AnnotationSettings())
    told = json.loads(files["hit_type.json"])
    assert (told["Reward"], told["MaxAssignments"]) == ("0.40", 3)
    places = told["QualificationRequirements"][0]["LocaleValues"]
    assert [place["Country"] for place in places] == ["US", "GB", "CA", "AU", "NZ"]


def test_an_item_that_the_page_cannot_show_is_left_out() -> None:
    def made(rows: Tasks) -> Batch:
        return labelling_batch(rows, TAXONOMY)

    good = task("h1", 1)
    long = task("h1", 2, turns=["Hi .", "word " * 2_000])
    odd = task("h2", 1, item_id="no id")
    fit, rest = fitting_tasks([good, long, odd], made)
    assert fit == [good]
    assert rest == [
        ("item", "h1/ih12", "too_long_for_page", "Line text: String should have at most 5000 characters", 1),
        ("item", "h2/no id", "unfit_for_page", rest[1][3], 1),
    ]
    assert "pattern" in rest[1][3]
    assert fitting_tasks([good], made) == ([good], [])
    with pytest.raises(InputError, match="the page cannot show the items: String should have at most"):
        fitting_tasks([long], made)
