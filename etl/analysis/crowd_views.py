"""People's work as SQL views: Table 4, workers, cost and time, readability's terms, the audit."""

from etl.edos.readability import Reading
from etl.edos.votes import FLEISS_KAPPA

GROUPS = {"all": "'all'", "band": "band", "class": "label", "class and band": "concat(label, ' ', band)"}
"""What the audit is shown by, and the name of each group in SQL."""

Z = 1.96
"""Of a normal distribution's middle 95 %."""


def table_4() -> str:
    """EDOS Table 4. Kappa over turns with three votes; the quiz over HITs that had one."""
    kappa = FLEISS_KAPPA.format(crowd_labels="edos.crowd_labels", workers=3)
    return f"""
WITH items AS (
  SELECT count(*) AS items, count(label) AS agreed FROM edos.crowd_labels
), kappa AS ({kappa}
), quiz AS (
  SELECT round(100 * try_divide(count_if(passed), count(passed)), 2) AS passed
  FROM edos.assignments WHERE purpose = 'crowd'
), named AS (
  SELECT count(DISTINCT dialogue_id, turn) AS items FROM edos.annotations WHERE specified
), ours AS (
  SELECT stack(6,
    1, 'Total no. of dialogues', CAST(items.items AS double), 10250D,
    2, '# dialogues labeled with majority vote', CAST(items.agreed AS double), 8913D,
    3, '% dialogues labeled with majority vote', round(100 * try_divide(items.agreed, items.items), 2), 86.96D,
    4, 'Inter-annotator agreement (Fleiss\\' kappa)', round(kappa.kappa, 4), 0.46D,
    5, '% of times workers got 3/5 quiz questions correct', quiz.passed, 77.75D,
    6, '# dialogues in which the workers manually specified the label', CAST(named.items AS double), 425D
  ) AS (place, criterion, value, paper)
  FROM items CROSS JOIN kappa CROSS JOIN quiz CROSS JOIN named
)
SELECT place, criterion, value, paper FROM ours ORDER BY place"""


BANDS = """
SELECT tasks.band, count(*) AS turns, count(DISTINCT tasks.label) AS classes, max(released.turns) AS released_turns
FROM edos.annotation_tasks AS tasks
LEFT JOIN VALUES ('0.9', 6899), ('0.8', 944), ('0.7', 314), ('0.6', 30) AS released(band, turns)
  ON released.band = tasks.band
WHERE tasks.quiz_label IS NULL GROUP BY tasks.band ORDER BY tasks.band DESC"""

WORKERS = """
WITH votes AS (
  SELECT answers.worker_id, count(*) AS dialogues, count_if(answers.specified) AS specified,
         count(agreed.label) AS with_majority, count_if(answers.label = agreed.label) AS with_the_majority
  FROM edos.answers AS answers
  LEFT JOIN edos.crowd_labels AS agreed
    ON agreed.dialogue_id = answers.dialogue_id AND agreed.turn = answers.turn
  WHERE answers.purpose = 'crowd' AND answers.quiz_label IS NULL
  GROUP BY answers.worker_id
), hits AS (
  SELECT worker_id, count(*) AS hits, sum(quiz) AS quiz, sum(quiz_right) AS quiz_right, count_if(passed) AS passed,
         sum(reward) AS reward, sum(bonus) AS bonus,
         round(avg(CASE WHEN NOT unusually_long THEN seconds END) / 60, 2) AS minutes_a_hit
  FROM edos.assignments WHERE purpose = 'crowd' GROUP BY worker_id
)
SELECT hits.worker_id, hits.hits, votes.dialogues, hits.quiz, hits.quiz_right,
       round(100 * try_divide(hits.quiz_right, hits.quiz), 2) AS quiz_percent, hits.passed,
       hits.reward, hits.bonus, hits.minutes_a_hit, votes.specified,
       round(100 * try_divide(votes.with_the_majority, votes.with_majority), 2) AS percent_with_majority
FROM hits LEFT JOIN votes ON votes.worker_id = hits.worker_id ORDER BY hits.hits DESC, hits.worker_id"""

COST = """
WITH usual AS (
  SELECT avg(seconds) / 60 AS minutes, try_divide(sum(reward), sum(seconds) / 3600) AS by_reward,
         try_divide(sum(reward + bonus), sum(seconds) / 3600) AS with_bonus
  FROM edos.assignments WHERE purpose = 'crowd' AND NOT unusually_long AND reward > 0
), sums AS (
  SELECT count(*) AS assignments, count_if(unusually_long) AS long, sum(reward) AS reward, sum(bonus) AS bonus
  FROM edos.assignments WHERE purpose = 'crowd'
), ours AS (
  SELECT stack(7,
    1, 'HITs done by a worker', CAST(sums.assignments AS double), CAST(NULL AS double),
    2, 'of these, unusually long', CAST(sums.long AS double), CAST(NULL AS double),
    3, 'Rewards in dollars', CAST(sums.reward AS double), CAST(NULL AS double),
    4, 'Bonuses in dollars', CAST(sums.bonus AS double), CAST(NULL AS double),
    5, 'Mean minutes a HIT, unusually long ones aside', round(usual.minutes, 2), 4.12D,
    6, 'Dollars an hour by the reward alone', round(usual.by_reward, 2), round(0.4D / 4.12D * 60, 2),
    7, 'Dollars an hour with the bonus', round(usual.with_bonus, 2), round(0.5D / 4.12D * 60, 2)
  ) AS (place, criterion, value, paper)
  FROM sums CROSS JOIN usual
)
SELECT place, criterion, value, paper, 7.12D AS minimum_wage FROM ours ORDER BY place"""


