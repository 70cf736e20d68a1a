"""Input that grows, changes, goes and is withdrawn: each time the tables are those of a run that saw only the rest."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.errors import InputError
from etl.cli.withdraw import withdraw, withdraw_with
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables.ops import DROPPED
from etl.subtitles.tables import WITHDRAWN
from tests.chaos.tiny import Rows, Tiny, losses, rows_of, stages, subtitles

pytestmark = pytest.mark.usefixtures("tables")
FILM = "xml/en/1999/3"


def names(rows: Rows, table: str, column: str) -> set[str]:
    return {json.loads(row)[column] for row in rows[table]}


def has(rows: Rows, text: str) -> list[str]:
    return [name for name, found in rows.items() if any(text in row for row in found)]


def other_words(tiny: Tiny) -> None:
    """A file is replaced by one of other words."""
    path = tiny.source / "xml/en/1999/1/12.xml"
    changed = subtitles(1, 2).replace(b"river", b"ocean").replace(b"candle", b"saucer").replace(b"letter", b"ticket")
    assert changed != path.read_bytes()
    path.write_bytes(changed)


def repaired(tiny: Tiny) -> None:
    """The first copy, which was quarantined, is intact now: it is read, and the second is left out."""
    (tiny.source / "a/xml/en/1999/1/11.xml").write_bytes(subtitles(1, 1))
    (tiny.source / "xml/en/1999/9/901.xml").write_bytes(subtitles(9, 1))


def damaged(tiny: Tiny) -> None:
    """Files that were read cannot be read any more: they go to the quarantine, and a copy takes the place of one."""
    for name in ("21.xml", "22.xml"):
        (tiny.source / "xml/en/1999/2" / name).write_bytes(b"<document><s>")
    os.utime(tiny.source / "xml/en/1999/1/12.xml", ns=(1, 1))  # touched only


def gone_and_new(tiny: Tiny) -> None:
    shutil.rmtree(tiny.source / FILM)
    tiny.add_film(4)


@pytest.mark.slow
@pytest.mark.parametrize("change", [other_words, repaired, damaged, gone_and_new])
def test_what_follows_from_a_changed_file_follows(
    spark: SparkSession, tmp_path: Path, change: Callable[[Tiny], None]
) -> None:
    tiny = Tiny.made(tmp_path / "chaos", films=3)
    tiny.run(spark, tmp_path / "lake")
    before = rows_of(spark, tiny.settings(tmp_path / "lake"))
    assert all(before.values())
    assert "xml/en/1999/1/11.xml" in names(before, "subtitles.files", "source_path")
    change(tiny)
    tiny.run(spark, tmp_path / "lake")
    tiny.run(spark, tmp_path / "fresh")
    changed, fresh = (rows_of(spark, tiny.settings(tmp_path / name)) for name in ("lake", "fresh"))
    assert losses(fresh, changed) == (0, 0)
    assert changed["subtitles.clean_dialogues"] != before["subtitles.clean_dialogues"]
    if change is other_words:
        assert has(changed, "ocean")
        assert has(before, "ocean") == []
    if change is gone_and_new:
        assert has(changed, FILM) == []


@pytest.mark.slow
def test_a_withdrawn_film_goes_from_every_table(spark: SparkSession, tmp_path: Path) -> None:
    tiny = Tiny.made(tmp_path / "chaos", films=3)
    root = tmp_path / "lake"
    settings = tiny.settings(root)
    tiny.run(spark, root)
    whole = rows_of(spark, settings)
    assert len(has(whole, FILM)) >= 5
    named = {"film": ["3"], "file": ["xml/en/1999/2/22.xml"]}
    withdraw_with(spark, settings, stages(), named, ("asked for", False), [])
    left = rows_of(spark, settings)
    lakehouse = Lakehouse(spark, settings.lakehouse)
    told = {row.id: (row.stage, row.detail) for row in lakehouse.read(DROPPED).where("reason = 'withdrawn'").collect()}
    paths = [f"{FILM}/31.xml", f"{FILM}/32.xml", "xml/en/1999/2/22.xml"]
    assert told == dict.fromkeys(paths, ("find_subtitles", "asked for"))
    assert has(left, f"{FILM}/") == []
    assert has(left, "22.xml") == []
    moved = tmp_path / "moved"
    (tiny.source / FILM).rename(moved)
    (tiny.source / "xml/en/1999/2/22.xml").rename(tmp_path / "22.xml")
    tiny.run(spark, tmp_path / "never")
    assert losses(rows_of(spark, tiny.settings(tmp_path / "never")), left) == (0, 0)
    moved.rename(tiny.source / FILM)
    (tmp_path / "22.xml").rename(tiny.source / "xml/en/1999/2/22.xml")
    withdraw_with(spark, settings, stages(), named, ("", True), [])
    assert lakehouse.read(WITHDRAWN).count() == 0
    assert losses(whole, rows_of(spark, settings)) == (0, 0)


def test_what_to_withdraw_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--film ID"):
        withdraw(Tiny(tmp_path).settings(tmp_path), [], {"film": [], "file": []}, "", False)
