"""The AugESC conversations as an export: Parquet and JSON Lines by split, with a card."""

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from pyspark.sql import DataFrame

from conf import resources
from conf.taxonomy import load_taxonomy
from etl.analysis.dataset_card import SPLITS, front_matter
from etl.analysis.pages import shown
from etl.analysis.views import all_views
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing.augesc_rows import published_rows
from etl.publishing.exports import CARD, Manifest, exported, fingerprint, refuse_foreign
from etl.tables.augesc import CONVERSATIONS, QUERIES

LICENCE, TAGS = "cc-by-nc-4.0", ("emotional-support", "dialogue", "synthetic")


def publish_augesc(conversations: DataFrame, queries: DataFrame, run: StageRun) -> str:
    """Write the export where what it is made of has changed, and its card.

    Returns:
        The folder.

    Raises:
        InputError: the folder holds other files, or there is nothing to publish.
    """
    wanted = run.settings.augesc.publishing
    lakehouse, folders = Lakehouse(run.spark, run.lakehouse), Folders(run.spark)
    own = f"{run.lakehouse.root.rstrip('/')}/exports/{wanted.name}"
    folder = (wanted.folder or own).rstrip("/")
    refuse_foreign(folders, folder)
    content = {
        "tables": {table.name: lakehouse.identity(table) for table in (CONVERSATIONS, QUERIES)},
        "settings": wanted.model_dump(mode="json", exclude={"folder", "name"}),
    }
    manifest = Manifest(fingerprint(content), "included", {}, {})
    manifest = exported(
        run, folder, manifest,
        lambda: published_rows(
            conversations, queries, test_share=wanted.test_share, validation_share=wanted.validation_share
        ),
        wanted.formats, wanted.conversations_per_file, "conversations",
    )  # fmt: skip
    lakehouse.register(all_views(load_taxonomy("edos")))
    views = {name: _rows_of(run, name) for name in ("augesc_table_1", "augesc_table_2")}
    folders.write_text(f"{folder}/{CARD}", augesc_card(wanted.name, manifest.rows, wanted.formats, views))
    return folder


def augesc_card(
    name: str, rows: Mapping[str, int], formats: Sequence[str], views: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """The card as Markdown with front matter.

    Args:
        name: of the data set.
        rows: conversations by split.
        formats: parquet, jsonl; the first is what a loader reads when nothing is named.
        views: rows of augesc_table_1 and augesc_table_2; a view without rows leaves its table empty.
    """
    template = Template(resources.text("publishing/augesc_card.md"))
    text = template.substitute(
        name=name,
        conversations=shown(sum(rows.values())),
        splits=_cells((split, rows[split]) for split in SPLITS if split in rows),
        sizes=_cells(
            (row["data_set"], row["role"], row["measure"].replace("_", " "), row["value"], row["paper"])
            for row in views.get("augesc_table_2", ())
            if row["value"] is not None
        ),
        requirements=_cells(
            (row["source"], row["requirement"].replace("_", " "), row["percent"], row["paper_percent"])
            for row in views.get("augesc_table_1", ())
            if row["method"] == "augmenter" and row["percent"] is not None
        ),
    )
    return f"---\n{front_matter(rows, formats, ['en'], name, licence=LICENCE, tags=TAGS)}---\n\n{text}"


def _rows_of(run: StageRun, view: str) -> list[dict[str, Any]]:
    name = f"analysis.{view}"
    return [row.asDict() for row in run.spark.table(name).collect()] if run.spark.catalog.tableExists(name) else []


def _cells(rows: Any) -> str:
    return "\n".join(
        "| " + " | ".join(shown(value) if value is not None else "" for value in row) + " |" for row in rows
    )
