"""Models of Emo Pillars as SQL views: our scores beside the paper's Tables 1, 2, 3, 5, 6, 7 and 10, and the map."""

from collections.abc import Iterable

from etl.lakehouse.tables.model import AND_ALSO

PLAIN = "emo_pillars_encoder"
LESS, LESS_REWRITTEN = "emo_pillars_contextless", "emo_pillars_contextless_rewritten"
FULL, FULL_REWRITTEN = "emo_pillars_contextual", "emo_pillars_contextual_rewritten"
GOEMOTIONS = ("28 labels, threshold",)
ISEAR = ("7 emotions, strongest", "7 emotions, threshold")
FOUR, THREE = ("4 classes, strongest",), ("3 classes, strongest",)
_Row = tuple[str, str | None, bool, str | None, float | None, float | None, float | None, float | None]

PAPER: dict[str, tuple[tuple[tuple[str, ...], str, tuple[_Row, ...]], ...]] = {
    "goemotions": (
        (
            GOEMOTIONS,
            "macro",
            (
                ("GPT-4 (Wang et al., 2024)", None, False, None, 0.10, 0.17, 0.13, None),
                ("GPT-4 (Kok-Shun et al., 2023)", None, False, None, None, None, 0.22, None),
                ("BERT, original", None, False, None, 0.26, 0.42, 0.28, None),
                ("RoBERTa, original", LESS, False, None, 0.25, 0.45, 0.28, None),
                ("RoBERTa, rewritten", LESS_REWRITTEN, False, None, 0.22, 0.33, 0.22, None),
                ("BERT (Demszky et al., 2020)", None, True, None, 0.40, 0.63, 0.46, None),
                ("BERT (Alvarez-Gonzalez et al., 2021)", None, True, None, None, None, 0.48, None),
                ("RoBERTa (Cortiz, 2022)", None, True, None, None, None, 0.49, None),
                ("RoBERTa and GPT-3.5 (Kok-Shun et al., 2023)", None, True, None, None, None, 0.51, None),
                ("BERT and BART (Wang et al., 2024)", None, True, None, 0.52, 0.53, 0.52, None),
                ("BERT, original, fine-tuned", None, True, None, 0.51, 0.57, 0.54, None),
                ("RoBERTa, original, fine-tuned", LESS, True, None, 0.53, 0.58, 0.55, 0.007),
            ),
        ),
        (GOEMOTIONS, "micro", (("RoBERTa, original, fine-tuned", LESS, True, None, 0.58, 0.64, 0.61, None),)),
    ),
    "isear": (
        (
            ISEAR,
            "macro",
            (
                ("GoEmotions-BERT and GPT-4 (Yang et al., 2023)", None, False, None, None, None, 0.31, None),
                ("BERT, original", None, False, None, 0.61, 0.58, 0.56, None),
                ("RoBERTa, original", LESS, False, None, 0.62, 0.65, 0.61, None),
                ("RoBERTa, rewritten", LESS_REWRITTEN, False, None, 0.62, 0.62, 0.59, None),
                ("RoBERTa (Zanwar et al., 2022), 5 of 7 classes", None, True, None, None, None, 0.73, None),
                ("RoBERTa (Park et al., 2021)", None, True, None, None, None, 0.75, None),
                ("RoBERTa, original, fine-tuned", LESS, True, None, 0.76, 0.75, 0.75, 0.013),
            ),
        ),
    ),
    "emocontext": (
        (
            FOUR,
            "macro",
            (
                ("contextual RoBERTa, original", FULL, False, None, 0.60, 0.51, 0.53, None),
                ("contextual RoBERTa, rewritten", FULL_REWRITTEN, False, None, 0.50, 0.58, 0.54, None),
                ("contextual RoBERTa, original, fine-tuned", FULL, True, "relabelled", 0.80, 0.81, 0.81, None),
                ("contextual RoBERTa, rewritten, w/o relab.", FULL_REWRITTEN, True, "kept", 0.80, 0.82, 0.81, None),
                (
                    "contextual RoBERTa, rewritten, fine-tuned", FULL_REWRITTEN, True, "relabelled",
                    0.81, 0.83, 0.82, None,
                ),
                ("contextual RoBERTa, rewritten, typed", FULL_REWRITTEN, True, "typed", 0.82, 0.83, 0.82, None),
            ),
        ),
        (
            THREE,
            "macro",
            (
                ("first of the contest, test set", None, True, None, 0.8086, 0.7873, 0.7963, None),
                ("ANA (Huang et al., 2019), test set", None, True, None, 0.7785, 0.7713, 0.7729, None),
                ("contextual RoBERTa, original, fine-tuned", FULL, True, "relabelled", 0.7467, 0.7633, 0.7567, None),
                (
                    "contextual RoBERTa, rewritten, fine-tuned", FULL_REWRITTEN, True, "relabelled",
                    0.7633, 0.7833, 0.7733, None,
                ),
            ),
        ),
    ),
}  # fmt: skip
"""Task to (what is scored, average, rows): name, our counterpart, tuned, variant, P, R, F1, sd (Tables 2, 3, 6, 7)."""

