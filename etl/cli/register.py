"""``python -m jobs register``: the names of tables and views in a cluster's Hive or Glue catalog."""

from conf.settings import Settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_session
from etl.publishing.views import views_of

HIVE = {"spark.sql.catalogImplementation": "hive"}
GLUE = {
    "spark.hadoop.hive.metastore.client.factory.class": (
        "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
    )
}
CATALOGS = {"hive": HIVE, "glue": HIVE | GLUE}
"""Spark's configuration for each kind of catalog; the classes for Glue come with EMR."""


def register(settings: Settings, catalog: str) -> int:
    """Register the tables, where they lie, and the views over them; return the exit status.

    Args:
        settings: ``lakehouse.schema_prefix`` comes before the names of schemas, ``lakehouse.set`` after those of a set.
        catalog: a key of ``CATALOGS``.
    """
    conf = CATALOGS[catalog] | settings.spark.conf
    own = settings.model_copy(update={"spark": settings.spark.model_copy(update={"conf": conf})})
    spark = spark_session(own, "edos-lakehouse register")
    try:
        lakehouse = Lakehouse(spark, own.lakehouse)
        lakehouse.prefix = own.lakehouse.schema_prefix
        lakehouse.suffix = own.lakehouse.set
        statements = lakehouse.catalog_statements(views_of(own))
        for statement in statements:
            spark.sql(statement)
    finally:
        close_session(spark, own)
    tables = sum(statement.startswith("CREATE TABLE") for statement in statements)
    views = sum(statement.startswith("CREATE OR REPLACE VIEW") for statement in statements)
    print(f"registered {tables} tables and {views} views in {catalog}")
    return 0