def readability_terms() -> str:
    """How each term of f + 0.04 d correlates with the score, under each reading of EDOS A."""
    rows = []
    for frequencies in ("relative", "counts"):
        for distinct in ("share", "percent"):
            terms = Reading(frequencies=frequencies, distinct=distinct).terms()
            scored = ", ".join(f"{sql} AS {name}" for name, sql in terms.items())
            rows.append(f"""
SELECT '{frequencies}' AS frequencies, '{distinct}' AS distinct_words, count(*) AS turns,
       round(corr(f, readability), 4) AS correlation_with_f,
       round(corr(d, readability), 4) AS correlation_with_d
FROM (SELECT {scored} FROM (SELECT count_sum, corpus_tokens, tokens, distinct_tokens FROM edos.readability))""")
    return "\nUNION ALL".join(rows)


def audit() -> str:
    """Precision of the finished labels by class, by band and over all, with Wilson's interval at 95 %.

    A turn's verdict is what more than half of its answers say. Strata (label and band) were drawn alike, though they
    are not alike in size: each counts by its share of the finished turns, and the interval is Wilson's for the
    effective number of turns 1 / sum(share^2 / n). Within one stratum that is its own number.
    """
    grouped = "\n  UNION ALL ".join(
        f"SELECT '{by}' AS grouped_by, {name} AS name, * FROM strata" for by, name in GROUPS.items()
    )
    places = ", ".join(f"'{by}'" for by in GROUPS)
    return f"""
WITH verdicts AS (
  SELECT batch_id, dialogue_id, turn, min(model_label) AS label, min(band) AS band, min(stratum_turns) AS stratum_turns,
         count_if(answer = model_label) * 2 > count(*) AS is_right,
         max(votes) * 2 > min(total) AS decided
  FROM (
    SELECT *, count(*) OVER (PARTITION BY batch_id, dialogue_id, turn, answer) AS votes,
           count(*) OVER (PARTITION BY batch_id, dialogue_id, turn) AS total
    FROM (SELECT batch_id, dialogue_id, turn, model_label, band, stratum_turns,
                 coalesce(label, lower(answer)) AS answer
          FROM edos.answers WHERE purpose = 'audit')
  )
  GROUP BY batch_id, dialogue_id, turn
), strata AS (
  SELECT batch_id, label, band, max(stratum_turns) AS turns, count(*) AS audited, count_if(decided) AS decided,
         count_if(decided AND is_right) AS right_ones
  FROM verdicts GROUP BY batch_id, label, band
), grouped AS (
  {grouped}
), sums AS (
  SELECT batch_id, grouped_by, name, sum(audited) AS audited, sum(decided) AS decided, sum(right_ones) AS right_ones,
         try_divide(sum(turns * try_divide(right_ones, decided)), sum(CASE WHEN decided > 0 THEN turns END)) AS p,
         try_divide(
           power(sum(CASE WHEN decided > 0 THEN turns END), 2), sum(try_divide(double(turns) * turns, decided))
         ) AS n
  FROM grouped GROUP BY batch_id, grouped_by, name
), wilson AS (
  SELECT *, (p + {Z * Z} / (2 * n)) / (1 + {Z * Z} / n) AS middle,
         {Z} * sqrt(p * (1 - p) / n + {Z * Z} / (4 * n * n)) / (1 + {Z * Z} / n) AS reach
  FROM sums
)
SELECT batch_id, grouped_by, name, audited, audited - decided AS undecided, right_ones, round(p, 4) AS precision,
       round(greatest(middle - reach, 0), 4) AS low, round(least(middle + reach, 1), 4) AS high
FROM wilson
ORDER BY batch_id, array_position(array({places}), grouped_by), name"""


def crowd_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL); the SQL names tables as ``schema.table``."""
    return {
        "analysis.edos_table_4": ("EDOS Table 4: the crowd's agreement and quiz, the paper's beside ours.", table_4()),
        "analysis.edos_annotation_bands": (
            "How far classes stepped down for the crowd's turns, 8,187 released ones beside ours (EDOS 3.2).", BANDS,
        ),
        "analysis.edos_workers": ("One row for each worker: HITs, quiz, pay, time, share with the majority.", WORKERS),
        "analysis.edos_crowd_cost": ("What the crowd's work cost and how long it took (EDOS 7).", COST),
        "analysis.edos_readability": (
            "How f and d correlate with the readability score under each reading of EDOS A.", readability_terms(),
        ),
        "analysis.edos_audit": (
            "The audit: precision of the finished labels by class and confidence band, with Wilson intervals.", audit(),
        ),
    }  # fmt: skip
