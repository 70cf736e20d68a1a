"""Gather the input of reports and dataset cards: rows of views, versions of tables."""

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from conf.settings import LakehouseSettings
from conf.taxonomy import EmotionTaxonomy, Taxonomy, load_taxonomy
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import package_version
from etl.pipeline.tables import Table
from etl.publishing.findings import Findings, Rows
from etl.publishing.views import all_views, named_in


def findings_of(
    spark: SparkSession,
    settings: LakehouseSettings,
    views: Iterable[str],
    tables: Iterable[Table],
    made_with: Mapping[str, str],
) -> Findings:
    """Return the findings of a data set.

    Args:
        views: names without ``analysis.``; a missing view has no rows.
    """
    lakehouse = Lakehouse(spark, settings)
    facts = {"pipeline": f"edos-lakehouse {package_version()}", **versions(lakehouse, tables), **made_with}
    return Findings(views=rows_of(lakehouse, views), made_with=facts)


def versions(lakehouse: Lakehouse, tables: Iterable[Table]) -> dict[str, str]:
    """Return the version of each table as a fact to print."""
    return {f"version of {table.name}": lakehouse.identity(table) or "not there" for table in tables}


def rows_of(
    lakehouse: Lakehouse,
    views: Iterable[str],
    taxonomy: Taxonomy | None = None,
    emotions: EmotionTaxonomy | None = None,
) -> dict[str, Rows]:
    """Return the rows of small views by name, and register these views.

    Args:
        views: names without ``analysis.``; a missing view has no rows.
        taxonomy: of EDOS; only its views depend on it.
    """
    names = {view: f"analysis.{view}" for view in views}
    lakehouse.register(*named_in(names.values(), all_views(taxonomy or load_taxonomy("edos"), emotions)))
    found: dict[str, Rows] = {}
    for view, plain in names.items():
        spark = lakehouse.spark
        name = lakehouse.named(plain)
        found[view] = [row.asDict() for row in spark.table(name).collect()] if spark.catalog.tableExists(name) else []
    return found


def in_plain_words(value: object) -> str:
    """Return a setting's value as text."""
    if isinstance(value, list):
        return "/".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "off"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
