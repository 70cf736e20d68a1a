"""Settings as text: keys, defaults and meanings, for help and for the reference."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from conf.section import setting_fields
from conf.taxonomy import GOEMOTIONS_NAME, EmotionTaxonomy, Taxonomy, load_emotion_taxonomy, load_taxonomy
from etl.pipeline.stages import setting

COMMON = {
    "driver_memory": "memory of the driver, such as 4g; null: Spark's default",
    "dropout": "share of activations that are set to 0 in training",
    "ed": "for queries from EmpatheticDialogues",
    "emotion_classifier": "the classifier of turns with their history (EDOS 3.3.1)",
    "feed_forward": "size of the feed-forward layers",
    "heads": "attention heads",
    "hidden": "size of the hidden states",
    "items_per_hit": "items of one HIT",
    "languages": "language codes to read, as in OPUS's paths; others are left out",
    "least_utterances": "utterances of a conversation, at least",
    "longest": "words of an utterance, at most",
    "max_iterations": "iterations of the optimizer, at most",
    "max_new_tokens": "tokens of an answer, at most",
    "most_average": "mean words of an utterance, at most",
    "most_utterances": "utterances of a conversation, at most",
    "name": "in the MLflow registry",
    "reddit": "for queries from Reddit",
    "repetition_penalty": "above 1, tokens that occurred before become less likely",
    "reply_edos": "the generator tuned on EDOS (EDOS 5)",
    "reply_empathetic": "the generator tuned on EmpatheticDialogues (EDOS 5)",
    "reply_pretrained": "the pre-trained generator (EDOS 5)",
    "reply_steered": "the generator that is told the intent of its reply (ours)",
    "shuffle_partitions": "partitions of joins and aggregations; null: Spark's default",
    "temperature": "of sampling; below 1, likely tokens become likelier",
    "top_p": "sample from the likeliest tokens that add up to this probability",
    "turn_segmenter": "the model that finds changes of speaker (EDOS 3.1)",
    "weak_labeler": "the classifier of single turns (EDOS 3.1)",
}
"""Meanings of settings without a description, by the last part of the key."""


def leaves(settings: Any, key: str) -> Iterator[tuple[str, str, Any]]:
    """Yield (key, meaning, default) of a setting, or of those of a section and of the sections in it."""
    value = setting(settings, key)
    if isinstance(value, BaseModel) and not isinstance(value, Taxonomy | EmotionTaxonomy):
        for name in setting_fields(type(value)):
            yield from leaves(settings, f"{key}.{name}")
        return
    section, _, last = key.rpartition(".")
    yield key, meaning(type(setting(settings, section)), last), value


def meaning(section: type[BaseModel], name: str) -> str:
    """Return a setting's description, its own or that of a class that its section extends, and its choices."""
    field = section.model_fields.get(name)
    if field is None:  # a property
        return ""
    described = [getattr(base, "model_fields", {}).get(name) for base in section.__mro__]
    own = next((one.description for one in described if one is not None and one.description), None)
    text = own or COMMON.get(name, "")
    kinds = [field.annotation, *get_args(field.annotation)]
    choices = next((get_args(kind) for kind in kinds if str(get_origin(kind)) == "typing.Literal"), ())
    given = f"one of {', '.join(map(shown, choices))}" if choices else ""
    return "; ".join(part for part in (text, given) if part)


def shown(value: Any) -> str:
    """Return a setting's value as a page shows it, which ``--set`` can read."""
    if isinstance(value, Taxonomy):
        return "edos" if value == load_taxonomy("edos") else "another"
    if isinstance(value, EmotionTaxonomy):
        return GOEMOTIONS_NAME if value == load_emotion_taxonomy(GOEMOTIONS_NAME) else "another"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("\n", "\\n")
