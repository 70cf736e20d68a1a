"""Choice of the uploads that represent a film."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from etl.pipeline.outcome import Outcome, dropped_columns
from etl.subtitles.tables import CHOSEN_UPLOADS
from etl.subtitles.turn_marks import DIALOGUE_DASH

MOST_DISTANCE = 0.5
MOST_UNTIMED = 0.75
"""Files further from the film's median number of sentences, or with fewer times, are chosen last (ours)."""
_CDS = r"^\s*([0-9]{1,2})\s*/\s*([0-9]{1,2})\s*$"
"""CDs that the file has, and CDs of the film."""
_LABEL = (
    r"^\P{L}*+(?:[\p{L} ]{1,40}[\])] )?\p{Lu}\S*+(?: (?:\p{Lu}\S*+|[^\p{L}\s:]\S*+|and|of|on|in|the)){0,5} :(?! [0-9])"
)
"""A name before a colon, as ``speaker_labels.label_of`` finds it but for scripts without capitals."""


def choose_uploads(
    files: DataFrame, uploads_per_film: int, persist: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> Outcome:
    """Choose uploads for each film of a language.

    The newest release of each upload is kept. Then a film's uploads are ranked by:

    1. whole films (``cds`` 1/1, 2/2, 3/3 or missing) before parts (1/2, ...);
    2. human before machine translation;
    3. a sentence count within half of the median of the film's whole uploads (of its parts if it has only parts) and
       times for a quarter of the sentences, before trailers, doubled files and files without times;
    4. sentences with a speaker mark (a dialogue dash or a label), in steps of a tenth of the film's most, because an
       upload without marks leaves its turns to the segmenter (ours);
    5. share of missing and backward times, in steps of 10 points, because times delimit the dialogues;
    6. distance of the sentence count from the median, in steps of a tenth of the median;
    7. number of sentences, descending, then the newest upload, which has the highest subtitle_id.

    OPUS has joined a film's CDs into one file and continued their clock: all 18 files of a sample with 2/2 or 3/3 are
    whole films. A part without the others restarts its clock and is not joined; a film without whole uploads keeps its
    best one. A file of unknown film (``file:<id>``) counts as a separate film.

    Args:
        files: ``subtitles.files``; of rows whose speaker_marks is null, the texts of sentences are read to count them.
        uploads_per_film: how many to keep; 0 keeps every upload, each in one release.
        persist: called on the frame that is read several times.

    Returns:
        rows of ``subtitles.chosen_uploads``; dropped files: newer_release_chosen, another_upload_chosen.
    """
    newest = Window.partitionBy("language", "subtitle_id").orderBy(
        _release_year().desc_nulls_last(), F.col("release").desc(), "source_path"
    )
    releases = persist(
        _small(files).withColumns(
            {"_newest": F.row_number().over(newest), "_instead": F.first("source_path").over(newest)}
        )
    )
    film = Window.partitionBy("language", "movie_id")
    usable = F.when(~F.col("_part") & ~F.col("_machine") & ~F.col("_odd"), F.col("_marks"))
    ranked = (
        releases.where("_newest = 1")
        .withColumn("_median", _median_of_whole(film))
        .withColumn("_distance", F.abs(F.col("sentence_count") - F.col("_median")) / F.greatest("_median", F.lit(1)))
        .withColumn("_odd", (F.col("_distance") > MOST_DISTANCE) | (F.col("_untimed") > MOST_UNTIMED))
        .withColumn("_most_marks", F.greatest(F.max(usable).over(film), F.lit(1)))
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
    """Select the columns that the ranking reads, with the marks of each upload.

    Two reads, so that no sentence is read of rows that have their number of marks.
    """
    columns: list[Column | str] = [
        "source_path",
        "subtitle_id",
        "movie_id",
        "release",
        "language",
        "sentence_count",
        (~_is_whole(F.col("cds"))).alias("_part"),
        F.coalesce("machine_translated", F.lit(False)).alias("_machine"),
        _untimed_share().alias("_untimed"),
    ]
    known = files.where("speaker_marks IS NOT NULL").select(*columns, F.col("speaker_marks").alias("_marks"))
    earlier = files.where("speaker_marks IS NULL")
    return known.unionByName(earlier.select(*columns, speaker_marks(F.col("sentences.text")).alias("_marks")))


def speaker_marks(texts: Column) -> Column:
    """Return how many of an upload's sentences open with a dialogue dash or with a speaker's name before a colon.

    ``subtitles.files`` keeps the number, so another pattern raises the version of ``ingest_subtitles``, too.

    Args:
        texts: array of the sentences.
    """
    marked = F.filter(texts, lambda text: text.rlike(DIALOGUE_DASH) | text.rlike(_LABEL))
    return F.greatest(F.coalesce(F.size(marked), F.lit(0)), F.lit(0))


def _release_year() -> Column:
    """Return the year of a release, 2018 for ``v2018``; null without one."""
    return F.expr("try_cast(regexp_extract(release, '(20[0-9]{2})', 1) AS int)")


def _is_whole(cds: Column) -> Column:
    """Return whether a file is a whole film: false if ``cds`` names fewer CDs than the film has, as 1/2 does."""
    read, all_of_them = (F.nullif(F.regexp_extract(cds, _CDS, place), F.lit("")).cast("int") for place in (1, 2))
    return cds.isNull() | F.coalesce((all_of_them <= 1) | (read >= all_of_them), F.lit(True))


def _untimed_share() -> Column:
    """Return the number of missing and backward times over the number of sentence starts and ends."""
    names = ("sentence_without_start", "sentence_without_end", "time_backwards")
    faulty = sum((F.coalesce(F.try_element_at("quirks", F.lit(name)), F.lit(0)) for name in names), F.lit(0))
    return faulty / F.greatest(2 * F.col("sentence_count"), F.lit(1))


def _median_of_whole(film: WindowSpec) -> Column:
    whole = F.expr("percentile(CASE WHEN NOT _part THEN sentence_count END, 0.5)").over(film)
    return F.coalesce(whole, F.expr("percentile(sentence_count, 0.5)").over(film))


def _best_first() -> list[Column]:
    marks = F.ceil(F.col("_marks") * 10 / F.col("_most_marks"))
    number = F.expr("try_cast(subtitle_id AS decimal(20, 0))")
    return [
        F.col("_part"),
        F.col("_machine"),
        F.col("_odd"),
        marks.desc(),
        F.floor(F.col("_untimed") * 10),
        F.floor(F.col("_distance") * 10),
        F.col("sentence_count").desc(),
        number.desc_nulls_last(),
        F.col("subtitle_id").desc(),
        F.col("source_path"),
    ]


def _dropped(rows: DataFrame, reason: str, chosen: Column) -> DataFrame:
    return rows.select(*dropped_columns("file", "source_path", reason, 1, F.concat(F.lit("chosen: "), chosen)))
