"""``python -m jobs register``: another session finds the tables by name in a Hive metastore."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from conf.settings import LakehouseSettings
from etl.pipeline.lakehouse import Lakehouse
from etl.subtitles.tables import LEMMAS

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_tables_are_found_by_name_in_another_session(spark: SparkSession, tmp_path: Path) -> None:
    house = Lakehouse(spark, LakehouseSettings(root=str(tmp_path / "lake")))
    house.append(LEMMAS, spark.createDataFrame([("cats", "cat")], "word string, lemma string"), {})
    metastore = f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true"
    settings = [
        f"lakehouse.root={tmp_path}/lake",
        "lakehouse.schema_prefix=edos_lakehouse_",
        f"spark.conf.spark.hadoop.javax.jdo.option.ConnectionURL={metastore}",
        f"spark.conf.spark.sql.warehouse.dir={tmp_path}/warehouse",
    ]

    def jobs(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "jobs", *arguments, "--set", *settings],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    assert "registered 1 tables" in jobs("register", "--catalog", "hive")
    assert "registered 1 tables" in jobs("register", "--catalog", "hive"), "again changes nothing"
    script = f"""
from conf.settings import load_settings
from etl.pipeline.session import spark_session
settings = load_settings("local", [], {settings!r} + ["spark.conf.spark.sql.catalogImplementation=hive"])
print(spark_session(settings).sql("SELECT lemma FROM edos_lakehouse_subtitles.lemmas").first()[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.split()[-1] == "cat"
