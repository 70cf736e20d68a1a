"""The views of the lakehouse: the SQL files of all folders of ``etl``, and those that Python writes.

``etl/<folder>/views/<schema>.<view>.sql`` begins with the view's comment: lines of ``--`` up to an empty one or to the
query. Further lines of ``--`` before the query are notes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from conf.maintenance_settings import ANY_MODEL, PriceSettings
from conf.papers import paper_table, paper_tables
from conf.settings import Settings
from conf.taxonomy import GOEMOTIONS_NAME, EmotionTaxonomy, Taxonomy, load_emotion_taxonomy
from etl.llm.tables import SCHEMA as ANSWERS
from etl.pipeline.tables import TABLES, Table, names_in
from etl.pipeline.tables.model import AND_ALSO

COLOURS = {"emotion": "#c4572c", "intent": "#2f6f9f", "neutral": "#858b94"}
"""Colours of the kinds of labels on the reports' light pages."""
View = tuple[str, str]
"""Comment and SQL."""


def views_of(settings: Settings) -> dict[str, View]:
    """Return :func:`all_views` under the settings' taxonomies and prices."""
    return all_views(settings.edos.taxonomy, settings.emo_pillars.taxonomy, settings.prices)


def all_views(
    taxonomy: Taxonomy, emotions: EmotionTaxonomy | None = None, prices: PriceSettings | None = None
) -> dict[str, View]:
    """Return (comment, SQL) by view name, each view after those that it reads.

    Args:
        taxonomy: ``edos.taxonomy``.
        emotions: ``emo_pillars.taxonomy``; None: the paper's.
        prices: of tokens; None: nobody knows them.
    """
    known = emotions or load_emotion_taxonomy(GOEMOTIONS_NAME)
    views = reference_views(taxonomy, known) | {TOKEN_PRICES: token_prices(prices or PriceSettings())} | sql_views()
    reads = {name: names_in(sql) & views.keys() for name, (_, sql) in views.items()}
    return {name: views[name] for name in TopologicalSorter(reads).static_order()}


def named_in(texts: Iterable[str], views: Mapping[str, View]) -> tuple[dict[str, View], list[Table]]:
    """Return the views and tables that texts name, with all that these views read.

    Args:
        texts: names or SQL.
        views: by name, each after those that it reads.
    """
    wanted = names_in(" ".join(texts).replace("`", "").lower())
    for name in reversed(list(views)):
        if name in wanted:
            wanted |= names_in(views[name][1])
    return {name: views[name] for name in views if name in wanted}, [TABLES[name] for name in TABLES if name in wanted]


def reference_views(taxonomy: Taxonomy, emotions: EmotionTaxonomy) -> dict[str, View]:
    """Return the views that are no files: the papers' printed tables, the taxonomies, and the answers of all steps."""
    kinds = [(str(place), label.label, label.kind) for place, label in enumerate(taxonomy.labels)]
    return {
        **{f"analysis.{name}": _printed(name) for name in paper_tables()},
        "analysis.edos_taxonomy": (
            "The labels of the EDOS data set in their order, each an emotion, an intent or neutral.",
            rows_as_sql(("place", "label", "kind"), kinds),
        ),
        "analysis.labels": (
            "The labels of EDOS for BI tools: their order, group, colour on the report's page, meaning and an example.",
            rows_as_sql(
                ("place", "label", "kind", "colour", "about", "example"),
                [
                    (str(place), one.label, one.kind, COLOURS[one.kind], one.about, one.example)
                    for place, one in enumerate(taxonomy.labels)
                ],
            ),
        ),
        "llm.generations": (
            "One raw answer of the language model, with the step that asked for it.",
            all_answers([table for name, table in TABLES.items() if name.startswith(f"{ANSWERS}.")]),
        ),
        "analysis.emo_pillars_polarities": (
            "The labels of Emo Pillars in their order, each positive, negative, ambiguous or neutral.",
            rows_as_sql(
                ("label", "polarity", "place"),
                [(one.label, one.polarity, str(place)) for place, one in enumerate(emotions.labels)],
            ),
        ),
    }


TOKEN_PRICES = "analysis.token_prices"


def token_prices(prices: PriceSettings) -> View:
    """Return the view of ``prices.million_tokens``; without prices it has no rows."""
    comment = (
        "Prices of a million tokens, from prices.million_tokens: of models whose identity begins with begins_with."
    )
    rows = [
        (_quoted("" if name == ANY_MODEL else name), one.prompt or 0.0, one.completion or 0.0)
        for name, one in prices.million_tokens.items()
    ]
    known = ",\n  ".join(f"('{name}', {prompt!r}D, {completion!r}D, true)" for name, prompt, completion in rows)
    values = known or "('', 0D, 0D, false)"
    columns = "begins_with, prompt_price, completion_price"
    return comment, f"SELECT {columns} FROM VALUES\n  {values}\n  AS given({columns}, known) WHERE known"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def all_answers(tables: Iterable[Table]) -> str:
    """Return a query over the raw answers of all steps; ``step`` is the name of a step's table.

    A table that is not there is left out, because its part of the union is marked as optional.
    """
    columns = ("model", "request_id", "prompt_hash", "parameters_hash", "sample", "prompt", "answer_start")
    more = ("parameters", "text", "finish_reason", "prompt_tokens", "answer_tokens", "seconds", "error")
    selected = f"{', '.join(columns)},\n       {', '.join(more)}"
    parts = [f"SELECT '{one.name.partition('.')[2]}' AS step, {selected}\nFROM {one.name}" for one in tables]
    return AND_ALSO.join(parts)


def rows_as_sql(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a query that selects these rows.

    A column is int, double or boolean if all its cells are such values or empty, else string. Empty cells are null.
    """
    by_column = map(_literals, zip(*rows, strict=True))
    values = ",\n  ".join(f"({', '.join(row)})" for row in zip(*by_column, strict=True))
    return f"SELECT * FROM VALUES\n  {values}\n  AS given({', '.join(columns)})"


def _printed(name: str) -> View:
    table = paper_table(name)
    return table.comment, rows_as_sql(table.columns, table.rows)


def _literals(cells: Sequence[str]) -> list[str]:
    """Return a column's cells as SQL literals of one type."""
    patterns = {"{}": r"-?\d+|true|false|", "{}D": r"-?\d+(\.\d+)?|"}
    for form, pattern in patterns.items():
        if all(re.fullmatch(pattern, cell) for cell in cells):
            return [form.format(cell) if cell else "NULL" for cell in cells]
    return [f"'{_quoted(cell)}'" if cell else "NULL" for cell in cells]


def view_files(*under: str) -> list[Traversable]:
    """Return the SQL files in the ``views`` of all folders of ``etl``, or in a folder under these."""
    folders = [folder.joinpath("views", *under) for folder in files("etl").iterdir() if folder.is_dir()]
    return [file for one in folders if one.is_dir() for file in one.iterdir() if file.name.endswith(".sql")]


@cache
def sql_views() -> dict[str, View]:
    """Return (comment, SQL) of the files of views by view name, sorted by name."""
    found = sorted(view_files(), key=lambda file: file.name)
    return {file.name.removesuffix(".sql"): _split(file.read_text("utf-8")) for file in found}


def _split(text: str) -> View:
    """Return a file's comment and its query."""
    lines = text.splitlines()
    begin = next(place for place, line in enumerate(lines) if not line.startswith("--"))
    head = [line.removeprefix("--").strip() for line in lines[:begin]]
    comment = head[: head.index("")] if "" in head else head
    return " ".join(comment), "\n".join(lines[begin:]).strip()
