"""Generate labelled utterances from story plots: characters, utterances, levels, contexts (Emo Pillars 3, 4)."""

from typing import Annotated, Any, Literal

from pyspark.sql import DataFrame

from conf.llm_settings import DecodingSettings
from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING, EmotionTaxonomy
from etl.emo_pillars import examples as data_sets
from etl.emo_pillars import tables
from etl.emo_pillars.plot_files import read_stories
from etl.emo_pillars.plots import select_plots
from etl.emo_pillars.settings import ExampleRules, PlotRules, QualitySettings, UtterancePrompt
from etl.emo_pillars.step import Wording
from etl.emo_pillars.steps import actors, clean_contexts, contexts, rewrites, soft_labels, utterances
from etl.llm import tables as llm
from etl.llm.model_stages import answer_stage, prompt_stage
from etl.pipeline import At, RowAccounting, stage
from etl.pipeline.outcome import LocalOutcome, Outcome

GENERATOR = "generator"
TopLabels = Annotated[int, At("emo_pillars.top_labels")]
PromptOrder = Annotated[Literal["plain", "shared"], At("emo_pillars.prompt_order")]
RewritePrompt = Annotated[Literal["plain", "example"], At("emo_pillars.rewrite_prompt")]
ActorsFiles = Annotated[dict[str, str], At("emo_pillars.prompts.actors")]
UtterancesFiles = Annotated[dict[str, str], At("emo_pillars.prompts.utterances")]
SoftLabelsFiles = Annotated[dict[str, str], At("emo_pillars.prompts.soft_labels")]
ContextsFiles = Annotated[dict[str, str], At("emo_pillars.prompts.contexts")]
CleanContextsFiles = Annotated[dict[str, str], At("emo_pillars.prompts.clean_contexts")]
RewritesFiles = Annotated[dict[str, str], At("emo_pillars.prompts.rewrites")]
NAMES = (GOEMOTIONS, GOEMOTIONS_MAPPING)
JUDGED: dict[str, Any] = {"resources": NAMES, "version": 6}
"""Declarations shared by all stages that parse answers."""


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


@prompt_stage((tables.PLOTS,), llm.ACTORS, GENERATOR, resources=actors.STEP.prompt_files)
def emo_pillars_ask_actors(
    plots: DataFrame, decoding: Annotated[DecodingSettings, At("emo_pillars.steps.actors")], files: ActorsFiles
) -> DataFrame:
    """Ask for the characters of each plot (Emo Pillars 3.1)."""
    return actors.requests(plots, decoding, Wording(files=files))


@answer_stage(
    emo_pillars_ask_actors, tables.ACTORS, RowAccounting("plots", rows_out="count(DISTINCT plot_id)"), **JUDGED
)
def emo_pillars_actors(answers: DataFrame, quality: QualitySettings, files: ActorsFiles) -> Outcome:
    """Parse the characters, one per line (Emo Pillars 3.1)."""
    return actors.rows(answers, quality, Wording(files=files))


@prompt_stage(
    (tables.ACTORS, tables.PLOTS),
    llm.UTTERANCES,
    GENERATOR,
    resources=utterances.STEP.prompt_files,
)
def emo_pillars_ask_utterances(
    actors: DataFrame,
    plots: DataFrame,
    decoding: Annotated[DecodingSettings, At("emo_pillars.steps.utterances")],
    asked: UtterancePrompt,
    order: PromptOrder,
    taxonomy: EmotionTaxonomy,
    files: UtterancesFiles,
) -> DataFrame:
    """Ask for each character's utterances: eight with emotions and two neutral ones (Emo Pillars 3.2)."""
    return utterances.requests(actors, plots, asked, order, decoding, Wording(taxonomy, files))


@answer_stage(
    emo_pillars_ask_utterances,
    tables.UTTERANCES,
    RowAccounting("actors", rows_out="count(DISTINCT actor_id)"),
    **JUDGED,
)
def emo_pillars_utterances(
    answers: DataFrame, quality: QualitySettings, order: PromptOrder, taxonomy: EmotionTaxonomy, files: UtterancesFiles
) -> Outcome:
    """Parse the utterances and their emotions (Emo Pillars 3.2)."""
    return utterances.rows(answers, quality, order, Wording(taxonomy, files))


@stage(
    manual=True,
    reads=(tables.UTTERANCES,),
    writes=tables.DISTINCT_UTTERANCES,
    units="utterances",
)
def emo_pillars_distinct_utterances(
    utterances: DataFrame, near_duplicate: Annotated[float | None, At("emo_pillars.near_duplicate")]
) -> Outcome:
    """Drop near-duplicate utterances of any plot and emotion."""
    return data_sets.distinct_utterances(utterances, near_duplicate)


@prompt_stage(
    (tables.DISTINCT_UTTERANCES,),
    llm.SOFT_LABELS,
    GENERATOR,
    resources=soft_labels.STEP.prompt_files,
)
def emo_pillars_ask_soft_labels(
    utterances: DataFrame,
    decoding: Annotated[DecodingSettings, At("emo_pillars.steps.soft_labels")],
    top_labels: TopLabels,
    order: PromptOrder,
    taxonomy: EmotionTaxonomy,
    files: SoftLabelsFiles,
) -> DataFrame:
    """Ask for the emotions of each utterance and their levels (Emo Pillars 3.3)."""
    return soft_labels.requests(utterances, top_labels, order, decoding, Wording(taxonomy, files))


