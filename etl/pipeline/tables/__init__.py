"""The table registry: every Delta table of the lakehouse, its columns, its key and its last-net CHECKs.

The modules of ``etl.WITH_TABLES`` declare tables, singly or in tuples; one may also have ``OF_SETS``, names of tables
and schemas that each set of ``lakehouse.set`` has for itself, and ``VIEWS``, names of views in schemas of
tables; all other views are in the schema ``analysis``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType

from etl import WITH_TABLES
from etl.pipeline.tables import ops
from etl.pipeline.tables.model import AND_ALSO, Table, View, sql_text


class _Declared(Mapping[str, Table]):
    """All tables by name. Their modules are imported when the first is asked for, because they import the framework."""

    @cached_property
    def _tables(self) -> dict[str, Table]:
        values = (value for module in _modules() for value in vars(module).values())
        found = (one for value in values for one in (value if isinstance(value, tuple) else (value,)))
        return {table.name: table for table in found if isinstance(table, Table)}

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


TABLES: Mapping[str, Table] = _Declared()


@cache
def _modules() -> tuple[ModuleType, ...]:
    return (*(import_module(f"etl.{name}") for name in WITH_TABLES), ops)


def _named(attribute: str) -> set[str]:
    """Return the names that the modules of tables list under an attribute."""
    return {name for module in _modules() for name in getattr(module, attribute, ())}


@cache
def names_in_sql() -> re.Pattern[str]:
    """Return the pattern of names of tables and views in SQL."""
    names = "|".join(map(re.escape, (*TABLES, *sorted(_named("VIEWS")))))
    return re.compile(rf"(?<![\w.`'])({names}|analysis\.[a-z]\w*)\b(?!\.)")


@cache
def is_of_sets(name: str) -> bool:
    """Return whether each set of ``lakehouse.set`` has a table or view of its own: all from clean dialogues on."""
    return not _named("OF_SETS").isdisjoint((name, name.partition(".")[0]))


def in_set(name: str, own: str) -> str:
    """Return the name of a table or view in a set: ``a.turns`` is ``a_trusted.turns`` in the set ``trusted``."""
    schema, _, rest = name.partition(".")
    return f"{schema}_{own}.{rest}" if own and is_of_sets(name) else name


def names_in(sql: str) -> set[str]:
    """Return what may be the name of a table or view in SQL: two words with a dot, in lower case."""
    return {*re.findall(r"(?=\b([a-z_]+\.\w+)\b)", sql)}


def view_statements(views: Mapping[str, View], absent: Iterable[str]) -> list[str]:
    """Return the SQL that creates views by name, without the parts that read absent names."""
    return [_creation(name, view) for name, view in present_views(views, absent).items()]


def _creation(name: str, view: View) -> str:
    columns = ", ".join(f"`{column}` COMMENT {sql_text(meaning)}" for column, meaning in view.columns.items())
    return f"CREATE OR REPLACE VIEW {name} ({columns}) COMMENT {sql_text(view.comment)} AS {view.sql}"


def present_views(views: Mapping[str, View], absent: Iterable[str]) -> dict[str, View]:
    """Return the views by name, without those and the parts of those that read absent names."""
    gone = set(absent)
    found = {}
    for name, view in views.items():
        if parts := [part for part in view.sql.split(AND_ALSO) if gone.isdisjoint(names_in(part))]:
            found[name] = view._replace(sql=AND_ALSO.join(parts))
        else:
            gone.add(name)
    return found


def empty_statement(table: Table) -> str:
    """Return the SQL that creates a view without rows in place of a table that is not there."""
    columns = ", ".join(f"CAST(NULL AS {column.kind}) AS {column.name}" for column in table.described)
    return f"CREATE OR REPLACE VIEW {table.name} COMMENT {sql_text(table.comment)} AS SELECT {columns} WHERE false"


__all__ = [
    "TABLES",
    "Table",
    "View",
    "empty_statement",
    "in_set",
    "is_of_sets",
    "names_in",
    "names_in_sql",
    "present_views",
    "view_statements",
]
