"""Writing the data set as files for others: Parquet and JSON Lines by split, a card, put in place whole."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.analysis.dataset_card import ENDINGS, SPLITS
from etl.pipeline.folders import Folders, located
from etl.pipeline.stage_run import StageRun

MANIFEST = "export.json"
CARD = "README.md"
FORMAT = 1
"""Raise it when the same tables must give other files."""


@dataclass(frozen=True)
class Manifest:
    """What an export was made of, and which files it has.

    Attributes:
        fingerprint: of the tables' versions and the settings: an equal one means equal files.
        text: included, or references.
        rules: settings that the texts depend on, to put them back.
        rows: dialogues by split.
        files: path below the folder to bytes.
    """

    fingerprint: str
    text: str
    rules: Mapping[str, Any]
    rows: Mapping[str, int]
    files: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    @property
    def formats(self) -> list[str]:
        return [kind for kind in ENDINGS if any(name.startswith(f"{kind}/") for name in self.files)]

    def of(self, kind: str, split: str) -> list[str]:
        """The files of a format and split, in order."""
        return sorted(name for name in self.files if name.startswith(f"{kind}/{split}-"))


def fingerprint(content: Mapping[str, Any]) -> str:
    """A digest of what an export depends on."""
    text = json.dumps([FORMAT, content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_manifest(folders: Folders, folder: str) -> Manifest | None:
    """The manifest of an export; None where there is none, or it is none of ours."""
    text = folders.read_text(f"{folder}/{MANIFEST}")
    if text is None:
        return None
    try:
        found = Manifest(**json.loads(text))
        rows = {str(split): int(count) for split, count in found.rows.items()}
        files = {str(name): int(size) for name, size in found.files.items()}
        rules = dict(found.rules)
    except (AttributeError, TypeError, ValueError):
        return None
    named = all(re.fullmatch(r"(?:parquet|jsonl)/[\w-]+(?:\.[\w-]+)+", name) for name in files)
    return Manifest(str(found.fingerprint), str(found.text), rules, rows, files) if named else None


def refuse_foreign(folders: Folders, folder: str) -> None:
    """An export takes the place of its folder: one that holds other things is not to be touched.

    Raises:
        InputError: the folder holds files and no manifest of an export.
    """
    if folders.entries(folder) and read_manifest(folders, folder) is None:
        raise InputError(f"{folder} holds files that are no export: set publishing.folder to an empty folder")


def is_whole(folders: Folders, folder: str, manifest: Manifest) -> bool:
    """Whether every file that the manifest names is there with its size."""
    kinds = {name.split("/")[0] for name in manifest.files}
    there = {f"{kind}/{one.name}": one.size for kind in kinds for one in folders.entries(f"{folder}/{kind}")}
    return all(there.get(name) == size for name, size in manifest.files.items())


def exported(
    run: StageRun,
    folder: str,
    manifest: Manifest,
    rows: Callable[[], DataFrame],
    formats: Sequence[str],
    per_file: int,
    what: str = "dialogues",
) -> Manifest:
    """Write an export where what it is made of has changed, or a file of it is gone; leave it as it was elsewhere.

    Args:
        run: tells people which of both it was.
        manifest: without rows and files.
        rows: makes what ``write_export`` takes; not asked where nothing has changed.
        what: the rows are called.

    Returns:
        The manifest of what is there now.
    """
    folders = Folders(run.spark)
    there = read_manifest(folders, folder)
    if there is not None and there.fingerprint == manifest.fingerprint and is_whole(folders, folder, there):
        run.say(f"export as it was: {folder}")
        return there
    done = write_export(run.spark, folder, rows(), manifest, formats, per_file)
    run.say(f"export written: {folder}, {sum(done.rows.values()):,} {what}")
    return done


def write_export(
    spark: SparkSession, folder: str, rows: DataFrame, manifest: Manifest, formats: Sequence[str], per_file: int
) -> Manifest:
    """Write the rows by split, and the manifest; the folder is another only when all is there.

    A split of more than ``per_file`` dialogues is cut by the hash of their ids, and each file is in order of id: the
    same rows give the same files, however they were partitioned.

    Args:
        folder: where to; what is there is replaced.
        rows: dialogue_id, split and what else is published.
        manifest: without rows and files.
        formats: parquet, jsonl.
        per_file: dialogues of a file, about.

    Returns:
        The manifest with rows and files.
    """
    folders, fresh = Folders(spark), f"{folder.rstrip('/')}.new"
    folders.delete(fresh)
    counted = {row["split"]: row["count"] for row in rows.groupBy("split").count().collect()}
    pieces = {split: max(1, math.ceil(counted[split] / per_file)) for split in SPLITS if split in counted}
    if not pieces:
        raise InputError("there are no dialogues to publish: run the stages before")
    piece = F.pmod(F.xxhash64("dialogue_id"), F.create_map(*_pairs(pieces))[F.col("split")]).cast("int")
    laid = (
        rows.withColumn("piece", piece)
        .repartition(sum(pieces.values()), "split", "piece")
        .sortWithinPartitions("split", "piece", "dialogue_id")
    )
    files: dict[str, int] = {}
    for kind in formats:
        raw = f"{fresh}/_{kind}"
        writer = laid.write.partitionBy("split", "piece")
        if kind == "parquet":
            writer.parquet(located(raw))
        else:
            writer.option("compression", "gzip").option("ignoreNullFields", "false").json(located(raw))
        files |= _named(folders, fresh, kind, raw, pieces)
    done = Manifest(manifest.fingerprint, manifest.text, manifest.rules, counted, files)
    folders.write_text(f"{fresh}/{MANIFEST}", done.to_json())
    put_in_place(folders, fresh, folder)
    return done


def put_in_place(folders: Folders, fresh: str, folder: str) -> None:
    """Move a finished folder to where an older one may be, which goes."""
    before = f"{folder.rstrip('/')}.old"
    if folders.exists(folder):
        folders.move(folder, before)
    folders.move(fresh, folder)
    folders.delete(before)


def _named(folders: Folders, fresh: str, kind: str, raw: str, pieces: Mapping[str, int]) -> dict[str, int]:
    """Move Spark's part files to names that say split and number; the names with their sizes."""
    found = {}
    for split, total in pieces.items():
        for number in range(total):
            parts = [
                one
                for one in folders.entries(f"{raw}/split={split}/piece={number}")
                if one.name.startswith("part-") and not one.is_folder
            ]
            if len(parts) > 1:
                raise RuntimeError(f"{split} {number} came out in {len(parts)} files: Spark cut a partition")
            for part in parts:
                name = f"{kind}/{split}-{number:05d}-of-{total:05d}.{ENDINGS[kind]}"
                folders.move(part.path, f"{fresh}/{name}")
                found[name] = part.size
    folders.delete(raw)
    return found


def read_export(spark: SparkSession, folder: str, manifest: Manifest) -> DataFrame:
    """The published rows, split among them.

    Raises:
        InputError: the export has no Parquet files.
    """
    frames = [
        spark.read.parquet(*(located(f"{folder}/{name}") for name in names)).withColumn("split", F.lit(split))
        for split in SPLITS
        if (names := manifest.of("parquet", split))
    ]
    if not frames:
        raise InputError(f"{folder} has no Parquet files: export it with publishing.formats=[parquet]")
    rows = frames[0]
    for more in frames[1:]:
        rows = rows.unionByName(more)
    return rows


def _pairs(pieces: Mapping[str, int]) -> list[Any]:
    return [F.lit(value) for pair in pieces.items() for value in pair]
