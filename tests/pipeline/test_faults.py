"""Faults of real tables and of a real Java process: what a user reads of each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conf.settings import Settings, load_settings
from etl.cli.run_errors import fault_line
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lease import local_lease
from etl.pipeline.tables import TABLES, Table

SEEDS = TABLES["ops.stage_runs"]

LOST = """
import os, signal, sys
from conf.settings import load_settings
from etl.cli.run_errors import fault_line
from etl.pipeline.session import close_session, spark_session

given = {"lakehouse.root": sys.argv[1], "spark.master": "local[1]", "spark.short_session": True}
settings = load_settings("local", [], given)
spark = spark_session(settings)
os.kill(int(spark._jvm.java.lang.ProcessHandle.current().pid()), signal.SIGKILL)
try:
    try:
        spark.range(9).count()
    finally:
        close_session(spark, settings)
except Exception as error:
    print(fault_line(error, settings, "shout"))
"""


@pytest.fixture()
def settings(tmp_path: Path) -> Settings:
    return load_settings("local", [], {"lakehouse.root": str(tmp_path / "lake")})


@pytest.fixture()
def written(spark: SparkSession, settings: Settings) -> tuple[Lakehouse, Path]:
    """A lakehouse with one table, and the table's folder."""
    row = spark.range(3).select(*(F.lit(None).cast(one.dataType).alias(one.name) for one in SEEDS.schema))
    written_by = Lakehouse(spark, settings.lakehouse, small=True)
    written_by.replace(SEEDS, row.withColumn("event", F.lit("done")), {})
    return Lakehouse(spark, settings.lakehouse), Path(settings.lakehouse.root, "ops", "stage_runs")


def told(settings: Settings, lakehouse: Lakehouse, table: Table = SEEDS) -> str:
    """The line of the error that reading or writing a table raises."""
    with pytest.raises(Exception) as error:
        rows = lakehouse.read(table).collect()
        lakehouse.append(table, lakehouse.spark.createDataFrame(rows, table.schema), {})
    line = fault_line(error.value, settings, "shout")
    assert "\n" not in line, line
    assert "Py4J" not in line, line
    assert "org.apache" not in line, line
    assert " in stage shout" in line, line
    return line


def test_a_missing_data_file(settings: Settings, written: tuple[Lakehouse, Path]) -> None:
    lakehouse, folder = written
    for file in folder.glob("*.parquet"):
        file.unlink()
    line = told(settings, lakehouse)
    assert line.startswith("table ops.stage_runs lacks its file ops/stage_runs/part-")
    assert f"delete {folder}" in line


def test_a_damaged_log(settings: Settings, written: tuple[Lakehouse, Path]) -> None:
    lakehouse, folder = written
    for file in sorted((folder / "_delta_log").glob("*.json")):
        file.write_text("{ not json", "utf-8")
    lakehouse.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    assert told(settings, lakehouse).startswith("the log of table ops.stage_runs is damaged")


def test_a_table_of_another_version(settings: Settings, written: tuple[Lakehouse, Path]) -> None:
    lakehouse, folder = written
    rows = lakehouse.spark.createDataFrame(lakehouse.read(SEEDS).collect(), SEEDS.schema)
    other = lakehouse.spark.range(3).select(F.array("id").alias("stage"), F.lit("done").alias("event"))
    other.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(folder))
    with pytest.raises(Exception) as error:
        lakehouse.append(SEEDS, rows, {})
    line = fault_line(error.value, settings, "shout")
    assert "has other columns or features" in line, line
    assert "package_version" in line, line
    assert "\n" not in line, line


def test_a_folder_that_nobody_can_write_to(spark: SparkSession) -> None:
    settings = load_settings("local", [], {"lakehouse.root": "/sys/lake"})
    line = told(settings, Lakehouse(spark, settings.lakehouse))
    assert line.startswith("cannot write to /sys/lake")


def test_a_lost_java_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("Spark's Java process ended in stage shout")
    assert done.stdout.count("\n") == 1


@pytest.mark.slow
def test_a_root_that_nobody_can_write_to_and_a_second_run_end_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "films/xml/en/1999/1"
    folder.mkdir(parents=True)
    (folder / "5.xml").write_text("<document><s id='1'><w id='1.1'>Rain</w></s></document>", "utf-8")

    def ran(root: str) -> subprocess.CompletedProcess[str]:
        values = (f"lakehouse.root={root}", f"subtitles.sources=[{tmp_path}/films]", "spark.master=local[1]")
        command = [sys.executable, "-m", "jobs", "find_subtitles", *(f"--set={value}" for value in values)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ}, check=False)

    refused = ran("/sys/lake")
    last = refused.stderr.splitlines()[-1]
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert last.startswith("edos-lakehouse: cannot write to /sys/lake")
    with local_lease(str(tmp_path / "lake"), "find_subtitles", 0):
        second = ran(str(tmp_path / "lake"))
    last = second.stderr.splitlines()[-1]
    assert second.returncode == 4
    assert f"find_subtitles of the lakehouse {tmp_path}/lake is in use by process" in last
    assert ran(str(tmp_path / "lake")).returncode == 0
