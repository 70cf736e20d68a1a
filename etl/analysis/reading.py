"""Dialogues as a person reads them, with what the pipeline decided about each turn, and what it left out."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from conf.subtitle_settings import SubtitleSettings
from etl.common.hashes import content_order
from etl.common.spelling import detokenised_text
from etl.subtitles.turn_sources import border_sources
from etl.tables import edos, subtitles
from etl.tables.model import Table
from etl.tables.ops import DROPPED

STAGE = "clean_dialogues"


@dataclass
class ReadTurn:
    """A turn.

    Attributes:
        text: as people write; of a turn that was dropped, the raw one.
        border: what separates it from the turn before: start, mark, model or silence.
        reason: why it was dropped; "" for a turn that stays.
        labels: its labels with their confidence, by what gave them.
    """

    text: str
    border: str
    reason: str = ""
    labels: dict[str, str] = field(default_factory=dict)


@dataclass
class ReadDialogue:
    """A raw dialogue.

    Attributes:
        dialogue_id, film: its ids.
        start_ms: when it starts; None without times.
        turns: all its raw turns.
        is_clean: whether it is among the clean dialogues.
        left_out: (stage, reason, detail) where the whole dialogue was dropped.
    """

    dialogue_id: str
    film: str
    start_ms: int | None
    turns: list[ReadTurn]
    is_clean: bool
    left_out: list[tuple[str, str, str]]


def read_dialogues(
    tables: Callable[[Table], DataFrame], settings: SubtitleSettings, film: str | None, number: int
) -> list[ReadDialogue]:
    """Return dialogues with all their turns and every decision about them.

    Args:
        tables: gives a table's rows; none for a table that was not written.
        settings: with which the turns were made.
        film: the first ``number`` clean dialogues of this film in its order, and the dropped ones between them; None:
            ``number`` clean dialogues of all films, in the order of a hash of their ids.
        number: how many.

    Raises:
        InputError: there are no dialogues of the film, or none at all.
    """
    clean = tables(subtitles.CLEAN_DIALOGUES)
    raw = tables(subtitles.DIALOGUES)
    if film is None:
        order = content_order(F.col("dialogue_id"), seed=0, of="read")
        drawn = clean.select("dialogue_id").orderBy(order, "dialogue_id").limit(number)
        rows = raw.join(F.broadcast(drawn), "dialogue_id", "left_semi").orderBy(order, "dialogue_id").collect()
    else:
        rows = raw.where(F.col("movie_id") == film).collect()
        rows.sort(key=lambda row: (row["source_path"], row["turns"][0]["sentence_first"]))
    if not rows:
        missing = "no clean dialogues" if film is None else f"no dialogues of film {film}"
        raise InputError(f"{missing} in subtitles.dialogues: run --to {STAGE}; `sql` lists the films by movie_id")
    ids = [row["dialogue_id"] for row in rows]
    stays = {row["dialogue_id"]: row["turns"] for row in _of(clean, ids).collect()}
    if film is not None:
        rows = list(_until(rows, stays, number))
        ids = [row["dialogue_id"] for row in rows]
    borders = _borders(tables, settings, sorted({row["source_path"] for row in rows}))
    labels = _labels(tables, ids)
    dropped = _dropped(tables, ids)
    return [_dialogue(row, stays.get(row["dialogue_id"]), borders, labels, dropped) for row in rows]


def _until(rows: Iterable[Any], clean: Any, number: int) -> Iterator[Any]:
    """Yield dialogues until so many clean ones have come."""
    found = 0
    for row in rows:
        yield row
        found += row["dialogue_id"] in clean
        if found == number:
            return


def _of(rows: DataFrame, ids: list[str]) -> DataFrame:
    given = rows.sparkSession.createDataFrame([(one,) for one in ids], "dialogue_id string")
    return rows.join(F.broadcast(given), "dialogue_id", "left_semi")


def _borders(tables: Callable[[Table], DataFrame], settings: SubtitleSettings, paths: list[str]) -> dict[Any, str]:
    """Return what opens a turn by (source_path, sentence)."""
    files = tables(subtitles.FILES).where(F.col("source_path").isin(paths)).select("source_path", "sentences")
    scores = tables(subtitles.TURN_SCORES)
    carried = F.col("carried") if "carried" in scores.columns else F.lit(None).alias("carried")
    scored = files.join(scores.select("source_path", "scores", carried), "source_path", "left")
    found: dict[Any, str] = {}
    for row in scored.collect():
        sentences = [sentence.asDict() for sentence in row["sentences"]]
        sources = border_sources(sentences, row["scores"] or [], row["carried"] or [], settings)
        found |= {(row["source_path"], place): source for place, source in enumerate(sources) if source}
    return found


def _labels(tables: Callable[[Table], DataFrame], ids: list[str]) -> dict[Any, dict[str, str]]:
    """Return labels by (dialogue_id, place among the clean turns): what gave it, and the label with confidence."""
    found: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in _of(tables(edos.WEAK_LABELS), ids).select("dialogue_id", "turn", "label", "confidence").collect():
        found[row["dialogue_id"], row["turn"]]["weak"] = f"{row['label']} {row['confidence'] or 0:.2f}"
    for row in _of(tables(edos.DIALOGUES), ids).select("dialogue_id", "turns").collect():
        for place, turn in enumerate(row["turns"]):
            found[row["dialogue_id"], place]["edos"] = f"{turn['label']} {turn['confidence'] or 0:.2f}"
    return found


def _dropped(tables: Callable[[Table], DataFrame], ids: list[str]) -> dict[str, list[tuple[str, str, str]]]:
    """Return (stage, reason, detail) by dialogue_id, or by ``<dialogue_id>/<turn>``."""
    rows = tables(DROPPED).where(F.col("unit").isin("dialogue", "turn"))
    by_dialogue = rows.withColumn("dialogue_id", F.substring_index("id", "/", 1))
    found = defaultdict(list)
    chosen = _of(by_dialogue, ids).where((F.col("stage") == STAGE) | (F.col("unit") == "dialogue"))
    for row in chosen.orderBy("stage", "id", "reason").collect():
        found[row["id"]].append((row["stage"], row["reason"], row["detail"]))
    return found


def _dialogue(
    row: Any, clean: Any, borders: dict[Any, str], labels: dict[Any, dict[str, str]], dropped: Any
) -> ReadDialogue:
    name = row["dialogue_id"]
    turns = []
    places = {turn["sentence_first"]: place for place, turn in enumerate(clean or ())}
    for number, turn in enumerate(row["turns"]):
        place = places.get(turn["sentence_first"])
        reasons = [reason for _, reason, _ in dropped.get(f"{name}/{number}", [])]
        text = turn["text"] if place is None else clean[place]["text"]
        border = borders.get((row["source_path"], turn["sentence_first"]), "")
        found = {} if place is None else labels.get((name, place), {})
        turns.append(ReadTurn(detokenised_text(text), border, ", ".join(reasons), found))
    start = row["turns"][0]["start_ms"]
    return ReadDialogue(name, row["movie_id"], start, turns, clean is not None, dropped.get(name, []))
