"""List every subtitle file under the sources: plain files, and the members of OPUS zips."""

from pyspark.sql import functions as F

from conf.settings import Settings
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, stage
from etl.lakehouse.tables.subtitles import MANIFEST
from etl.subtitles.manifest import find_subtitles as list_subtitles
from etl.subtitles.manifest import in_film_sample, sources_fingerprint


def fingerprint(settings: Settings) -> str:
    return sources_fingerprint(settings.subtitles.sources, settings.subtitles.languages)


@stage(
    writes=MANIFEST,
    settings=("subtitles.sources", "subtitles.languages", "subtitles.release", "subtitles.sample"),
    fingerprint=fingerprint,
    units=Units("files"),
)
def find_subtitles(run: StageRun) -> Outcome:
    subtitles = run.settings.subtitles
    listed = list_subtitles(run.spark, subtitles.sources, subtitles.languages, subtitles.release)
    sampled = listed.where(in_film_sample(F.col("movie_id"), subtitles.sample))
    return Outcome(sampled, rows_in=sampled.count())


if __name__ == "__main__":
    find_subtitles.main()
