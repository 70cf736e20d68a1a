"""Exports of a data set as Parquet and JSON Lines by split, with a manifest, written completely or not at all."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.splits import SPLITS, Split
from etl.pipeline.folders import Folders, located
from etl.pipeline.stage_run import StageRun
from etl.publishing.croissant import ENDINGS

MANIFEST = "export.json"
CARD = "README.md"
CROISSANT = "croissant.json"
FORMAT = 3
"""Version of the file format; increase it when the same tables give other files."""


class ExportLocation(Protocol):
    """The settings of an export that give its location."""

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> str | None: ...


@dataclass(frozen=True)
class RowKind:
    """The kind of an export's rows.

    Attributes:
        name: in the plural, for messages.
        key: column of a row's id.
    """

    name: str
    key: str = "dialogue_id"


ANY_DIALOGUES = RowKind("dialogues")


@dataclass(frozen=True)
class Manifest:
    """The inputs and files of an export.

    Attributes:
        fingerprint: digest of the tables' versions and the settings; it determines the files.
        text: included, or references.
        rules: settings that the texts depend on, for restoring them.
        files: sizes in bytes by path below the folder.
        written: the day on which the files were written, as YYYY-MM-DD; "" in older exports.
        films: number of films by split; {} where rows have none, and in older exports.
    """

    fingerprint: str
    text: str
    rules: Mapping[str, Any]
    rows: Mapping[str, int]
    files: Mapping[str, int] = field(default_factory=dict)
    written: str = ""
    films: Mapping[str, int] = field(default_factory=dict)

    @property
    def splits(self) -> dict[str, Split]:
        """Return the sizes of the splits; {} where the films are not known."""
        return {name: Split(self.rows.get(name, 0), films) for name, films in self.films.items()}

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    @property
    def formats(self) -> list[str]:
        return [kind for kind in ENDINGS if any(name.startswith(f"{kind}/") for name in self.files)]

    def of(self, kind: str, split: str) -> list[str]:
        """Return the files of a format and split, in order."""
        return sorted(name for name in self.files if name.startswith(f"{kind}/{split}-"))


def fingerprint(content: Mapping[str, Any]) -> str:
    """Return a digest of an export's inputs."""
    text = json.dumps([FORMAT, content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_manifest(folders: Folders, folder: str) -> Manifest | None:
    """Return the manifest of an export; None where it is missing or invalid."""
    text = folders.read_text(f"{folder}/{MANIFEST}")
    if text is None:
        return None
    try:
        found = Manifest(**json.loads(text))
        rows = {str(split): int(count) for split, count in found.rows.items()}
        files = {str(name): int(size) for name, size in found.files.items()}
        films = {str(split): int(count) for split, count in found.films.items()}
        rules = dict(found.rules)
    except (AttributeError, TypeError, ValueError):
        return None
    if not isinstance(rules.get("languages", []), list):
        return None
    named = all(re.fullmatch(r"(?:parquet|jsonl|turns)/[\w-]+(?:\.[\w-]+)+", name) for name in files)
    if not named or not re.fullmatch(r"(?:\d{4}-\d{2}-\d{2})?", str(found.written)):
        return None
    return Manifest(str(found.fingerprint), str(found.text), rules, rows, files, str(found.written), films)


def export_folder(root: str, settings: ExportLocation, own: str = "") -> str:
    """Return the folder of an export: the one in the settings, or ``exports/<name>`` under the root.

    Args:
        own: ``lakehouse.set``, which the folder under the root ends in.
    """
    name = f"{settings.name}-{own}" if own else settings.name
    return str(settings.folder or f"{root.rstrip('/')}/exports/{name}").rstrip("/")


def replaced_folder(run: StageRun, settings: ExportLocation, setting: str, own: str = "") -> str:
    """Return `export_folder`, whose files an export replaces.

    Raises:
        InputError: the folder has files of another kind.
    """
    folder = export_folder(run.lakehouse.root, settings, own)
    refuse_foreign(Folders(run.spark), folder, setting)
    return folder


def refuse_foreign(folders: Folders, folder: str, setting: str = "publishing.folder") -> None:
    """Raise an InputError where the folder of a setting, which an export replaces, has files but no manifest."""
    if folders.entries(folder) and read_manifest(folders, folder) is None:
        raise InputError(f"{folder} has files that are not an export: set {setting} to an empty folder")


def is_complete(folders: Folders, folder: str, manifest: Manifest) -> bool:
    """Return whether every file of the manifest exists with its size."""
    kinds = {name.split("/")[0] for name in manifest.files}
    sizes = {f"{kind}/{one.name}": one.size for kind in kinds for one in folders.entries(f"{folder}/{kind}")}
    return all(sizes.get(name) == size for name, size in manifest.files.items())


def exported(
    run: StageRun,
    folder: str,
    manifest: Manifest,
    rows: Callable[[], DataFrame],
    formats: Sequence[str],
    per_file: int,
    what: RowKind = ANY_DIALOGUES,
) -> Manifest:
    """Write an export if its inputs have changed or a file is missing, and return the manifest of its files.

    Args:
        manifest: without rows and files.
        rows: returns the rows for ``write_export``; called only if the export is written.
        what: kind of the rows.
    """
    folders = Folders(run.spark)
    existing = read_manifest(folders, folder)
    if existing and existing.fingerprint == manifest.fingerprint and is_complete(folders, folder, existing):
        run.say(f"export unchanged: {folder}")
        return existing
    done = write_export(run.spark, folder, rows(), manifest, formats, per_file, what)
    run.say(f"export written: {folder}, {sum(done.rows.values()):,} {what.name}")
    return done


def write_export(
    spark: SparkSession,
    folder: str,
    rows: DataFrame,
    manifest: Manifest,
    formats: Sequence[str],
    per_file: int,
    what: RowKind = ANY_DIALOGUES,
) -> Manifest:
    """Write the rows by split, replace the folder after all files are complete, and return the new manifest.

    A split of more than ``per_file`` rows is divided by the hash of their ids, and each file is sorted by id. The
    same rows give the same files, however they are partitioned.

    Args:
        rows: id, split and all published columns.
        manifest: without rows and files.
        formats: parquet, jsonl.
        per_file: approximate number of rows in a file.
        what: kind of the rows.
    """
    folders = Folders(spark)
    fresh = f"{folder.rstrip('/')}.new"
    folders.delete(fresh)
    counted = {row["split"]: row["count"] for row in rows.groupBy("split").count().collect()}
    pieces = {split: max(1, math.ceil(counted[split] / per_file)) for split in SPLITS if split in counted}
    if not pieces:
        raise InputError(f"there are no {what.name} to publish: run the earlier stages")
    counts = F.create_map(*(F.lit(value) for pair in pieces.items() for value in pair))
    piece = F.pmod(F.xxhash64(what.key), counts[F.col("split")]).cast("int")
    placed = rows.withColumn("piece", piece).repartition(sum(pieces.values()), "split", "piece")
    laid = placed.sortWithinPartitions("split", "piece", what.key)
    files: dict[str, int] = {}
    for kind in formats:
        raw = f"{fresh}/_{kind}"
        writer = laid.write.partitionBy("split", "piece")
        if kind == "parquet":
            writer.parquet(located(raw))
        else:
            writer.option("compression", "gzip").option("ignoreNullFields", "false").json(located(raw))
        files |= _named(folders, f"{fresh}/{kind}", ENDINGS[kind], raw, pieces)
    written = datetime.now(UTC).date().isoformat()
    done = replace(manifest, rows=counted, files=files, written=written)
    folders.write_text(f"{fresh}/{MANIFEST}", done.to_json())
    put_in_place(folders, fresh, folder)
    return done


def put_in_place(folders: Folders, fresh: str, folder: str) -> None:
    """Replace a folder by a finished one."""
    before = f"{folder.rstrip('/')}.old"
    if folders.exists(folder):
        folders.move(folder, before)
    folders.move(fresh, folder)
    folders.delete(before)


def _named(folders: Folders, into: str, ending: str, raw: str, pieces: Mapping[str, int]) -> dict[str, int]:
    """Rename Spark's part files by split and number, and return the sizes by name below the export's folder."""
    found = {}
    for split, total in pieces.items():
        for number in range(total):
            parts = [
                one
                for one in folders.entries(f"{raw}/split={split}/piece={number}")
                if one.name.startswith("part-") and not one.is_folder
            ]
            if len(parts) > 1:
                raise RuntimeError(f"Spark wrote {len(parts)} files for {split} {number}, because it split a partition")
            for part in parts:
                name = f"{split}-{number:05d}-of-{total:05d}.{ending}"
                folders.move(part.path, f"{into}/{name}")
                found[f"{into.rsplit('/', 1)[-1]}/{name}"] = part.size
    folders.delete(raw)
    return found


def first_row(spark: SparkSession, folder: str, manifest: Manifest, key: str = ANY_DIALOGUES.key) -> str | None:
    """Return the first row of an export by its key as JSON; None where it has no Parquet files."""
    names = [name for split in SPLITS for name in manifest.of("parquet", split)]
    if not names:
        return None
    row = spark.read.parquet(located(f"{folder}/{names[0]}")).orderBy(key).limit(1)
    found = row.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"})).first()
    return None if found is None else str(found[0])


def read_export(spark: SparkSession, folder: str, manifest: Manifest) -> DataFrame:
    """Return the rows of an export with their split.

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
    return reduce(DataFrame.unionByName, frames)
