"""Prompts of each step as columns: a template of ours, and data in its slots (Emo Pillars B)."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.prompts import SLOT, prompt
from conf.taxonomy import goemotions_definitions

NEUTRAL = "neutral"


def filled(template: str, slots: Mapping[str, Column]) -> Column:
    """A template with its slots filled. What a slot holds is never looked at again: braces in a story are text.

    Raises:
        KeyError: the template has a slot that is not given.
    """
    pieces = SLOT.split(template)  # text, slot, text, slot, ..., text
    return F.concat(*(F.lit(piece) if place % 2 == 0 else slots[piece] for place, piece in enumerate(pieces)))


def as_data(text: Column) -> Column:
    """A text from outside that stays data in a prompt (ours): marks by which chats tell their parts apart are broken
    up, and so is the line of equal signs between which our prompts hold stories."""
    text = F.regexp_replace(text, r"(<\|?|\[)(?=/?[^\s<>\[\]]{1,40}\|?[>\]])", "$1 ")
    return F.regexp_replace(text, "={5,}", "====")


def definitions(*, neutral: bool) -> str:
    """The emotions with what they mean, one a line; neutral among them or not (Emo Pillars 3.2, 3.3)."""
    lines = [f"- {label}: {about}" for label, about in goemotions_definitions().items() if neutral or label != NEUTRAL]
    return "\n".join(lines)


def actors_prompt(plot: Column) -> Column:
    """Who is in the story? It sees the plot (Emo Pillars 3.1)."""
    return filled(template("actors"), {"plot": as_data(plot)})


def utterances_prompt(plot: Column, actor: Column, emotional: int, neutral: int) -> Column:
    """What could the character say? It sees plot, definitions without neutral, and the actor (Emo Pillars 3.2)."""
    slots = {"plot": as_data(plot), "actor": as_data(actor), "definitions": F.lit(definitions(neutral=False))}
    return filled(template("utterances"), slots | {"emotional": F.lit(emotional), "neutral": F.lit(neutral)})


def soft_labels_start(primary: Column) -> Column:
    """How the answer begins: with the emotion for which the utterance was made (Emo Pillars 3.3)."""
    return F.concat(F.lit("1. "), primary)


def soft_labels_prompt(utterance: Column, primary: Column, top: int) -> Column:
    """What does it express, and how strongly? It sees definitions with neutral, and the utterance alone: no plot,
    no actor, so that nothing of another moment is read into it (Emo Pillars 3.3)."""
    slots = {"definitions": F.lit(definitions(neutral=True)), "utterance": as_data(utterance), "top": F.lit(top)}
    return filled(template("soft_labels"), slots | {"start": soft_labels_start(primary)})


def contexts_prompt(plot: Column, actor: Column, utterance: Column, emotions: Column) -> Column:
    """What led to it? It sees plot, actor, utterance and emotions (Emo Pillars 3.4)."""
    return filled(template("contexts"), {"plot": as_data(plot)} | _spoken(actor, utterance, emotions))


def clean_contexts_prompt(context: Column, actor: Column, emotions: Column) -> Column:
    """What led to it, without a word on emotions? It sees actor, context and emotions, no plot (Emo Pillars 3.4)."""
    slots = {"actor": as_data(actor), "context": as_data(context), "emotions": emotions}
    return filled(template("clean_contexts"), slots)


def rewrites_prompt(context: Column, actor: Column, utterance: Column, emotions: Column) -> Column:
    """How else could it be said? It sees the cleaned context, actor, utterance and emotions (Emo Pillars 3.5)."""
    return filled(template("rewrites"), {"context": as_data(context)} | _spoken(actor, utterance, emotions))


def topic_names_prompt(utterances: Column) -> Column:
    """What are they about? It sees a topic's utterances, an array (Emo Pillars H)."""
    said = F.transform(utterances, lambda one: F.concat(F.lit("- "), as_data(one)))
    return filled(template("topic_names"), {"utterances": F.array_join(said, "\n")})


def topic_categories_prompt(emotion: Column, names: Column) -> Column:
    """What are these topics parts of? It sees the names of all, an array, numbered from 1 (Emo Pillars H)."""
    numbered = F.transform(
        names, lambda one, place: F.concat((place + 1).cast("string"), F.lit(". "), as_data(one))
    )  # fmt: skip
    return filled(template("topic_categories"), {"emotion": emotion, "topics": F.array_join(numbered, "\n")})


def template(step: str) -> str:
    """A step's template."""
    return prompt(f"emo_pillars/{step}")


def _spoken(actor: Column, utterance: Column, emotions: Column) -> dict[str, Column]:
    return {"actor": as_data(actor), "utterance": as_data(utterance), "emotions": emotions}
