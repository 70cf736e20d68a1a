"""Publish the examples: the export (Emo Pillars 4)."""

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING, EmotionTaxonomy
from etl.emo_pillars import tables
from etl.emo_pillars.settings import EmoPillarsPublishing
from etl.emo_pillars.steps import IN_EVERY_EXAMPLE, SYNTHESIS
from etl.pipeline import StageRun, stage

NAMES = (GOEMOTIONS, GOEMOTIONS_MAPPING)


TABLES = {step.name: step.table for step in SYNTHESIS}


@stage(
    manual=True,
    reads=(tables.EXAMPLES, tables.CONTEXTUAL_EXAMPLES, tables.PLOTS, *TABLES.values()),
    optional=(
        tables.CONTEXTUAL_EXAMPLES,
        *(table for name, table in TABLES.items() if name not in IN_EVERY_EXAMPLE),
    ),
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

    examples, contextual, plots, *rows = made
    steps = dict(zip(TABLES, rows, strict=True))
    publish_emo_pillars(Made(examples, contextual, plots, steps), run, publishing, taxonomy)
