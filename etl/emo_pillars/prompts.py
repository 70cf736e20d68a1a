"""Parts that the prompts of several steps share: definitions, and who says what (Emo Pillars B)."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.taxonomy import EmotionTaxonomy
from etl.llm.prompt_texts import as_data

NEUTRAL = "neutral"
PLAIN = "plain"
"""The form of a step's template that all steps have."""


def definitions(taxonomy: EmotionTaxonomy, *, neutral: bool) -> str:
    """Return the definitions of the emotions, one per line, with or without neutral (Emo Pillars 3.2, 3.3)."""
    known = taxonomy.definitions
    return "\n".join(f"- {label}: {known[label]}" for label in (taxonomy.names if neutral else taxonomy.emotions))


def spoken_slots() -> dict[str, Column]:
    """Return the slots of who says what with which emotions, the strongest first, of an example's columns."""
    emotions = F.array_join(F.col("labels")["label"], ", ")
    return {"actor": as_data(F.col("actor")), "utterance": as_data(F.col("utterance")), "emotions": emotions}
