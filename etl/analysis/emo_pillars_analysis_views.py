"""Emo Pillars' analysis as SQL views: the paper's figures of section 7, G and H beside ours."""

from etl.analysis.emo_pillars_views import _polarities
from etl.emo_pillars import samples

# Section 7: kind, mean, standard deviation, 99th percentile.
PAPER_SIMILARITIES = (
    (samples.UTTERANCES, 0.12, 0.10, 0.40), (samples.ONE_ACTOR, 0.30, 0.16, 0.72), (samples.NEUTRALS, 0.16, 0.12, 0.52),
    (samples.OF_ACTOR, 0.77, 0.15, None), (samples.OF_PLOT, 0.56, 0.17, None), (samples.ACROSS, 0.24, 0.11, None),
)  # fmt: skip
# Table 12: main emotion, mean, standard deviation, utterances.
PAPER_TABLE_12 = (
    ("admiration", 0.20, 0.13, 105), ("amusement", 0.18, 0.09, 1923), ("anger", 0.20, 0.11, 9487),
    ("annoyance", 0.19, 0.11, 1212), ("approval", 0.19, 0.12, 75), ("caring", 0.22, 0.12, 34),
    ("confusion", 0.17, 0.10, 4124), ("curiosity", 0.16, 0.12, 406), ("desire", 0.16, 0.11, 4885),
    ("disappointment", 0.19, 0.10, 6344), ("disapproval", 0.18, 0.11, 147), ("disgust", 0.20, 0.11, 2842),
    ("embarrassment", 0.28, 0.12, 93), ("excitement", 0.22, 0.10, 1873), ("fear", 0.23, 0.13, 9411),
    ("gratitude", 0.25, 0.11, 1537), ("grief", 0.27, 0.13, 2051), ("joy", 0.23, 0.11, 3055), ("love", 0.24, 0.12, 3108),
    ("nervousness", 0.21, 0.11, 3645), ("optimism", 0.23, 0.12, 2723), ("pride", 0.22, 0.12, 5514),
    ("realization", 0.18, 0.11, 858), ("relief", 0.29, 0.12, 47), ("remorse", 0.45, 0.01, 3),
    ("sadness", 0.24, 0.12, 655),
    ("surprise", 0.17, 0.10, 7069), ("neutral", 0.16, 0.12, 10000),
)  # fmt: skip
# Section 7: measure, SQL over emo_pillars.changes, the paper's figure.
CHANGES = (
    ("context and cleaned context, similarity, mean", "avg(context_similarity)", 0.92),
    ("context and cleaned context, similarity, deviation", "stddev(context_similarity)", 0.08),
    ("utterance and rewritten one, similarity, mean", "avg(utterance_similarity)", 0.78),
    ("utterance and rewritten one, similarity, deviation", "stddev(utterance_similarity)", 0.15),
    ("tokens of an utterance", "avg(utterance_tokens)", 20),
    ("tokens of a rewritten utterance", "avg(rewritten_tokens)", 16),
    ("partial Levenshtein ratio, percent, mean", "avg(partial_ratio)", 66),
    ("partial Levenshtein ratio, percent, deviation", "stddev(partial_ratio)", 16),
    ("tokens of a context", "avg(context_tokens)", 145),
    ("tokens of a context, deviation", "stddev(context_tokens)", 64),
    ("tokens of a cleaned context", "avg(clean_context_tokens)", None),
)


def similarities() -> str:
    """Emo Pillars 7: how alike utterances and contexts are, the paper's figures beside ours."""
    printed = ", ".join(
        f"({place}, '{kind}', {mean}D, {deviation}D, {'CAST(NULL AS double)' if high is None else f'{high}D'})"
        for place, (kind, mean, deviation, high) in enumerate(PAPER_SIMILARITIES)
    )
    columns = "place, kind, paper_mean, paper_deviation, paper_percentile_99"
    return f"""
SELECT paper.kind, ours.pairs, ours.mean, paper_mean, ours.deviation, paper_deviation, ours.percentile_99,
       paper_percentile_99, ours.model
FROM (SELECT * FROM VALUES {printed} AS printed({columns})) AS paper
LEFT JOIN emo_pillars.similarities AS ours ON ours.kind = paper.kind ORDER BY place"""


