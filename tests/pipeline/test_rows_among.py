"""The rows of a batch come from the stored files that have them, and nothing is sent through the network for it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from etl.pipeline import rows_among as module
from etl.pipeline.rows_among import is_named, rows_added, rows_among

Change = Callable[[SparkSession, str], object]
SENTENCE = "struct<index: int, block_first: int, block_last: int, start_ms: int, end_ms: int, text: string>"


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Delta table of 40 rows in 20 files under a path with a blank and a percent sign; in each two neighbours."""
    found = tmp_path_factory.mktemp("stored") / "a b%20c"
    rows = spark.range(40).selectExpr(
        "concat('film ', lpad(id, 2, '0'), '.xml') AS source_path",
        "concat('m', id div 4) AS movie_id",
        "id AS sentences",
    )
    rows.repartitionByRange(20, "source_path").write.format("delta").save(str(found))
    return found


@pytest.fixture
def stored(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.format("delta").load(str(folder))


@pytest.fixture
def changing(folder: Path, tmp_path: Path) -> str:
    """The folder of a copy of the table, for a test that changes it."""
    return str(shutil.copytree(folder, tmp_path / folder.name))


def paths(rows: DataFrame) -> list[str]:
    return sorted(row.source_path for row in rows.select("source_path").collect())


def test_only_the_files_that_have_rows_of_the_batch_are_read(spark: SparkSession, stored: DataFrame) -> None:
    batch = spark.createDataFrame([("film 03.xml",), ("film 21.xml",), ("gone.xml",), (None,)], "source_path string")
    found = rows_among(stored, "source_path", batch)
    assert paths(found) == ["film 03.xml", "film 21.xml"]
    assert found.columns == stored.columns
    assert len(stored.inputFiles()) == 20
    assert len(found.inputFiles()) == 2
    films = spark.createDataFrame([("m2",), ("m2",)], "movie_id string")
    assert paths(rows_among(stored, "movie_id", films)) == [f"film {n:02d}.xml" for n in (8, 9, 10, 11)]
    assert paths(rows_among(stored, "source_path", batch.limit(0))) == []


def test_few_values_are_looked_for_in_the_stored_files_that_may_have_them(
    stored: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case, numbers, most, read in (
        ("far apart", [3, 21], 2, 2),
        ("by the range", [3, 21], 1, 10),
        ("neighbours", [0, 1, 39], 16, 2),
        ("pairs of neighbours", [0, 1, 38, 39], 2, 2),
        ("none there", [99], 16, 0),
        ("no values", [], 16, 0),
    ):
        monkeypatch.setattr(module, "MOST_RANGES", most)
        found = stored.where(module.is_one_of("source_path", [f"film {n:02d}.xml" for n in numbers]))
        assert paths(found) == [f"film {n:02d}.xml" for n in numbers if n < 40], case
        assert len(found.inputFiles()) == read, case


def test_a_large_batch_and_a_small_table_have_the_same_rows(
    spark: SparkSession, stored: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = stored.where("sentences % 7 = 0").select("source_path", "movie_id")
    expected = paths(stored.where("sentences % 7 = 0"))
    assert paths(rows_among(stored, "source_path", batch)) == expected
    monkeypatch.setattr(module, "MOST_FILES", 100)
    assert paths(rows_among(stored, "source_path", batch)) == expected
    assert is_named(batch)
    monkeypatch.setattr(module, "MOST_NAMED", 3)
    assert not is_named(batch)
    assert paths(rows_among(stored, "source_path", batch)) == expected
    in_memory = spark.createDataFrame(stored.collect(), stored.schema)
    assert paths(rows_among(in_memory, "source_path", batch)) == expected


def more(spark: SparkSession, folder: str) -> None:
    rows = spark.range(40, 43).selectExpr("concat('film ', id, '.xml') AS source_path", "'m9' AS movie_id", "id AS n")
    rows.withColumnRenamed("n", "sentences").write.format("delta").mode("append").save(folder)


def added_since_the_first_version(spark: SparkSession, folder: str) -> DataFrame | None:
    now = spark.read.format("delta").load(folder)
    return rows_added(now, spark.read.format("delta").option("versionAsOf", 0).load(folder))


def with_vectors(spark: SparkSession, folder: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{folder}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{folder}` WHERE sentences = 7")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda spark, folder: None, []),
        (more, ["film 40.xml", "film 41.xml", "film 42.xml"]),
        (lambda spark, folder: spark.sql(f"DELETE FROM delta.`{folder}` WHERE sentences = 7"), None),
        pytest.param(lambda spark, folder: spark.sql(f"OPTIMIZE delta.`{folder}`"), None, marks=pytest.mark.long),
        pytest.param(
            lambda spark, folder: spark.sql(f"UPDATE delta.`{folder}` SET movie_id = 'm' WHERE sentences = 7"),
            None,
            marks=pytest.mark.long,
        ),
    ],
    ids=["nothing", "rows added", "rows deleted", "files joined", "rows changed"],
)
def test_rows_that_were_added_are_read_from_the_new_files(
    spark: SparkSession, changing: str, change: Change, found: list[str] | None
) -> None:
    change(spark, changing)
    added = added_since_the_first_version(spark, changing)
    assert (None if added is None else paths(added)) == found
    if added is not None:
        assert added.columns == spark.read.format("delta").load(changing).columns
        assert len(added.inputFiles()) < 20


def test_rows_that_another_program_deleted_do_not_come_back(spark: SparkSession, changing: str) -> None:
    more(spark, changing)
    with_vectors(spark, changing)
    assert added_since_the_first_version(spark, changing) is None
    table = spark.read.format("delta").load(changing)
    batch = spark.createDataFrame([(f"film {n:02d}.xml",) for n in range(10)], "source_path string")
    assert paths(rows_among(table, "source_path", batch)) == [f"film {n:02d}.xml" for n in range(10) if n != 7]


def test_rows_that_are_in_no_files_are_not_told_apart(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a",)], "source_path string")
    added = rows_added(rows, rows)
    assert added is not None
    assert added.count() == 0
