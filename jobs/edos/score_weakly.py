"""Ask the weak labeler about each distinct turn text, once per model."""

from pyspark.sql import DataFrame

from etl.edos.texts import distinct_texts
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import WEAK_SCORES
from etl.lakehouse.tables.subtitles import CLEAN_DIALOGUES


def pending_texts(dialogues: DataFrame, run: StageRun) -> DataFrame:
    return distinct_texts(dialogues)


@stage(
    reads=(CLEAN_DIALOGUES,),
    writes=WEAK_SCORES,
    asks=(Model("weak_labeler"),),
    sliced=Sliced("text_hash", cost_per_minute=12_000, prepare=pending_texts, cache=True),
    units=Units("texts"),
)
def score_weakly(texts: DataFrame, run: StageRun) -> DataFrame:
    from udfs.predict import score_texts

    return score_texts(texts, **run.asking("weak_labeler"))


if __name__ == "__main__":
    score_weakly.main()
