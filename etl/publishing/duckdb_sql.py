"""Translate the views, which are written in Spark's SQL, into DuckDB's.

`sqlglot` does most of it; here is what it leaves as Spark has it: functions that DuckDB does not know, and what both
engines know with another meaning.
"""

from functools import cache
from typing import Any

import sqlglot  # type: ignore[import-not-found]
from sqlglot import exp  # type: ignore[import-not-found]

from etl.publishing.views import view_files


def duckdb_view(name: str, sql: str) -> str:
    """Return a view's query in DuckDB's SQL: the same columns, and the same rows.

    A view whose regular expressions DuckDB does not have is written again under ``duckdb/``.
    """
    return hand_written().get(name) or translated(sql)


@cache
def hand_written() -> dict[str, str]:
    """Return the queries that are written again for DuckDB, by view: their regular expressions differ."""
    return {file.name.removesuffix(".sql"): file.read_text("utf-8") for file in view_files("duckdb")}


def translated(sql: str) -> str:
    """Return a query of Spark in DuckDB's SQL.

    An index in brackets is taken as one of a list, which Spark counts from 0 and DuckDB from 1.

    Raises:
        sqlglot.errors.SqlglotError: it is no SQL of Spark, or has what DuckDB does not have.
    """
    tree = sqlglot.parse_one(sql, read="spark").transform(_without_stack)
    for node in reversed(list(tree.walk())):  # what is inside first
        parent, key, index = node.parent, node.arg_key, node.index
        known = _with_known_calls(node)
        if known is not node:
            parent.set(key, known, index)
    return tree.sql("duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)


def duckdb_type(kind: str) -> str:
    """Return a type of Spark's DDL as DuckDB writes it."""
    column = sqlglot.parse_one(f"CAST(x AS {kind})", read="spark")
    return column.args["to"].sql("duckdb")


def _without_stack(node: Any) -> Any:
    """Replace ``stack``, in a select list or a lateral view, by an unnested list of structs."""
    if isinstance(node, exp.Aliases) and isinstance(node.this, exp.Stack):
        return _rows(node.this, [one.name for one in node.expressions])
    if not isinstance(node, exp.Select) or not node.args.get("laterals"):
        return node
    views = [one for one in node.args["laterals"] if isinstance(one.this, exp.Stack)]
    node.set("laterals", [one for one in node.args["laterals"] if one not in views])
    for view in views:
        rows = exp.Select(expressions=[_rows(view.this, [one.name for one in view.args["alias"].columns])])
        node.append("joins", exp.Join(this=exp.Lateral(this=exp.Subquery(this=rows)), kind="CROSS"))
    return node


def _rows(stack: exp.Stack, names: list[str]) -> Any:
    """Return ``stack(n, ...)`` as ``unnest([{...}, ...], max_depth := 2)``, whose columns have these names."""
    values = stack.expressions
    rows = [values[at : at + len(names)] for at in range(0, len(values), len(names))]
    structs = [
        exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())
                for name, value in zip(names, row, strict=True)
            ]
        )
        for row in rows
    ]
    return _unnested(exp.Array(expressions=structs))


def _unnested(rows: Any) -> Any:
    depth = exp.PropertyEQ(this=exp.to_identifier("max_depth"), expression=exp.Literal.number(2))
    return exp.Anonymous(this="UNNEST", expressions=[rows, depth])


def _with_known_calls(node: Any) -> Any:
    """Replace a call of Spark by what DuckDB has for it."""
    if isinstance(node, exp.Anonymous):
        return _known_call(node, str(node.this).upper(), node.expressions)
    if isinstance(node, exp.Inline):
        return _unnested(node.this)
    if isinstance(node, exp.Bracket) and _is_left_as_it_is(node):
        return _element(node.this, node.expressions[0])
    if isinstance(node, exp.Like | exp.ILike) and not isinstance(node.parent, exp.Escape):
        # A backslash escapes in Spark, and nothing does in DuckDB unless the query says so.
        return exp.Escape(this=node, expression=exp.Literal.string("\\"))
    if isinstance(node, exp.Trim) and node.expression is None:  # DuckDB takes away all that is white in Unicode
        node.set("expression", exp.Literal.string(" "))
    if isinstance(node, exp.Round) and node.args.get("decimals"):
        return _rounded(node, node.this, node.args["decimals"])
    if isinstance(node, exp.CountIf):  # DuckDB's own is null where there are no rows
        return exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=exp.Literal.number(1))]))
    if isinstance(node, exp.SubstringIndex) and node.args["count"].sql() in ("1", "-1"):
        return exp.Anonymous(this="SPLIT_PART", expressions=[node.this, node.args["delimiter"], node.args["count"]])
    return node


def _known_call(node: Any, name: str, given: list[Any]) -> Any:
    """Replace a call that `sqlglot` does not know; others stay."""
    if name == "GET":
        return _element(*given)
    if name == "ARRAY_UNION":
        both = exp.Anonymous(this="LIST_CONCAT", expressions=given)
        return exp.Anonymous(this="LIST_DISTINCT", expressions=[both])
    if name == "FORMAT_NUMBER":
        form = exp.Literal.string("{:,." + given[1].name + "f}")
        return exp.Anonymous(this="FORMAT", expressions=[form, given[0]])
    return _zipped(*given) if name == "ZIP_WITH" else node


def _is_left_as_it_is(index: exp.Bracket) -> bool:
    """Return whether `sqlglot` does not add 1 to an index: it does to literals, and `element_at` counts from 1."""
    return not isinstance(index.expressions[0], exp.Literal) and not index.args.get("offset")


def _element(items: Any, place: Any) -> Any:
    """Return an element of a list by its place from 0."""
    at = exp.Add(this=exp.Paren(this=place), expression=exp.Literal.number(1))
    return exp.Anonymous(this="LIST_EXTRACT", expressions=[items, at])


def _rounded(node: Any, number: Any, decimals: Any) -> Any:
    """Return a number rounded as Spark does: by its decimal digits, where 1.005 becomes 1.01.

    DuckDB multiplies, and makes 1.00 of it. What is no decimal of 38 digits, such as infinity, is rounded as it is.
    """
    digits = exp.cast(exp.cast(number.copy(), "double"), "text")
    exact = exp.Round(this=exp.TryCast(this=digits, to=exp.DataType.build("decimal(38, 18)")), decimals=decimals.copy())
    return exp.Coalesce(this=exp.cast(exact, "double"), expressions=[node.copy()])


def _zipped(left: Any, right: Any, function: Any) -> Any:
    """Return ``zip_with`` as a list of pairs of which each is transformed."""
    first, second = (one.name for one in function.expressions)
    pairs = exp.Anonymous(this="LIST_ZIP", expressions=[left, right])

    def of_pair(node: Any) -> Any:
        if isinstance(node, exp.Column | exp.Identifier) and node.name in (first, second):
            return sqlglot.parse_one(f"pair[{1 if node.name == first else 2}]", read="duckdb")
        return node

    body = function.this.transform(of_pair)
    made = exp.Lambda(this=body, expressions=[exp.to_identifier("pair")])
    return exp.Anonymous(this="LIST_TRANSFORM", expressions=[pairs, made])
