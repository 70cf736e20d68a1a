"""What separates a turn from the one before: a mark, the turn segmenter, a silence, or the film's start."""

from typing import Any

import numpy as np
import pyarrow as pa

from etl.subtitles.turn_marks import NEW_TURN, spoken
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import flat_margins, turn_starts
from etl.tables.subtitles import SENTENCE

START, MARK, MODEL, SILENCE = "start", "mark", "model", "silence"


def border_sources(
    rows: list[dict[str, Any]], scores: list[float], *, explicit_marks: bool, silence_ends_turn_ms: int | None
) -> list[str | None]:
    """Return what opens a turn at each sentence of a file; None where the turn goes on.

    Args:
        rows: the file's ``sentences``.
        scores: the file's ``scores`` of ``subtitles.turn_scores``.
        explicit_marks, silence_ends_turn_ms: as ``etl.subtitles.turns.turn_starts`` takes them.
    """
    sentences = Sentences.of(pa.array([rows], pa.list_(_sentence())))
    margins = flat_margins(pa.array([scores], pa.list_(pa.float32())), sentences)
    starts = turn_starts(sentences, margins, explicit_marks=explicit_marks, silence_ends_turn_ms=silence_ends_turn_ms)
    lines = spoken(sentences)
    marked = np.zeros(len(sentences), dtype=bool)
    if explicit_marks:
        marked[lines.opens_at[lines.decided == NEW_TURN]] = True
    silent = np.zeros(len(sentences), dtype=bool)
    if silence_ends_turn_ms is not None:
        silent = sentences.silence_ms > silence_ends_turn_ms
    reasons = np.where(marked, MARK, np.where(silent, SILENCE, MODEL))
    return [
        START if first else str(reason) if opens else None
        for first, opens, reason in zip(sentences.first, starts, reasons, strict=True)
    ]


def _sentence() -> pa.DataType:
    parts = [part.strip().split(": ") for part in SENTENCE.removeprefix("struct<").removesuffix(">").split(",")]
    return pa.struct([(name, pa.string() if kind == "string" else pa.int32()) for name, kind in parts])
