"""Build the requests of each step, one row per prompt (Emo Pillars 3, B).

Both stages of a step use them: one sends the requests, the other joins the answers with the same requests.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conf.emo_pillars_settings import UtterancePrompt
from conf.llm_settings import DecodingSettings
from etl.emo_pillars import prompts
from etl.llm.requests import with_requests


def actors_requests(plots: DataFrame, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per plot (Emo Pillars 3.1)."""
    return with_requests(
        plots.select("plot_id", "plot"), prompts.actors_prompt(F.col("plot")), prompts.step_decoding("actors", decoding)
    )


def utterances_requests(
    actors: DataFrame, plots: DataFrame, asked: UtterancePrompt, order: str, decoding: DecodingSettings
) -> DataFrame:
    """Return one prompt per actor (Emo Pillars 3.2)."""
    units = actors.select("actor_id", "plot_id", "actor").join(plots.select("plot_id", "plot"), "plot_id")
    prompt = prompts.utterances_prompt(F.col("plot"), F.col("actor"), asked.emotional, asked.neutral, order)
    return with_requests(units, prompt, prompts.step_decoding("utterances", decoding, asked))


def soft_labels_requests(utterances: DataFrame, top_labels: int, order: str, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per utterance, whose answer starts with the utterance's emotion (Emo Pillars 3.3)."""
    primary = F.col("label")
    prompt = prompts.soft_labels_prompt(F.col("utterance"), primary, top_labels, order)
    units = utterances.select("utterance_id", "utterance", "label")
    return with_requests(
        units, prompt, prompts.step_decoding("soft_labels", decoding), prompts.soft_labels_start(primary)
    )


def contexts_requests(examples: DataFrame, plots: DataFrame, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per example that needs a context (Emo Pillars 3.4, 4)."""
    units = _drawn(examples).join(plots.select("plot_id", "plot"), "plot_id")
    prompt = prompts.contexts_prompt(F.col("plot"), F.col("actor"), F.col("utterance"), emotions())
    return with_requests(units, prompt, prompts.step_decoding("contexts", decoding))


def clean_contexts_requests(contexts: DataFrame, examples: DataFrame, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per context (Emo Pillars 3.4)."""
    units = contexts.select("utterance_id", "context").join(_drawn(examples), "utterance_id")
    prompt = prompts.clean_contexts_prompt(F.col("context"), F.col("actor"), emotions())
    return with_requests(units, prompt, prompts.step_decoding("clean_contexts", decoding))


def rewrites_requests(clean: DataFrame, examples: DataFrame, form: str, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per cleaned context (Emo Pillars 3.5)."""
    units = clean.select("utterance_id", "context").join(_drawn(examples), "utterance_id")
    said = (F.col("context"), F.col("actor"), F.col("utterance"), emotions())
    prompt = prompts.rewrites_prompt(*said, form)
    return with_requests(units, prompt, prompts.step_decoding("rewrites", decoding))


def topic_names_requests(topics: DataFrame, large_topic: int, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per large topic (Emo Pillars H)."""
    large = topics.where(F.col("utterances") >= large_topic)
    units = large.select("emotion", "topic", "examples", F.concat_ws("-", "emotion", "topic").alias("topic_id"))
    return with_requests(
        units, prompts.topic_names_prompt(F.col("examples")), prompts.step_decoding("topic_names", decoding)
    )


def topic_categories_requests(names: DataFrame, decoding: DecodingSettings) -> DataFrame:
    """Return one prompt per emotion, with its named topics, the largest first (Emo Pillars H)."""
    named = F.array_sort(F.collect_list(F.struct("topic", "name")))
    units = (
        names.groupBy("emotion")
        .agg(named.alias("named"))
        .select("emotion", F.col("named")["topic"].alias("topics"), F.col("named")["name"].alias("names"))
    )
    prompt = prompts.topic_categories_prompt(F.col("emotion"), F.col("names"))
    return with_requests(units, prompt, prompts.step_decoding("topic_categories", decoding))


def emotions() -> Column:
    """Return an example's labels as text, the strongest first."""
    return F.array_join(F.col("labels")["label"], ", ")


def _drawn(examples: DataFrame) -> DataFrame:
    return examples.where("needs_context").select("utterance_id", "plot_id", "actor", "utterance", "labels")
