"""Links that are signed, and items that a page cannot show."""

import csv
import hashlib
import hmac
import io
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pyspark.sql import SparkSession

from conf.edos_settings import AnnotationSettings
from conf.errors import InputError
from conf.settings import load_settings
from conf.taxonomy import load_taxonomy
from etl.annotation.batch import Batch
from etl.annotation.crowd_platform import template
from etl.annotation.exports import batch_files, fitting_tasks, form_files
from etl.annotation.form_files import write_batch
from etl.annotation.labelling import labelling_batch
from etl.annotation.signing import Signing, secret_of
from etl.augesc.rating_form import RATING_FORM
from etl.tables.edos_annotation import ANNOTATION_TASKS
from tests.annotation.batches import task
from tests.stages import stage_run

TAXONOMY = load_taxonomy("edos")
SIGNING = Signing("secret of the batch", 3)


def made(rows: list) -> Batch:
    return labelling_batch(rows, TAXONOMY)


def test_each_seat_of_each_hit_has_a_link_that_only_the_key_can_check() -> None:
    tasks = [task("h1", 1), task("h1", 2), task("h2", 1)]
    batch_id, files = batch_files(tasks, "crowd", TAXONOMY, AnnotationSettings(), 3, SIGNING)
    links = list(csv.DictReader(io.StringIO(files["links.csv"])))
    key = {row["hit_id"]: row["signatures"] for row in map(json.loads, files["key.jsonl"].splitlines())}
    assert len(links) == 2 * (3 + 2)
    assert len({link["link"] for link in links}) == 10
    for link in links:
        given = {name: value for name, (value,) in parse_qs(urlsplit(link["link"]).fragment).items()}
        assert given["hit"] == link["hit_id"]
        assert key[given["hit"]][given["seat"]] == given["sign"]
    by_hand = hmac.new(b"secret of the batch", f"{batch_id}/h1/2".encode(), hashlib.sha256).hexdigest()[:20]
    assert key["h1"]["2"] == by_hand
    assert key["h1"]["1"] != key["h2"]["1"] != key["h2"]["2"]
    table = list(csv.DictReader(io.StringIO(files["hits.csv"])))
    assert [row["sign"] for row in table] == [key[row["hit_id"]]["platform"] for row in table]
    shown = files["annotate.html"] + files["hit_type.json"] + template(tasks, TAXONOMY)
    assert "secret of the batch" not in "".join(text for name, text in files.items() if name != "key.jsonl")
    assert not [sign for signs in key.values() for sign in signs.values() if sign in shown]
    assert key["h1"]["platform"] not in files["links.csv"]


def test_a_form_is_signed_too() -> None:
    turns = [{"role": "seeker", "text": "I lost my keys."}]
    row = {"hit_id": "h1", "position": 1, "item_id": "i1", "method": "m", "source": "s", "text_id": "t", "turns": turns}
    _, files = form_files(RATING_FORM, [row], None, SIGNING)
    assert set(files) == {"annotate.html", "key.jsonl", "links.csv"}
    assert json.loads(files["key.jsonl"])["signatures"]["1"] in files["links.csv"]
    assert set(form_files(RATING_FORM, [row], None)[1]) == {"annotate.html", "key.jsonl"}


def test_a_secret_is_kept_with_the_batch_and_new_ones_differ() -> None:
    _, files = batch_files([task("h1", 1)], "crowd", TAXONOMY, AnnotationSettings(), 3, SIGNING)
    assert secret_of(files["key.jsonl"]) == "secret of the batch"
    fresh = {secret_of(text) for text in (None, "", "{", "[1]", '{"batch_id": "b"}', '{"batch_secret": 7}')}
    assert len(fresh) == 6
    assert all(len(secret) == 32 for secret in fresh)


def test_an_item_that_the_page_cannot_show_is_left_out() -> None:
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
    with pytest.raises(InputError, match=r"the page cannot show the items: Value error") as error:
        fitting_tasks([good, good], made)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="the page cannot show the items: String should have at most"):
        fitting_tasks([long], made)


def test_files_keep_their_links_and_left_out_items_are_in_the_ledger(spark: SparkSession, tmp_path: Path) -> None:
    rows = [task("h1", 1), task("h1", 2, turns=["word " * 2_000]), task("h2", 1)]
    columns = [name for name in ANNOTATION_TASKS.columns if name in rows[0]]
    schema = ANNOTATION_TASKS.schema
    tasks = spark.createDataFrame(
        [tuple(row[name] for name in columns) for row in rows], type(schema)([schema[name] for name in columns])
    )
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path)})
    run = stage_run(spark, settings, tmp_path)
    first, second = (
        write_batch(tasks, "crowd", settings.edos.taxonomy, settings.edos.annotation, 3, run) for _ in range(2)
    )
    assert first.rows.collect() == second.rows.collect(), "a second export leaves the links as they are"
    assert first.dropped is not None
    assert [(row.id, row.reason, row.units) for row in first.dropped.collect()] == [("h1/ih12", "too_long_for_page", 1)]
    (folder,) = (tmp_path / "annotation").iterdir()
    key = [json.loads(line) for line in (folder / "key.jsonl").read_text("utf-8").splitlines()]
    assert {row["item_id"] for row in key} == {"ih11", "ih21"}
    assert (folder / "links.csv").is_file()
    assert {(row.hits, row.items) for row in first.rows.collect()} == {(2, 2)}
