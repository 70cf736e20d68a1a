"""What each step asks about, one row a prompt (Emo Pillars 3, B).

Both stages of a step use these: the one that asks, and the one that reads the answers and finds them by what was
asked. ``settings`` are those under ``emo_pillars`` that the stage declares.
"""

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.emo_pillars.prompts import (
    actors_prompt,
    clean_contexts_prompt,
    contexts_prompt,
    rewrites_prompt,
    soft_labels_prompt,
    soft_labels_start,
    topic_categories_prompt,
    topic_names_prompt,
    utterances_prompt,
)
from etl.llm.requests import with_requests


def actors_asked(plots: DataFrame, settings: Any) -> DataFrame:
    """One prompt a plot (Emo Pillars 3.1)."""
    return with_requests(plots.select("plot_id", "plot"), actors_prompt(F.col("plot")), settings.steps.actors)


def utterances_asked(actors: DataFrame, plots: DataFrame, settings: Any) -> DataFrame:
    """One prompt an actor (Emo Pillars 3.2)."""
    units = actors.select("actor_id", "plot_id", "actor").join(plots.select("plot_id", "plot"), "plot_id")
    asked = utterances_prompt(F.col("plot"), F.col("actor"), settings.emotional, settings.neutral)
    return with_requests(units, asked, settings.steps.utterances)


def soft_labels_asked(utterances: DataFrame, settings: Any) -> DataFrame:
    """One prompt an utterance, whose answer begins with the emotion it was made for (Emo Pillars 3.3)."""
    primary = F.col("label")
    asked = soft_labels_prompt(F.col("utterance"), primary, settings.top_labels)
    units = utterances.select("utterance_id", "utterance", "label")
    return with_requests(units, asked, settings.steps.soft_labels, soft_labels_start(primary))


def contexts_asked(examples: DataFrame, plots: DataFrame, settings: Any) -> DataFrame:
    """One prompt for each example that was drawn (Emo Pillars 3.4, 4)."""
    units = _drawn(examples).join(plots.select("plot_id", "plot"), "plot_id")
    asked = contexts_prompt(F.col("plot"), F.col("actor"), F.col("utterance"), emotions())
    return with_requests(units, asked, settings.steps.contexts)


def clean_contexts_asked(contexts: DataFrame, examples: DataFrame, settings: Any) -> DataFrame:
    """One prompt a context (Emo Pillars 3.4)."""
    units = contexts.select("utterance_id", "context").join(_drawn(examples), "utterance_id")
    asked = clean_contexts_prompt(F.col("context"), F.col("actor"), emotions())
    return with_requests(units, asked, settings.steps.clean_contexts)


def rewrites_asked(clean: DataFrame, examples: DataFrame, settings: Any) -> DataFrame:
    """One prompt a cleaned context (Emo Pillars 3.5)."""
    units = clean.select("utterance_id", "context").join(_drawn(examples), "utterance_id")
    asked = rewrites_prompt(F.col("context"), F.col("actor"), F.col("utterance"), emotions())
    return with_requests(units, asked, settings.steps.rewrites)


def topic_names_asked(topics: DataFrame, settings: Any) -> DataFrame:
    """One prompt a large topic (Emo Pillars H)."""
    large = topics.where(F.col("utterances") >= settings.analysis.large_topic)
    units = large.select("emotion", "topic", "examples", F.concat_ws("-", "emotion", "topic").alias("topic_id"))
    return with_requests(units, topic_names_prompt(F.col("examples")), settings.steps.topic_names)


def topic_categories_asked(names: DataFrame, settings: Any) -> DataFrame:
    """One prompt an emotion: all its named topics, the largest first (Emo Pillars H)."""
    named = F.array_sort(F.collect_list(F.struct("topic", "name")))
    units = names.groupBy("emotion").agg(named.alias("named")).select(
        "emotion", F.col("named")["topic"].alias("topics"), F.col("named")["name"].alias("names")
    )  # fmt: skip
    asked = topic_categories_prompt(F.col("emotion"), F.col("names"))
    return with_requests(units, asked, settings.steps.topic_categories)


def emotions() -> Column:
    """An example's labels in words, the strongest first."""
    return F.array_join(F.col("labels")["label"], ", ")


def _drawn(examples: DataFrame) -> DataFrame:
    return examples.where("needs_context").select("utterance_id", "plot_id", "actor", "utterance", "labels")
