"""Analyse the synthetic data: similarities, changes, markers, topics and their names (Emo Pillars 7, G, H)."""

from typing import Annotated

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from conf.taxonomy import EmotionTaxonomy
from conf.wordlists import words
from etl.emo_pillars import samples, similarities, tables
from etl.emo_pillars.markers import GROUPED, adverb_markers, marker_groups
from etl.emo_pillars.settings import MarkerRules, Samples, TopicQuery, TopicSample
from etl.emo_pillars.step_stages import step_stages
from etl.emo_pillars.steps import NAMING, contexts, topic_categories, topic_names
from etl.emo_pillars.tables import CONTEXTUAL_EXAMPLES, EXAMPLES
from etl.emo_pillars.topics import topics_of
from etl.llm.model_stages import embeddings, model_stage
from etl.pipeline import At, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome

SECTION = "emo_pillars.analysis"
ENCODER = "analysis_encoder"
CONTEXTS = contexts.STEP.table
Seed = Annotated[int, At(f"{SECTION}.seed")]


@model_stage(
    embeddings,
    ENCODER,
    10_000,
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, CONTEXTS),
    writes=tables.TEXT_EMBEDDINGS,
    units="texts",
    manual=True,
)
def emo_pillars_embed_texts(
    examples: DataFrame,
    contextual: DataFrame,
    contexts: DataFrame,
    sizes: Samples,
    topic: TopicSample,
    query: TopicQuery,
    taxonomy: EmotionTaxonomy,
) -> DataFrame:
    """Embed each distinct text of the analysis' samples once (Emo Pillars 7)."""
    return samples.texts_to_embed(examples, contextual, contexts, sizes, topic, query.topic_query, taxonomy.neutral)


