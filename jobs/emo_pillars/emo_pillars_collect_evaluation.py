"""Collect the raters' answers on labels: which count (Emo Pillars I)."""

from etl.emo_pillars.label_form import LABEL_FORM, QUESTIONS, REQUIRED
from etl.lakehouse.files.hit_batches import read_form
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.emo_pillars_analysis import EVALUATION_ANSWERS

SETTINGS = "emo_pillars.evaluation"


@stage(
    writes=EVALUATION_ANSWERS,
    settings=(f"{SETTINGS}.known_raters", f"{SETTINGS}.keep_half_done"),
    inputs=(f"{SETTINGS}.answers", f"{SETTINGS}.batches"),
    units=Units("answers"),
    on_request=True,
)
def emo_pillars_collect_evaluation(run: StageRun) -> Outcome:
    return read_form(LABEL_FORM, QUESTIONS, REQUIRED, run.settings.emo_pillars.evaluation, SETTINGS, run)


if __name__ == "__main__":
    emo_pillars_collect_evaluation.main()
