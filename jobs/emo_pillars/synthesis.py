"""Generate labelled utterances from story plots: characters, utterances, levels, contexts (Emo Pillars 3, 4)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.emo_pillars import examples as data_sets
from etl.emo_pillars import tables
from etl.emo_pillars.plot_files import read_stories
from etl.emo_pillars.plots import select_plots
from etl.emo_pillars.settings import ExampleRules, PlotRules
from etl.emo_pillars.step_stages import step_stages
from etl.emo_pillars.steps import SYNTHESIS, clean_contexts, rewrites, soft_labels, utterances
from etl.pipeline import At, RowAccounting, stage
from etl.pipeline.outcome import LocalOutcome, Outcome


@stage(
    manual=True,
    writes=tables.PLOTS,
    units="plots",
    version=2,
)
def emo_pillars_read_plots(path: Annotated[str | None, At("emo_pillars.plots")], rules: PlotRules) -> LocalOutcome:
    """Read story plots from CSV or WikiPlots files, and cut them to the length of a prompt (Emo Pillars 4)."""
    stories = read_stories(path) if path else ()
    return select_plots(stories, rules.plot_limit, rules.plot_words, rules.english_share)


for step in SYNTHESIS:
    step_stages(step, __name__)


@stage(
    manual=True,
    reads=(utterances.STEP.table,),
    writes=tables.DISTINCT_UTTERANCES,
    units="utterances",
)
def emo_pillars_distinct_utterances(
    utterances: DataFrame, near_duplicate: Annotated[float | None, At("emo_pillars.near_duplicate")]
) -> Outcome:
    """Drop near-duplicate utterances of any plot and emotion."""
    return data_sets.distinct_utterances(utterances, near_duplicate)


@stage(
    manual=True,
    reads=(soft_labels.STEP.table, tables.DISTINCT_UTTERANCES),
    writes=tables.EXAMPLES,
    units=RowAccounting("utterances", "count(DISTINCT utterance_id)"),
)
def emo_pillars_examples(soft_labels: DataFrame, utterances: DataFrame, rules: ExampleRules) -> Outcome:
    """Make the context-less data set: labels from level 0.3, split by plot, a third for contexts (Emo Pillars 4)."""
    return data_sets.examples(soft_labels, utterances, rules.least_level, rules.context_share, rules.split_by)


@stage(
    manual=True,
    reads=(rewrites.STEP.table, clean_contexts.STEP.table, tables.EXAMPLES),
    writes=tables.CONTEXTUAL_EXAMPLES,
    units="examples",
    version=2,
)
def emo_pillars_contextual_examples(rewrites: DataFrame, clean_contexts: DataFrame, examples: DataFrame) -> DataFrame:
    """Make the context-full data set: each utterance original and rewritten, with its context (Emo Pillars 4)."""
    return data_sets.contextual_examples(rewrites, clean_contexts, examples)
