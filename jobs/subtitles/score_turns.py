"""Score every two adjacent sentences of the chosen uploads: does the second open a new turn? (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.subtitles import CHOSEN_UPLOADS, FILES, LEMMAS, TURN_SCORES
from etl.subtitles.turn_scoring import score_turns as scored


def chosen_files(chosen: DataFrame, files: DataFrame, lemmas: DataFrame, run: StageRun) -> DataFrame:
    return files.join(chosen.select("source_path"), "source_path", "left_semi")


@stage(
    reads=(CHOSEN_UPLOADS, FILES, LEMMAS),
    writes=TURN_SCORES,
    asks=(Model("turn_segmenter"),),
    sliced=Sliced("source_path", "sum(sentence_count)", 1_000_000, prepare=chosen_files),
    units=Units("files"),
)
def score_turns(chosen: DataFrame, files: DataFrame, lemmas: DataFrame, run: StageRun) -> DataFrame:
    from udfs.turn_scorers import turn_scorer

    model, models = run.models["turn_segmenter"], run.all_settings.models
    scorer = turn_scorer(model.path, lemmas, models.batch_size, models.threads)
    return scored(chosen, scorer, model.identity)


if __name__ == "__main__":
    score_turns.main()
