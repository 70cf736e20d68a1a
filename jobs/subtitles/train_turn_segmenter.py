"""Train the model that tells whether two adjacent sentences are one turn (EDOS 3.1: an SVM)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Trained
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.subtitles import FILES


@stage(
    reads=(FILES,),
    writes=Model("turn_segmenter"),
    settings=("training.turn_segmenter", "training.turn_pairs", "models.turn_encoder", "subtitles.lemma_language"),
    inputs=("subtitles.turn_examples",),
    units=Units("pairs"),
    version=2,
)
def train_turn_segmenter(files: DataFrame, run: StageRun) -> Trained:
    from etl.lakehouse.trainings.turn_segmenter import train_and_register_turn_segmenter

    return train_and_register_turn_segmenter(files, run)


if __name__ == "__main__":
    train_turn_segmenter.main()
