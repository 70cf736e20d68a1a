"""What separates a turn from the one before: marks, the turn segmenter, a silence, or the film's start."""

from typing import Any

import numpy as np
import pyarrow as pa

from conf.subtitle_settings import SubtitleSettings
from etl.subtitles.turn_marks import UNMARKED, spoken
from etl.subtitles.turn_scoring import MODEL, deciding_sources
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import flat_values, turn_starts
from etl.tables.subtitles import SENTENCE

START = "start"
SILENCE = "silence"


def border_sources(
    rows: list[dict[str, Any]], scores: list[float], carried: list[bool | None], settings: SubtitleSettings
) -> list[str | None]:
    """Return what opens a turn at each sentence of a file; None where the turn goes on.

    Args:
        rows: the file's ``sentences``.
        scores, carried: the file's columns of ``subtitles.turn_scores``.
        settings: the rules of turns, as ``segment_dialogues`` reads them.

    Returns:
        ``start`` of the film, ``silence``, or ``mark``, ``carried`` or ``model`` (``turn_scoring.deciding_sources``).
    """
    sentences = Sentences.of(pa.array([rows], pa.list_(_sentence())))
    margins = flat_values(pa.array([scores], pa.list_(pa.float32())), sentences, 0.0)
    marks = np.full(len(sentences), UNMARKED, dtype=np.int8)
    if settings.explicit_marks and settings.carried_marks:
        marks = flat_values(pa.array([carried], pa.list_(pa.bool_())), sentences, UNMARKED).astype(np.int8)
    silence_ms = round(settings.silence_seconds * 1000) if settings.silence_ends_turn else None
    starts = turn_starts(
        sentences,
        margins,
        marks,
        explicit_marks=settings.explicit_marks,
        silence_ends_turn_ms=silence_ms,
        opening_dash_margin=settings.opening_dash_margin,
    )
    decided = [MODEL] * len(sentences)
    if settings.explicit_marks:
        decided = [source or MODEL for source in deciding_sources(spoken(sentences), marks).to_pylist()]
    silent = np.zeros(len(sentences), dtype=bool)
    if silence_ms is not None:
        silent = sentences.silence_ms > silence_ms
    # A silence ends a turn by itself; where a mark or another upload opens one too, that says more.
    reasons = [SILENCE if quiet and source == MODEL else source for quiet, source in zip(silent, decided, strict=True)]
    return [
        START if first else reason if opens else None
        for first, opens, reason in zip(sentences.first, starts, reasons, strict=True)
    ]


def _sentence() -> pa.DataType:
    parts = [part.strip().split(": ") for part in SENTENCE.removeprefix("struct<").removesuffix(">").split(",")]
    return pa.struct([(name, pa.string() if kind == "string" else pa.int32()) for name, kind in parts])
