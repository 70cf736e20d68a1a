"""The pages that search all rows of EDOS, Emo Pillars and AugESC, with their files, beside the reports."""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from etl.analysis.search_page import ROWS_PER_FILE, Item, Row, RowFiles, SearchPage, Source, search_page
from etl.common.spelling import detokenised_text
from etl.pipeline.folders import Folders
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.stage_run import StageRun
from etl.publishing.edos_rows import with_accepted
from etl.tables import augesc, emo_pillars
from etl.tables.edos import DIALOGUES
from etl.tables.subtitles import CLEAN_DIALOGUES, FILES

_OURS = re.compile(r"(?:rows|sources)-\d+\.js")
"""Names of files that an earlier, larger set may have left."""


def write_searchable(
    run: StageRun, folder: str, name: str, told: SearchPage, rows: DataFrame, row_of: Callable[[Any], Row]
) -> str | None:
    """Write ``<name>.html`` and the folder ``<name>`` of its files; return the page's name, None without rows.

    Args:
        run: of the stage.
        folder: of the reports.
        name: of the page.
        told: what the page says.
        rows: all rows in their order, by year where they have one.
        row_of: makes a row of the page from one of ``rows``.
    """
    folders = Folders(run.spark)
    place = f"{folder.rstrip('/')}/{name}"
    found = RowFiles()
    written = set()
    every = iter(rows.toLocalIterator())
    while group := list(islice(every, ROWS_PER_FILE)):
        for file, text in found.add([row_of(row) for row in group]):
            folders.write_text(f"{place}/{file}", text)
            written.add(file)
    for entry in folders.entries(place):
        if _OURS.fullmatch(entry.name) and entry.name not in written:
            folders.delete(entry.path)
    if not found.count:
        return None
    folders.write_text(f"{place}.html", search_page(told, found, name))
    run.say(f"{found.count:,} {told.what} to search: {place}.html")
    return f"{name}.html"


def edos_page(dialogues: int, back: str) -> SearchPage:
    """Return what the page of EDOS's dialogues says."""
    return SearchPage(
        title="EDOS: all dialogues",
        heading=f"EDOS: all {dialogues:,} dialogues",
        lead="Filter by words, label, confidence, genre, year or film (its IMDb number is a word). A label counts "
        "where one turn of the dialogue has it; with a least confidence, where that turn is as sure.",
        what="dialogues",
        label_title="label",
        score_title="least confidence",
        choice_titles=("genre", "labels"),
        source_title="its sentences",
        back=back,
    )


def edos_rows(lakehouse: Lakehouse) -> DataFrame:
    """Return all finished dialogues with film, year, genres, and the sentences that they were made of."""
    spans = lakehouse.read(CLEAN_DIALOGUES).select(
        "dialogue_id",
        "source_path",
        "year",
        "genres",
        "profane",
        F.transform("turns", lambda turn: F.struct(turn["sentence_first"], turn["sentence_last"])).alias("spans"),
        F.get("turns", F.lit(0))["sentence_first"].alias("first"),
        F.element_at("turns", -1)["sentence_last"].alias("last"),
    )
    finished = with_accepted(lakehouse.read(DIALOGUES)).select("dialogue_id", "movie_id", "turns", "accepted")
    files = lakehouse.read(FILES).select("source_path", "sentences")
    said = F.slice("sentences", F.col("first") + 1, F.greatest(F.col("last") - F.col("first") + 1, F.lit(0)))
    lines = F.transform(said, lambda one: F.struct(one["text"].alias("text"), one["start_ms"].alias("start_ms")))
    rows = finished.join(spans, "dialogue_id", "left").join(files, "source_path", "left")
    columns = (
        "dialogue_id",
        "movie_id",
        "turns",
        "accepted",
        "source_path",
        "year",
        "genres",
        "profane",
        "spans",
        "first",
    )
    return rows.select(*columns, lines.alias("lines")).orderBy(
        F.col("year").asc_nulls_last(), "movie_id", "dialogue_id"
    )


