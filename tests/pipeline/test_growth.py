"""A stage whose input has grown a little looks for its work once, and its rows are those of a run that saw all."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import Settings, load_settings
from etl.pipeline.incremental import BatchPlan
from etl.pipeline.outcome import Outcome, dropped_columns
from etl.pipeline.planner import PipelineContext
from etl.pipeline.progress import Progress
from etl.pipeline.runner import StageError
from etl.pipeline.stages import Incremental, RowAccounting, Stage, Units
from etl.pipeline.tables.model import Table
from etl.pipeline.tables.ops import DROPPED, WORK_VERSION
from tests.stages import run_stages, untyped

pytestmark = pytest.mark.usefixtures("tables_of_test")

BOOKS = Table("trial.books", "A book.", "book string, edition int, first int, pages int", ("book",))
PAGES = Table("trial.pages", "A page.", "page string, book string, work_version bigint", ("page",))


def pages(books: DataFrame, run: object) -> Outcome:
    """Number the pages; those with a number that 5 divides are left out."""
    each = books.select("book", F.explode(F.expr("sequence(first, first + pages - 1)")).alias("number"))
    out = F.col("number") % 5 == 0
    dropped = each.where(out).select(*dropped_columns("page", "number", "fifth"), F.col("book").alias("work_key"))
    return Outcome(each.where(~out).select(F.col("number").cast("string").alias("page"), "book"), dropped)


def stage_with(folder: Path | None = None) -> Stage:
    """The stage; its units leave a file in the folder each time that they are computed."""

    def noted(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        if folder is not None:
            (folder / f"{len(list(folder.iterdir()))}").touch()
        yield from batches

    def units(books: DataFrame, run: object) -> DataFrame:
        columns = "book string, edition int, first int, pages int"
        read = books.coalesce(1).mapInPandas(noted, columns)
        return read.withColumn(WORK_VERSION, F.xxhash64("book", "edition"))

    return Stage(
        name="number_pages",
        function=untyped(pages),
        prepare=untyped(units),
        module=__name__,
        reads=(BOOKS,),
        writes=PAGES,
        incremental=Incremental("book", "sum(pages)", 1_000_000, prepare=units, units=Units.VERSIONED, name="books"),
        units=RowAccounting("pages", "sum(pages)"),
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake"), "spark.short_session": False})


Books = tuple[tuple[str, int, int, int], ...]


def put(spark: SparkSession, settings: Settings, *books: tuple[str, int, int, int]) -> None:
    lakehouse = PipelineContext(spark, settings).lakehouse
    lakehouse.replace(BOOKS, spark.createDataFrame(list(books), BOOKS.schema), {})


def made(spark: SparkSession, settings: Settings, stage: Stage) -> list[list[Any]]:
    """Run the stage; its table, its ledger and its account."""
    place = PipelineContext(spark, settings)
    run_stages(place, (stage,))
    rows = place.lakehouse.read(PAGES).select("page", "book").collect()
    dropped = place.lakehouse.read(DROPPED).select("id", "work_key").collect()
    last = place.log.last(stage.name, "done")
    assert last is not None
    return [sorted(rows), sorted(dropped), [last.rows_in, last.rows_out, last.rows_dropped]]


FIRST: Books = (("a", 1, 1, 6), ("b", 1, 11, 3), ("c", 1, 21, 4))
NIGHT: Books = (("a", 2, 51, 4), FIRST[1], ("d", 1, 31, 7))
"""A new edition, a book that is gone, and a new one."""


def test_a_night_ends_with_the_rows_and_the_account_of_its_input(
    spark: SparkSession, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, str]] = []

    def tell(_: Progress, plan: BatchPlan, unit: str) -> None:
        told.append((sum(units for units, _ in plan.work.values()), unit))

    monkeypatch.setattr(Progress, "tell_new", tell)
    put(spark, settings, *FIRST)
    made(spark, settings, stage_with())
    put(spark, settings, *NIGHT)
    (tmp_path / "computed").mkdir()
    assert told == [], "a first run"
    grown = made(spark, settings, stage_with(tmp_path / "computed"))
    assert told == [(2, "books")]
    assert len(list((tmp_path / "computed").iterdir())) == 1
    numbers = [(f"{n}", book) for book, _, first, pages in NIGHT for n in range(first, first + pages)]
    fifths = [one for one in numbers if int(one[0]) % 5 == 0]
    rest = [one for one in numbers if one not in fifths]
    assert grown == [sorted(rest), sorted(fifths), [len(numbers), len(rest), len(fifths)]]


def test_a_key_of_a_new_row_that_an_old_row_has_is_found(spark: SparkSession, settings: Settings) -> None:
    put(spark, settings, *FIRST)
    made(spark, settings, stage_with())
    put(spark, settings, *FIRST, ("d", 1, 12, 5))
    with pytest.raises(StageError, match=r"trial\.pages has 2 rows too many for its key page"):
        made(spark, settings, stage_with())


def test_rows_that_somebody_else_changed_are_counted_as_they_are(spark: SparkSession, settings: Settings) -> None:
    put(spark, settings, *FIRST)
    whole = made(spark, settings, stage_with())
    PipelineContext(spark, settings).lakehouse.delete(PAGES, "book = 'b'", {})
    assert made(spark, settings, stage_with()) == whole
    PipelineContext(spark, settings).lakehouse.delete(PAGES, "page = '3'", {})
    with pytest.raises(StageError, match=r"number_pages does not add up: 13 pages in, 11 out, 1 dropped"):
        made(spark, settings, stage_with())