@answer_stage(
    emo_pillars_ask_soft_labels,
    tables.SOFT_LABELS,
    RowAccounting("utterances", rows_out="count(DISTINCT utterance_id)"),
    **JUDGED,
)
def emo_pillars_soft_labels(
    answers: DataFrame,
    quality: QualitySettings,
    top_labels: TopLabels,
    order: PromptOrder,
    taxonomy: EmotionTaxonomy,
    files: SoftLabelsFiles,
) -> Outcome:
    """Parse labels and levels, and map the labels to the taxonomy (Emo Pillars 3.3, 4)."""
    return soft_labels.rows(answers, top_labels, quality, order, Wording(taxonomy, files))


@stage(
    manual=True,
    reads=(tables.SOFT_LABELS, tables.DISTINCT_UTTERANCES),
    writes=tables.EXAMPLES,
    units=RowAccounting("utterances", "count(DISTINCT utterance_id)"),
)
def emo_pillars_examples(soft_labels: DataFrame, utterances: DataFrame, rules: ExampleRules) -> Outcome:
    """Make the context-less data set: labels from level 0.3, split by plot, a third for contexts (Emo Pillars 4)."""
    return data_sets.examples(soft_labels, utterances, rules.least_level, rules.context_share, rules.split_by)


@prompt_stage((tables.EXAMPLES, tables.PLOTS), llm.CONTEXTS, GENERATOR, resources=contexts.STEP.prompt_files)
def emo_pillars_ask_contexts(
    examples: DataFrame,
    plots: DataFrame,
    decoding: Annotated[DecodingSettings, At("emo_pillars.steps.contexts")],
    files: ContextsFiles,
) -> DataFrame:
    """Ask for the events before each drawn utterance (Emo Pillars 3.4)."""
    return contexts.requests(examples, plots, decoding, Wording(files=files))


@answer_stage(
    emo_pillars_ask_contexts, tables.CONTEXTS, RowAccounting("examples", rows_in="count_if(needs_context)"), **JUDGED
)
def emo_pillars_contexts(
    answers: DataFrame, quality: QualitySettings, taxonomy: EmotionTaxonomy, files: ContextsFiles
) -> Outcome:
    """Parse the contexts (Emo Pillars 3.4)."""
    return contexts.rows(answers, quality, Wording(taxonomy, files))


@prompt_stage(
    (tables.CONTEXTS, tables.EXAMPLES), llm.CLEAN_CONTEXTS, GENERATOR, resources=clean_contexts.STEP.prompt_files
)
def emo_pillars_ask_clean_contexts(
    contexts: DataFrame,
    examples: DataFrame,
    decoding: Annotated[DecodingSettings, At("emo_pillars.steps.clean_contexts")],
    files: CleanContextsFiles,
) -> DataFrame:
    """Ask for each context without mentions of emotions (Emo Pillars 3.4)."""
    return clean_contexts.requests(contexts, examples, decoding, Wording(files=files))


@answer_stage(emo_pillars_ask_clean_contexts, tables.CLEAN_CONTEXTS, "contexts", **JUDGED)
def emo_pillars_clean_contexts(
    answers: DataFrame, quality: QualitySettings, taxonomy: EmotionTaxonomy, files: CleanContextsFiles
) -> Outcome:
    """Parse the cleaned contexts (Emo Pillars 3.4)."""
    return clean_contexts.rows(answers, quality, Wording(taxonomy, files))


@prompt_stage((tables.CLEAN_CONTEXTS, tables.EXAMPLES), llm.REWRITES, GENERATOR, resources=rewrites.STEP.prompt_files)
def emo_pillars_ask_rewrites(
    clean_contexts: DataFrame,
    examples: DataFrame,
    decoding: Annotated[DecodingSettings, At("emo_pillars.steps.rewrites")],
    form: RewritePrompt,
    files: RewritesFiles,
) -> DataFrame:
    """Ask for each utterance rewritten so that it depends on its context (Emo Pillars 3.5)."""
    return rewrites.requests(clean_contexts, examples, form, decoding, Wording(files=files))


@answer_stage(emo_pillars_ask_rewrites, tables.REWRITES, "contexts", **JUDGED)
def emo_pillars_rewrites(
    answers: DataFrame, quality: QualitySettings, form: RewritePrompt, taxonomy: EmotionTaxonomy, files: RewritesFiles
) -> Outcome:
    """Parse the rewritten utterances (Emo Pillars 3.5)."""
    return rewrites.rows(answers, quality, form, Wording(taxonomy, files))


@stage(
    manual=True,
    reads=(tables.REWRITES, tables.CLEAN_CONTEXTS, tables.EXAMPLES),
    writes=tables.CONTEXTUAL_EXAMPLES,
    units="examples",
    version=2,
)
def emo_pillars_contextual_examples(rewrites: DataFrame, clean_contexts: DataFrame, examples: DataFrame) -> DataFrame:
    """Make the context-full data set: each utterance original and rewritten, with its context (Emo Pillars 4)."""
    return data_sets.contextual_examples(rewrites, clean_contexts, examples)
