"""Collect the raters' answers on conversations: which count, and as which scores (AugESC 6.3)."""

from etl.augesc.rating_form import QUESTIONS, RATING_FORM
from etl.augesc.ratings import ratings
from etl.lakehouse.files.hit_batches import read_form
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.augesc_evaluation import RATINGS

SETTINGS = "augesc.evaluation.ratings"


@stage(
    writes=RATINGS,
    settings=(f"{SETTINGS}.known_raters", f"{SETTINGS}.keep_half_done"),
    inputs=(f"{SETTINGS}.answers", f"{SETTINGS}.batches"),
    units=Units("answers"),
    on_request=True,
)
def augesc_collect_ratings(run: StageRun) -> Outcome:
    counted = read_form(RATING_FORM, QUESTIONS, len(QUESTIONS), run.settings.augesc.evaluation.ratings, SETTINGS, run)
    return Outcome(ratings(counted.rows), counted.dropped, rows_in=counted.rows_in)


if __name__ == "__main__":
    augesc_collect_ratings.main()
