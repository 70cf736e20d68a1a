"""Checks of Delta tables in local folders, with delta-rs, before any work begins.

A damaged log ends a run in the middle, with an error of Spark that names neither the table nor a cure.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conf.errors import InputError, message_line
from conf.places import local_path
from conf.settings import Settings
from etl.pipeline import local_delta
from etl.pipeline.stages import REGISTRY, Stage
from etl.pipeline.tables import TABLES, Table, in_set
from etl.pipeline.tables.ops import DROPPED, STAGE_RUNS

LOG = "_delta_log"


@dataclass(frozen=True)
class TableFault:
    """A damaged table, and what is wrong with it."""

    table: str
    folder: Path
    reason: str
    cure: str

    def __str__(self) -> str:
        return f"table {self.table}: {self.folder}: {self.reason}: {self.cure}"


def require_tables(stages: Iterable[Stage], settings: Settings) -> None:
    """Raise an InputError where a table of the stages, or of the framework, is damaged.

    Raises:
        InputError: one line that names the table and the cure.
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
        files_of: names of the tables whose data files are looked for, too; None: of all.
    """
    root = table_root(settings)
    if root is None or not local_delta.available() or not local_delta.keeps(str(root)):
        return
    for table in tables:
        folder = _folder(root, table.name, settings)
        reason = _damage(folder, files_of is None or table.name in files_of)
        if reason is not None:
            yield TableFault(table.name, folder, reason, _cure(table, folder))


def table_root(settings: Settings) -> Path | None:
    """Return the local folder of the tables; None where a catalog or a store has them."""
    root = local_path(settings.lakehouse.root)
    return None if settings.lakehouse.catalog is not None or root is None else Path(root)


def _folder(root: Path, name: str, settings: Settings) -> Path:
    """Return the folder of the table of this name."""
    return root / in_set(name, settings.lakehouse.set).replace(".", "/")


def _cure(table: Table, folder: Path) -> str:
    """Return how a table comes back: from a copy, or by the stages that make it."""
    if table.by_command:
        return "restore it from a copy, because no stage makes it again"
    if table.name == STAGE_RUNS.name:
        makes = "all stages run again"
    elif table.name == DROPPED.name:
        makes = "the stages whose rows were in it run again"
    else:
        makers = (stage.name for stage in REGISTRY.values() if table in (stage.writes, stage.quarantine))
        makes = f"{next(makers, 'its stage')} makes it again"
    return f"restore it from a copy, or take {folder} away, and run: {makes}"


def _damage(folder: Path, with_files: bool) -> str | None:
    """Return what is damaged of a table in a folder; None where it is whole, or there is none."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    log = folder / LOG
    if not any(log.glob("*.json")) and not any(log.glob("*.parquet")):
        is_none = not folder.exists() or (folder.is_dir() and not any(folder.glob("**/*.parquet")))
        return None if is_none else f"{LOG} has no commit, though the table has files"
    if empty := [commit.name for commit in sorted(log.glob("*.json")) if commit.stat().st_size == 0]:
        return f"{LOG}/{empty[0]} is empty"
    try:
        sizes = local_delta.stored_sizes(DeltaTable(str(folder)), str(folder))
    except (DeltaError, OSError) as error:
        message = message_line(error)
        # Spark may know features that delta-rs does not.
        return None if "nsupported" in message else f"{LOG} cannot be read ({message[:120]})"
    for name, size in sizes.items() if with_files else ():
        try:
            found = Path(name).stat().st_size
        except OSError:
            return f"{Path(name).name} does not exist"
        if found != size:
            return f"{Path(name).name} has {found} bytes, {size} were written"
    return None
