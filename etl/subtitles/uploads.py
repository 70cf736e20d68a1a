"""Which uploads stand for a film: ``subtitles.files`` -> ``subtitles.chosen_uploads``."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from etl.tables.outcome import Outcome
from etl.tables.subtitles import CHOSEN_UPLOADS

_CDS = r"^\s*([0-9]{1,2})\s*/\s*([0-9]{1,2})\s*$"


def choose_uploads(files: DataFrame, uploads_per_film: int) -> Outcome:
    """Choose uploads for each film of a language.

    Of one upload in several releases the newest release stands. Then a film's uploads are ranked:

    1. whole films before parts (``cds`` 1/1 or unstated, before 1/2, 2/2, ...);
    2. human before machine translation;
    3. times: by the share of sentences that lack a time or run backwards, in steps of 10 points, for a
       dialogue is cut where times say so;
    4. size: by how far the sentence count is from the median of the film's whole uploads (parts when it has
       no others), in steps of a tenth of it, which leaves trailers, adverts and doubled files behind;
    5. of the longest among equals, the greatest number of sentences; ties by the newest upload, the one
       with the highest subtitle_id.

    Parts are never joined: their clocks start anew. A film without whole uploads is stood for by its best
    part, and with ``uploads_per_film`` of 2 and up by parts beside it. A file of unknown film
    (``file:<id>``) is a film of its own.

    Args:
        files: ``subtitles.files``; only its small columns are read.
        uploads_per_film: how many; 0 for all (of which each still counts once over the releases).

    Returns:
        rows of ``subtitles.chosen_uploads``; dropped files: newer_release_chosen, another_upload_chosen.
    """
    newest = Window.partitionBy("language", "subtitle_id").orderBy(
        _release_year().desc_nulls_last(), F.col("release").desc(), "source_path"
    )
    releases = _small(files).withColumns(
        {"_newest": F.row_number().over(newest), "_instead": F.first("source_path").over(newest)}
    )
    film = Window.partitionBy("language", "movie_id")
    ranked = (
        releases.where("_newest = 1")
        .withColumn("_median", _median_of_whole(film))
        .withColumn("choice", F.row_number().over(film.orderBy(*_best_first())))
        .withColumn("uploads", F.count("*").over(film).cast("int"))
        .withColumn("_best", F.first("subtitle_id").over(film.orderBy("choice")))
    )
    chosen = F.lit(uploads_per_film <= 0) | (F.col("choice") <= uploads_per_film)
    return Outcome(
        rows=ranked.where(chosen).select(*CHOSEN_UPLOADS.columns),
        dropped=_dropped(releases.where("_newest > 1"), "newer_release_chosen", F.col("_instead")).unionByName(
            _dropped(ranked.where(~chosen), "another_upload_chosen", F.col("_best"))
        ),
    )


def _small(files: DataFrame) -> DataFrame:
    """The few numbers that the rule reads; sentences themselves stay where they are."""
    return files.select(
        "source_path", "subtitle_id", "movie_id", "release", "language", "sentence_count",
        (~_is_whole(F.col("cds"))).alias("_part"),
        F.coalesce("machine_translated", F.lit(False)).alias("_machine"),
        _untimed_share().alias("_untimed"),
    )  # fmt: skip


def _release_year() -> Column:
    """``v2018`` -> 2018; null for a release that names no year."""
    return F.expr("try_cast(regexp_extract(release, '(20[0-9]{2})', 1) AS int)")


def _is_whole(cds: Column) -> Column:
    """``1/1``, nothing said, or nonsense; ``2/2`` is half a film."""
    discs = F.regexp_extract(cds, _CDS, 2)
    return cds.isNull() | discs.isin("", "0", "00", "1", "01")


def _untimed_share() -> Column:
    """Share of sentence starts and ends that are missing, and of times that run backwards, from 0 up."""
    missing = sum(
        (
            F.coalesce(F.try_element_at("quirks", F.lit(name)), F.lit(0))
            for name in ("sentence_without_start", "sentence_without_end", "time_backwards")
        ),
        F.lit(0),
    )
    return missing / F.greatest(2 * F.col("sentence_count"), F.lit(1))


def _median_of_whole(film: WindowSpec) -> Column:
    whole = F.expr("percentile(CASE WHEN NOT _part THEN sentence_count END, 0.5)").over(film)
    return F.coalesce(whole, F.expr("percentile(sentence_count, 0.5)").over(film))


def _best_first() -> list[Column]:
    distance = F.abs(F.col("sentence_count") - F.col("_median")) / F.greatest(F.col("_median"), F.lit(1))
    number = F.expr("try_cast(subtitle_id AS decimal(20, 0))")
    return [
        F.col("_part"), F.col("_machine"), F.floor(F.col("_untimed") * 10), F.floor(distance * 10),
        F.col("sentence_count").desc(), number.desc_nulls_last(), F.col("subtitle_id").desc(), F.col("source_path"),
    ]  # fmt: skip


def _dropped(rows: DataFrame, reason: str, chosen: Column) -> DataFrame:
    return rows.select(
        F.lit("file").alias("unit"), F.col("source_path").alias("id"), F.lit(reason).alias("reason"),
        F.concat(F.lit("chosen: "), chosen).alias("detail"), F.lit(1).cast("bigint").alias("units"),
    )  # fmt: skip
