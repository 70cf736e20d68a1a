"""Measure what cleaning and rewriting changed: similarity, lengths, what is left of the words (Emo Pillars 7)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.similarities import changes
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTS, CONTEXTUAL_EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import CHANGES, TEXT_EMBEDDINGS


@stage(
    reads=(CONTEXTUAL_EXAMPLES, CONTEXTS, TEXT_EMBEDDINGS),
    writes=CHANGES,
    asks=(Model("analysis_encoder"),),
    settings=("emo_pillars.analysis.pairs",),
    units=Units("examples"),
    on_request=True,
)
def emo_pillars_measure_changes(
    contextual: DataFrame, contexts: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:
    model = run.models["analysis_encoder"].identity
    rows = changes(contextual, contexts, embeddings, model, run.settings.emo_pillars.analysis.pairs).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    emo_pillars_measure_changes.main()
