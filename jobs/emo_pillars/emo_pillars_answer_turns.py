"""Ask the context-less model about each distinct turn of EDOS, once per model, to compare the taxonomies (ours)."""

from pyspark.sql import DataFrame

from etl.edos.hashes import text_hash
from etl.lakehouse.stage import Model, Sliced, StageRun, Units, stage
from etl.lakehouse.tables.edos import INITIAL
from etl.lakehouse.tables.emo_pillars import TURN_ANSWERS


def pending_turns(initial: DataFrame, run: StageRun) -> DataFrame:
    turns = initial.selectExpr("explode(turns) AS utterance", "CAST(NULL AS string) AS context")
    return turns.select(text_hash(turns["utterance"]).alias("text_hash"), "*").dropDuplicates(["text_hash"])


@stage(
    reads=(INITIAL,),
    writes=TURN_ANSWERS,
    asks=(Model("emo_pillars_contextless"),),
    sliced=Sliced("text_hash", cost_per_minute=12_000, prepare=pending_turns, cache=True),
    units=Units("texts"),
    on_request=True,
)
def emo_pillars_answer_turns(texts: DataFrame, run: StageRun) -> DataFrame:
    from udfs.passages import answer_passages

    return answer_passages(texts, **run.asking("emo_pillars_contextless"))


if __name__ == "__main__":
    emo_pillars_answer_turns.main()
