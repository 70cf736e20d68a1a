"""The views of the lakehouse: the SQL files of all folders of ``etl``, and those that Python writes.

``etl/<folder>/views/<schema>.<view>.sql`` begins with paragraphs of lines ``--``: the view's comment, then a line
``column: meaning`` for each column in order, then notes if there are any. The query follows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from conf.maintenance_settings import ANY_MODEL, PriceSettings
from conf.papers import meanings_in, paper_table, paper_tables
from conf.settings import Settings
from conf.taxonomy import GOEMOTIONS_NAME, EmotionTaxonomy, Taxonomy, load_emotion_taxonomy
from etl.llm.tables import SCHEMA as ANSWERS
from etl.pipeline.tables import TABLES, Table, View, names_in
from etl.pipeline.tables.model import AND_ALSO

COLOURS = {"emotion": "#c4572c", "intent": "#2f6f9f", "neutral": "#858b94"}
"""Colours of the kinds of labels on the reports' light pages."""


def views_of(settings: Settings) -> dict[str, View]:
    """Return :func:`all_views` under the settings' taxonomies and prices."""
    return all_views(settings.edos.taxonomy, settings.emo_pillars.taxonomy, settings.prices)


def all_views(
    taxonomy: Taxonomy, emotions: EmotionTaxonomy | None = None, prices: PriceSettings | None = None
) -> dict[str, View]:
    """Return the views by name, each after those that it reads.

    Args:
        taxonomy: ``edos.taxonomy``.
        emotions: ``emo_pillars.taxonomy``; None: the paper's.
        prices: of tokens; None: nobody knows them.
    """
    known = emotions or load_emotion_taxonomy(GOEMOTIONS_NAME)
    views = reference_views(taxonomy, known) | {TOKEN_PRICES: token_prices(prices or PriceSettings())} | sql_views()
    reads = {name: names_in(view.sql) & views.keys() for name, view in views.items()}
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
            wanted |= names_in(views[name].sql)
    return {name: views[name] for name in views if name in wanted}, [TABLES[name] for name in TABLES if name in wanted]


def reference_views(taxonomy: Taxonomy, emotions: EmotionTaxonomy) -> dict[str, View]:
    """Return the views that are no files: the papers' printed tables, the taxonomies, and the answers of all steps."""
    kinds = [(str(place), label.label, label.kind) for place, label in enumerate(taxonomy.labels)]
    return {
        **{f"analysis.{name}": _printed(name) for name in paper_tables()},
        "analysis.edos_taxonomy": _listed(
            "The labels of the EDOS data set in their order, each an emotion, an intent or neutral.",
            {
                "place": "place of the label in the taxonomy, from 0",
                "label": "name of the label",
                "kind": "emotion, intent or neutral",
            },
            kinds,
        ),
        "analysis.labels": _listed(
            "The labels of EDOS for BI tools: their order, group, colour on the report's page, meaning and an example.",
            {
                "place": "place of the label in the taxonomy, from 0",
                "label": "name of the label",
                "kind": "group of the label: emotion, intent or neutral",
                "colour": "colour of the group on the report's page, as #rrggbb",
                "about": "what the label means",
                "example": "what somebody says who shows it",
            },
            [
                (str(place), one.label, one.kind, COLOURS[one.kind], one.about, one.example)
                for place, one in enumerate(taxonomy.labels)
            ],
        ),
        "llm.generations": all_answers([table for name, table in TABLES.items() if name.startswith(f"{ANSWERS}.")]),
        "analysis.emo_pillars_polarities": _listed(
            "The labels of Emo Pillars in their order, each positive, negative, ambiguous or neutral.",
            {
                "label": "name of the label",
                "polarity": "positive, negative, ambiguous or neutral",
                "place": "place of the label in the taxonomy, from 0",
            },
            [(one.label, one.polarity, str(place)) for place, one in enumerate(emotions.labels)],
        ),
    }


TOKEN_PRICES = "analysis.token_prices"


