"""The input of EDOS's report and dataset card: rows of views, the classifier's metrics, versions."""

from collections.abc import Iterable

from pyspark.sql import SparkSession

from etl.edos.settings import EdosSettings
from etl.edos.tables import DIALOGUES, TRAINING_DIALOGUES
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.lineage import package_version
from etl.pipeline.locations import Stored
from etl.publishing.dataset_findings import in_plain_words, rows_of, versions
from etl.publishing.findings import Findings
from etl.subtitles.settings import SubtitleSettings
from etl.subtitles.tables import CLEAN_DIALOGUES
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
