"""``maintain``: small files are joined, old versions and leftovers go, and a dry run changes nothing."""

import os
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.maintenance_settings import MaintenanceSettings
from conf.settings import load_settings
from etl.cli import maintain as module
from etl.cli.maintain import is_small, maintain, maintained, optimize, retention_days
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.tables import TABLES
from etl.pipeline.tables.ops import DROPPED
from etl.subtitles.tables import FILES, LEMMAS

DAY = 86_400
WORDS = "word string, lemma string"


@pytest.mark.parametrize(
    ("properties", "days"),
    [({}, 7), ({module.RETENTION: "interval 30 days"}, 30), ({module.RETENTION: "interval 1 day"}, 1), ({"a": "b"}, 7)],
)
def test_a_tables_retention_is_read_from_its_properties(properties: dict[str, str], days: int) -> None:
    assert retention_days(properties) == days


@pytest.mark.parametrize(
    ("files", "size", "small"), [(0, 0, False), (1, 10, False), (2, 10, True), (10, 1_000, False), (10, 499, True)]
)
def test_small_files_are_those_of_less_than_half_the_target(files: int, size: int, small: bool) -> None:
    assert is_small(files, size, 100) == small


def test_what_is_read_together_lies_together() -> None:
    assert optimize("delta.`/x`", LEMMAS) == "OPTIMIZE delta.`/x`"
    assert optimize("delta.`/x`", FILES) == "OPTIMIZE delta.`/x` ZORDER BY (movie_id)"
    for table in TABLES.values():
        first = [name for name, _, _ in table.described[:32]]
        assert set(table.clustered_by) <= set(first)


@pytest.mark.slow
def test_the_uploads_of_a_film_are_read_from_one_file(spark: SparkSession, tmp_path: Path) -> None:
    """200 films with three uploads each, which came in three deliveries, 10 MB together."""
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    lakehouse = Lakehouse(spark, settings.lakehouse)
    own = {
        "source_path": "concat(id, '.xml')",
        "movie_id": "cast(id div 3 AS string)",
        "document_id": "array_join(transform(sequence(1, 256), i -> sha2(concat(id, '/', i), 256)), '')",
        "sentence_count": "1",
        "token_count": "1",
    }
    columns = [F.expr(own.get(one.name, "null")).cast(one.dataType).alias(one.name) for one in FILES.schema]
    for delivery in range(3):
        rows = spark.range(600).where(f"id % 3 = {delivery}").select(*columns)
        lakehouse.append(FILES, rows.repartition(16), {})
    identity = lakehouse.identity(FILES)

    def files_of_a_film() -> float:
        rows = Lakehouse(spark, settings.lakehouse).read(FILES).select("movie_id", F.input_file_name().alias("file"))
        of_each = rows.groupBy("movie_id").agg(F.count_distinct("file").alias("files"))
        found: float = of_each.agg(F.avg("files")).collect()[0][0]
        return found

    assert files_of_a_film() == 3
    kept = MaintenanceSettings(keep_days=7, target_megabytes=1)
    assert maintained(lakehouse, FILES, kept, [], dry_run=False).joined == 48
    after = Lakehouse(spark, settings.lakehouse)
    assert len(after.read(FILES).inputFiles()) > 4
    assert files_of_a_film() < 1.2
    assert after.identity(FILES) == identity
    assert after.read(FILES).count() == 600


@pytest.mark.slow
def test_small_files_old_versions_and_old_ledger_rows_go(spark: SparkSession, tmp_path: Path) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    lakehouse = Lakehouse(spark, settings.lakehouse)
    for word in "abc":
        lakehouse.append(LEMMAS, spark.createDataFrame([(word, word)], WORDS), {})
    kinds = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in DROPPED.schema)
    values = [("find_subtitles",), ("a_stage_of_old",)]
    rows = spark.createDataFrame(values, "stage string").selectExpr(
        *(
            f"stage AS {name}" if name == "stage" else f"cast(null AS {kind}) AS {name}"
            for name, kind in (part.split(" ") for part in kinds.split(", "))
        )
    )
    lakehouse.append(DROPPED, rows, {})
    identity = lakehouse.identity(LEMMAS)
    stored = sorted(Path(lakehouse.path(LEMMAS)).rglob("*"))
    kept = MaintenanceSettings(keep_days=7)
    planned = maintained(lakehouse, LEMMAS, kept, ["find_subtitles"], dry_run=True)
    assert (planned.files, planned.joined, planned.deleted) == (3, 3, 0)
    assert maintained(lakehouse, DROPPED, kept, ["find_subtitles"], dry_run=True).rows == 1
    assert sorted(Path(lakehouse.path(LEMMAS)).rglob("*")) == stored
    assert lakehouse.read(DROPPED).count() == 2
    done = maintained(lakehouse, LEMMAS, kept, ["find_subtitles"], dry_run=False)
    assert done.joined == 3
    fresh = Lakehouse(spark, settings.lakehouse)
    assert fresh.identity(LEMMAS) == identity
    assert sorted(row.word for row in fresh.read(LEMMAS).collect()) == ["a", "b", "c"]
    assert len(fresh.read(LEMMAS).inputFiles()) == 1
    parts = list(Path(lakehouse.path(LEMMAS)).glob("*.parquet"))
    assert len(parts) == 4  # younger than seven days
    for path in parts:
        os.utime(path, (time.time() - 9 * DAY,) * 2)
    assert maintained(lakehouse, DROPPED, kept, ["find_subtitles"], dry_run=False).rows == 1
    assert [row.stage for row in Lakehouse(spark, settings.lakehouse).read(DROPPED).collect()] == ["find_subtitles"]


@pytest.mark.slow
def test_a_dry_run_says_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})
    Lakehouse(spark, settings.lakehouse).append(LEMMAS, spark.createDataFrame([("a", "b")], WORDS), {})
    monkeypatch.setattr(module, "spark_session", lambda settings: spark)
    monkeypatch.setattr(module, "close_session", lambda spark, settings: None)
    assert maintain(settings, ["find_subtitles"], dry_run=True) == 0
    told = capsys.readouterr().out
    assert "subtitles.lemmas" in told
    assert "nothing was changed (--dry-run)" in told
