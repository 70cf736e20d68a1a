"""The input of reports and dataset cards: rows of views, the classifier's metrics, versions."""

from collections.abc import Iterable, Mapping

from pyspark.sql import SparkSession

from conf.edos_settings import EdosSettings
from conf.settings import LakehouseSettings
from conf.subtitle_settings import SubtitleSettings
from conf.taxonomy import EmotionTaxonomy, Taxonomy, load_taxonomy
from etl.analysis.findings import Findings, Rows
from etl.analysis.views import all_views, named_in
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import package_version
from etl.pipeline.locations import Stored
from etl.tables import Table
from etl.tables.edos import DIALOGUES, TRAINING_DIALOGUES
from etl.tables.subtitles import CLEAN_DIALOGUES
from etl.training.registry import HeldOut, held_out

CARD_VIEWS = (
    "edos_table_3",
    "edos_label_distribution",
    "edos_funnel",
    "edos_confidence",
    "edos_label_curve",
    "edos_accepted_labels",
    "edos_table_5",
    "edos_origins",
)
REPORT_VIEWS = (
    *CARD_VIEWS,
    "edos_table_2",
    "edos_table_4",
    "edos_kl_divergence",
    "edos_flow",
    "edos_emotions_by_turn",
    "edos_examples",
    "edos_gaps",
    "dropped_by_reason",
    "cleaning_cost",
)


def gather(
    spark: SparkSession,
    places: Stored,
    subtitles: SubtitleSettings,
    edos: EdosSettings,
    views: Iterable[str] = REPORT_VIEWS,
) -> Findings:
    """Return the rows of small views and the facts of the run.

    Args:
        places: of the tables and of MLflow.
        subtitles, edos: what the data set was made with.
        views: names without ``analysis.``; a missing view has no rows.
    """
    lakehouse = Lakehouse(spark, places.lakehouse)
    models = [str(row.model) for row in lakehouse.read(DIALOGUES).select("model").distinct().orderBy("model").collect()]
    rules = subtitles.cleaning.model_dump(mode="json", exclude={"near_duplicate_jaccard"})
    made_with = {
        "pipeline": f"edos-lakehouse {package_version()}",
        "labelled by": ", ".join(models),
        **versions(lakehouse, (CLEAN_DIALOGUES, TRAINING_DIALOGUES, DIALOGUES)),
        "taxonomy": f"{edos.taxonomy.name}: {edos.taxonomy.in_words()}",
        "languages": ", ".join(subtitles.languages),
        "uploads of a film": str(subtitles.uploads_per_film or "all"),
        "share of films": f"{subtitles.sample:g}",
        "silence between dialogues": f"{subtitles.silence_seconds:g} s",
        "cleaning": ", ".join(f"{name} {in_plain_words(value)}" for name, value in rules.items()),
        "chosen": f"preset {edos.preset}: top {edos.top_n:,} by {edos.choice.replace('_', ' ')}, "
        f"{edos.dialogue_confidence} weak confidence, no emotions: {', '.join(edos.not_emotions) or 'none'}",
    }
    known = held_out(places, models[0]) if len(models) == 1 else HeldOut()
    return Findings(
        views=rows_of(lakehouse, views, edos.taxonomy),
        classifier=known.figures,
        classes=known.classes,
        training=known.training,
        made_with=made_with,
        silence_seconds=subtitles.silence_seconds,
        taxonomy=edos.taxonomy,
    )


def findings_of(
    spark: SparkSession,
    settings: LakehouseSettings,
    views: Iterable[str],
    tables: Iterable[Table],
    made_with: Mapping[str, str],
) -> Findings:
    """Return the findings of another data set than EDOS.

    Args:
        views: names without ``analysis.``; a missing view has no rows.
        tables: tables whose versions are printed.
        made_with: further facts to print.
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
        lakehouse: of the tables.
        views: names without ``analysis.``; a missing view has no rows.
        taxonomy: of EDOS; only its views depend on it.
        emotions: the taxonomy of Emo Pillars.
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
