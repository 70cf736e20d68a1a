"""Start the session of a notebook, with the tables and views by name, here or on Databricks."""

import os
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from conf.settings import Settings, load_settings
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import spark_session
from etl.publishing.views import views_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DEMO = "../demo/lakehouse"
"""The demo's tables, from the folder of the notebooks."""


class Tables:
    """The tables and views of a lakehouse for a notebook.

    Attributes:
        settings: of the lakehouse: ``EDOS_ROOT`` names its folder (default: the demo's), ``EDOS_CATALOG`` its catalog.
    """

    def __init__(self, spark: SparkSession | None = None) -> None:
        """Open the tables, with a session of its own where none is given."""
        self._own = spark is None
        self.settings = notebook_settings(on_cluster=not self._own)
        self.spark = spark if spark is not None else spark_session(self.settings, "edos-lakehouse notebook")
        Lakehouse(self.spark, self.settings.lakehouse).register(views_of(self.settings))
        whole_texts()

    def rows(self, query: str) -> "pd.DataFrame":
        """Return the rows of a SQL query, with whole numbers as such where some are missing."""
        return with_integers(self.spark.sql(query).toPandas())

    def shown(self, query: str, stage: str) -> "pd.DataFrame | str":
        """Return the rows of a query or, where a table is not there yet, which command makes it.

        Args:
            stage: that makes the last of the tables that it reads.
        """
        try:
            return self.rows(query)
        except Exception as error:  # its class depends on how Spark is reached
            if "TABLE_OR_VIEW_NOT_FOUND" not in str(error):
                raise
            return self.lacks(stage)

    def lacks(self, stage: str) -> str:
        """Return a line that says which command makes what is not there yet."""
        demo = self.settings.lakehouse.root == DEMO and not self.settings.lakehouse.catalog
        return f"not there yet: python -m jobs run --to {stage} {'--demo' if demo else '--config ...'} makes it"

    def close(self) -> None:
        """End the session, unless it was given."""
        if self._own:
            self.spark.stop()


def whole_texts() -> None:
    """Let pandas show texts to their end, where it cuts them after 50 characters by itself."""
    import pandas as pd

    pd.set_option("display.max_colwidth", None)


def bars(frame: "pd.DataFrame | str", names: str, values: str, title: str, axis: str) -> "Figure | str":
    """Return a bar chart of the rows of a frame, the first one at the top, with the values behind the bars.

    Args:
        frame: the rows; a text that stands for them is returned as it is.
        names, values: columns with the bars' names and lengths.
    """
    if isinstance(frame, str):
        return frame
    import matplotlib.pyplot as plt

    drawn = frame[[names, values]].dropna()
    if drawn.empty:
        return f"{title}: no rows yet"
    figure, axes = plt.subplots(figsize=(8, 1 + 0.3 * len(drawn)), layout="constrained")
    places = range(len(drawn))  # not the names, which may come again
    found = axes.barh(places, drawn[values].astype(float), tick_label=[str(name) for name in drawn[names]])
    axes.bar_label(found, fmt="{:,.4g}", padding=3)
    axes.margins(x=0.18)
    axes.invert_yaxis()
    axes.set(title=title, xlabel=axis, ylabel=names.replace("_", " "))
    plt.close(figure)  # a notebook shows the figure that the cell returns
    return figure


def lines(frame: "pd.DataFrame | str", across: str, up: str, of: str, title: str) -> "Figure | str":
    """Return a line chart of the rows of a frame, one line for each value of the column ``of``.

    Args:
        frame: the rows; a text that stands for them is returned as it is.
        across, up: columns of the horizontal and the vertical axis.
        of: column with the names of the lines.
    """
    if isinstance(frame, str):
        return frame
    import matplotlib.pyplot as plt

    if frame.empty:
        return f"{title}: no rows yet"
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for name, drawn in frame.groupby(of):
        axes.plot(drawn[across].astype(float), drawn[up].astype(float), marker="o", label=str(name))
    axes.set(title=title, xlabel=across.replace("_", " "), ylabel=up.replace("_", " "))
    axes.legend()
    plt.close(figure)
    return figure


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
