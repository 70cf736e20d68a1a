"""List and read subtitle files, choose one upload per film, and look up the lemmas of all words (EDOS 3.1)."""

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.settings import Settings
from etl.common.spark_api import cached
from etl.pipeline import Incremental, StageRun, stage, under
from etl.subtitles import copies, ingest, manifest, uploads
from etl.subtitles.sources import shown_sources, with_secrets_again
from etl.tables.outcome import Outcome
from etl.tables.subtitles import CHOSEN_UPLOADS, FILES, LEMMAS, MANIFEST, WITHDRAWN
from udfs.lemmas import lemmas_of_all, vocabulary


def _fingerprint(settings: Settings) -> str:
    return manifest.sources_fingerprint(settings.subtitles.sources, settings.subtitles.languages)


@stage(
    reads=(WITHDRAWN,),
    writes=MANIFEST,
    settings=under("subtitles", "sources", "languages", "release", "sample"),
    version=3,
    fingerprint=_fingerprint,
    units="files",
)
def find_subtitles(withdrawn: DataFrame, run: StageRun) -> Outcome:
    """List all subtitle files of the sources, plain files and members of OPUS zips, without withdrawn ones."""
    subtitles = run.settings.subtitles
    listed = manifest.find_subtitles(run.spark, subtitles.sources, subtitles.languages, subtitles.release)
    sampled = listed.where(manifest.in_film_sample(F.col("movie_id"), subtitles.sample))
    return replace(manifest.without_withdrawn(sampled, withdrawn), rows_in=sampled.count())


def _copies_marked(found: DataFrame, run: StageRun) -> DataFrame:
    named = run.settings.subtitles.sources
    marked = copies.with_upload_version(copies.mark_copies(found, shown_sources(named)))
    return with_secrets_again(marked, named)


@stage(
    reads=(MANIFEST,),
    writes=FILES,
    settings=under("subtitles", "languages", "truecase", "max_file_megabytes", "max_ratio", "max_file_seconds"),
    version=3,
    incremental=Incremental("source_path", "sum(bytes) / 1e6", 1_000, prepare=_copies_marked, versioned=True),
    units="files",
    options=under("subtitles", "sources", "task_megabytes"),
)
def ingest_subtitles(found: DataFrame, run: StageRun) -> Outcome:
    """Read the listed files into one row each, with nested sentences, and quarantine unreadable ones."""
    subtitles = run.settings.subtitles
    return ingest.ingest_subtitles(
        found,
        languages=subtitles.languages,
        task_mb=subtitles.task_megabytes,
        truecase=subtitles.truecase,
        max_bytes=subtitles.max_file_megabytes << 20,
        max_ratio=subtitles.max_ratio,
        max_seconds=subtitles.max_file_seconds,
    )


@stage(reads=(FILES,), writes=CHOSEN_UPLOADS, settings=("subtitles.uploads_per_film",), units="files", version=3)
def choose_uploads(files: DataFrame, run: StageRun) -> Outcome:
    """Choose one upload for each film, and record the others in the ledger."""
    return uploads.choose_uploads(files, run.settings.subtitles.uploads_per_film, cached)


def _words(files: DataFrame, run: StageRun) -> DataFrame:
    return vocabulary(files, F.explode("sentences.text"))


@stage(
    reads=(FILES,),
    writes=LEMMAS,
    settings=("subtitles.lemma_language",),
    incremental=Incremental("word", cost_per_minute=500_000, prepare=_words),
    units="words",
    options=("subtitles.lemmatizer",),
)
def lemmatize_words(words: DataFrame, run: StageRun) -> DataFrame:
    """Look up the lemma of each distinct word of the subtitles, once (EDOS 3.1: features after lemmatization)."""
    backend = run.settings.subtitles.lemmatizer
    return lemmas_of_all(words, backend=backend, language=run.settings.subtitles.lemma_language)
