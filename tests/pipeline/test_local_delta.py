"""Tables that delta-rs makes and appends to are those that Spark would have made."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.settings import LakehouseSettings
from etl.pipeline import local_delta
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.local_delta import LocalTables, SmallTables
from etl.pipeline.spark_tables import PROPERTIES, SparkTables
from etl.pipeline.tables import TABLES
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS
from etl.publishing.without_spark import connect
from etl.subtitles.tables import GAPS

EVENT: dict[str, Any] = {
    "stage": "s",
    "run_id": "r",
    "event": "started",
    "started": datetime(2020, 2, 29, 23, 59, 59, 123456, UTC),
    "seconds": 0.5,
    "slices": 1,
    "unit": "files",
    "rows_in": None,
    "rows_out": 2**40,
    "rows_dropped": 0,
    "rows_quarantined": 0,
    "input_versions": {"a.b": "id:3", "c.d": "it's"},
    "settings_hash": "h",
    "stage_version": 1,
    "models": {},
    "output_version": None,
    "package_version": "tree",
    "task_seconds": 0.25,
    "detail": "why",
    "settings": {"pipeline.slice_minutes": "20.0"},
    "figures": {"accuracy": 0.5},
}


def lakehouse(spark: SparkSession, folder: Path) -> Lakehouse:
    return Lakehouse(spark, LakehouseSettings(root=str(folder)))


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("subtitles.turn_scores", "edos.turn_embeddings")),
        "ops.dropped",
    ],
)
def test_a_table_is_as_spark_creates_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table = TABLES[name]
    found = []
    for folder, with_delta_rs in (("one", True), ("other", False)):
        monkeypatch.setattr(local_delta, "available", lambda with_delta_rs=with_delta_rs: with_delta_rs)
        here = lakehouse(spark, tmp_path / folder)
        here.ensure(table)
        first = (Path(here.path(table)) / "_delta_log" / f"{0:020}.json").read_text("utf-8")
        assert ("delta-rs" in first) == with_delta_rs
        detail = spark.sql(f"DESCRIBE DETAIL {here.reference(table)}").first()
        assert detail is not None
        columns = spark.sql(f"DESCRIBE {here.reference(table)}").collect()
        found.append(
            (
                detail.description,
                detail.partitionColumns,
                detail.properties,
                detail.minReaderVersion,
                detail.minWriterVersion,
                columns,
                spark.table(here.reference(table)).schema.jsonValue(),
            )
        )
    assert found[0] == found[1]
    assert found[0][2] == PROPERTIES


def test_rows_appended_without_spark_are_read_by_both(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    here.append_row(STAGE_RUNS, EVENT, {"run_id": "r", "token": "hf_0123456789abcdefghijklmnop"})
    here.append_row(STAGE_RUNS, EVENT | {"event": "done"}, {"run_id": "r"})
    assert sorted(row["event"] for row in here.rows(STAGE_RUNS)) == ["done", "started"]
    assert EVENT in here.rows(STAGE_RUNS)
    started = here.read(STAGE_RUNS).where("event = 'started'")
    by_spark = started.selectExpr("*", "unix_micros(started) AS micros").first()
    assert by_spark is not None
    assert by_spark.micros == round(EVENT["started"].timestamp() * 1e6)
    assert by_spark.input_versions == EVENT["input_versions"]
    assert {commit["run_id"] for commit in here.commits(STAGE_RUNS, "r")} == {"r"}
    commits = "".join(path.read_text("utf-8") for path in Path(here.path(STAGE_RUNS), "_delta_log").glob("*.json"))
    assert "hf_0123456789" not in commits


def test_what_a_check_forbids_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="event"):
        lakehouse(spark, tmp_path).append_row(STAGE_RUNS, EVENT | {"event": "unknown"}, {})


def test_a_table_that_needs_a_newer_writer_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    here.ensure(STAGE_RUNS)
    feature = "'delta.feature.domainMetadata' = 'supported'"
    spark.sql(f"ALTER TABLE {here.reference(STAGE_RUNS)} SET TBLPROPERTIES ({feature})")
    assert local_delta.opened(here.path(STAGE_RUNS)) is None
    here.append_row(STAGE_RUNS, EVENT, {"run_id": "r"})
    assert [row["stage"] for row in here.rows(STAGE_RUNS)] == ["s"]


def test_a_table_kept_open_follows_the_commits_of_others(spark: SparkSession, tmp_path: Path) -> None:
    here, other = (Lakehouse(spark, LakehouseSettings(root=str(tmp_path)), small=True) for _ in range(2))
    here.append_row(STAGE_RUNS, EVENT, {})
    assert here.read(STAGE_RUNS).count() == 1
    other.append_row(STAGE_RUNS, EVENT | {"event": "done"}, {})
    assert here.read(STAGE_RUNS).count() == 2
    spark.sql(f"DELETE FROM {here.reference(STAGE_RUNS)} WHERE event = 'started'")
    assert [row.event for row in here.read(STAGE_RUNS).collect()] == ["done"]
    shutil.rmtree(here.path(STAGE_RUNS))
    assert here.read(STAGE_RUNS).count() == 0
    other.append_row(STAGE_RUNS, EVENT | {"stage": "anew"}, {})
    assert [row.stage for row in here.read(STAGE_RUNS).collect()] == ["anew"]
    feature = "'delta.feature.domainMetadata' = 'supported'"
    spark.sql(f"ALTER TABLE {here.reference(STAGE_RUNS)} SET TBLPROPERTIES ({feature})")
    assert isinstance(here.storage, SmallTables)
    assert here.storage.opened(STAGE_RUNS) is None


@pytest.mark.parametrize("small", [True, False])
def test_no_rows_make_no_commit_where_asked(spark: SparkSession, tmp_path: Path, small: bool) -> None:
    here = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)), small=small)
    one = spark.range(1).select(*(F.lit(1).cast(field.dataType).alias(field.name) for field in GAPS.schema))
    here.append(GAPS, one.limit(0), {}, skip_empty=True)
    assert not here.exists(GAPS)
    here.append(GAPS, one, {}, skip_empty=True)
    before = here.identity(GAPS)
    here.append(GAPS, one.limit(0), {}, skip_empty=True)
    assert (here.identity(GAPS), here.read(GAPS).count()) == (before, 1)


def test_a_tiny_table_is_read_as_one_partition(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)), small=True)
    for event in ("started", "done"):
        here.append_row(STAGE_RUNS, EVENT | {"event": event}, {})
    for most, exchanges in ((256 << 10, False), (0, True)):
        monkeypatch.setattr("etl.pipeline.local_delta._ONE_TASK", most)
        totals = here.read(STAGE_RUNS).groupBy("stage").count()
        assert ("Exchange" in str(totals._jdf.queryExecution().executedPlan())) == exchanges
        assert [row["count"] for row in totals.collect()] == [2]


def test_a_damaged_log_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    here.append_row(STAGE_RUNS, EVENT, {})
    newest = max(Path(here.path(STAGE_RUNS), "_delta_log").glob("*.json"))
    newest.write_text(json.dumps({"add": 1})[:-3], "utf-8")
    assert local_delta.opened(here.path(STAGE_RUNS)) is None
    with pytest.raises(Exception, match="_delta_log"):
        lakehouse(spark, tmp_path).rows(STAGE_RUNS)
    with pytest.raises(Exception, match="_delta_log"):
        Lakehouse(spark, LakehouseSettings(root=str(tmp_path)), small=True).read(STAGE_RUNS).collect()


def test_a_table_is_made_where_a_killed_run_left_files_without_a_log(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    folder = Path(here.path(GAPS))
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"left over")
    here.ensure(GAPS)
    here.ensure(GAPS)
    local_delta.create(str(folder), GAPS, {})  # as by a slower process
    assert here.read(GAPS).count() == 0
    assert sorted(path.name for path in folder.iterdir()) == ["_delta_log", "part-0.parquet"]


def test_tables_of_a_catalog_or_a_store_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    assert type(lakehouse(spark, tmp_path).storage) is LocalTables
    for settings in (LakehouseSettings(root="s3://bucket/lakehouse"), LakehouseSettings(catalog="main")):
        assert type(Lakehouse(spark, settings, small=True).storage) is SparkTables


def test_a_table_of_an_earlier_version_gets_the_new_column(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    older = dataclasses.replace(STAGE_RUNS, ddl=STAGE_RUNS.ddl.partition("detail string")[0].rstrip().rstrip(","))
    here.append_row(older, EVENT, {})
    here.append_row(STAGE_RUNS, EVENT, {})
    assert [row["detail"] for row in here.rows(STAGE_RUNS)] in ([None, "why"], ["why", None])
    assert here.read(STAGE_RUNS).where("settings IS NULL").count() == 1


def dropped(spark: SparkSession, stage: str, count: int) -> DataFrame:
    return spark.range(count).selectExpr(
        f"'{stage}' AS stage",
        "'turn' AS unit",
        "string(id) AS id",
        "'too long' AS reason",
        "'x' AS detail",
        "1L AS units",
        "'k' AS work_key",
        "bigint(NULL) AS work_version",
        "'r' AS run_id",
        "0 AS slice",
    )


def by_stage(here: Lakehouse) -> dict[str, int]:
    return {row["stage"]: row["count"] for row in here.read(DROPPED).groupBy("stage").count().collect()}


@pytest.mark.parametrize("beside", [False, pytest.param(True, marks=pytest.mark.long)], ids=["alone", "beside Spark"])
def test_a_run_on_little_data_writes_and_reads_what_spark_would(
    spark: SparkSession, tmp_path: Path, beside: bool
) -> None:
    """Each change is made by delta-rs, and by Spark beside it; the tables are the same after it, whoever reads."""
    settings = {name: LakehouseSettings(root=str(tmp_path / name)) for name in ("small", "spark")}
    small = Lakehouse(spark, settings["small"], small=True)
    other = Lakehouse(spark, settings["spark"])
    by_spark = Lakehouse(spark, settings["small"])
    changes: list[tuple[Callable[[Lakehouse], None], dict[str, int]]] = [
        (lambda here: here.append(DROPPED, dropped(spark, "a", 3), {"run_id": "r"}, "first"), {"a": 3}),
        (lambda here: here.append(DROPPED, dropped(spark, "a", 3), {"run_id": "r"}, "first"), {"a": 3}),
        (lambda here: here.append(DROPPED, dropped(spark, "b c", 4), {"run_id": "r"}, "second"), {"a": 3, "b c": 4}),
        (lambda here: here.replace(DROPPED, dropped(spark, "a", 2), {}, "stage = 'a'"), {"a": 2, "b c": 4}),
        (lambda here: here.replace(DROPPED, dropped(spark, "a", 0), {}, "stage = 'a'"), {"b c": 4}),
        (lambda here: here.delete(DROPPED, "stage = 'b c' AND id = '0'", {}), {"b c": 3}),
        (lambda here: here.delete(DROPPED, "stage = 'nowhere'", {}), {"b c": 3}),
        (lambda here: here.delete(DROPPED, "true", {}), {}),
        (
            lambda here: here.replace(DROPPED, dropped(spark, "d", 1), {"token": "hf_0123456789abcdefghijklmnop"}),
            {"d": 1},
        ),
    ]
    for change, expected in changes:
        for here in (small, other) if beside else (small,):
            change(here)
        assert by_stage(small) == by_stage(by_spark) == expected
        counted = {stage: small.total(DROPPED, ("stage", stage), None) for stage in ("a", "b c", "d")}
        assert {stage: count for stage, count in counted.items() if count} == expected
        assert small.total(DROPPED, ("stage", "a"), "units") == expected.get("a", 0)
        assert other.total(DROPPED, ("stage", "a"), "units") is None
        if beside:
            assert by_stage(other) == expected
            versions = [str(here.identity(DROPPED)).rpartition(":")[2] for here in (small, other)]
            assert versions[0] == versions[1]
    assert small.read(DROPPED).dtypes == other.read(DROPPED).dtypes  # without rows where Spark wrote none
    assert [commit["run_id"] for commit in by_spark.commits(DROPPED, "r")] == ["r", "r"]
    logs = "".join(path.read_text("utf-8") for path in Path(small.path(DROPPED), "_delta_log").glob("*.json"))
    assert "delta-rs" in logs
    assert "hf_0123456789" not in logs


def test_a_check_holds_for_rows_of_a_small_run(spark: SparkSession, tmp_path: Path) -> None:
    here = Lakehouse(spark, LakehouseSettings(root=str(tmp_path)), small=True)
    good = spark.range(1).select(*(F.lit(1).cast(f.dataType).alias(f.name) for f in GAPS.schema))
    here.replace(GAPS, good, {})
    detail = spark.sql(f"DESCRIBE DETAIL {here.reference(GAPS)}").first()
    assert detail is not None
    assert detail.properties["delta.constraints.pairs_not_negative"] == GAPS.checks["pairs_not_negative"]
    with pytest.raises(Exception, match="pairs"):
        here.append(GAPS, good.withColumn("pairs", -F.col("pairs")), {})
    assert here.read(GAPS).count() == 1


def test_many_commits_become_one_file(spark: SparkSession, tmp_path: Path) -> None:
    here = lakehouse(spark, tmp_path)
    for number in range(105):
        here.append_row(STAGE_RUNS, EVENT | {"run_id": str(number)}, {})
    assert here.read(STAGE_RUNS).count() == 105
    opened = local_delta.opened(here.path(STAGE_RUNS))
    assert opened is not None
    assert 0 < len(opened.file_uris()) < 20


def test_tables_are_read_without_python_in_arrows_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's threads that call Python abort a process that ends meanwhile: one ``status`` in six."""
    import pyarrow as pa
    import pyarrow.fs
    from deltalake import DeltaTable, write_deltalake

    def refused(*_: object) -> None:
        raise AssertionError("Arrow's threads call Python")

    folder = tmp_path / "with blank" / "ops" / "dropped"
    rows = pa.table({"stage": ["a", "a b"], "id": ["1", "2"], "units": pa.array([2, 3], pa.int64())})
    write_deltalake(str(folder), rows, partition_by=["stage"])
    monkeypatch.setattr(pyarrow.fs, "PyFileSystem", refused)
    table = DeltaTable(str(folder))
    found = local_delta.rows(table, DROPPED)
    assert found is not None
    assert {row["id"]: row["stage"] for row in found} == {"1": "a", "2": "a b"}
    assert local_delta.total(table, ("stage", "a b"), "units") == 3
    assert connect(tmp_path / "with blank", {}).sql("SELECT sum(units) FROM ops.dropped").fetchall() == [(5,)]
