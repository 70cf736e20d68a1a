"""What each kind of segmenter makes of held-out films: turns, dialogues, and runs of turns that are certain.

Before any cleaning, of the first upload of each film, with the default settings but for each kind's own certainty.
"""

import numpy as np
import pandas as pd
import pyarrow as pa

from conf.subtitle_settings import SubtitleSettings, TurnCertainty
from etl.subtitles.borders import Borders
from etl.subtitles.certain_spans import certain_spans
from etl.subtitles.film_shift import FilmSpread
from etl.subtitles.turn_scoring import PairScorer, file_scores
from etl.subtitles.turn_sentences import Sentences
from etl.subtitles.turns import flat_values, turn_lists

ASKED = (0.5, 0.6, 0.7, 0.8, 0.9)
_CARRIED = pa.list_(pa.struct([("sentence", pa.int32()), ("new_turn", pa.bool_())]))


def first_uploads(uploads: pa.RecordBatch, films: list[str]) -> pa.RecordBatch:
    """Return the first upload of each of the films."""
    places = pd.Series(uploads.column("movie_id").to_pylist())
    kept = places[places.isin(films)].drop_duplicates().index
    return uploads.take(pa.array(kept))


def raw_dialogues(uploads: pa.RecordBatch, scorer: PairScorer, model: tuple[float, float]) -> list[list[dict]]:
    """Return the turns of each raw dialogue, with text, certainty, opening (of the border before), upload and first.

    ``first`` is the number of the turn's first sentence within its upload.

    Args:
        model: a and b of ``subtitles.certainty.model``.
    """
    settings = SubtitleSettings(certainty=TurnCertainty(model=model))
    none = pa.nulls(uploads.num_rows, _CARRIED)
    rows = pa.RecordBatch.from_arrays([*uploads.columns, none], [*uploads.schema.names, "carried"])
    scores, _, _ = file_scores(rows, scorer)
    sentences = Sentences.of(uploads.column("sentences"))
    borders = Borders.of(
        sentences,
        flat_values(scores, sentences, 0.0),
        silence_ends_turn_ms=round(settings.silence_seconds * 1000),
        opening_dash_margin=settings.opening_dash_margin,
        films=FilmSpread(settings.film_spread, settings.certainty.model[1]),
    )
    turns, certainties, _, opening, _ = turn_lists(borders, borders.certainty(settings.certainty))
    names = uploads.column("source_path").to_pylist()
    found = []
    for file in range(uploads.num_rows):
        dialogue: list[dict] = []
        before = None
        for turn, certainty, opens in zip(
            turns[file].as_py(), certainties[file].as_py(), opening[file].as_py(), strict=True
        ):
            known = before is not None and turn["start_ms"] is not None
            if known and turn["start_ms"] - before > settings.silence_seconds * 1000:
                found.append(dialogue)
                dialogue = []
            place = {"upload": names[file], "first": turn["sentence_first"]}
            dialogue.append({"text": turn["text"], "certainty": certainty, "opening": opens, **place})
            before = turn["end_ms"]
        found.append(dialogue)
    return [dialogue for dialogue in found if dialogue]


def dialogues_of(uploads: pa.RecordBatch, scorer: PairScorer, model: tuple[float, float]) -> list[list[dict]]:
    """Return :func:`raw_dialogues` of at least two turns."""
    return [dialogue for dialogue in raw_dialogues(uploads, scorer, model) if len(dialogue) > 1]


def _prefix(turns: list[dict], asked: float) -> tuple[int, float]:
    """Return how many of the first turns are right together, and how certain that is."""
    size = 0
    together = found = 1.0
    for turn in turns:
        together *= turn["certainty"]
        if round(together, 4) < asked:
            break
        size += 1
        found = together
    return size, found


def table(
    uploads: pa.RecordBatch, scorers: dict[str, PairScorer], models: dict[str, tuple[float, float]]
) -> pd.DataFrame:
    """Return by kind, way and asked probability: dialogues, turns a dialogue, tokens a turn, told faults.

    ``all`` has all dialogues of at least two turns. ``spans`` and ``first`` are the ways of
    ``subtitles.cleaning.certain_turns``.
    """
    rows = []
    for kind, scorer in scorers.items():
        dialogues = dialogues_of(uploads, scorer, models[kind])
        whole = [
            (turns, turns[0]["opening"] * float(np.prod([turn["certainty"] for turn in turns]))) for turns in dialogues
        ]
        rows.append({"kind": kind, "way": "all", "asked": 0.0, **_counted(whole)})
        for asked in ASKED:
            spans = []
            first = []
            for turns in dialogues:
                certainties = [turn["certainty"] for turn in turns]
                opening = [turn["opening"] for turn in turns]
                for start, size, certainty in certain_spans(certainties, opening, asked):
                    spans.append((turns[start : start + size], certainty))
                size, certainty = _prefix(turns, asked)
                if size > 1:
                    first.append((turns[:size], certainty))
            rows.append({"kind": kind, "way": "spans", "asked": asked, **_counted(spans)})
            rows.append({"kind": kind, "way": "first", "asked": asked, **_counted(first)})
    return pd.DataFrame(rows).set_index(["kind", "way", "asked"])


def _counted(kept: list[tuple[list[dict], float]]) -> dict[str, float]:
    turns = [turn for dialogue, _ in kept for turn in dialogue]
    return {
        "dialogues": len(kept),
        "turns": len(turns) / max(len(kept), 1),
        "tokens": sum(len(turn["text"].split(" ")) for turn in turns) / max(len(turns), 1),
        "told faults": 1 - float(np.mean([certainty for _, certainty in kept])) if kept else 0.0,
    }
