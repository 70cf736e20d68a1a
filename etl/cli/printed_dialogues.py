"""Dialogues as a person reads them, with what the pipeline decided about each turn, and what it left out."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.errors import InputError
from etl.common.hashes import content_order
from etl.common.spelling import detokenised_text
from etl.edos import tables as edos
from etl.edos.export_rows import with_accepted
from etl.edos.label_thresholds import shown_label
from etl.pipeline.tables.model import Table
from etl.pipeline.tables.ops import DROPPED
from etl.subtitles import tables as subtitles
from etl.subtitles.dialogues import sentence_id

STAGES = ("filter_dialogues", "clean_dialogues")


@dataclass
class ReadTurn:
    """A turn.

    Attributes:
        text: as people write; of a turn that was dropped, the raw one.
        border: what decided that it opens here: start, mark, carried, model, rule or silence; "" where it is not known.
        reason: why it was dropped; "" for a turn that stays.
        labels: its labels with their confidence, by what gave them.
        certainty: probability that the border is right; None where it is not known.
        speaker: name of the label that it opens with; None without one.
        opens: dialogue_id and certainty of the clean dialogue that it is the first turn of; None for other turns.
    """

    text: str
    border: str
    reason: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    certainty: float | None = None
    speaker: str | None = None
    opens: tuple[str, float | None] | None = None


@dataclass
class ReadDialogue:
    """A raw dialogue.

    Attributes:
        start_ms: when it starts; None without times.
        clean: number of clean dialogues made of it.
        dropped: (stage, reason, detail) where the whole dialogue, or a part of it, was dropped; the detail of a part
            begins with its id.
    """

    dialogue_id: str
    film: str
    start_ms: int | None
    turns: list[ReadTurn]
    clean: int
    dropped: list[tuple[str, str, str]]

    @property
    def is_clean(self) -> bool:
        """Whether some of it is among the clean dialogues."""
        return self.clean > 0


def read_dialogues(
    tables: Callable[[Table], DataFrame],
    film: str | None,
    number: int,
    seed: int = 0,
) -> list[ReadDialogue]:
    """Return dialogues with all their turns and every decision about them.

    Args:
        tables: gives a table's rows; none for a table that was not written.
        film: the first ``number`` clean dialogues of this film in its order, and the dropped ones between them; None:
            ``number`` clean dialogues of all films, in the order of a hash of their ids.
        seed: of the hash; another number draws other dialogues.

    Raises:
        InputError: there are no such dialogues.
    """
    clean = tables(subtitles.CLEAN_DIALOGUES)
    raw = tables(subtitles.DIALOGUES).withColumn("possible_ids", _possible_ids())
    raw_id = F.col("dialogue_id")
    if "raw_dialogue_id" in clean.columns:
        raw_id = F.coalesce("raw_dialogue_id", "dialogue_id")
    clean = clean.withColumn("raw_id", raw_id)
    asked = raw if film is None else raw.where(F.col("movie_id") == film)
    if film is None:
        made = clean.select(F.col("raw_id").alias("dialogue_id"))
        chosen = asked.select("dialogue_id").join(made, "dialogue_id", "left_semi")
        order = content_order(F.col("dialogue_id"), seed=seed, of="read")
        drawn = chosen.orderBy(order, "dialogue_id").limit(number)
        rows = asked.join(F.broadcast(drawn), "dialogue_id", "left_semi").orderBy(order, "dialogue_id").collect()
    else:
        rows = asked.collect()
        rows.sort(key=lambda row: (row["source_path"], row["turns"][0]["sentence_first"]))
    if not rows:
        missing = "no clean dialogues" if film is None else f"no dialogues of film {film}"
        raise InputError(f"{missing} in subtitles.dialogues: run --to {STAGES[-1]}; `sql` lists the films by movie_id")
    stays = _clean_parts(clean, [row["dialogue_id"] for row in rows])
    if film is not None:
        rows = list(_until(rows, stays, number))
    ids = [row["dialogue_id"] for row in rows]
    parts = [part["dialogue_id"] for name in ids for part in stays.get(name, ())]
    labels = _labels(tables, parts)
    dropped = _dropped(tables, sorted({*parts, *(name for row in rows for name in row["possible_ids"])}))
    return [_dialogue(row, stays.get(row["dialogue_id"], []), labels, dropped) for row in rows]


def _possible_ids() -> Column:
    """Return the ids that a raw dialogue and the parts that it may be cut into can have."""
    parts = F.transform("turns", lambda turn: sentence_id(turn["sentence_first"]))
    return F.array_union(F.array("dialogue_id"), parts)


def _clean_parts(clean: DataFrame, ids: list[str]) -> dict[str, list[Any]]:
    """Return the clean dialogues by the raw dialogue that they are parts of."""
    given = clean.sparkSession.createDataFrame([(one,) for one in ids], "raw_id string")
    found = defaultdict(list)
    for row in clean.join(F.broadcast(given), "raw_id", "left_semi").orderBy("dialogue_id").collect():
        found[row["raw_id"]].append(row)
    return found


def _until(rows: Iterable[Any], clean: Any, number: int) -> Iterator[Any]:
    """Yield dialogues until so many clean ones have come."""
    found = 0
    for row in rows:
        yield row
        found += len(clean.get(row["dialogue_id"], ()))
        if found >= number:
            return


def _of(rows: DataFrame, ids: list[str]) -> DataFrame:
    given = rows.sparkSession.createDataFrame([(one,) for one in ids], "dialogue_id string")
    return rows.join(F.broadcast(given), "dialogue_id", "left_semi")


def _labels(tables: Callable[[Table], DataFrame], ids: list[str]) -> dict[Any, dict[str, str]]:
    """Return labels by (dialogue_id, place among the clean turns): what gave it, and the label with confidence."""
    found: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in _of(tables(edos.WEAK_LABELS), ids).select("dialogue_id", "turn", "label", "confidence").collect():
        found[row["dialogue_id"], row["turn"]]["weak"] = f"{row['label']} {row['confidence'] or 0:.2f}"
    for row in _of(with_accepted(tables(edos.DIALOGUES)), ids).select("dialogue_id", "turns", "accepted").collect():
        accepted = row["accepted"] or [None] * len(row["turns"])
        for place, turn in enumerate(row["turns"]):
            label = shown_label(turn["label"], accepted[place])
            found[row["dialogue_id"], place]["edos"] = f"{label} {turn['confidence'] or 0:.2f}"
    return found


def _dropped(tables: Callable[[Table], DataFrame], ids: list[str]) -> dict[str, list[tuple[str, str, str]]]:
    """Return (stage, reason, detail) by dialogue_id, or by ``<dialogue_id>/<turn>``."""
    rows = tables(DROPPED).where(F.col("unit").isin("dialogue", "turn"))
    by_dialogue = rows.withColumn("dialogue_id", F.substring_index("id", "/", 1))
    found = defaultdict(list)
    chosen = _of(by_dialogue, ids).where(F.col("stage").isin(*STAGES) | (F.col("unit") == "dialogue"))
    for row in chosen.orderBy("stage", "id", "reason").collect():
        found[row["id"]].append((row["stage"], row["reason"], row["detail"]))
    return found


def _dialogue(row: Any, parts: list[Any], labels: dict[Any, dict[str, str]], dropped: Any) -> ReadDialogue:
    name = row["dialogue_id"]
    places = {turn["sentence_first"]: (part, n) for part in parts for n, turn in enumerate(part["turns"])}
    known = row.asDict()
    turns = []
    for number, turn in enumerate(row["turns"]):
        part, place = places.get(turn["sentence_first"], (None, 0))
        reasons = [reason for _, reason, _ in dropped.get(f"{name}/{number}", [])]
        text = turn["text"] if part is None else part["turns"][place]["text"]
        turns.append(
            ReadTurn(
                detokenised_text(text),
                (known.get("borders") or [""] * len(row["turns"]))[number],
                ", ".join(reasons),
                {} if part is None else labels.get((part["dialogue_id"], place), {}),
                (known.get("border_certainties") or [None] * len(row["turns"]))[number],
                (known.get("speakers") or [None] * len(row["turns"]))[number],
                (part["dialogue_id"], part.asDict().get("certainty")) if part is not None and place == 0 else None,
            )
        )
    start = row["turns"][0]["start_ms"]
    names = dict.fromkeys([*row["possible_ids"], *(part["dialogue_id"] for part in parts)])
    dropped = [
        (stage, reason, detail if one == name else f"{one}: {detail}")
        for one in names
        for stage, reason, detail in dropped.get(one, [])
    ]
    return ReadDialogue(name, row["movie_id"], start, turns, len(parts), dropped)