def token_prices(prices: PriceSettings) -> View:
    """Return the view of ``prices.million_tokens``; without prices it has no rows."""
    comment = (
        "Prices of a million tokens, from prices.million_tokens: of models whose identity begins with begins_with."
    )
    meanings = {
        "begins_with": "beginning of a model's identity; the longest that fits counts; empty: any model",
        "prompt_price": "price of a million tokens of prompts",
        "completion_price": "price of a million tokens of answers",
    }
    rows = [
        (_quoted("" if name == ANY_MODEL else name), one.prompt or 0.0, one.completion or 0.0)
        for name, one in prices.million_tokens.items()
    ]
    known = ",\n  ".join(f"('{name}', {prompt!r}D, {completion!r}D, true)" for name, prompt, completion in rows)
    values = known or "('', 0D, 0D, false)"
    columns = ", ".join(meanings)
    return View(
        comment, f"SELECT {columns} FROM VALUES\n  {values}\n  AS given({columns}, known) WHERE known", meanings
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def all_answers(tables: Iterable[Table]) -> View:
    """Return the view of the raw answers of all steps; ``step`` is the name of a step's table.

    A table that is not there is left out, because its part of the union is marked as optional.
    """
    meanings = {
        "step": "step that asked: the name of its table in the schema llm",
        "model": "identity of the language model",
        "request_id": "hash of prompt_hash, parameters_hash and sample",
        "prompt_hash": "hash of prompt and answer_start",
        "parameters_hash": "hash of the decoding parameters",
        "sample": "number of the answer among several to one prompt, from 0",
        "prompt": "what the model was asked",
        "answer_start": "first words of the answer, dictated to the model; text goes on from them",
        "parameters": "how the answer was decoded, as JSON",
        "text": "the answer as the model gave it; null with an error",
        "finish_reason": "stop: the model ended the answer; length: it was cut at the most tokens",
        "prompt_tokens": "tokens of the prompt, of the model; null: not told",
        "answer_tokens": "tokens of the answer, of the model; null: not told",
        "seconds": "time of the answer; of a server: from request to answer",
        "error": "why there is no text; null if there is one",
    }
    selected = ", ".join(list(meanings)[1:])
    parts = [f"SELECT '{one.name.partition('.')[2]}' AS step, {selected}\nFROM {one.name}" for one in tables]
    return View(
        "One raw answer of the language model, with the step that asked for it.", AND_ALSO.join(parts), meanings
    )


def _listed(comment: str, meanings: Mapping[str, str], rows: Sequence[Sequence[str]]) -> View:
    """Return a view of these rows."""
    return View(comment, rows_as_sql(list(meanings), rows), meanings)


def rows_as_sql(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a query that selects these rows.

    A column is int, double or boolean if all its cells are such values or empty, else string. Empty cells are null.
    """
    by_column = map(_literals, zip(*rows, strict=True))
    values = ",\n  ".join(f"({', '.join(row)})" for row in zip(*by_column, strict=True))
    return f"SELECT * FROM VALUES\n  {values}\n  AS given({', '.join(columns)})"


def _printed(name: str) -> View:
    table = paper_table(name)
    return View(table.comment, rows_as_sql(table.columns, table.rows), table.meanings)


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
    """Return the views of the files by name, sorted by name."""
    found = sorted(view_files(), key=lambda file: file.name)
    names = [file.name.removesuffix(".sql") for file in found]
    return {name: read_view(file.read_text("utf-8"), name) for name, file in zip(names, found, strict=True)}


def read_view(text: str, name: str) -> View:
    """Return the view of a file: its comment, what its columns mean, and its query.

    Args:
        name: of the view, for the message.

    Raises:
        ValueError: the second paragraph of the head is not one line ``column: meaning`` for each column.
    """
    lines = text.splitlines()
    begin = next(place for place, line in enumerate(lines) if not line.startswith("--"))
    head = "\n".join(line.removeprefix("--").strip() for line in lines[:begin])
    comment, _, rest = head.partition("\n\n")
    columns = rest.split("\n\n")[0].splitlines()
    return View(comment.replace("\n", " "), "\n".join(lines[begin:]).strip(), meanings_in(columns, name))
