"""The export of the AugESC conversations, in the schema of ESConv, with a dataset card."""

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf import resources
from etl.augesc.post_judges import JUDGES
from etl.augesc.settings import AugescPublishing
from etl.augesc.tables import CONVERSATIONS, FAULTS, QUERIES
from etl.common.splits import SPLITS, split_by_film
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing import croissant
from etl.publishing.croissant import INTEGER, TEXT, Fields
from etl.publishing.dataset_card import About, Features, citation, example_row, table_rows
from etl.publishing.dataset_findings import rows_of
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
from etl.publishing.pages import shown

METHOD = "augesc"
ROWS = RowKind("conversations")
LICENCE = "cc-by-nc-4.0"
FAULT_COUNTS = {
    "contradiction": ("contradictory_pairs",),
    "other_role": ("confused",),
    "topic_shift": ("shifted",),
    "toxic": ("toxic",),
}
"""Name of a fault in the export, and the columns of ``augesc.faults`` that count it."""
ROLES = ("seeker", "supporter")
TAGS = ("emotional-support", "dialogue", "synthetic")
AUGESC: Fields = {
    "dialogue_id": TEXT,
    "emotion_type": TEXT,
    "problem_type": TEXT,
    "situation": TEXT,
    "source": TEXT,
    "query_id": TEXT,
    "sample": INTEGER,
    "model": TEXT,
    "prompt_hash": TEXT,
    "request_id": TEXT,
    "repaired": INTEGER,
    "query_emotions": TEXT,
    "query_goemotions": TEXT,
    "query_toxicity": TEXT,
    "judged_by": [TEXT],
    "faults": [TEXT],
    "dialog": {"speaker": TEXT, "content": TEXT, "strategy": TEXT},
}


def publish_augesc(conversations: DataFrame, queries: DataFrame, run: StageRun, settings: AugescPublishing) -> str:
    """Write the export if its inputs have changed, and its card, and return the folder.

    Raises:
        InputError: the folder has other files, or there are no conversations.
    """
    lakehouse = Lakehouse(run.spark, run.lakehouse)
    folders = Folders(run.spark)
    folder = replaced_folder(run, settings, "augesc.publishing.folder")
    faults = lakehouse.read(FAULTS)
    content = {
        "tables": {table.name: lakehouse.identity(table) for table in (CONVERSATIONS, QUERIES, FAULTS)},
        "settings": settings.model_dump(mode="json", exclude={"folder", "name"}),
    }
    shares = {"test_share": settings.test_share, "validation_share": settings.validation_share}
    manifest = exported(
        run,
        folder,
        Manifest(fingerprint(content), "included", {}, {}),
        lambda: published_rows(conversations, queries, faults, **shares),
        settings.formats,
        settings.conversations_per_file,
        what=ROWS,
    )
    views = rows_of(lakehouse, ("augesc_table_1", "augesc_table_2", "augesc_query_filters"))
    about = about_augesc(settings.name, manifest.rows, settings.formats)
    example = first_row(run.spark, folder, manifest)
    folders.write_text(f"{folder}/{CARD}", augesc_card(about, views, example))
    folders.write_text(f"{folder}/{CROISSANT}", about.croissant(manifest.written))
    return folder


def published_rows(
    conversations: DataFrame, queries: DataFrame, faults: DataFrame, *, test_share: float, validation_share: float
) -> DataFrame:
    """Return one row a conversation, with the columns of ESConv; ``dialog`` has structs of ``speaker``,
    ``content`` and ``strategy`` (of a supporter who names it; null else).

    Conversations from one query are in one split. ``situation`` and ``problem_type`` are null, because the seeker's
    first utterance is the query.

    Args:
        conversations: ``augesc.conversations``.
        queries: ``augesc.queries``; the emotion is null for a missing query.
        faults: ``augesc.faults``; a conversation that is not in it was not looked at, and its faults are null.
        test_share, validation_share: of the queries.

    Returns:
        dialogue_id, split, emotion_type, problem_type, situation, source, query_id, sample, model, prompt_hash,
        request_id, repaired (the turn from which it was continued again; null: none), query_emotions, query_goemotions,
        query_toxicity (labels of the judges), judged_by, faults (names of ``FAULT_COUNTS``), dialog.
    """
    judged = [F.col(name).alias(f"query_{name}") for name in JUDGES]
    of_query = queries.select("query_id", F.col("emotion").alias("emotion_type"), *judged, "judged_by")
    rows = conversations.join(of_query, "query_id", "left").join(_fault_names(faults), "conversation_id", "left")
    split = split_by_film(rows, test_share=test_share, validation_share=validation_share, film="query_id")
    dialog = F.zip_with(
        "turns",
        F.coalesce("strategies", F.array().cast("array<string>")),
        lambda turn, strategy: F.struct(
            turn["role"].alias("speaker"), turn["text"].alias("content"), strategy.alias("strategy")
        ),
    )
    none = F.lit(None).cast("string")
    return split.select(
        F.col("conversation_id").alias("dialogue_id"),
        "split",
        "emotion_type",
        none.alias("problem_type"),
        none.alias("situation"),
        "source",
        "query_id",
        "sample",
        "model",
        "prompt_hash",
        "request_id",
        "repaired",
        *(f"query_{name}" for name in JUDGES),
        "judged_by",
        "faults",
        dialog.alias("dialog"),
    )


def _fault_names(faults: DataFrame) -> DataFrame:
    """Return conversation_id and the names of the faults that were found in it."""
    found = [F.coalesce(F.greatest(*columns, F.lit(0)), F.lit(0)) > 0 for columns in FAULT_COUNTS.values()]
    names = F.array(*(F.when(one, name) for name, one in zip(FAULT_COUNTS, found, strict=True)))
    return faults.select(F.col("text_id").alias("conversation_id"), F.array_compact(names).alias("faults"))


def augesc_card(about: About, views: Mapping[str, Sequence[Mapping[str, Any]]], example: str | None = None) -> str:
    """Return the card as Markdown with front matter.

    Args:
        about: of `about_augesc`.
        views: rows of augesc_table_1, augesc_table_2 and augesc_query_filters.
    """
    template = Template(resources.text("publishing/augesc_card.md"))
    text = template.substitute(
        name=about.name,
        conversations=shown(sum(about.rows.values())),
        datasheet=about.datasheet,
        example=example_row(example, "dialog"),
        citation=citation(about.name, METHOD),
        splits=table_rows((split, about.rows[split]) for split in SPLITS if split in about.rows),
        sizes=table_rows(
            (row["data_set"], row["role"], row["measure"].replace("_", " "), row["value"], row["paper"])
            for row in views.get("augesc_table_2", ())
            if row["value"] is not None
        ),
        filters=table_rows(
            (row["source"], row["judges"], row["queries"]) for row in views.get("augesc_query_filters", ())
        ),
        requirements=table_rows(
            (
                row["source"],
                row["requirement"].replace("_", " "),
                row["percent"],
                row["strict_percent"],
                row["paper_percent"],
            )
            for row in views.get("augesc_table_1", ())
            if row["method"] == "augmenter" and row["percent"] is not None
        ),
    )
    return about.card(text)


def about_augesc(name: str, rows: Mapping[str, int], formats: Sequence[str]) -> About:
    """Return what is said of an export with this number of conversations by split."""
    sheet = croissant.Datasheet("augesc", {"conversations": shown(sum(rows.values()))})
    features = Features(AUGESC, ROLES, name=ROWS.name, classes=("speaker",))
    return About(name, METHOD, rows, formats, ["en"], LICENCE, features, sheet, TAGS)