def table_12() -> str:
    """Emo Pillars Table 12: how alike the utterances of one main emotion are."""
    printed = ", ".join(f"('{label}', {mean}D, {sd}D, {number})" for label, mean, sd, number in PAPER_TABLE_12)
    return f"""
WITH sizes AS (
  SELECT primary_label AS label, count(*) AS utterances FROM emo_pillars.contextual_examples GROUP BY primary_label
)
SELECT paper.label, coalesce(sizes.utterances, 0) AS utterances, ours.pairs, ours.mean, paper_mean, ours.deviation,
       paper_deviation, ours.percentile_99, paper_utterances
FROM (SELECT * FROM VALUES {printed} AS printed(label, paper_mean, paper_deviation, paper_utterances)) AS paper
LEFT JOIN emo_pillars.similarities AS ours ON ours.label = paper.label AND ours.kind = '{samples.OF_EMOTION}'
LEFT JOIN sizes ON sizes.label = paper.label ORDER BY paper.label"""


def changes() -> str:
    """Emo Pillars 7: what cleaning and rewriting changed."""
    measures = ", ".join(
        f"struct({place} AS place, '{name}' AS measure, round(CAST({value} AS double), 4) AS value, "
        f"CAST({'NULL' if paper is None else paper} AS double) AS paper)"
        for place, (name, value, paper) in enumerate(CHANGES)
    )
    return f"""
WITH every AS (
  SELECT inline(array({measures})) FROM emo_pillars.changes
  UNION ALL SELECT 100, 'tokens of a plot', round(avg(words), 4), 823D FROM emo_pillars.plots
  UNION ALL SELECT 101, 'tokens of a plot, deviation', round(stddev(words), 4), 582D FROM emo_pillars.plots
)
SELECT measure, value, paper FROM every ORDER BY place"""


TOPICS = """
SELECT emotion, topic, utterances, round(utterances / sum(utterances) OVER (PARTITION BY emotion), 4) AS share,
       array_join(keywords, ', ') AS keywords, examples[0] AS example
FROM emo_pillars.topics ORDER BY emotion, topic"""

NAMED_TOPICS = """
SELECT topics.emotion, topics.topic, utterances, name, category, array_join(keywords, ', ') AS keywords
FROM emo_pillars.topics AS topics
JOIN emo_pillars.topic_names AS names ON names.emotion = topics.emotion AND names.topic = topics.topic
LEFT JOIN emo_pillars.topic_categories AS parts ON parts.emotion = topics.emotion AND parts.topic = topics.topic
ORDER BY emotion, topic"""

TOPIC_SIZES = """
SELECT emotion, sum(utterances) AS utterances, count(*) AS topics, count_if(utterances > 1) AS topics_of_two_or_more,
       count_if(utterances >= 20) AS large_topics, 300 AS paper_topics, 20 AS paper_large_topics
FROM emo_pillars.topics GROUP BY emotion ORDER BY emotion"""


def topic_emotions() -> str:
    """Emo Pillars Figure 7: the emotions of the examples nearest to a query, against those of all."""
    return f"""
WITH near AS (SELECT explode(labels) AS label FROM emo_pillars.query_examples),
said AS (SELECT one.label FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one),
near_counts AS (SELECT label, count(*) AS number FROM near GROUP BY label),
all_counts AS (SELECT label, count(*) AS number FROM said GROUP BY label)
SELECT polarities.label, polarity, coalesce(near_counts.number, 0) AS number,
       round(try_divide(coalesce(near_counts.number, 0), sum(near_counts.number) OVER ()), 4) AS share,
       round(try_divide(coalesce(all_counts.number, 0), sum(all_counts.number) OVER ()), 4) AS share_of_all
FROM {_polarities()} LEFT JOIN near_counts ON near_counts.label = polarities.label
LEFT JOIN all_counts ON all_counts.label = polarities.label ORDER BY number DESC, label"""