def edos_row(row: Any) -> Row:
    """Return a row of the page from one of `edos_rows`."""
    genres = list(row.genres or ())
    facts = [f"film {row.movie_id}", str(row.year or "year not known"), ", ".join(genres)]
    items = [
        Item(detokenised_text(turn.text or ""), [(turn.label, round(turn.confidence, 2))] if turn.label else [])
        for turn in row.turns
    ]
    source = None
    if row.source_path is not None and row.lines:
        source = Source(row.source_path, [_line(row, place, line) for place, line in enumerate(row.lines)])
    choices = [genres, _accepted(row.accepted)]
    return Row(row.dialogue_id, ", ".join(filter(None, facts)), items, choices, row.year, bool(row.profane), source)


def _accepted(labels: Sequence[bool] | None) -> list[str]:
    """Return how many labels of a dialogue are accepted, as the page filters them; nothing where none is judged."""
    if not labels:
        return []
    return ["all accepted", "some accepted"] if all(labels) else ["some accepted"] if any(labels) else ["none accepted"]


def _line(row: Any, place: int, line: Any) -> tuple[str, str]:
    """Return where a sentence stands, and its text: its number, its start, and the turn that it is part of."""
    number = row.first + place
    turns = [turn for turn, span in enumerate(row.spans, 1) if span[0] <= number <= span[1]]
    minutes, seconds = divmod((line.start_ms or 0) // 1000, 60)
    time = "–" if line.start_ms is None else f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return f"{number} {time} turn {turns[0] if turns else '–'}", line.text or ""


def emo_pillars_page(examples: int, back: str) -> SearchPage:
    """Return what the page of Emo Pillars' examples says."""
    return SearchPage(
        title="Emo Pillars: all utterances",
        heading=f"Emo Pillars: all {examples:,} utterances",
        lead="Filter by words, emotion, level, or whether there is a context. Story and character are words, too.",
        what="utterances",
        label_title="emotion",
        score_title="least level",
        choice_titles=("context", "made for"),
        back=back,
    )


def emo_pillars_rows(lakehouse: Lakehouse) -> DataFrame:
    """Return all examples with their stories, contexts and rewritten words."""
    contextual = lakehouse.read(emo_pillars.CONTEXTUAL_EXAMPLES).select("utterance_id", "context", "rewritten")
    plots = lakehouse.read(emo_pillars.PLOTS).select("plot_id", "title")
    examples = lakehouse.read(emo_pillars.EXAMPLES)
    rows = examples.join(plots, "plot_id", "left").join(contextual, "utterance_id", "left")
    columns = ("utterance_id", "title", "actor", "utterance", "labels", "primary_label", "context", "rewritten")
    return rows.select(*columns).orderBy("utterance_id")


def emo_pillars_row(row: Any) -> Row:
    """Return a row of the page from one of `emo_pillars_rows`."""
    items = [Item(row.utterance, [(one.label, round(one.level, 2)) for one in row.labels])]
    if row.rewritten is not None:
        items += [Item(f"With its context: {row.context}"), Item(f"Rewritten: {row.rewritten}")]
    context = "with context" if row.rewritten is not None else "without context"
    about = ", ".join(filter(None, (row.title, row.actor)))
    return Row(row.utterance_id, about, items, [[context], [row.primary_label]])


def augesc_page(conversations: int, back: str) -> SearchPage:
    """Return what the page of AugESC's conversations says."""
    return SearchPage(
        title="AugESC: all conversations",
        heading=f"AugESC: all {conversations:,} conversations",
        lead="Filter by words, by where the first post came from, or by its writer's emotion. All of it is generated.",
        what="conversations",
        label_title="speaker",
        choice_titles=("first post from", "emotion"),
        back=back,
    )


def augesc_rows(lakehouse: Lakehouse) -> DataFrame:
    """Return all kept conversations with the emotion of their first posts."""
    queries = lakehouse.read(augesc.QUERIES).select("query_id", "emotion")
    rows = lakehouse.read(augesc.CONVERSATIONS).join(queries, "query_id", "left")
    columns = ("conversation_id", "source", "query_id", "sample", "model", "emotion", "turns")
    return rows.select(*columns).orderBy("conversation_id")


def augesc_row(row: Any) -> Row:
    """Return a row of the page from one of `augesc_rows`."""
    items = [Item(turn.text, [(turn.role, None)]) for turn in row.turns]
    about = f"first post {row.query_id}, text {row.sample + 1} of it, by {row.model}"
    return Row(row.conversation_id, about, items, [[row.source], [row.emotion or "not known"]])
