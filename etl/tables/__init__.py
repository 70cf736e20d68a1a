"""The table registry: every Delta table of the lakehouse, its columns, its key and its last-net CHECKs."""

import re
from collections.abc import Iterable, Mapping

from etl.tables import (
    augesc,
    augesc_evaluation,
    augesc_faults,
    edos,
    edos_annotation,
    emo_pillars,
    emo_pillars_analysis,
    llm,
    ops,
    replies,
    subtitles,
)
from etl.tables.model import AND_ALSO, Table, View, sql_text

GROUPS = (
    subtitles,
    edos,
    edos_annotation,
    replies,
    emo_pillars,
    emo_pillars_analysis,
    llm,
    augesc,
    augesc_evaluation,
    augesc_faults,
    ops,
)
TABLES: dict[str, Table] = {
    table.name: table for group in GROUPS for table in vars(group).values() if isinstance(table, Table)
}

EMPTY_IF_ABSENT = (ops.DROPPED.name, subtitles.QUARANTINE.name)
"""Tables of what went wrong: where nothing did, they are not there, and have no rows to whoever asks."""
VIEWS = ("edos.turns", "llm.generations")
"""Views in schemas of tables; all others are in the schema ``analysis``."""
NAMES = re.compile(rf"(?<![\w.`'])({'|'.join(map(re.escape, (*TABLES, *VIEWS)))}|analysis\.[a-z]\w*)\b(?!\.)")
"""Names of tables and views in SQL."""


OF_SETS = ("edos", "replies", "ops", "analysis")
"""Schemas of which each named set has its own; the first of its tables is ``subtitles.clean_dialogues``."""


def is_of_sets(name: str) -> bool:
    """Return whether each set of ``lakehouse.set`` has a table or view of its own: all from clean dialogues on."""
    return name == subtitles.CLEAN_DIALOGUES.name or name.partition(".")[0] in OF_SETS


def in_set(name: str, own: str) -> str:
    """Return the name of a table or view in a set: ``edos.turns`` is ``edos_trusted.turns`` in the set ``trusted``."""
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
    "EMPTY_IF_ABSENT",
    "NAMES",
    "TABLES",
    "Table",
    "View",
    "empty_statement",
    "in_set",
    "is_of_sets",
    "names_in",
    "present_views",
    "view_statements",
]
