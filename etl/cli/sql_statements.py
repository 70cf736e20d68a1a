"""SQL statements as they are typed: which engine answers them, and why a name in them is not found."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

from etl.pipeline.tables import TABLES, View
from etl.publishing.views import named_in

_BEFORE = r"(?:--[^\n]*+\n|\s|\()*+"
"""Comments, blanks and brackets before the first word of a statement."""
QUERY = re.compile(rf"\A{_BEFORE}(select|with|from|explain|delete|update|insert|merge)\b", re.IGNORECASE)
"""The beginning of a statement that reads and changes only what it names."""
CHANGE = re.compile(
    rf"{_BEFORE}((?P<made>create\s+(or\s+replace\s+)?(table|schema|view)|drop\s+\w+)(\s+if\s+(not\s+)?exists)?"
    r"|(insert|merge)\s+\w+(\s+table)?|delete\s+from|truncate(\s+table)?|alter\s+table|update)"
    r"\s+(?P<name>[\"`]?\w+[\"`]?\.[\"`]?\w+[\"`]?)",
    re.IGNORECASE,
)
"""A statement that changes a table, named with its schema, or (``made``) what a catalog has."""
FOR_DUCKDB = re.compile(
    rf"\A(?!.*\binsert\s)({_BEFORE}(select|with|from|values)\b"
    r"|\s*(show\s+(tables|views)|desc(ribe)?\s+(table\s+)?[\"`]?\w+[\"`]?\.))",
    re.IGNORECASE | re.DOTALL,
)
"""A statement that DuckDB may answer; others write, or ask about a plan, Spark's catalog or a table's history."""
_TEXTS = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"]*\"|`[^`]*`|\b[rR]'[^']*'|'((?:[^'\\]|\\.?|'')*+)(?:'|\Z)", re.DOTALL
)
"""Comments, names, raw texts, and other texts as group 1."""


def not_there(name: str, views: Mapping[str, View], there: Collection[str]) -> str:
    """Return in one line why SQL does not find a table or view, and which stages make what it lacks.

    Args:
        name: of the table or view.
        views: all, by name.
        there: names of the tables that are there.
    """
    from etl.pipeline.planner import chosen
    from jobs import all_stages

    name = name.lower()
    known = [*TABLES, *views]
    if name not in known:
        like = get_close_matches(name, known, n=1)
        return (
            f"table {name} is not known{f': did you mean {like[0]}?' if like else ''} (docs/tables.md, docs/views.md)"
        )
    tables = [one for one in named_in([name], views)[1] if one.name not in there and not one.empty_if_absent]
    if not tables:
        return f"{name} needs columns that tables of another version lack: run the stages that write these again"
    lacks = "" if name in TABLES else f": it reads {', '.join(one.name for one in tables)}"
    stages = all_stages()
    makers = [stage.name for stage in stages if stage.writes in tables]
    before = {first.name for one in makers for first in chosen(stages, to=one) if first.name != one}
    last = [one for one in makers if one not in before]
    how = (
        f"`python -m jobs run --to {','.join(last)}` with the options of this command makes it"
        if last
        else "docs/tables.md"
    )
    return f"{name} is not there yet{lacks} ({how})"


def with_quotes(statement: str) -> str:
    """Return a statement with Spark's sign for a quotation mark in a text, ``\\'``, in place of standard SQL's ``''``.

    Spark joins the texts before and behind ``''``, and leaves the mark out.
    """

    def escaped(match: re.Match[str]) -> str:
        if not match[1]:
            return match[0]
        text = re.sub(r"\\.|''", lambda pair: "\\'" if pair[0] == "''" else pair[0], match[1])
        return f"'{text}{match[0][len(match[1]) + 1 :]}"

    return _TEXTS.sub(escaped, statement)
