"""Take the examples nearest to a query, as a topic whose emotions are counted (Emo Pillars 7, Figure 7)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.similarities import nearest_to
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import EXAMPLES
from etl.lakehouse.tables.emo_pillars_analysis import QUERY_EXAMPLES, TEXT_EMBEDDINGS


@stage(
    reads=(EXAMPLES, TEXT_EMBEDDINGS),
    writes=QUERY_EXAMPLES,
    asks=(Model("analysis_encoder"),),
    settings=("emo_pillars.analysis.topic_query", "emo_pillars.analysis.topic_examples"),
    units=Units("examples"),
    on_request=True,
)
def emo_pillars_query_topic(examples: DataFrame, embeddings: DataFrame, run: StageRun) -> Outcome:
    wanted, model = run.settings.emo_pillars.analysis, run.models["analysis_encoder"].identity
    rows = nearest_to(wanted.topic_query, examples, embeddings, model, wanted.topic_examples).cache()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    emo_pillars_query_topic.main()
