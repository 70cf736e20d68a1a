"""Collect the participants' answers on two bots: which count, and who won (AugESC 7.2)."""

from etl.augesc.comparisons import COMPARISON_FORM, QUESTIONS, comparisons
from etl.lakehouse.files.hit_batches import read_form
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import COMPARISONS

SETTINGS = "augesc.evaluation.comparisons"


@stage(
    writes=COMPARISONS,
    settings=(f"{SETTINGS}.known_raters", f"{SETTINGS}.keep_half_done"),
    inputs=(f"{SETTINGS}.answers", f"{SETTINGS}.batches"),
    units=Units("answers"),
    on_request=True,
)
def augesc_collect_comparisons(run: StageRun) -> Outcome:
    wanted = run.settings.augesc.evaluation.comparisons
    counted = read_form(COMPARISON_FORM, QUESTIONS, len(QUESTIONS), wanted, SETTINGS, run)
    return comparisons(counted)


if __name__ == "__main__":
    augesc_collect_comparisons.main()