@stage(
    manual=True,
    reads=(EXAMPLES, CONTEXTUAL_EXAMPLES, CONTEXTS, tables.TEXT_EMBEDDINGS),
    writes=tables.SIMILARITIES,
    models=(ENCODER,),
    units=RowAccounting("pairs", rows_out="coalesce(sum(pairs), 0)"),
)
def emo_pillars_compare_texts(
    examples: DataFrame,
    contextual: DataFrame,
    contexts: DataFrame,
    embedded: DataFrame,
    sizes: Samples,
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> Outcome:
    """Measure the similarity of pairs of utterances and contexts: overall, by emotion, by actor (Emo Pillars 7, G)."""
    model = run.model(ENCODER).identity
    counts = similarities.counts_of_samples(
        examples, contextual, contexts, embedded, model, sizes, taxonomy.neutral
    ).cache()
    return Outcome(similarities.summarised(counts, model), rows_in=similarities.count_pairs(counts))


@stage(
    manual=True,
    reads=(CONTEXTUAL_EXAMPLES, CONTEXTS, tables.TEXT_EMBEDDINGS),
    writes=tables.CHANGES,
    models=(ENCODER,),
    units="examples",
)
def emo_pillars_measure_changes(
    contextual: DataFrame,
    contexts: DataFrame,
    embedded: DataFrame,
    pairs: Annotated[int, At("emo_pillars.analysis.pairs")],
    run: StageRun,
) -> Outcome:
    """Measure the changes by cleaning and rewriting: similarity, lengths, common words (Emo Pillars 7)."""
    model = run.model(ENCODER).identity
    dropped = similarities.unmeasured_changes(contextual, contexts, embedded, model, pairs)
    rows = similarities.changes(contextual, contexts, embedded, model, pairs)
    return Outcome(rows, dropped, rows_in=min(pairs, contextual.count()))


@stage(
    manual=True,
    reads=(CONTEXTUAL_EXAMPLES,),
    writes=tables.MARKERS,
    units=RowAccounting("adverbs", rows_out="count(DISTINCT word)"),
    resources=("emo_pillars/not_adverbs.txt",),
    version=2,
)
def emo_pillars_find_markers(contextual: DataFrame, rules: MarkerRules) -> Outcome:
    """Find the adverbs that rewriting removes, and their emotions (Emo Pillars G, Table 9)."""
    shares = {"removed": rules.removed_share, "share": rules.marker_share}
    return adverb_markers(contextual, words("emo_pillars/not_adverbs"), **shares, least=rules.marker_count)


@stage(
    manual=True,
    reads=(tables.MARKERS,),
    writes=tables.MARKER_GROUPS,
    units=RowAccounting("emotions", "count(DISTINCT label)", GROUPED),
)
def emo_pillars_group_markers(
    markers: DataFrame, overlap: Annotated[float, At("emo_pillars.analysis.marker_overlap")], seed: Seed
) -> Outcome:
    """Group the emotions that share markers (Emo Pillars G, Table 9)."""
    return marker_groups(markers, tables.MARKER_GROUPS.schema, overlap, seed)


@stage(
    manual=True,
    reads=(EXAMPLES, tables.TEXT_EMBEDDINGS),
    writes=tables.TOPICS,
    models=(ENCODER,),
    units=RowAccounting("utterances", rows_out="coalesce(sum(utterances), 0)"),
)
def emo_pillars_find_topics(
    examples: DataFrame,
    embedded: DataFrame,
    topic: TopicSample,
    similarity: Annotated[float, At("emo_pillars.analysis.topic_similarity")],
    seed: Seed,
    run: StageRun,
) -> Outcome:
    """Find topics among the utterances of one emotion: communities of their similarity graph (Emo Pillars 7, H)."""
    model = run.model(ENCODER).identity
    emotion = topic.topic_emotion
    number = topic.topic_utterances
    texts = samples.topic_utterances(examples, emotion, number)
    rows = samples.with_vector(texts, embedded, model).orderBy("utterance_id").collect()
    vectors = np.array([row.vector for row in rows], dtype=np.float32)
    topics = topics_of(emotion, [row.text for row in rows], vectors, similarity, seed)
    dropped = samples.without_vector(texts, ["text"], embedded, model)
    rows_in = min(number, examples.where(F.col("primary_label") == emotion).count())
    return Outcome(run.spark.createDataFrame(topics, tables.TOPICS.schema), dropped, rows_in=rows_in)


for step in NAMING:
    step_stages(step, __name__)


@stage(
    manual=True,
    reads=(EXAMPLES, tables.TEXT_EMBEDDINGS),
    writes=tables.QUERY_EXAMPLES,
    models=(ENCODER,),
    units="examples",
)
def emo_pillars_query_topic(
    examples: DataFrame,
    embedded: DataFrame,
    query: TopicQuery,
    number: Annotated[int, At("emo_pillars.analysis.topic_examples")],
    run: StageRun,
) -> Outcome:
    """Find the examples nearest to a query, as a topic whose emotions are counted (Emo Pillars 7, Figure 7)."""
    model = run.model(ENCODER).identity
    rows = similarities.nearest_to(query.topic_query, examples, embedded, model, number)
    known = samples.with_vector(examples, embedded, model, "utterance").count()
    return Outcome(rows, rows_in=min(number, known))


SHOWN = (
    CONTEXTUAL_EXAMPLES,
    tables.SIMILARITIES,
    tables.CHANGES,
    tables.TOPICS,
    topic_names.STEP.table,
    topic_categories.STEP.table,
    tables.QUERY_EXAMPLES,
    tables.MARKERS,
    tables.MARKER_GROUPS,
    tables.EVALUATION_SCORES,
)
"""Tables that the report shows where they are there."""


@stage(
    manual=True,
    reads=(EXAMPLES, *SHOWN),
    optional=SHOWN,
    writes=None,
    shows="a page under `emo_pillars.analysis.report_folder`",
)
def emo_pillars_report(folder: Annotated[str | None, At(f"{SECTION}.report_folder")], run: StageRun) -> None:
    """Report on Emo Pillars: one HTML page with the paper's figures of sections 4, 5, 7, G and H beside ours."""
    from etl.emo_pillars.report import write_emo_pillars_report

    write_emo_pillars_report(run, folder)
