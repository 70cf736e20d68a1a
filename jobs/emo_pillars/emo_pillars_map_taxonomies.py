"""Learn which of EDOS's 41 labels goes with which of the 28, from both models' answers to the same turns (ours)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.taxonomy_map import taxonomy_map
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.edos import DIALOGUE_SCORES, INITIAL
from etl.lakehouse.tables.emo_pillars import TAXONOMY_MAP, TURN_ANSWERS


@stage(
    reads=(INITIAL, DIALOGUE_SCORES, TURN_ANSWERS),
    writes=TAXONOMY_MAP,
    asks=(Model("emotion_classifier"), Model("emo_pillars_contextless")),
    units=Units("pairs"),
    on_request=True,
)
def emo_pillars_map_taxonomies(initial: DataFrame, scores: DataFrame, answers: DataFrame, run: StageRun) -> Outcome:
    models = (run.models[name].identity for name in ("emotion_classifier", "emo_pillars_contextless"))
    rows = taxonomy_map(initial, scores, answers, *models).persist()
    return Outcome(rows, rows_in=rows.count())


if __name__ == "__main__":
    emo_pillars_map_taxonomies.main()
