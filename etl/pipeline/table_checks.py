"""Checks of Delta tables in local folders, without Spark: logs, checkpoints and files, before any work begins.

A damaged log ends a run in the middle, with an error of Spark that names neither the file nor a cure.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from conf.errors import InputError, message_line
from conf.places import local_path
from conf.settings import Settings
from etl.pipeline import local_delta
from etl.pipeline.stages import REGISTRY, Stage
from etl.tables import TABLES, Table, in_set
from etl.tables.ops import DROPPED, STAGE_RUNS

LOG = "_delta_log"
ASIDE = "_damaged"
"""Folder of the lakehouse for the folders of damaged tables that were set aside."""
LAST_CHECKPOINT = "_last_checkpoint"
READER_FEATURES = frozenset(
    (
        "catalogOwned-preview",
        "columnMapping",
        "deletionVectors",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
    )
)
"""Features of tables that Delta 3.3 can read."""
ACTIONS = frozenset(
    (
        "add",
        "cdc",
        "checkpointMetadata",
        "commitInfo",
        "domainMetadata",
        "metaData",
        "protocol",
        "remove",
        "sidecar",
        "txn",
    )
)
"""What a line of a commit may hold; readers pass over other names, and with them over the rows."""
OLDER = "use the version of Spark and Delta that wrote it, or another lakehouse.root"
NEWEST_READER = 3
NEWEST_WRITER = 7
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(?:parquet|json)")


@dataclass(frozen=True)
class TableFault:
    """Damage of a table.

    Attributes:
        table: its name.
        file: the file or folder with the damage.
        reason: what is wrong with it.
        cure: what to do.
    """

    table: str
    file: Path
    reason: str
    cure: str

    def __str__(self) -> str:
        return f"table {self.table}: {self.file} {self.reason}: {self.cure}"


class _DamageError(Exception):
    """Damage of one file; its own cure, where the table need not be made again, with what is lost by it."""

    def __init__(self, file: Path, reason: str, cure: str | None = None) -> None:
        super().__init__(reason)
        self.file = file
        self.reason = reason
        self.cure = cure


def require_tables(stages: Iterable[Stage], settings: Settings) -> None:
    """Raise an InputError where a table of the stages, or of the framework, is damaged.

    Raises:
        InputError: one line that names table, file and cure.
    """
    tables = {table.name: table for table in (STAGE_RUNS, DROPPED)}
    for stage in stages:
        own = (*stage.reads, stage.writes, stage.quarantine)
        tables |= {one.name: one for one in own if isinstance(one, Table)}
    found = list(table_faults(settings, tables.values(), files_of=(STAGE_RUNS.name, DROPPED.name)))
    if found:
        more = f" (and {len(found) - 1} more: check-tables lists them)" if len(found) > 1 else ""
        raise InputError(f"{found[0]}{more}")


def table_faults(
    settings: Settings, tables: Iterable[Table] = TABLES.values(), files_of: Sequence[str] | None = None
) -> Iterator[TableFault]:
    """Yield what is damaged of tables in local folders; those of a catalog or a store are not looked at.

    Args:
        settings: where the tables are.
        tables: those to check.
        files_of: names of the tables whose data files are looked for, too; None: of all.
    """
    root = table_root(settings)
    if root is None:
        return
    for table in tables:
        folder = _folder(root, table.name, settings)
        try:
            _check_log(folder)
            if files_of is None or table.name in files_of:
                _check_files(folder)
        except _DamageError as damage:
            yield TableFault(table.name, damage.file, damage.reason, damage.cure or _cure(table, folder))


def table_root(settings: Settings) -> Path | None:
    """Return the local folder of the tables; None where a catalog or a store has them."""
    root = local_path(settings.lakehouse.root)
    return None if settings.lakehouse.catalog is not None or root is None else Path(root)


def is_made_again(table: Table) -> bool:
    """Return whether a run makes a table again once it is gone: stages do, commands do not."""
    return not table.by_command


def set_aside(settings: Settings, faults: Sequence[TableFault]) -> Iterator[tuple[str, Path]]:
    """Move the folders of damaged tables that a run makes again out of the way; yield each table's name and new place.

    Nothing is deleted. Tables that nothing makes again stay where they are.
    """
    root = table_root(settings)
    now = f"{datetime.now(UTC):%Y%m%dT%H%M%S}"
    for name in dict.fromkeys(fault.table for fault in faults):
        if root is None or not is_made_again(TABLES[name]):
            continue
        target = root / ASIDE / f"{name}-{now}"
        target.parent.mkdir(parents=True, exist_ok=True)
        _folder(root, name, settings).rename(target)
        yield name, target


def _folder(root: Path, name: str, settings: Settings) -> Path:
    """Return the folder of the table of this name."""
    return root / in_set(name, settings.lakehouse.set).replace(".", "/")


def _cure(table: Table, folder: Path) -> str:
    """Return how a table comes back: from a copy, or by the stages that make it."""
    if not is_made_again(table):
        return "restore it from a copy, because no stage makes it again"
    if table.name == STAGE_RUNS.name:
        makes = "all stages run again"
    elif table.name == DROPPED.name:
        makes = "the stages whose rows were in it run again"
    else:
        makers = (stage for stage in REGISTRY.values() if table in (stage.writes, stage.quarantine))
        stage = next(makers, None)
        makes = f"{stage.name} makes it again" if stage is not None else "its stage makes it again"
    return f"restore it from a copy, or take {folder} away (check-tables --set-aside does), and run: {makes}"


def _check_log(folder: Path) -> None:
    """Raise a `_DamageError` where a table's log cannot be read as a whole."""
    if not folder.is_dir():
        if folder.exists():
            raise _DamageError(folder, "is a file where a table's folder is due")
        return
    log = folder / LOG
    if not log.is_dir():
        if log.exists():
            raise _DamageError(log, "is a file where the table's log is due")
        if any(folder.glob("**/*.parquet")):
            raise _DamageError(log, "is not there, though the table has files")
        return
    names = sorted(path.name for path in log.iterdir())
    commits = {int(found[1]): log / name for name in names if (found := _COMMIT.fullmatch(name))}
    checkpoints = _checkpoints(log, names)
    if not commits and not checkpoints:
        if any(folder.glob("**/*.parquet")):
            raise _DamageError(log, "has no commit, though the table has files")
        return
    start = max(checkpoints, default=-1)
    last = max((*commits, start))
    _check_checkpoints(log, checkpoints, commits)
    first = start + 1 if start >= 0 else 0
    for version in range(first, last + 1):
        if version not in commits:
            raise _DamageError(log / f"{version:020}.json", f"is not there, though version {last} is")
    actions: set[str] = set()
    for version in range(first, last + 1):
        actions |= _check_commit(commits[version], newest=version == last and version > 0)
    if start < 0 and not {"protocol", "metaData"} <= actions:
        raise _DamageError(log, "has no commit with the table's protocol and columns")


