"""Publish the examples: the export (Emo Pillars 4)."""

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING, EmotionTaxonomy
from etl.emo_pillars import tables
from etl.emo_pillars.settings import EmoPillarsPublishing
from etl.pipeline import StageRun, stage

NAMES = (GOEMOTIONS, GOEMOTIONS_MAPPING)


@stage(
    manual=True,
    reads=(
        tables.EXAMPLES,
        tables.CONTEXTUAL_EXAMPLES,
        tables.UTTERANCES,
        tables.SOFT_LABELS,
        tables.ACTORS,
        tables.CONTEXTS,
        tables.CLEAN_CONTEXTS,
        tables.REWRITES,
        tables.PLOTS,
    ),
    optional=(tables.CONTEXTUAL_EXAMPLES, tables.CONTEXTS, tables.CLEAN_CONTEXTS, tables.REWRITES),
    writes=None,
    shows="files under `emo_pillars.publishing.folder`",
    resources=NAMES,
)
def emo_pillars_export(
    *made: DataFrame,
    publishing: EmoPillarsPublishing,
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> None:
    """Export both data sets as Parquet and JSON Lines, with the origin of each label and a card (Emo Pillars 4)."""
    from etl.emo_pillars.export import Made, publish_emo_pillars

    publish_emo_pillars(Made(*made), run, publishing, taxonomy)
