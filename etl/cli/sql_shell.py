"""spark-sql over the lakehouse, with tables and views by name in an in-memory metastore."""

import os
import subprocess
import tempfile
from pathlib import Path

from conf.settings import Settings
from etl.analysis.views import all_views
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_configuration, spark_session


def open_sql(settings: Settings, statements: str | None = None) -> int:
    """Open the shell, or run statements separated by ``;``; return the exit status."""
    spark = spark_session(settings, "edos-lakehouse sql")
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        if statements is not None:
            import sqlparse

            lakehouse.register(all_views(settings.edos.taxonomy))
            for statement in sqlparse.split(statements, strip_semicolon=True):
                spark.sql(lakehouse.named(statement)).show(100, truncate=120)
            return 0
        registered = lakehouse.catalog_statements(all_views(settings.edos.taxonomy))
    finally:
        close_session(spark, settings)
    from pyspark.find_spark_home import _find_spark_home

    with tempfile.TemporaryDirectory(prefix="edos-sql-") as folder:
        script = Path(folder, "tables.sql")
        script.write_text(";\n".join(registered) + ";\n", encoding="utf-8")
        command = [str(Path(_find_spark_home(), "bin", "spark-sql")), "-S", "-i", str(script)]
        command += ["--master", settings.spark.master] if settings.spark.master else []
        for key, value in spark_configuration(settings).items():
            command += ["--conf", f"{key}={value}"]
        # On a cluster, executors must be able to reach the driver.
        local = {"SPARK_LOCAL_IP": "127.0.0.1"} if (settings.spark.master or "").startswith("local") else {}
        return subprocess.run(command, cwd=folder, env={**os.environ, **local}).returncode