def _checkpoints(log: Path, names: Sequence[str]) -> dict[int, list[Path]]:
    """Return the files of each checkpoint whose parts are all there, by version."""
    found: dict[int, list[Path]] = {}
    parts: dict[int, int] = {}
    for name in names:
        if (match := _CHECKPOINT.fullmatch(name)) is not None:
            found.setdefault(int(match[1]), []).append(log / name)
            if match[3]:
                parts[int(match[1])] = int(match[3])
    return {version: files for version, files in found.items() if len(files) >= parts.get(version, 1)}


def _check_checkpoints(log: Path, checkpoints: Mapping[int, list[Path]], commits: Mapping[int, Path]) -> None:
    """Raise a `_DamageError` where the newest checkpoint, or the one that the log names, cannot be read."""
    named = _named_checkpoint(log)
    if named is not None and named not in checkpoints:
        whole = all(version in commits for version in range(named + 1))
        cure = "delete it: the commits before it are all there" if whole else None
        raise _DamageError(log / LAST_CHECKPOINT, f"names checkpoint {named}, which is not there", cure)
    newest = max(checkpoints, default=None)
    for file in checkpoints[newest] if newest is not None else []:
        problem = _checkpoint_problem(file)
        if problem is not None:
            base = max((one for one in checkpoints if one < (newest or 0)), default=-1)
            whole = all(version in commits for version in range(base + 1, (newest or 0) + 1))
            cure = f"delete it and {LAST_CHECKPOINT} beside it: the commits before it are all there" if whole else None
            raise _DamageError(file, problem, cure)


