"""The export of EDOS."""

from dataclasses import dataclass, fields
from typing import Any

import yaml
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.model_settings import ModelSettings
from conf.redaction import redacted
from conf.settings import MODELS_OF_SETS, TrainSections
from etl.common.splits import SPLITS, films_by_split, split_faults
from etl.edos.card import about_edos, card
from etl.edos.export_rows import published_rows
from etl.edos.findings import CARD_VIEWS, gather
from etl.edos.settings import EdosSettings, PublishingSettings
from etl.edos.tables import DIALOGUES
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing.exports import (
    CARD,
    CROISSANT,
    Manifest,
    RowKind,
    exported,
    fingerprint,
    first_row,
    replaced_folder,
)
from etl.publishing.licences import check_licence, used_sources
from etl.subtitles.settings import SubtitleSettings
from etl.subtitles.tables import CLEAN_DIALOGUES

SETTINGS = "settings.yaml"
"""The settings of an export that differ from the defaults; ``--config`` reads it."""
TRAININGS = ("turn_segmenter", "turn_pairs", *MODELS_OF_SETS)
"""The trainings whose settings an export's file has."""
ROWS = RowKind("dialogues")
ROWS_PER_FILE = 250_000
"""A split of more is cut, by the hash of dialogue_id."""
TEXT_RULES = ("strip_names", "strip_brackets", "repair_scans", "drop_credits")
"""Cleaning rules that change a turn's text."""


@dataclass(frozen=True)
class MadeWith:
    """The settings that an export was made with."""

    publishing: PublishingSettings
    subtitles: SubtitleSettings
    edos: EdosSettings
    models: ModelSettings
    training: TrainSections

    def to_yaml(self, own: str) -> str:
        """Return those that were set, profile included, as YAML without secrets: they make the same rows again.

        Args:
            own: ``lakehouse.set``. The names that its models have by themselves are left out, so that another set can
                be made with the file.
        """
        given = {one.name: getattr(self, one.name).model_dump(mode="json", exclude_unset=True) for one in fields(self)}
        given["training"] = {key: value for key, value in given["training"].items() if key in TRAININGS}
        for key in MODELS_OF_SETS if own else ():
            if getattr(self.training, key).name.endswith(f"-{own}"):
                given["training"].get(key, {}).pop("name", None)
                given["models"].pop(key, None)
        given |= {"lakehouse": {"set": own}} if own else {}
        head = "# Settings of this export: python -m jobs run --config settings.yaml --to export_dataset\n"
        head += "# Where its tables lie (lakehouse.root) and how Spark works is not here.\n"
        return head + yaml.safe_dump(without_secrets(given), sort_keys=True, allow_unicode=True)


def without_secrets(value: Any, name: str = "") -> Any:
    """Return settings with the secrets in their texts hidden; a setting such as ``start_token: true`` is none.

    Args:
        value: a section, list or single value.
        name: of the setting that has it.
    """
    if isinstance(value, dict):
        return {key: without_secrets(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_secrets(inner, name) for inner in value]
    if not isinstance(value, str):
        return value
    return redacted(f"{name}: {value}").removeprefix(f"{name}: ")


def publish(run: StageRun, made_with: MadeWith) -> str:
    """Write the export if its inputs have changed, its card and its settings, and return the folder.

    Raises:
        InputError: the folder has other files, there are no dialogues, or the licence grants more than the sources.
    """
    publishing, subtitles, edos = made_with.publishing, made_with.subtitles, made_with.edos
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    folders = Folders(run.spark)
    folder = replaced_folder(run, publishing, "publishing.folder", run.lakehouse.set)
    sources = used_sources({"subtitles": subtitles, "edos": edos}, with_texts=publishing.text == "included")
    check_licence(publishing.licence, sources)
    references = publishing.text == "references"
    rules = subtitles.cleaning.model_dump(include=set(TEXT_RULES)) | {
        "truecase": subtitles.truecase,
        "languages": subtitles.languages,
    }
    content = {
        "tables": {table.name: lakehouse.identity(table) for table in (DIALOGUES, CLEAN_DIALOGUES)},
        "settings": publishing.model_dump(mode="json", exclude={"folder", "references", "name", "licence"}),
        "rules": rules,
    }
    clean = lakehouse.read(CLEAN_DIALOGUES)
    dialogues = lakehouse.read(DIALOGUES)
    films = films_by_split(
        dialogues, test_share=publishing.test_share, validation_share=publishing.validation_share
    ).persist()
    counted = films.groupBy("split").agg(F.count_distinct("film_group").alias("films")).collect()
    each = {row["split"]: row["films"] for row in counted}
    manifest = exported(
        run,
        folder,
        Manifest(fingerprint(content), publishing.text, rules, {}, films=dict.fromkeys(SPLITS, 0) | each),
        lambda: published_rows(
            dialogues,
            clean,
            films,
            references=references,
            spelling=publishing.spelling,
        ),
        publishing.formats,
        ROWS_PER_FILE,
        what=ROWS,
    )
    films.unpersist()
    for fault in split_faults(manifest.splits) if manifest.films else ():
        run.say(fault)
    written = sum(manifest.rows.values())
    finished = dialogues.count()
    if written != finished:
        raise InputError(
            f"{finished - written:,} of {finished:,} finished dialogues are not in subtitles.clean_dialogues: "
            "run the earlier stages"
        )
    folders.write_text(f"{folder}/{SETTINGS}", made_with.to_yaml(run.lakehouse.set))
    findings = gather(run.spark, run.tracking, subtitles, edos, CARD_VIEWS)
    languages = subtitles.languages
    text = card(
        findings,
        publishing,
        rows=manifest.rows,
        films=manifest.films,
        languages=languages,
        sources=sources,
        example=first_row(run.spark, folder, manifest),
    )
    folders.write_text(f"{folder}/{CARD}", text)
    about = about_edos(findings, publishing, manifest.rows, languages)
    folders.write_text(f"{folder}/{CROISSANT}", about.croissant(manifest.written))
    return folder
