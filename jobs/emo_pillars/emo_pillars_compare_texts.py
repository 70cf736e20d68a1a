"""Compare utterances and contexts pair by pair: how alike they are overall, by emotion, by actor (Emo Pillars 7, G)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.similarities import counts_of_samples, summarised
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import CONTEXTS, CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import SIMILARITIES, TEXT_EMBEDDINGS

SETTINGS = ("utterances", "pairs", "plots")


@stage(
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, CONTEXTS, TEXT_EMBEDDINGS),
    writes=SIMILARITIES,
    asks=(Model("analysis_encoder"),),
    settings=tuple(f"emo_pillars.analysis.{name}" for name in SETTINGS),
    units=Units("comparisons"),
    on_request=True,
)
def emo_pillars_compare_texts(
    examples: DataFrame, contextual: DataFrame, contexts: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:
    wanted, model = run.settings.emo_pillars.analysis, run.models["analysis_encoder"].identity
    counts = counts_of_samples(
        examples, contextual, contexts, embeddings, model,
        utterances=wanted.utterances, pairs=wanted.pairs, plots=wanted.plots,
    )  # fmt: skip
    rows = summarised(counts, model).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    emo_pillars_compare_texts.main()