TABLE_10 = """
admiration .64 .80 .71 .65, amusement .75 .93 .83 .80, anger .51 .56 .53 .47, annoyance .36 .40 .38 .34,
approval .40 .44 .42 .36, caring .44 .45 .44 .39, confusion .41 .53 .46 .37, curiosity .49 .69 .57 .54,
desire .58 .48 .53 .49, disappointment .40 .33 .36 .28, disapproval .43 .48 .46 .39, disgust .47 .49 .48 .45,
embarrassment .55 .46 .50 .43, excitement .44 .50 .47 .34, fear .57 .76 .65 .60, gratitude .91 .91 .91 .86,
grief .50 .67 .57 .00, joy .59 .69 .64 .51, love .74 .92 .82 .78, nervousness .44 .48 .46 .35,
neutral .57 .59 .58 .68, optimism .57 .50 .53 .51, pride .32 .25 .28 .36, realization .20 .18 .19 .21,
relief .56 .82 .67 .15, remorse .54 .62 .58 .66, sadness .54 .60 .57 .49, surprise .68 .67 .68 .50"""
"""Emo Pillars Table 10: a label's P, R, F1, and the F1 of the GoEmotions paper."""

INTRA = (
    (LESS, "original", 0.82, 0.79, 0.81), (LESS_REWRITTEN, "original", 0.70, 0.78, 0.74),
    (LESS, "contextual original", 0.82, 0.80, 0.81), (LESS_REWRITTEN, "contextual original", 0.71, 0.78, 0.74),
    (LESS, "contextual rewritten", 0.68, 0.63, 0.65), (LESS_REWRITTEN, "contextual rewritten", 0.73, 0.66, 0.69),
    (FULL, "contextual original", 0.81, 0.78, 0.79), (FULL_REWRITTEN, "contextual original", 0.73, 0.78, 0.75),
    (FULL, "contextual rewritten", 0.69, 0.66, 0.67), (FULL_REWRITTEN, "contextual rewritten", 0.75, 0.69, 0.72),
)  # fmt: skip
"""Emo Pillars Tables 1 and 5, RoBERTa: our counterpart, test set, P, R, F1."""


def results() -> str:
    """All tasks' results; of each task once its table is there."""
    return AND_ALSO.join(f"SELECT '{task}' AS task, * FROM emo_pillars.{task}_results" for task in PAPER)


def transfer() -> str:
    """Emo Pillars Tables 2, 3, 6 and 7: means and standard deviations over seeds or folds, the paper's beside ours."""
    paper = _values(
        (task, scored, average, *row)
        for task, parts in PAPER.items()
        for kinds, average, rows in parts
        for scored in kinds
        for row in rows
    )
    names = "task, scored, average, paper_model, model, tuned, variant, p, r, f, f_sd"
    return f"""
WITH ours AS (
  SELECT task, scored, class AS average, model, tuned, variant, count(*) AS trials,
         round(avg(precision), 4) AS precision, round(avg(recall), 4) AS recall, round(avg(f1), 4) AS f1,
         round(stddev(f1), 4) AS f1_sd, max(starts_from) AS starts_from
  FROM analysis.emo_pillars_transfer_results WHERE class IN ('macro', 'micro')
  GROUP BY task, scored, class, model, tuned, variant
), plain AS (
  SELECT task, scored, average, f1 AS plain_f1 FROM ours WHERE model = '{PLAIN}' AND tuned
), paper AS (SELECT * FROM VALUES {paper} AS given({names}))
SELECT coalesce(ours.task, paper.task) AS task, coalesce(ours.scored, paper.scored) AS scored,
       coalesce(ours.average, paper.average) AS average, ours.model, coalesce(ours.tuned, paper.tuned) AS tuned,
       ours.variant, trials, precision, recall, f1, f1_sd,
       CASE WHEN ours.tuned AND ours.model <> '{PLAIN}' THEN round(f1 - plain_f1, 4) END AS gain_over_plain,
       paper_model, p AS paper_precision, r AS paper_recall, f AS paper_f1, f_sd AS paper_f1_sd, starts_from
FROM ours
LEFT JOIN plain ON plain.task = ours.task AND plain.scored = ours.scored AND plain.average = ours.average
FULL JOIN paper ON paper.task = ours.task AND paper.scored = ours.scored AND paper.average = ours.average
  AND paper.model = ours.model AND paper.tuned = ours.tuned AND paper.variant <=> ours.variant
ORDER BY task, scored, average, tuned, ours.model NULLS LAST, ours.variant, paper_model"""


