"""Choose the upload that stands for each film, by a stated rule; the others go to the ledger."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.subtitles import CHOSEN_UPLOADS, FILES
from etl.subtitles.uploads import choose_uploads as best_uploads


@stage(reads=(FILES,), writes=CHOSEN_UPLOADS, settings=("subtitles.uploads_per_film",), units=Units("files"))
def choose_uploads(files: DataFrame, run: StageRun) -> Outcome:
    return best_uploads(files, run.settings.subtitles.uploads_per_film)


if __name__ == "__main__":
    choose_uploads.main()
