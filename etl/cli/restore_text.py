"""``python -m jobs restore-text``: the texts of an export that refers to the sentences of OPUS."""

from functools import partial

from conf.errors import InputError
from conf.settings import Settings
from etl.edos.card import restored_card, restored_croissant
from etl.edos.export import ROWS, ROWS_PER_FILE, TEXT_RULES
from etl.edos.export_rows import restored
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_session
from etl.publishing.exports import (
    CARD,
    CROISSANT,
    Manifest,
    fingerprint,
    read_export,
    read_manifest,
    refuse_foreign,
    write_export,
)
from etl.subtitles.cleaning_words import cleaning_words
from etl.subtitles.settings import CleaningSettings
from etl.subtitles.tables import FILES
from etl.subtitles.turn_texts import turn_texts


def restore_text(settings: Settings) -> int:
    """Restore the texts of an export with references from ``subtitles.files``, and return the exit status.

    Raises:
        InputError: there is no such export, it already has texts, or no subtitles were read.
    """
    source = (settings.publishing.references or "").rstrip("/")
    if not source:
        raise InputError("set publishing.references to the folder of an export without text")
    spark = spark_session(settings, "edos-lakehouse restore-text")
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        folders = Folders(spark)
        manifest = read_manifest(folders, source)
        if manifest is None or manifest.text != "references":
            raise InputError(f"{source} is not an export with references: it has no export.json")
        if lakehouse.identity(FILES) is None:
            raise InputError("subtitles.files does not exist: read your OPUS copy first, run --to ingest_subtitles")
        folder = settings.publishing.folder or f"{source}-with-text"
        refuse_foreign(folders, folder)
        kept = {name: bool(manifest.rules.get(name, False)) for name in TEXT_RULES}
        listed = manifest.rules.get("languages", settings.subtitles.languages)
        rules = CleaningSettings().model_copy(update=kept)
        said = partial(turn_texts, rules=rules, words=cleaning_words([str(code) for code in listed]))
        referred = read_export(spark, source, manifest)
        outcome = restored(referred, lakehouse.read(FILES), said, settings.publishing.spelling)
        total = sum(manifest.rows.values())
        if outcome.rows.isEmpty():
            raise InputError(f"none of {total:,} dialogues is in subtitles.files: read the OPUS release that they name")
        fresh = Manifest(fingerprint({"restored": manifest.fingerprint}), "included", manifest.rules, {})
        done = write_export(spark, folder, outcome.rows, fresh, manifest.formats, ROWS_PER_FILE, ROWS)
        languages = [row.language for row in referred.select("language").distinct().orderBy("language").collect()]
        before = folders.read_text(f"{source}/{CARD}") or ""
        folders.write_text(f"{folder}/{CARD}", restored_card(before, done.rows, done.formats, languages))
        described_before = folders.read_text(f"{source}/{CROISSANT}") or ""
        if described_now := restored_croissant(described_before, manifest.formats):
            folders.write_text(f"{folder}/{CROISSANT}", described_now)
        print(f"{sum(done.rows.values()):,} of {total:,} dialogues have their text again: {folder}")
        assert outcome.dropped is not None
        for row in outcome.dropped.groupBy("reason").agg({"*": "count", "id": "min"}).orderBy("reason").collect():
            print(f"  {row['count(1)']:,} without: {row['reason'].replace('_', ' ')}, such as {row['min(id)']}")
        return 0
    finally:
        close_session(spark, settings)
