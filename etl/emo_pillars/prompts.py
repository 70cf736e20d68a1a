"""Build the prompts of each step as columns, from our templates and data in their slots (Emo Pillars B)."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from conf.emo_pillars_settings import UtterancePrompt
from conf.errors import InputError
from conf.llm_settings import STEP_GRAMMAR, DecodingSettings
from conf.prompts import SLOT, grammar, prompt
from conf.taxonomy import goemotions_definitions

NEUTRAL = "neutral"
PLAIN = "plain"
FORMS = {"utterances": "shared", "soft_labels": "shared", "rewrites": "example"}
"""The form of a step's template beside the plain one, for the settings ``prompt_order`` and ``rewrite_prompt``."""
GRAMMARS = ("actors", "utterances", "soft_labels")
"""Steps whose answers have a form that a grammar can tell; the other steps answer in prose."""


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
    text = F.regexp_replace(text, r"(<\|?|\[)(?=/?[^\s<>\[\]]{1,40}\|?[>\]])", "$1 ")
    return F.regexp_replace(text, "={5,}", "====")


def definitions(*, neutral: bool) -> str:
    """Return the definitions of the emotions, one per line, with or without neutral (Emo Pillars 3.2, 3.3)."""
    lines = [f"- {label}: {about}" for label, about in goemotions_definitions().items() if neutral or label != NEUTRAL]
    return "\n".join(lines)


def actors_prompt(plot: Column) -> Column:
    """Ask for the characters of a plot (Emo Pillars 3.1)."""
    return filled(template("actors"), {"plot": as_data(plot)})


def utterances_prompt(plot: Column, actor: Column, emotional: int, neutral: int, form: str = PLAIN) -> Column:
    """Ask for a character's utterances, given the plot and the definitions without neutral (Emo Pillars 3.2)."""
    slots = {"plot": as_data(plot), "actor": as_data(actor), "definitions": F.lit(definitions(neutral=False))}
    return filled(template("utterances", form), slots | {"emotional": F.lit(emotional), "neutral": F.lit(neutral)})


def soft_labels_start(primary: Column) -> Column:
    """Return the start of the answer: the emotion for which the utterance was generated (Emo Pillars 3.3)."""
    return F.concat(F.lit("1. "), primary)


def soft_labels_prompt(utterance: Column, primary: Column, top: int, form: str = PLAIN) -> Column:
    """Ask for an utterance's emotions and their levels, given the definitions with neutral (Emo Pillars 3.3).

    The prompt contains no plot and no actor, so that only the utterance itself is judged.
    """
    slots = {"definitions": F.lit(definitions(neutral=True)), "utterance": as_data(utterance), "top": F.lit(top)}
    return filled(template("soft_labels", form), slots | {"start": soft_labels_start(primary)})


def contexts_prompt(plot: Column, actor: Column, utterance: Column, emotions: Column) -> Column:
    """Ask for the events before an utterance, given plot, actor and emotions (Emo Pillars 3.4)."""
    return filled(template("contexts"), {"plot": as_data(plot)} | _spoken(actor, utterance, emotions))


def clean_contexts_prompt(context: Column, actor: Column, emotions: Column) -> Column:
    """Ask for a context without mentions of emotions, given actor and emotions (Emo Pillars 3.4)."""
    return filled(
        template("clean_contexts"), {"actor": as_data(actor), "context": as_data(context), "emotions": emotions}
    )


def rewrites_prompt(context: Column, actor: Column, utterance: Column, emotions: Column, form: str = PLAIN) -> Column:
    """Ask for a rewritten utterance, given the cleaned context, actor and emotions (Emo Pillars 3.5)."""
    slots = {"context": as_data(context)} | _spoken(actor, utterance, emotions)
    return filled(template("rewrites", form), slots)


def topic_names_prompt(utterances: Column) -> Column:
    """Ask for a topic's name, given an array of its utterances (Emo Pillars H)."""
    lines = F.transform(utterances, lambda one: F.concat(F.lit("- "), as_data(one)))
    return filled(template("topic_names"), {"utterances": F.array_join(lines, "\n")})


def topic_categories_prompt(emotion: Column, names: Column) -> Column:
    """Ask for the topics' categories, given an array of their names, numbered from 1 (Emo Pillars H)."""
    numbered = F.transform(names, lambda one, place: F.concat((place + 1).cast("string"), F.lit(". "), as_data(one)))
    return filled(template("topic_categories"), {"emotion": emotion, "topics": F.array_join(numbered, "\n")})


def template(step: str, form: str = PLAIN) -> str:
    """Return a step's template, plain or in the form of ``FORMS``."""
    return prompt(_name(step, form))


def forms_of(step: str) -> list[str]:
    """Return a step's forms, the plain one first."""
    return [PLAIN, FORMS[step]] if step in FORMS else [PLAIN]


def template_files(step: str) -> list[str]:
    """Return the files of a step's templates in all its forms, as resources."""
    return [f"prompts/{_name(step, form)}.txt" for form in forms_of(step)]


def _name(step: str, form: str) -> str:
    return f"emo_pillars/{step}" if form == PLAIN else f"emo_pillars/{step}_{form}"


def step_decoding(step: str, decoding: DecodingSettings, asked: UtterancePrompt | None = None) -> DecodingSettings:
    """Return a step's decoding; the grammar ``step`` becomes the text of the step's own one (ours).

    Args:
        step: one of ``GRAMMARS``, or a step that has none.
        decoding: the settings ``emo_pillars.steps.<step>``.
        asked: how many utterances the step ``utterances`` asks for.

    Raises:
        InputError: the step has no grammar of its own.
    """
    if decoding.grammar != STEP_GRAMMAR:
        return decoding
    if step not in GRAMMARS:
        raise InputError(f"emo_pillars.steps.{step}.grammar: only {', '.join(GRAMMARS)} have a grammar: write one")
    labels = " | ".join(f'"{label}"' for label in goemotions_definitions() if step == "soft_labels" or label != NEUTRAL)
    slots = {"labels": labels}
    if asked is not None:
        # A repetition is one less than the number: the first one stands before it.
        slots |= {
            "emotional": str(asked.emotional - 1),
            "neutral": str(max(asked.neutral - 1, 0)),
            "with_neutral": str(int(asked.neutral > 0)),
        }
    text = SLOT.sub(lambda slot: slots.get(slot[1], slot[0]), grammar(f"emo_pillars/{step}"))
    return decoding.model_copy(update={"grammar": text})


def _spoken(actor: Column, utterance: Column, emotions: Column) -> dict[str, Column]:
    return {"actor": as_data(actor), "utterance": as_data(utterance), "emotions": emotions}
