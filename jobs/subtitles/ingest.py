"""List and read subtitle files, choose one upload per film, and look up the lemmas of all words (EDOS 3.1)."""

from dataclasses import replace
from typing import Annotated

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.pipeline import UNCOUNTED, At, Incremental, StageRun, Units, stage
from etl.pipeline.outcome import Outcome
from etl.pipeline.spark_api import cached
from etl.subtitles import copies, ingest, manifest, uploads
from etl.subtitles.manifest import shown_sources, with_secrets_again
from etl.subtitles.settings import Lemmas, Listing, ReadingRules
from etl.subtitles.tables import CHOSEN_UPLOADS, FILES, LEMMAS, MANIFEST, QUARANTINE, WITHDRAWN
from udfs.lemmas import lemmas_of_all, vocabulary

Sources = Annotated[tuple[str, ...], At("subtitles.sources"), UNCOUNTED]
"""The manifest has what the sources hold; their names alone tell how its paths are read."""


def _fingerprint(listing: Listing) -> str:
    return manifest.sources_fingerprint(listing.sources, listing.languages)


def _shrinkage(
    before: DataFrame,
    found: DataFrame,
    left_out: DataFrame,
    listing: Listing,
    most: Annotated[float, At("subtitles.max_shrink_share")],
) -> str | None:
    sources = shown_sources(listing.sources)
    wanted = manifest.wanted(before, sources, listing.languages, listing.sample, listing.years)
    return manifest.shrinkage(wanted, found, left_out, most)


@stage(
    reads=(WITHDRAWN,),
    writes=MANIFEST,
    version=9,
    fingerprint=_fingerprint,
    loss_guard=_shrinkage,
    places=("subtitles.sources",),
    units="files",
)
def find_subtitles(withdrawn: DataFrame, listing: Listing, run: StageRun) -> Outcome:
    """List all subtitle files of the sources, plain files and members of OPUS zips, without withdrawn ones."""
    listed = manifest.find_subtitles(run.spark, listing.sources, listing.languages, listing.release)
    asked = manifest.in_film_sample(F.col("movie_id"), listing.sample)
    asked &= manifest.in_years(F.col("directory_year"), listing.years)
    sampled = listed.where(manifest.is_folder() | asked)
    chosen = manifest.in_chosen_languages(sampled, listing.languages)
    kept = manifest.without_withdrawn(chosen.rows, withdrawn)
    assert kept.dropped is not None
    assert chosen.dropped is not None
    return replace(kept, dropped=kept.dropped.unionByName(chosen.dropped), rows_in=sampled.count())


def _copies_marked(found: DataFrame, sources: Sources) -> DataFrame:
    marked = copies.with_upload_version(copies.mark_copies(found, shown_sources(sources)))
    return with_secrets_again(marked, sources)


@stage(
    reads=(MANIFEST,),
    writes=FILES,
    quarantine=QUARANTINE,
    version=11,
    input_guard=ingest.unusable_source,
    incremental=Incremental(
        "source_path",
        "sum(bytes) / 1e6",
        1_000,
        prepare=_copies_marked,
        units=Units.VERSIONED,
    ),
    units="files",
)
def ingest_subtitles(
    found: DataFrame, reading: ReadingRules, languages: Annotated[tuple[str, ...], At("subtitles.languages")]
) -> Outcome:
    """Read the listed files into one row each, with nested sentences, and quarantine unreadable ones."""
    return ingest.ingest_subtitles(
        found,
        languages=languages,
        task_mb=reading.task_megabytes,
        truecase=reading.truecase,
        max_bytes=reading.max_file_megabytes << 20,
        max_ratio=reading.max_ratio,
        max_seconds=reading.max_file_seconds,
    )


@stage(reads=(FILES,), writes=CHOSEN_UPLOADS, units="files", version=4)
def choose_uploads(files: DataFrame, uploads_per_film: Annotated[int, At("subtitles.uploads_per_film")]) -> Outcome:
    """Choose one upload for each film, and record the others in the ledger."""
    return uploads.choose_uploads(files, uploads_per_film, cached)


def _words(files: DataFrame) -> DataFrame:
    return vocabulary(files, F.explode("sentences.text"))


@stage(
    reads=(FILES,),
    writes=LEMMAS,
    incremental=Incremental("word", cost_per_minute=500_000, prepare=_words, row_by_row=True),
    units="words",
)
def lemmatize_words(words: DataFrame, lemmas: Lemmas) -> DataFrame:
    """Look up the lemma of each distinct word of the subtitles, once (EDOS 3.1: features after lemmatization)."""
    return lemmas_of_all(words, backend=lemmas.lemmatizer, language=lemmas.lemma_language)
