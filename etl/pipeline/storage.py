"""The interface of the classes that keep tables. There is one for each way of writing them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from conf.settings import LakehouseSettings
from etl.pipeline.folders import located
from etl.tables import Table, in_set

EVERYTHING = "true"
"""The condition that selects all rows."""


@dataclass(frozen=True)
class Commit:
    """What a commit that writes rows is.

    Attributes:
        metadata: its ``userMetadata``.
        where: the rows that it replaces, as an SQL condition; None: it appends.
        once: an id of its content, which is not appended a second time.
        skip_empty: whether no rows make no commit, and no table.
    """

    metadata: str
    where: str | None = None
    once: str | None = None
    skip_empty: bool = False


class TableStorage(ABC):
    """The tables of one lakehouse in one session: made, read, written and deleted from."""

    @abstractmethod
    def exists(self, table: Table) -> bool:
        """Return whether the table is there."""

    @abstractmethod
    def create(self, table: Table) -> None:
        """Create a table that is not there, with comments, CHECKs and properties."""

    @abstractmethod
    def read(self, table: Table) -> DataFrame:
        """Return the table's rows; none where it was never written. Columns that it lacks yet are null."""

    @abstractmethod
    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return the rows of a table that fits into the driver."""

    @abstractmethod
    def write(self, table: Table, rows: DataFrame, commit: Commit) -> None:
        """Write rows with the table's columns in one commit; a table that is not there is created."""

    @abstractmethod
    def write_row(self, table: Table, row: Mapping[str, Any], metadata: str) -> None:
        """Append one row, a value for each column, to a table that is there."""

    @abstractmethod
    def delete(self, table: Table, where: str, metadata: str) -> None:
        """Delete the rows that an SQL condition selects; without any, make no commit."""

    @abstractmethod
    def delete_keys(self, table: Table, keys: DataFrame, column: str, where: str, metadata: str) -> None:
        """Delete the rows under ``where`` whose ``column`` is among ``keys`` from a table that is there, in one commit.

        Args:
            keys: one column, distinct.
            where: a condition on the table's rows, as ``kept``.
        """

    @abstractmethod
    def identity(self, table: Table) -> str:
        """Return ``<table id>:<version of the last commit that changed data>`` of a table that is there."""

    @abstractmethod
    def commits(self, table: Table, run_id: str) -> list[str]:
        """Return the ``userMetadata`` of the commits of a table that is there, of those that name a run."""

    @abstractmethod
    def size(self, table: Table) -> int:
        """Return the bytes of a table that is there."""

    @abstractmethod
    def location(self, table: Table) -> str:
        """Return format and place of a table that is there, as ``USING ... LOCATION ...``, for a metastore."""

    def total(self, table: Table, where: tuple[str, str], units: str | None) -> int | None:
        """Return the sum of a column over the rows whose column has a value, or their count; None: Spark must count.

        Args:
            table: the table.
            where: column and value.
            units: the column that is summed; None counts.
        """
        return None


def path_of(settings: LakehouseSettings, table: Table) -> str:
    """Return a table's path when no catalog holds it."""
    return f"{settings.root.rstrip('/')}/{in_set(table.name, settings.set).replace('.', '/')}"


def reference_of(settings: LakehouseSettings, table: Table) -> str:
    """Return a table's name in SQL."""
    if settings.catalog:
        return f"`{settings.catalog}`.{settings.schema_prefix}{in_set(table.name, settings.set)}"
    return f"delta.`{located(path_of(settings, table)).replace('`', '``')}`"