def coverage() -> str:
    """Emo Pillars 7: emotions with a small share of the labels, and the balance of polarities without neutral."""
    return f"""
WITH said AS (SELECT one.label FROM emo_pillars.examples LATERAL VIEW explode(labels) AS one),
counts AS (
  SELECT polarities.label, polarity, count(said.label) AS number
  FROM {_polarities()} LEFT JOIN said ON said.label = polarities.label GROUP BY polarities.label, polarity
), shares AS (
  SELECT label, polarity, number, try_divide(number, sum(number) OVER ()) AS share,
         try_divide(number, sum(CASE WHEN polarity != 'neutral' THEN number END) OVER ()) AS share_of_emotions
  FROM counts
)
SELECT 0 AS place, 'emotions with less than 1.5 % of the labels' AS measure,
       CAST(count_if(share < 0.015 AND polarity != 'neutral') AS double) AS value, 8D AS paper FROM shares
UNION ALL
SELECT CASE polarity WHEN 'positive' THEN 1 WHEN 'negative' THEN 2 ELSE 3 END, concat('percent ', polarity),
       round(100 * sum(share_of_emotions), 1),
       CASE polarity WHEN 'positive' THEN 33D WHEN 'negative' THEN 48D ELSE 19D END
FROM shares WHERE polarity != 'neutral' GROUP BY polarity
UNION ALL SELECT 4, 'percent neutral', round(100 * sum(share), 1), 2.7D FROM shares WHERE polarity = 'neutral'
ORDER BY place"""


MARKERS = """
SELECT word, occurrences, left_in, removed_share,
       array_join(transform(sort_array(collect_list(struct(-share AS order, label, share))),
                            one -> concat(one.label, ' (', one.share, ')')), ', ') AS emotions
FROM emo_pillars.markers GROUP BY word, occurrences, left_in, removed_share
ORDER BY removed_share DESC, occurrences DESC, word"""

MARKER_OVERLAP = """
WITH own AS (SELECT label, collect_set(word) AS words FROM emo_pillars.markers GROUP BY label)
SELECT one.label, other.label AS other_label, size(array_intersect(one.words, other.words)) AS shared,
       round(size(array_intersect(one.words, other.words)) / size(array_union(one.words, other.words)), 4) AS overlap
FROM own AS one JOIN own AS other ON one.label < other.label
WHERE size(array_intersect(one.words, other.words)) > 0 ORDER BY overlap DESC, one.label, other.label"""


HUMAN_EVALUATION = """
SELECT concat_ws(', ', measure, nullif(rater, '')) AS measure, round(value, 4) AS value, number, paper
FROM emo_pillars.evaluation_scores ORDER BY place, rater"""

UNFIT_EMOTIONS = """
SELECT question, value, count(*) AS answers FROM emo_pillars.evaluation_answers
WHERE question IN ('unfit', 'other_emotion', 'other_words') GROUP BY question, value
ORDER BY question, answers DESC, value"""


def emo_pillars_analysis_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.emo_pillars_similarity": (
            "Emo Pillars 7: how alike utterances and contexts are; the paper's figures beside ours.", similarities(),
        ),
        "analysis.emo_pillars_table_12": (
            "Emo Pillars Table 12: how alike the utterances of one main emotion are.", table_12(),
        ),
        "analysis.emo_pillars_changes": ("Emo Pillars 7: what cleaning and rewriting changed.", changes()),
        "analysis.emo_pillars_coverage": (
            "Emo Pillars 7: rare emotions and the balance of polarities; the paper's figures beside ours.", coverage(),
        ),
        "analysis.emo_pillars_topics": ("Emo Pillars H: topics of one emotion's utterances, with keywords.", TOPICS),
        "analysis.emo_pillars_named_topics": (
            "Emo Pillars Table 13: what a language model calls the large topics, and their categories.", NAMED_TOPICS,
        ),
        "analysis.emo_pillars_topic_sizes": ("Emo Pillars 7: how many topics there are, and large ones.", TOPIC_SIZES),
        "analysis.emo_pillars_topic_emotions": (
            "Emo Pillars Figure 7: emotions of the examples nearest to a query, against those of all.",
            topic_emotions(),
        ),
        "analysis.emo_pillars_markers": (
            "Emo Pillars Table 9: adverbs that rewriting takes out, with their emotions.", MARKERS,
        ),
        "analysis.emo_pillars_human_evaluation": (
            "Emo Pillars 8 and I.2: accuracy, recall of neutral, agreement, use of contexts; the paper's beside ours.",
            HUMAN_EVALUATION,
        ),
        "analysis.emo_pillars_unfit_emotions": (
            "Emotions that raters found unfit, or missed, in the labels (Emo Pillars I).", UNFIT_EMOTIONS,
        ),
        "analysis.emo_pillars_marker_overlap": (
            "Emo Pillars G: which emotions share markers; groups of emotions are read from it.", MARKER_OVERLAP,
        ),
    }  # fmt: skip
