"""Views over stand-ins of their tables: temporary views, empty until rows are given."""

import re

from pyspark.sql import DataFrame, Row, SparkSession

from etl.pipeline.tables import TABLES


class StandIns:
    """Tables and views of the lakehouse under names of their own in a session.

    Args:
        spark: the session.
        views: name to (comment, SQL).
    """

    def __init__(self, spark: SparkSession, views: dict[str, tuple[str, str]]) -> None:
        self.spark = spark
        self.views = views
        self.made: set[str] = set()
        self.current: set[str] = set()  # views over the tables as they are
        names = sorted((*TABLES, *self.views), key=len, reverse=True)
        self._names = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    def give(self, table: str, rows: DataFrame) -> None:
        """Put rows into a table; columns that they lack are null."""
        empty = self.none_of(table)
        empty.unionByName(rows, allowMissingColumns=True).createOrReplaceTempView(self._here(table))
        if table in self.made:
            self.current.clear()
        self.made.add(table)

    def none_of(self, table: str) -> DataFrame:
        """Return no rows of a table; the limit lets Spark leave them out of the plan."""
        return self.spark.createDataFrame([], TABLES[table].schema).limit(0)

    def ask(self, view: str) -> list[Row]:
        """Return the rows of ``analysis.<view>``, over what was given until now."""
        name = view if "." in view else f"analysis.{view}"
        assert self.views[name][0].endswith("."), "a comment is a sentence"
        return self.spark.sql(self.sql(self.views[name][1])).collect()

    def sql(self, text: str) -> str:
        """Return SQL over the stand-ins, which are made where they are not there."""
        for name in dict.fromkeys(self._names.findall(text)):
            if name in self.views and name not in self.current:
                self.spark.sql(self.sql(self.views[name][1])).createOrReplaceTempView(self._here(name))
                self.made.add(name)
                self.current.add(name)
            elif name in TABLES and name not in self.made:
                self.give(name, self.none_of(name))
        return self._names.sub(lambda found: self._here(found[0]), text)

    def drop(self) -> None:
        """Drop what was made."""
        for name in self.made:
            self.spark.catalog.dropTempView(self._here(name))

    def _here(self, name: str) -> str:
        return f"stand_in_{name.replace('.', '_')}"
