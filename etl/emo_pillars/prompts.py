"""Parts that the prompts of several steps share: templates with slots, stories as data, definitions (Emo Pillars B)."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.prompts import SLOT
from conf.taxonomy import EmotionTaxonomy
from etl.llm.requests import TEMPLATE_MARK

NEUTRAL = "neutral"
PLAIN = "plain"
"""The form of a step's template that all steps have."""


def filled(template: str, slots: Mapping[str, Column]) -> Column:
    """Fill a template's slots. Braces in a slot's text are not interpreted.

    Raises:
        KeyError: a slot of the template is missing.
    """
    pieces = SLOT.split(template)  # text, slot, text, slot, ..., text
    return F.concat(*(F.lit(piece) if place % 2 == 0 else slots[piece] for place, piece in enumerate(pieces)))


def as_data(text: Column) -> Column:
    """Return a text that is safe in a prompt (ours), with the marks of chat templates and our line of equal signs
    broken up."""
    text = F.regexp_replace(text, TEMPLATE_MARK, "$1 ")
    return F.regexp_replace(text, "={5,}", "====")


def definitions(taxonomy: EmotionTaxonomy, *, neutral: bool) -> str:
    """Return the definitions of the emotions, one per line, with or without neutral (Emo Pillars 3.2, 3.3)."""
    known = taxonomy.definitions
    return "\n".join(f"- {label}: {known[label]}" for label in (taxonomy.names if neutral else taxonomy.emotions))


def labels_of_grammar(taxonomy: EmotionTaxonomy, *, neutral: bool) -> str:
    """Return the labels as alternatives of a grammar, with or without neutral."""
    return " | ".join(f'"{label}"' for label in (taxonomy.names if neutral else taxonomy.emotions))


def spoken_slots(actor: Column, utterance: Column, emotions: Column) -> dict[str, Column]:
    """Return the slots of who says what with which emotions."""
    return {"actor": as_data(actor), "utterance": as_data(utterance), "emotions": emotions}


def emotions() -> Column:
    """Return an example's labels as text, the strongest first."""
    return F.array_join(F.col("labels")["label"], ", ")
