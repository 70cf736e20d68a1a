"""Rows for any table, made from its declared columns: few values a column, so that tables join."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import types as T

from conf.taxonomy import edos_labels, goemotions_labels
from etl.pipeline.tables import TABLES, Table

SAID = ("Is it over ?", "it 's  ( fine ) !", '" no " , $ 5', "x\ny", "100 % \\n", "’ café İ", "")
HISTORIES: Sequence[Sequence[str]] = (SAID[:2], SAID[2:4], SAID[4:6], SAID[:1], ("Hi .", ""))
LABELS = (*edos_labels()[:4], "neutral", "questioning")
EMOTIONS = (*goemotions_labels()[:4], "neutral", "joy")
IDS = ("7-0", "7-5", "8-0", "9-42")
UNITS = tuple(f"{one}/{turn}" for one in IDS[:3] for turn in (0, 1))
PARTS = ("train", "validation", "test")
NUMBERS = (0.125, 0.375, 1.005, 2.675, 0.41665, 0.00005, 0.0005, 1234567.125, 0.33333, 10.0, -0.25, 7.0)
"""Halves that are exact and halves that are not, and numbers that Java writes with an exponent."""
TEXTS = ("x", "y % _", "z\\w", None)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _hash_of(history: Sequence[str]) -> str:
    return _sha256("".join(map(_sha256, history)))


VALUES: dict[str, Sequence[Any]] = {
    "dialogue_id": IDS,
    "raw_dialogue_id": IDS[:3],
    "subtitle_id": ("7", "8", "9"),
    "source_path": ("a/7.xml", "a/8.xml", "z.zip!x/9.xml"),
    "movie_id": ("11", "12", "file:9"),
    "genres": (["Drama"], ["Crime", "Drama"], [], None),
    "year": (1999, 2001, None),
    "turn": (0, 1, 2),
    "turns": HISTORIES,
    "matched_turns": HISTORIES,
    "seed_id": UNITS,
    "matched_id": (*UNITS, None),
    "history_hash": [_hash_of(one[:end]) for one in HISTORIES for end in range(1, len(one) + 1)],
    "model": ("m1", "m2", "openai:large-7"),
    "models": ({"a": "m1"}, {"a": "m2", "b": "m1"}),
    "input_versions": ({"subtitles.clean_dialogues": "t:3"}, {"edos.dialogues": "t:4", "edos.weak_labels": "t:1"}),
    "output_version": ("t:3", "models:/edos/2"),
    "figures": ({"accuracy": 0.61155, "macro_f1": 0.605, "rows": 40.0}, {"accuracy": 0.5}, None),
    "text": SAID,
    "label": LABELS,
    "true_label": (*EMOTIONS, None),
    "votes": [[one, other, LABELS[0]] for one in LABELS[:2] for other in LABELS[:3]],
    "origin": ("crowd", "similar", "self", "similar_self"),
    "origins": (["crowd"], ["crowd", "similar"], ["crowd", "similar", "self", "similar_self"]),
    "split": PARTS,
    "profane": (False, False, False, True),
    "unit": ("dialogue", "turn", "file", "sentence"),
    "stage": ("clean_dialogues", "clean_dialogues", "choose_uploads", "emo_pillars_ask_actors", "train_weak_labeler"),
    "event": ("done", "done", "failed", "began"),
    "reason": ("after_removed_turn", "too_long", "song"),
    "id": ("7-0", "7-5", "7-0/1", "8-0/2", "a/7.xml", "9-42/x", "7-1", "8-1"),
    "detail": ("went: too_long", "went: a\nb", "50 %", "x_y\\z", None),
    "score": (0.125, 0.93, 0.905, 0.0005, 0.9001),
    "confidence": (0.125, 0.5, 0.41665, 0.0005, 0.9),
    "threshold": (0.125, 0.25),
    "embedding": ([0.6, 0.8], [0.8, 0.6], [1.0, 0.0]),
    "probabilities": [[one] * 28 for one in (0.05, 0.125, 0.455, 0.9)],
    "given": [list(EMOTIONS[:2]), list(EMOTIONS[1:4])],
    "emotions": [list(EMOTIONS[:2]), list(EMOTIONS[1:4])],
    "text_id": ("t1", "t2", "t3"),
    "session_id": ("s1", "s2"),
    "aspect": ("empathy", "logic", "ethical_risk", "fluency"),
    "data_set": ("ed", "reddit", "total", "esconv"),
    "role": ("seeker", "supporter"),
    "plot_id": ("p1", "p2", "p3"),
    "actor_id": ("p1-1", "p1-2", "p2-1"),
    "emotion": ("joy", "anger"),
    "topic": (1, 2, 3),
    "place": (1, 2, 3),
    "rank": (1, 2, 3, 11),
    "word": ("really", "sadly", "happily"),
    "purpose": ("crowd",),
    "question": ("unfit", "other_emotion", "other_words", "choice"),
    "generator": ("pretrained", "edos", "empathetic", "causal", "echo", "steered", "human"),
    "intent": (*LABELS[:3], None),
    "learner": ("emo_pillars_contextless", "emo_pillars_contextual"),
    "tested_on": ("original", "contextual original"),
    "class": ("macro", "micro", *EMOTIONS[:3]),
    "tuned": (True, True, False),
    "weighted": (True, False),
    "variant": (None, "kept"),
    "scored": ("28 labels, threshold",),
    "seed": (1, 2),
    "fold": (None, 0),
    "train_rows": (100,),
    "test_rows": (40,),
    "passages": (40,),
    "support": (4, 8),
    "pairs": (3, 40),
    "bytes": (7, 1000),
    "example_id": ("os/7-0/1", "edos/8-0/0", "empathetic/h/1"),
    "error": (None, None, None, "bad"),
    "sources": (["mark", "carried", "model", None, "model", "mark", "model"],),
    "scores": ([-0.25, 1.5, 0.0005, -0.00005, 2.675, None, 0.1],),
}
"""By the name of a column, or of a field of a struct."""
OF_TABLES: dict[str, Sequence[Any]] = {
    "edos.label_thresholds.model": ("m1",),
    "ops.stage_runs.settings": ({"models.weak_encoder": '"pkg:a"', "training.weak_labeler.epochs": "3"}, None),
    "emo_pillars.*.label": EMOTIONS,
    "emo_pillars.*.primary_label": EMOTIONS,
    "emo_pillars.*.model": ("emo_pillars_encoder", "emo_pillars_contextless"),
    "emo_pillars.goemotions.labels": [list(EMOTIONS[:2]), list(EMOTIONS[3:])],
    "emo_pillars.query_examples.labels": [list(EMOTIONS[:2]), list(EMOTIONS[3:])],
    "emo_pillars.predictions.kind": ("comment", "dialogue"),
    "emo_pillars.predictions.text_id": ("t1", "t2", "t3", "t4", "t5", "t6"),
    "emo_pillars.*.seed": (1,),
    "edos.held_out_scores.model": ("m1",),
    "emo_pillars.similarities.kind": ("utterances", "utterances of one emotion", "contexts of one actor"),
    "subtitles.gaps.kind": ("gap", "overlap", "in_sentence"),
    "augesc.*.source": ("ed", "reddit", "esconv"),
    "augesc.*.method": ("augmenter", "untuned", "people", "role_models"),
    "augesc.ratings.score": (0, 1, 2, 3),
    "replies.*.source": ("os", "edos", "empathetic"),
    "replies.examples.source": ("edos", "empathetic"),
}
"""By schema, table or all, and column, where others have other values."""


def made_rows(table: Table, number: int, seed: int) -> list[dict[str, Any]]:
    """Return at most so many rows of a table, each with a key of its own.

    A value depends on the seed, the table, the row and its column alone: another column or table changes no other.
    """
    fields = table.schema.fields
    rows = [
        {one.name: _value(table.name, one.name, one.dataType, f"{seed} {table.name} {place}") for one in fields}
        for place in range(number)
    ]
    return list({tuple(str(row[name]) for name in table.key): row for row in rows}.values())


def _value(table: str, name: str, kind: T.DataType, seed: str) -> Any:
    seed = f"{seed} {name}"
    schema = table.partition(".")[0]
    known = OF_TABLES.get(f"{table}.{name}") or OF_TABLES.get(f"{schema}.*.{name}") or VALUES.get(name)
    if name == "sentence_first":
        return 0
    if known is not None and _fits(known, kind):
        return Random(seed).choice(known)
    if name in TABLES[table].key and isinstance(kind, T.StringType):
        return hashlib.md5(seed.encode()).hexdigest()
    if isinstance(kind, T.StructType):
        return {one.name: _value(table, one.name, one.dataType, seed) for one in kind.fields}
    if isinstance(kind, T.ArrayType):
        return [_item(table, name, kind.elementType, place, seed) for place in range(3)]
    if isinstance(kind, T.MapType):
        return {"a": _value(table, "", kind.valueType, seed)}
    return Random(seed).choice(_OF_TYPE[type(kind)])


def _item(table: str, name: str, kind: T.DataType, place: int, seed: str) -> Any:
    found = _value(table, name.removesuffix("s"), kind, f"{seed} {place}")
    if isinstance(found, dict):  # sentences are counted, and turns are made of them
        found |= {one: place for one in ("index", "sentence_first", "sentence_last") if one in found}
    return found


def _fits(values: Sequence[Any], kind: T.DataType) -> bool:
    """Return whether values are of a type; the same name may stand for a list and for one of its items."""
    one = next(value for value in values if value is not None)
    types = {bool: T.BooleanType, int: T.IntegralType, float: T.FractionalType, str: T.StringType, dict: T.MapType}
    if not isinstance(one, list | tuple):
        return isinstance(kind, types[type(one)])
    return isinstance(kind, T.ArrayType) and not isinstance(kind.elementType, T.StructType)


_START = datetime(2024, 1, 1)
_OF_TYPE: dict[type[T.DataType], Sequence[Any]] = {
    T.StringType: TEXTS,
    T.BooleanType: (True, False),
    T.IntegerType: (0, 1, 2, 3, 5, 8),
    T.LongType: (0, 1, 2, 3, 5, 8),
    T.FloatType: NUMBERS,
    T.DoubleType: NUMBERS,
    T.DecimalType: (Decimal("0.40"), Decimal("0.10")),
    T.TimestampType: [_START + timedelta(seconds=one) for one in range(0, 10**6, 997)],
}


def rows_of_all_tables(number: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return rows of every table by its name."""
    return {name: made_rows(table, number, seed) for name, table in TABLES.items()}