def _named_checkpoint(log: Path) -> int | None:
    """Return the version that ``_last_checkpoint`` names; None where there is none, or readers pass over it."""
    try:
        named = json.loads((log / LAST_CHECKPOINT).read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return named if isinstance(named, int) else None


def _checkpoint_problem(file: Path) -> str | None:
    if file.suffix == ".json":
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = pq.ParquetFile(file)
        wanted = [name for name in ("protocol", "metaData") if name in content.schema_arrow.names]
        for batch in content.iter_batches(columns=wanted):
            for row in batch.to_pylist():
                if row.get("protocol") and (problem := _protocol_problem(row["protocol"])):
                    return problem
    except (OSError, pa.ArrowException) as error:
        return f"is no checkpoint that can be read ({message_line(error)})"
    return None


def _check_commit(file: Path, newest: bool) -> set[str]:
    """Return the names of a commit's actions, or raise a `_DamageError`."""
    cure = None
    if newest:
        cure = f"delete it ({file.name[:-5]} alone is lost), and run: its stage works again"
    names: set[str] = set()
    added = 0
    about: Any = None
    try:
        lines = file.read_bytes().decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _DamageError(file, f"cannot be read ({message_line(error)})", cure) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            action = json.loads(line)
        except (ValueError, RecursionError):
            raise _DamageError(file, f"is cut or damaged in line {number}", cure) from None
        if not isinstance(action, dict) or not action.keys() <= ACTIONS:
            raise _DamageError(file, f"has no action of Delta in line {number}", cure)
        names |= action.keys()
        added += "add" in action
        about = action.get("commitInfo", about)
        if isinstance(action.get("protocol"), dict) and (problem := _protocol_problem(action["protocol"])):
            raise _DamageError(file, problem, OLDER)
    if not names:
        raise _DamageError(file, "is empty", cure)
    if (announced := _announced_files(about)) > added:
        raise _DamageError(file, f"is cut: it announces {announced} files, and {added} are in it", cure)
    return names


def _announced_files(about: Any) -> int:
    """Return how many files, at least, a commit's ``commitInfo`` says that it adds.

    delta-rs counts the files. Spark counts empty ones, too, which it does not add: only its rows tell of one file.
    """
    metrics = about.get("operationMetrics") if isinstance(about, dict) else None
    if not isinstance(metrics, dict):
        return 0
    files = metrics.get("num_added_files")
    rows = str(metrics.get("numOutputRows", "0")) if about.get("operation") == "WRITE" else "0"
    return files if isinstance(files, int) else int(rows.isascii() and rows.isdigit() and int(rows) > 0)


def _protocol_problem(protocol: Mapping[str, Any]) -> str | None:
    """Return which part of a table's protocol is too new; None where it can be read and written."""
    reader = protocol.get("minReaderVersion") or 0
    writer = protocol.get("minWriterVersion") or 0
    if not isinstance(reader, int) or not isinstance(writer, int):
        return "asks for a protocol that is no number"
    if reader > NEWEST_READER or writer > NEWEST_WRITER:
        return f"asks for Delta's protocol {reader}, {writer}, newer than {NEWEST_READER}, {NEWEST_WRITER}"
    features = protocol.get("readerFeatures") or []
    unknown = sorted(set(map(str, features)) - READER_FEATURES)
    return f"asks for Delta's feature {unknown[0][:60]}, which is newer" if unknown else None


def _check_files(folder: Path) -> None:
    """Raise a `_DamageError` where a file of the table's newest version is not there or has another size."""
    if not (folder / LOG).is_dir() or not local_delta.available() or not local_delta.keeps(str(folder)):
        return
    import pyarrow as pa
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        actions = pa.table(DeltaTable(str(folder)).get_add_actions(flatten=True))
    except (DeltaError, OSError) as error:
        raise _DamageError(folder / LOG, f"cannot be read ({message_line(error)})") from None
    sizes = zip(actions["path"].to_pylist(), actions["size_bytes"].to_pylist(), strict=True)
    for name, size in sizes:
        file = folder / unquote(name)
        try:
            found = file.stat().st_size
        except (OSError, ValueError):
            raise _DamageError(file, "is not there") from None
        if found != size:
            raise _DamageError(file, f"has {found} bytes, {size} were written")