def classes() -> str:
    """Emo Pillars Table 10, and the same of the other tasks: scores by class, gains, the paper's beside ours."""
    rows = (row.split() for row in TABLE_10.replace("\n", " ").split(","))
    paper = _values(
        ("goemotions", name, *(float(number) for number in numbers)) for name, *numbers in (row for row in rows)
    )
    return f"""
WITH ours AS (
  SELECT task, scored, class, model, tuned, variant, count(*) AS trials, round(avg(precision), 4) AS precision,
         round(avg(recall), 4) AS recall, round(avg(f1), 4) AS f1, sum(support) AS support
  FROM analysis.emo_pillars_transfer_results WHERE class NOT IN ('macro', 'micro')
  GROUP BY task, scored, class, model, tuned, variant
), plain AS (
  SELECT task, scored, class, f1 AS plain_f1 FROM ours WHERE model = '{PLAIN}' AND tuned
), paper AS (SELECT * FROM VALUES {paper} AS given(task, class, p, r, f, goemotions_f))
SELECT ours.task, ours.scored, ours.class, ours.model, ours.tuned, ours.variant, trials, precision, recall, f1, support,
       CASE WHEN ours.tuned AND ours.model <> '{PLAIN}' THEN round(f1 - plain_f1, 4) END AS gain_over_plain,
       round(f1 - goemotions_f, 4) AS gain_over_goemotions, p AS paper_precision, r AS paper_recall, f AS paper_f1,
       goemotions_f AS goemotions_f1, round(f - goemotions_f, 2) AS paper_gain
FROM ours
LEFT JOIN plain ON plain.task = ours.task AND plain.scored = ours.scored AND plain.class = ours.class
LEFT JOIN paper ON paper.task = ours.task AND paper.class = ours.class
ORDER BY task, scored, ours.model, tuned, variant, class"""


def intra_dataset() -> str:
    """Emo Pillars Tables 1 and 5: each model on each test set, the paper's beside ours."""
    return f"""
SELECT ours.learner, ours.tested_on, passages, precision, recall, f1, p AS paper_precision, r AS paper_recall,
       f AS paper_f1, against, gain, t_test, mann_whitney, t_test < 0.01 AND mann_whitney < 0.01 AS significant
FROM emo_pillars.intra_dataset AS ours
LEFT JOIN (SELECT * FROM VALUES {_values(INTRA)} AS given(learner, tested_on, p, r, f)) AS paper
  ON paper.learner = ours.learner AND paper.tested_on = ours.tested_on
WHERE class = 'macro' ORDER BY ours.learner, ours.tested_on"""


TAXONOMIES = """
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY edos_label ORDER BY pmi DESC, label) AS place,
         row_number() OVER (PARTITION BY label ORDER BY pmi DESC, edos_label) AS place_of_edos
  FROM emo_pillars.taxonomy_map
)
SELECT edos_label, place, label, turns, edos_turns, label_turns, share_of_edos, share_of_label, lift, pmi,
       place = 1 AND place_of_edos = 1 AS mutual
FROM ranked WHERE place <= 3 ORDER BY edos_label, place"""


def model_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.emo_pillars_transfer_results": (
            "Emo Pillars 5: every trial's scores by class, all tasks'.",
            results(),
        ),
        "analysis.emo_pillars_transfer": (
            "Emo Pillars Tables 2, 3, 6, 7: models on people's sets, means over trials, the paper's beside ours.",
            transfer(),
        ),
        "analysis.emo_pillars_transfer_classes": (
            "Emo Pillars Table 10: the same by class, with the gains over the plain encoder and the GoEmotions paper.",
            classes(),
        ),
        "analysis.emo_pillars_intra_dataset": (
            "Emo Pillars Tables 1 and 5: models on the data set's own test sets, and whether contexts help.",
            intra_dataset(),
        ),
        "analysis.emo_pillars_taxonomies": (
            "Each of EDOS's 41 labels with the three of the 28 that go with it most above chance (not in the paper).",
            TAXONOMIES,
        ),
    }


def _values(rows: Iterable[tuple[object, ...]]) -> str:
    return ", ".join("(" + ", ".join(_literal(cell) for cell in row) + ")" for row in rows)


def _literal(cell: object) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell}D" if isinstance(cell, float) else f"'{cell}'"
