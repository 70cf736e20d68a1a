"""Score how toxic each distinct utterance is, by a classifier, else by a list of words; no filter (ours)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.wordlists import words
from etl.augesc.faults import distinct_utterances, listed_toxicity, looked_at
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.augesc import MEASURED_TEXTS
from etl.lakehouse.tables.augesc_faults import TOXICITY_SCORES


def pending(measured: DataFrame, run: StageRun) -> DataFrame:
    return distinct_utterances(looked_at(measured, run.settings.augesc.faults.sampled))


@stage(
    reads=(MEASURED_TEXTS,),
    writes=TOXICITY_SCORES,
    asks=(Model("toxicity"),),
    settings=("augesc.faults.sampled",),
    sliced=Sliced("text_hash", cost_per_minute=2_000, prepare=pending, cache=True),
    units=Units("utterances"),
    on_request=True,
)
def augesc_score_toxicity(utterances: DataFrame, run: StageRun) -> DataFrame:
    if not run.asks("toxicity"):
        return listed_toxicity(utterances, words("profanity"))
    from udfs.predict import label_scores

    texts = utterances.withColumn("other", F.lit(None).cast("string"))
    return label_scores(texts, ("toxic", "toxicity"), **run.asking("toxicity"))


if __name__ == "__main__":
    augesc_score_toxicity.main()
