"""Evaluate each response generator on each test set, held out or zero-shot: Table 7, in MLflow too (EDOS 5)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.replies import EMBEDDINGS, EVALUATION, GENERATED, LIKELIHOODS


@stage(
    reads=(LIKELIHOODS, GENERATED, EMBEDDINGS),
    writes=EVALUATION,
    asks=(Model("sentence_encoder"),),
    units=Units("cells"),
    on_request=True,
)
def evaluate_response_generator(
    likelihoods: DataFrame, generated: DataFrame, embeddings: DataFrame, run: StageRun
) -> Outcome:
    from etl.lakehouse.trainings.reply_comparison import compared_generators

    return compared_generators(likelihoods, generated, embeddings, run)


if __name__ == "__main__":
    evaluate_response_generator.main()
