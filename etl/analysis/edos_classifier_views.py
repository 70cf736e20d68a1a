"""The comparison of classifiers as SQL views: Table 5 and the ablation of Appendix C beside ours."""

PAPER_TABLE_5 = (
    ("AR (Khosla, 2018)", "EmotionLines, Friends: 4 emotions", None, 62.50),
    ("AR (Khosla, 2018)", "EmotionLines, EmotionPush: 4 emotions", None, 62.48),
    ("CMN (Hazarika et al., 2018b)", "IEMOCAP: 6 emotions", 56.13, 56.56),
    ("ICON (Hazarika et al., 2018a)", "IEMOCAP: 6 emotions", 57.90, 58.30),
    ("IAAN (Yeh et al., 2019)", "IEMOCAP: 6 emotions", None, 64.70),
    ("Dialog-RNN (Majumder et al., 2019)", "IEMOCAP and AVEC: 4 emotions", 62.75, 63.40),
    ("Dialog-GCN (Ghosal et al., 2019)", "IEMOCAP and AVEC: 4 emotions, MELD: 7 emotions", 64.18, 65.25),
)
"""The other classifiers of EDOS Table 5: name, data and labels, macro-F1 and accuracy as printed."""

ALL_ORIGINS = "crowd + similar + self + similar_self"

TABLE_5 = f"""
WITH arms AS (
  SELECT weighted, concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         100 * avg(macro_precision) AS precision, 100 * avg(macro_recall) AS recall,
         100 * avg(macro_f1) AS f1, 100 * stddev_samp(macro_f1) AS f1_sd,
         100 * avg(accuracy) AS accuracy, 100 * stddev_samp(accuracy) AS accuracy_sd
  FROM edos.classifier_trials GROUP BY weighted, origins
), ours AS (
  SELECT 100 + 10 * coalesce(arms.added, 4) + IF(coalesce(arms.weighted, true), 1, 0) AS place,
         concat('EDOS, ', IF(coalesce(arms.weighted, true), 'weighted', 'unweighted')) AS classifier,
         coalesce(arms.trained_on, paper.trained_on) AS trained_on, coalesce(arms.seeds, 0) AS seeds,
         round(precision, 2) AS macro_precision, round(recall, 2) AS macro_recall,
         round(f1, 2) AS macro_f1, round(f1_sd, 2) AS macro_f1_sd,
         round(arms.accuracy, 2) AS accuracy, round(arms.accuracy_sd, 2) AS accuracy_sd,
         paper.macro_f1 AS paper_macro_f1, paper.accuracy AS paper_accuracy
  FROM arms FULL JOIN VALUES (true, '{ALL_ORIGINS}', 63.86D, 65.00D) AS paper(weighted, trained_on, macro_f1, accuracy)
    ON arms.weighted = paper.weighted AND arms.trained_on = paper.trained_on
)
SELECT place, classifier, trained_on, 0L AS seeds, CAST(NULL AS double) AS macro_precision,
       CAST(NULL AS double) AS macro_recall, CAST(NULL AS double) AS macro_f1, CAST(NULL AS double) AS macro_f1_sd,
       CAST(NULL AS double) AS accuracy, CAST(NULL AS double) AS accuracy_sd, paper_macro_f1, paper_accuracy
FROM VALUES {{others}} AS others(place, classifier, trained_on, paper_macro_f1, paper_accuracy)
UNION ALL SELECT * FROM ours ORDER BY place"""

WEIGHTING = f"""
WITH pairs AS (
  SELECT origins, seed, 100 * max(macro_f1) FILTER (WHERE weighted) AS with_weights,
         100 * max(macro_f1) FILTER (WHERE NOT weighted) AS without
  FROM edos.classifier_trials GROUP BY origins, seed
  HAVING count(DISTINCT weighted) = 2
), gains AS (
  SELECT concat_ws(' + ', origins) AS trained_on, size(origins) AS added, count(*) AS seeds,
         round(avg(with_weights), 2) AS weighted_f1, round(avg(without), 2) AS unweighted_f1,
         round(avg(with_weights - without), 2) AS gain, round(stddev_samp(with_weights - without), 2) AS gain_sd,
         count_if(with_weights > without) AS seeds_it_helps
  FROM pairs GROUP BY origins
)
SELECT gains.trained_on, seeds, gains.weighted_f1, gains.unweighted_f1, gain, gain_sd, seeds_it_helps,
       paper.weighted_f1 AS paper_weighted_f1, paper.unweighted_f1 AS paper_unweighted_f1,
       round(paper.weighted_f1 - paper.unweighted_f1, 2) AS paper_gain
FROM gains LEFT JOIN VALUES ('{ALL_ORIGINS}', 64.86D, 63.44D) AS paper(trained_on, weighted_f1, unweighted_f1)
  ON gains.trained_on = paper.trained_on
ORDER BY added"""

CLASSES = """
SELECT concat_ws(' + ', origins) AS trained_on, weighted, class.label AS label, count(*) AS seeds,
       round(100 * avg(class.precision), 2) AS precision, round(100 * avg(class.recall), 2) AS recall,
       round(100 * avg(class.f1), 2) AS f1, max(class.support) AS support
FROM edos.classifier_trials LATERAL VIEW explode(classes) AS class
GROUP BY origins, weighted, class.label ORDER BY size(origins), weighted, f1 DESC, label"""


def classifier_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL); percent, means and standard deviations over seeds."""
    return {
        "analysis.edos_table_5": (
            "EDOS Table 5: classifiers by macro-F1 and accuracy; our arms' means over seeds, the paper's beside them.",
            TABLE_5.format(others=_others()),
        ),
        "analysis.edos_weighting": (
            "EDOS Appendix C: what weighting newer turns more brings, pairs of equal seed, the paper's beside ours.",
            WEIGHTING,
        ),
        "analysis.edos_classifier_classes": (
            "Precision, recall and F1 of each label in each arm of the comparison, means over seeds.",
            CLASSES,
        ),
    }


def _others() -> str:
    def number(value: float | None) -> str:
        return "CAST(NULL AS double)" if value is None else f"{value}D"

    return ", ".join(
        f"({place}, '{name}', '{data}', {number(f1)}, {number(accuracy)})"
        for place, (name, data, f1, accuracy) in enumerate(PAPER_TABLE_5, start=1)
    )
