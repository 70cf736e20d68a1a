"""AugESC's human evaluations as SQL views: Tables 3 and 4, the paper's figures beside ours."""

from etl.augesc.rating_form import ASPECTS
from etl.augesc.ratings import SETS

# Table 3 as printed, by set in its order, by aspect; then the share of samples whose ratings are within 1.
PAPER_TABLE_3 = (
    ("ESConv", (2.52, 2.42, 2.44, 2.23, 2.56, 2.42, 0.13)),
    ("Blender (ED)", (1.86, 1.90, 1.35, 1.49, 2.12, 1.90, 0.03)),
    ("GPT-3 (ED)", (2.23, 2.07, 1.96, 1.62, 2.11, 1.96, 0.16)),
    ("AugESC-ED", (2.41, 2.37, 2.17, 2.12, 2.34, 2.19, 0.14)),
    ("AugESC-Reddit", (2.38, 2.29, 2.26, 2.09, 2.34, 2.24, 0.19)),
)
PAPER_AGREEMENT = (0.83, 0.80, 0.79, 0.73, 0.81, 0.80, 0.90)
# Table 4 as printed: percent of 60 pairs won and lost.
PAPER_TABLE_4 = {
    "fluency": (47, 13), "identification": (68, 22), "comforting": (55, 22), "suggestion": (58, 15), "overall": (58, 28)
}  # fmt: skip


def table_3() -> str:
    """AugESC Table 3: mean ratings by set and aspect, and what is significantly worse."""
    printed = [
        f"('{method}', '{source}', {place}, '{name}', {column}, '{aspect.name}', {mean}D)"
        for place, ((method, source), (name, means)) in enumerate(zip(SETS, PAPER_TABLE_3, strict=True))
        for column, (aspect, mean) in enumerate(zip(ASPECTS, means, strict=True))
    ]
    columns = "method, source, set_place, paper_name, aspect_place, aspect, paper_mean"
    return f"""
SELECT paper.method, paper.source, paper.aspect, ours.sessions, ours.ratings, round(ours.mean, 2) AS mean,
       paper_mean, is_best, round(p_best, 4) AS p_best, below_best, below_tuned, paper_name
FROM (SELECT * FROM VALUES {", ".join(printed)} AS printed({columns})) AS paper
LEFT JOIN augesc.rating_scores AS ours
  ON ours.method = paper.method AND ours.source = paper.source AND ours.aspect = paper.aspect
ORDER BY set_place, aspect_place"""


def agreement() -> str:
    """AugESC Table 3, its first row: the share of conversations whose raters are at most one step apart."""
    printed = ", ".join(
        f"({place}, '{aspect.name}', {share}D)"
        for place, (aspect, share) in enumerate(zip(ASPECTS, PAPER_AGREEMENT, strict=True))
    )
    return f"""
WITH samples AS (
  SELECT aspect, text_id, count(*) AS raters, max(score) - min(score) AS apart
  FROM augesc.ratings GROUP BY aspect, method, source, text_id
), ours AS (
  SELECT aspect, count(*) AS samples, round(avg(raters), 2) AS raters_a_sample,
         round(avg(CAST(apart <= 1 AS int)), 4) AS share_within_1
  FROM samples WHERE raters > 1 GROUP BY aspect
)
SELECT paper.aspect, samples, raters_a_sample, share_within_1, paper_share
FROM (SELECT * FROM VALUES {printed} AS printed(place, aspect, paper_share)) AS paper
LEFT JOIN ours ON ours.aspect = paper.aspect ORDER BY place"""


def table_4() -> str:
    """AugESC Table 4: percent of pairs that the bot tuned on AugESC wins, loses, ties; the sign test."""
    printed = ", ".join(
        f"({place}, '{aspect}', {win}, {lose})" for place, (aspect, (win, lose)) in enumerate(PAPER_TABLE_4.items())
    )
    return f"""
SELECT paper.aspect, pairs, round(100 * wins / pairs, 1) AS win_percent, round(100 * losses / pairs, 1) AS lose_percent,
       round(100 * ties / pairs, 1) AS tie_percent, round(p, 4) AS p,
       CASE WHEN p < 0.01 THEN '< 0.01' WHEN p < 0.05 THEN '< 0.05' ELSE 'none' END AS significance,
       paper_win_percent, paper_lose_percent, CASE paper.aspect WHEN 'overall' THEN '< 0.05' ELSE '< 0.01' END
         AS paper_significance
FROM (SELECT * FROM VALUES {printed} AS printed(place, aspect, paper_win_percent, paper_lose_percent)) AS paper
LEFT JOIN augesc.comparison_scores AS ours ON ours.aspect = paper.aspect ORDER BY paper.place"""


FAULTS = """
SELECT method, source, count(*) AS texts,
       round(avg(facts), 2) AS facts_a_text,
       round(100 * avg(CAST(contradicted > 0 AS int)), 2) AS percent_with_contradicted_facts,
       round(100 * avg(CAST(confused > 0 AS int)), 2) AS percent_with_mixed_up_roles,
       sum(statement_pairs) AS statement_pairs,
       round(100 * try_divide(sum(contradictory_pairs), sum(statement_pairs)), 2) AS percent_of_pairs_contradictory,
       round(100 * avg(CAST(shifted > 0 AS int)), 2) AS percent_with_topic_shift,
       round(100 * try_divide(sum(shifted), sum(topical)), 2) AS percent_of_utterances_shifted,
       round(100 * try_divide(sum(shifted_supporter), sum(topical)), 2) AS percent_shifted_by_supporter,
       round(100 * try_divide(sum(other_shifted), sum(topical)), 2) AS percent_seen_in_another_conversation,
       round(try_divide(sum(mean_similarity * topical), sum(topical)), 3) AS mean_similarity,
       round(try_divide(sum(mean_other_similarity * topical), sum(topical)), 3) AS mean_other_similarity,
       round(100 * avg(CAST(toxic > 0 AS int)), 2) AS percent_with_toxicity, max(toxic_by) AS toxic_by
FROM augesc.faults GROUP BY method, source ORDER BY method, source"""

FAULT_EXAMPLES = """
SELECT method, source, text_id, contradiction, confusion, shifted, topical
FROM augesc.faults WHERE contradicted > 0 OR confused > 0 ORDER BY method, source, text_id"""


def augesc_evaluation_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.augesc_table_3": (
            "AugESC Table 3: mean ratings by set and aspect; the paper's beside ours.", table_3(),
        ),
        "analysis.augesc_agreement": (
            "AugESC Table 3: the share of conversations whose raters are at most one step apart.", agreement(),
        ),
        "analysis.augesc_table_4": (
            "AugESC Table 4: wins, losses and ties of the bot tuned on AugESC; the paper's beside ours.", table_4(),
        ),
        "analysis.augesc_faults": (
            "AugESC 6.4: inconsistency, topic shifts and toxicity by what wrote the texts; measures are ours.", FAULTS,
        ),
        "analysis.augesc_fault_examples": (
            "Texts in which a speaker contradicts a fact, or talks as the other role; to look at.", FAULT_EXAMPLES,
        ),
    }  # fmt: skip
