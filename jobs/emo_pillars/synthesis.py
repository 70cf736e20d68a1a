"""Labelled utterances out of story plots, by prompts: characters, speech, levels, contexts (Emo Pillars 3, 4)."""

from pyspark.sql import DataFrame

from etl.emo_pillars import examples as data_sets
from etl.emo_pillars import plots as story_plots
from etl.emo_pillars import reading, steps
from etl.lakehouse.asking import asks_prompts, reads_answers
from etl.lakehouse.files.stories import read_stories
from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import StageRun, Units, manual_stage, under
from etl.lakehouse.tables import llm
from etl.lakehouse.tables.emo_pillars import (
    ACTORS,
    CLEAN_CONTEXTS,
    CONTEXTS,
    CONTEXTUAL_EXAMPLES,
    DISTINCT_UTTERANCES,
    EXAMPLES,
    PLOTS,
    REWRITES,
    SOFT_LABELS,
    UTTERANCES,
)

GENERATOR = "generator"


@manual_stage(
    writes=PLOTS,
    inputs=("emo_pillars.plots",),
    settings=under("emo_pillars", "plot_limit", "plot_words", "english_share"),
    units="plots",
)
def emo_pillars_read_plots(run: StageRun) -> Outcome:
    """Read story plots from CSV or WikiPlots files, each cut to what a prompt holds (Emo Pillars 4)."""
    own = run.settings.emo_pillars
    stories = read_stories(own.plots) if own.plots else ()
    found = story_plots.taken_plots(stories, own.plot_limit, own.plot_words, own.english_share)
    rows = run.spark.createDataFrame(found.taken, story_plots.PLOTS)
    return Outcome(rows, run.spark.createDataFrame(found.dropped, story_plots.DROPPED), rows_in=found.rows_in)


@asks_prompts((PLOTS,), llm.ACTORS, GENERATOR, ("emo_pillars.steps.actors",))
def emo_pillars_ask_actors(plots: DataFrame, run: StageRun) -> DataFrame:
    """Ask who takes part in each plot (Emo Pillars 3.1)."""
    return steps.actors_asked(plots, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_actors, ACTORS, Units("plots", rows_out="count(DISTINCT plot_id)"))
def emo_pillars_actors(answers: DataFrame, run: StageRun) -> Outcome:
    """Read the characters out of the answers, one a line (Emo Pillars 3.1)."""
    return reading.actors_read(answers)


@asks_prompts(
    (ACTORS, PLOTS), llm.UTTERANCES, GENERATOR, under("emo_pillars", "steps.utterances", "emotional", "neutral")
)
def emo_pillars_ask_utterances(actors: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    """Ask what each character could say, with eight emotions and twice with none (Emo Pillars 3.2)."""
    return steps.utterances_asked(actors, plots, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_utterances, UTTERANCES, Units("actors", rows_out="count(DISTINCT actor_id)"))
def emo_pillars_utterances(answers: DataFrame, run: StageRun) -> Outcome:
    """Read the utterances and their emotions out of the answers (Emo Pillars 3.2)."""
    return reading.utterances_read(answers)


@manual_stage(
    reads=(UTTERANCES,), writes=DISTINCT_UTTERANCES, settings=("emo_pillars.near_duplicate",), units="utterances"
)
def emo_pillars_distinct_utterances(utterances: DataFrame, run: StageRun) -> Outcome:
    """Leave out utterances that are nearly others, of whatever plot and emotion."""
    return data_sets.distinct_utterances(utterances, run.settings.emo_pillars.near_duplicate)


@asks_prompts(
    (DISTINCT_UTTERANCES,), llm.SOFT_LABELS, GENERATOR, under("emo_pillars", "steps.soft_labels", "top_labels")
)
def emo_pillars_ask_soft_labels(utterances: DataFrame, run: StageRun) -> DataFrame:
    """Ask which emotions each utterance expresses, and how strongly (Emo Pillars 3.3)."""
    return steps.soft_labels_asked(utterances, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_soft_labels, SOFT_LABELS, Units("utterances", rows_out="count(DISTINCT utterance_id)"))
def emo_pillars_soft_labels(answers: DataFrame, run: StageRun) -> Outcome:
    """Read labels and levels out of the answers, mapped into the taxonomy (Emo Pillars 3.3, 4)."""
    return reading.soft_labels_read(answers, run.settings.emo_pillars.top_labels)


@manual_stage(
    reads=(SOFT_LABELS, DISTINCT_UTTERANCES),
    writes=EXAMPLES,
    settings=under("emo_pillars", "least_level", "context_share"),
    units=Units("utterances", "count(DISTINCT utterance_id)"),
)
def emo_pillars_examples(soft_labels: DataFrame, utterances: DataFrame, run: StageRun) -> Outcome:
    """Make the context-less data set: labels from 0.3 on, split by plot, a third drawn for contexts (Emo Pillars 4)."""
    own = run.settings.emo_pillars
    return data_sets.examples(soft_labels, utterances, own.least_level, own.context_share)


@asks_prompts((EXAMPLES, PLOTS), llm.CONTEXTS, GENERATOR, ("emo_pillars.steps.contexts",))
def emo_pillars_ask_contexts(examples: DataFrame, plots: DataFrame, run: StageRun) -> DataFrame:
    """Ask what led to each utterance that was drawn (Emo Pillars 3.4)."""
    return steps.contexts_asked(examples, plots, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_contexts, CONTEXTS, Units("examples", rows_in="count_if(goes_on)"))
def emo_pillars_contexts(answers: DataFrame, run: StageRun) -> Outcome:
    """Read the contexts out of the answers (Emo Pillars 3.4)."""
    return reading.contexts_read(answers)


@asks_prompts((CONTEXTS, EXAMPLES), llm.CLEAN_CONTEXTS, GENERATOR, ("emo_pillars.steps.clean_contexts",))
def emo_pillars_ask_clean_contexts(contexts: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Ask for each context without a word on emotions (Emo Pillars 3.4)."""
    return steps.clean_contexts_asked(contexts, examples, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_clean_contexts, CLEAN_CONTEXTS, "contexts")
def emo_pillars_clean_contexts(answers: DataFrame, run: StageRun) -> Outcome:
    """Read the cleaned contexts out of the answers (Emo Pillars 3.4)."""
    return reading.clean_contexts_read(answers)


@asks_prompts((CLEAN_CONTEXTS, EXAMPLES), llm.REWRITES, GENERATOR, ("emo_pillars.steps.rewrites",))
def emo_pillars_ask_rewrites(clean_contexts: DataFrame, examples: DataFrame, run: StageRun) -> DataFrame:
    """Ask for each utterance in words that need its context (Emo Pillars 3.5)."""
    return steps.rewrites_asked(clean_contexts, examples, run.settings.emo_pillars)


@reads_answers(emo_pillars_ask_rewrites, REWRITES, "contexts")
def emo_pillars_rewrites(answers: DataFrame, run: StageRun) -> Outcome:
    """Read the rewritten utterances out of the answers (Emo Pillars 3.5)."""
    return reading.rewrites_read(answers)


@manual_stage(reads=(REWRITES, CLEAN_CONTEXTS, EXAMPLES), writes=CONTEXTUAL_EXAMPLES, units="examples")
def emo_pillars_contextual_examples(
    rewrites: DataFrame, clean_contexts: DataFrame, examples: DataFrame, run: StageRun
) -> DataFrame:
    """Make the context-full data set: each utterance original and rewritten, with its context (Emo Pillars 4)."""
    return data_sets.contextual_examples(rewrites, clean_contexts, examples)
