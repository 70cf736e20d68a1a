"""Start the session of a notebook, with the tables and views by name, here or on Databricks."""

import os
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.analysis.views import all_views
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import spark_session

if TYPE_CHECKING:
    import pandas as pd

DEMO = "../demo/lakehouse"
"""The demo's tables, from the folder of the notebooks."""


class Tables:
    """The tables and views of a lakehouse for a notebook.

    Attributes:
        settings: of the lakehouse: ``EDOS_ROOT`` names its folder (default: the demo's), ``EDOS_CATALOG`` its catalog.
        spark: the session.
    """

    def __init__(self, spark: SparkSession | None = None) -> None:
        """Open the tables, with a session of its own where none is given."""
        self._own = spark is None
        self.settings = notebook_settings(on_cluster=not self._own)
        self.spark = spark if spark is not None else spark_session(self.settings, "edos-lakehouse notebook")
        Lakehouse(self.spark, self.settings.lakehouse).register(all_views(self.settings.edos.taxonomy))

    def rows(self, query: str) -> "pd.DataFrame":
        """Return the rows of a SQL query, with whole numbers as such where some are missing."""
        return with_integers(self.spark.sql(query).toPandas())

    def close(self) -> None:
        """End the session, unless it was given."""
        if self._own:
            self.spark.stop()


def with_integers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame in which columns of whole numbers, some of them missing, are no floats."""
    return frame.convert_dtypes(convert_string=False, convert_boolean=False, convert_floating=False)


def notebook_settings(on_cluster: bool = False) -> Settings:
    """Return the settings of the lakehouse that the environment names."""
    given: dict[str, Any] = {} if on_cluster else {"lakehouse.root": DEMO}
    for key, name in (("lakehouse.root", "EDOS_ROOT"), ("lakehouse.catalog", "EDOS_CATALOG")):
        if value := os.environ.get(name):
            given[key] = value
    return load_settings("databricks" if on_cluster else "local", [], given)
