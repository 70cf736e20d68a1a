"""Gathering what the report and the dataset card say: rows of views, the classifier's figures, versions."""

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from conf.settings import LakehouseSettings
from conf.taxonomy import Taxonomy, load_taxonomy
from etl.analysis.findings import Findings, Rows
from etl.analysis.views import all_views
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import package_version
from etl.tables import Table
from etl.tables.edos import DIALOGUES, TRAINING_DIALOGUES
from etl.tables.subtitles import CLEAN_DIALOGUES
from etl.training.registry import held_out_figures

CARD_VIEWS = ("edos_table_3", "edos_label_distribution", "edos_funnel", "edos_confidence", "edos_audit", "edos_table_5")
REPORT_VIEWS = (
    *CARD_VIEWS, "edos_table_2", "edos_table_4", "edos_kl_divergence", "edos_flow", "edos_examples", "edos_gaps",
    "edos_origins", "dropped_by_reason",
)  # fmt: skip


def gather(spark: SparkSession, settings: Any, views: Iterable[str] = REPORT_VIEWS) -> Findings:
    """Read the views that are there, all of them small, and the facts of the run.

    Args:
        settings: all, or lakehouse, mlflow, subtitles and edos: where the tables are, and what they were made with.
        views: names without ``analysis.``; a view that is not there has no rows.
    """
    lakehouse = registered(spark, settings.lakehouse, settings.edos.taxonomy)
    models = [str(row.model) for row in lakehouse.read(DIALOGUES).select("model").distinct().orderBy("model").collect()]
    cleaning, edos = settings.subtitles.cleaning, settings.edos
    rules = cleaning.model_dump(mode="json", exclude={"near_duplicate_jaccard"})
    made_with = {
        "pipeline": f"edos-lakehouse {package_version()}",
        "labelled by": ", ".join(models),
        **versions(lakehouse, (CLEAN_DIALOGUES, TRAINING_DIALOGUES, DIALOGUES)),
        "taxonomy": f"{edos.taxonomy.name}: {edos.taxonomy.in_words()}",
        "languages": ", ".join(settings.subtitles.languages),
        "uploads of a film": str(settings.subtitles.uploads_per_film or "all"),
        "share of films": f"{settings.subtitles.sample:g}",
        "silence between dialogues": f"{settings.subtitles.silence_seconds:g} s",
        "cleaning": ", ".join(f"{name} {_plain(value)}" for name, value in rules.items()),
        "chosen": f"top {edos.top_n:,} by {edos.dialogue_confidence} weak confidence",
    }
    return Findings(
        views=rows_of(spark, views),
        classifier=held_out_figures(settings, models[0]) if len(models) == 1 else {},
        made_with=made_with,
        silence_seconds=settings.subtitles.silence_seconds,
        taxonomy=edos.taxonomy,
    )


def findings_of(
    spark: SparkSession, settings: LakehouseSettings, views: Iterable[str], tables: Iterable[Table],
    made_with: Mapping[str, str],
) -> Findings:  # fmt: skip
    """What a report on another data set than EDOS is written from.

    Args:
        settings: say where the tables are.
        views: names without ``analysis.``; a view that is not there has no rows.
        tables: whose versions are told.
        made_with: further facts to print.
    """
    lakehouse = registered(spark, settings)
    facts = {"pipeline": f"edos-lakehouse {package_version()}", **versions(lakehouse, tables), **made_with}
    return Findings(views=rows_of(spark, views), made_with=facts)


def registered(spark: SparkSession, settings: LakehouseSettings, taxonomy: Taxonomy | None = None) -> Lakehouse:
    """Return the lakehouse, with its views known by name.

    Args:
        taxonomy: of EDOS; only its own views depend on it.
    """
    lakehouse = Lakehouse(spark, settings)
    lakehouse.register(all_views(taxonomy or load_taxonomy("edos")))
    return lakehouse


def versions(lakehouse: Lakehouse, tables: Iterable[Table]) -> dict[str, str]:
    """Facts to print: which version of each table was read."""
    return {f"version of {table.name}": lakehouse.identity(table) or "not there" for table in tables}


def rows_of(spark: SparkSession, views: Iterable[str]) -> dict[str, Rows]:
    """The rows of views, all of them small, by name."""
    return {name: _rows(spark, name) for name in views}


def _rows(spark: SparkSession, view: str) -> Rows:
    name = f"analysis.{view}"
    return [row.asDict() for row in spark.table(name).collect()] if spark.catalog.tableExists(name) else []


def _plain(value: object) -> str:
    """A setting's value in words."""
    if isinstance(value, list):
        return "/".join(map(str, value)) or "none"
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "off"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
