"""Roots with characters that URIs, globs and SQL read in their own way: the rows are those of other roots."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.chaos.tiny import Rows, Tiny, rows_of

ODD = "Téléch argéments #1 ?x={a,b} `t`"
CHANGED_BY_DELTA_RS = "a%20b [x] 100% é|"
OF_THE_PLACE = {"source", "container", "work_version"}


def _rows(spark: SparkSession, folder: Path, plain: Path) -> tuple[Rows, Rows]:
    """Return the rows with sources, model and tables below a plain folder, and below another."""
    return _run(spark, plain), _run(spark, folder)


def _run(spark: SparkSession, folder: Path) -> Rows:
    folder.mkdir(exist_ok=True)
    tiny = Tiny.made(folder, films=2)
    tiny.run(spark, folder / "lake", spark__short_session=True, pipeline__slice_minutes=10)
    tables = folder.parent / f"tables of {len(list(folder.parent.iterdir()))}"
    shutil.copytree(folder / "lake", tables)  # the comparison reads with delta-rs
    return {
        name: Counter({_elsewhere(row): count for row, count in rows.items()})
        for name, rows in rows_of(None, tiny.settings(tables)).items()
    }


def _elsewhere(row: str) -> str:
    """Return a row without what names its folder, or follows from the time of a file in it."""
    kept = {key: value for key, value in json.loads(row).items() if key not in OF_THE_PLACE}
    return json.dumps(kept, sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [ODD, CHANGED_BY_DELTA_RS])
def test_rows_are_the_same_under_any_root(spark: SparkSession, tmp_path: Path, name: str) -> None:
    expected, found = _rows(spark, tmp_path / name, tmp_path / "plain")
    assert found == expected
