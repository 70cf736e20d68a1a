"""Read labels and levels out of the answers, mapped into the taxonomy (Emo Pillars 3.3, 4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars.reading import soft_labels_read
from etl.emo_pillars.steps import soft_labels_asked
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Model, StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars import DISTINCT_UTTERANCES, SOFT_LABELS
from etl.lakehouse.tables.llm import SOFT_LABELS as SAID
from etl.llm.requests import with_answers


@stage(
    reads=(DISTINCT_UTTERANCES, SAID),
    writes=SOFT_LABELS,
    asks=(Model("generator"),),
    settings=("emo_pillars.steps.soft_labels", "emo_pillars.top_labels"),
    units=Units("utterances", rows_out="count(DISTINCT utterance_id)"),
    on_request=True,
)
def emo_pillars_soft_labels(distinct_utterances: DataFrame, said: DataFrame, run: StageRun) -> Outcome:
    asked = soft_labels_asked(distinct_utterances, run.settings.emo_pillars)
    return soft_labels_read(
        with_answers(asked, said, run.models["generator"].identity), run.settings.emo_pillars.top_labels
    )


if __name__ == "__main__":
    emo_pillars_soft_labels.main()
