"""The EDOS path as SQL views: the paper's Tables 3 and 9 beside ours, and what the ledgers say."""

import csv
from importlib.resources import files

from conf.taxonomy import edos_labels

PAPER_TABLE_3 = (
    ("Total no. of dialogues", "1000000"),
    ("Total no. of turns", "2829426"),
    ("Total no. of tokens", "39469825"),
    ("Avg. no. of turns per dialogue", "2.83"),
    ("Avg. no. of tokens per dialogue", "39.47"),
    ("Avg. no. of tokens per turn", "13.95"),
)


def paper_counts() -> dict[str, tuple[int, int]]:
    """EDOS Table 9 as printed: label to (dialogues, turns)."""
    text = files("conf").joinpath("taxonomies", "edos_paper_counts.csv").read_text(encoding="utf-8")
    return {row["label"]: (int(row["dialogues"]), int(row["turns"])) for row in csv.DictReader(text.splitlines())}


def table_3() -> str:
    """EDOS Table 3: size of edos.dialogues; averages null when it is empty. The paper's averages per dialogue
    and per turn do not divide out of its totals to the last digit; they stand as printed."""
    paper = ", ".join(f"({place}, '{name}', {value}D)" for place, (name, value) in enumerate(PAPER_TABLE_3, 1))
    return f"""
WITH sizes AS (
  SELECT size(turns) AS turns,
         aggregate(turns, 0L, (total, turn) -> total + size(filter(split(turn.text, ' '), token -> token != '')))
           AS tokens
  FROM edos.dialogues
), totals AS (
  SELECT count(*) AS dialogues, coalesce(sum(turns), 0) AS turns, coalesce(sum(tokens), 0) AS tokens FROM sizes
), ours AS (
  SELECT stack(6,
    1, CAST(dialogues AS double), 2, CAST(turns AS double), 3, CAST(tokens AS double),
    4, round(try_divide(turns, dialogues), 2), 5, round(try_divide(tokens, dialogues), 2),
    6, round(try_divide(tokens, turns), 2)) AS (place, value)
  FROM totals
)
SELECT paper.place, paper.criterion, ours.value, paper.value AS paper
FROM VALUES {paper} AS paper(place, criterion, value) JOIN ours ON ours.place = paper.place
ORDER BY paper.place"""


def table_9() -> str:
    """EDOS Table 9: dialogues by their first turn's label and turns by label, every label of the taxonomy."""
    counts = paper_counts()
    paper = ", ".join(f"({place}, '{label}', {counts[label][0]}, {counts[label][1]})"
                      for place, label in enumerate(edos_labels()))  # fmt: skip
    return f"""
WITH paper AS (
  SELECT * FROM VALUES {paper} AS labels(place, label, paper_dialogues, paper_turns)
), firsts AS (
  SELECT get(turns, 0).label AS label, count(*) AS dialogues FROM edos.dialogues
  WHERE size(turns) > 0 GROUP BY 1
), turns AS (
  SELECT turn.label AS label, count(*) AS turns
  FROM edos.dialogues LATERAL VIEW explode(turns) AS turn GROUP BY 1
), counts AS (
  SELECT coalesce(paper.place, 98) AS place,
         coalesce(paper.label, turns.label, firsts.label, '(no label)') AS label,
         coalesce(firsts.dialogues, 0) AS dialogues, coalesce(turns.turns, 0) AS turns,
         coalesce(paper.paper_dialogues, 0) AS paper_dialogues, coalesce(paper.paper_turns, 0) AS paper_turns
  FROM paper
  FULL JOIN turns ON turns.label <=> paper.label
  FULL JOIN firsts ON firsts.label <=> coalesce(paper.label, turns.label)
)
SELECT place, label, dialogues, turns, paper_dialogues, paper_turns FROM counts
UNION ALL
SELECT 99, 'total', coalesce(sum(dialogues), 0), coalesce(sum(turns), 0),
       coalesce(sum(paper_dialogues), 0), coalesce(sum(paper_turns), 0)
FROM counts
ORDER BY place"""


DROPPED_BY_REASON = """
SELECT stage, unit, reason, count(*) AS rows, sum(units) AS units
FROM ops.dropped GROUP BY stage, unit, reason ORDER BY stage, unit, rows DESC, reason"""

RECONCILIATION = """
SELECT stage, run_id, unit, rows_in, rows_out, rows_dropped, rows_quarantined,
       rows_in - rows_out - coalesce(rows_dropped, 0) - coalesce(rows_quarantined, 0) AS unexplained
FROM ops.stage_runs WHERE event = 'done' AND rows_in IS NOT NULL ORDER BY started, stage"""

TURN_SCORE_PAIRS = """
SELECT source_path, subtitle_id, sentence, sentence + 1 AS next_sentence, score, score > 0 AS opens_turn
FROM subtitles.turn_scores LATERAL VIEW posexplode(scores) AS sentence, score"""


def edos_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL); the SQL names tables as ``schema.table``."""
    return {
        "analysis.edos_table_3": ("EDOS Table 3: the size of the data set, the paper's beside ours.", table_3()),
        "analysis.edos_table_9": (
            "EDOS Table 9: dialogues by their first turn's label and turns by label, the paper's beside ours.",
            table_9(),
        ),
        "analysis.dropped_by_reason": ("What each stage left out, by unit and reason.", DROPPED_BY_REASON),
        "analysis.reconciliation": (
            "Each run's units: in = out + dropped + quarantined; unexplained is 0.", RECONCILIATION,
        ),
        "analysis.turn_score_pairs": (
            "One row for each pair of adjacent sentences and its turn-change score.", TURN_SCORE_PAIRS,
        ),
    }  # fmt: skip
