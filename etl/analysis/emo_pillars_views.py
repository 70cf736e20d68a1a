"""Emo Pillars as SQL views: the paper's scale beside ours, yields, labels, and how well answers could be read."""

from conf.taxonomy import goemotions_polarities
from etl.lakehouse.tables.model import AND_ALSO

_LABELLED = "emo_pillars.examples LATERAL VIEW explode(labels) AS one"
STEP_OF_PLOTS = 200


def _polarities() -> str:
    rows = ", ".join(f"('{label}', '{polarity}')" for label, polarity in goemotions_polarities().items())
    return f"(SELECT * FROM VALUES {rows} AS given(label, polarity)) AS polarities"


def scale() -> str:
    """Emo Pillars 4, 7: the size of the data set, the paper's beside ours; a row once its table is there."""
    a_plot = "SELECT plot_id, count(*) AS actors FROM emo_pillars.actors GROUP BY plot_id"
    said = f"(SELECT one.label FROM {_LABELLED}) AS said"
    polarity = f"SELECT polarity FROM {said} JOIN {_polarities()} ON said.label = polarities.label"
    criteria = (
        ("plots", "2000", "count(*)", "emo_pillars.plots"),
        ("actors a plot, mean", "15", "avg(actors)", f"({a_plot})"),
        ("actors a plot, standard deviation", "9.44", "stddev(actors)", f"({a_plot})"),
        ("utterances an actor, mean", "10", "count(*) / count(DISTINCT actor_id)", "emo_pillars.utterances"),
        ("examples", "300000", "count(*)", "emo_pillars.examples"),
        ("share of examples drawn for contexts", "0.3333", "avg(CAST(goes_on AS int))", "emo_pillars.examples"),
        ("contextual examples", "100000", "count(*)", "emo_pillars.contextual_examples"),
        ("labels", "1000000", "sum(size(labels))", "emo_pillars.examples"),
        ("labels an example, mean", "3.17", "avg(size(labels))", "emo_pillars.examples"),
        ("labels an example, standard deviation", "0.97", "stddev(size(labels))", "emo_pillars.examples"),
        ("labels an example, least", "1", "min(size(labels))", "emo_pillars.examples"),
        ("labels an example, most", "5", "max(size(labels))", "emo_pillars.examples"),
        *(
            (f"share of {name} labels", paper, f"avg(CAST(polarity = '{name}' AS int))", f"({polarity})")
            for name, paper in (("positive", "0.33"), ("negative", "0.48"), ("ambiguous", "0.19"))
        ),
        ("share of neutral labels", "0.027", "avg(CAST(polarity = 'neutral' AS int))", f"({polarity})"),
    )
    return AND_ALSO.join(
        f"SELECT {place} AS place, '{name}' AS criterion, round(CAST({value} AS double), 4) AS value, "
        f"CAST({paper} AS double) AS paper FROM {source}"
        for place, (name, paper, value, source) in enumerate(criteria, 1)
    )


def yields() -> str:
    """Emo Pillars C: what so many plots give, from 200 to 2,000; plots in the order of their ids' hashes."""
    return f"""
WITH ranked AS (
  SELECT plot_id, CAST(ceil(row_number() OVER (ORDER BY xxhash64(plot_id), plot_id) / {STEP_OF_PLOTS}) AS int)
    * {STEP_OF_PLOTS} AS up_to
  FROM emo_pillars.plots
), made AS (
  SELECT plot_id, count(DISTINCT actor_id) AS actors, count(*) AS examples, sum(size(labels)) AS labels
  FROM emo_pillars.examples GROUP BY plot_id
), steps AS (
  SELECT up_to, count(*) AS plots, sum(actors) AS actors, sum(examples) AS examples, sum(labels) AS labels
  FROM ranked LEFT JOIN made ON made.plot_id = ranked.plot_id GROUP BY up_to
)
SELECT sum(plots) OVER (ORDER BY up_to) AS plots, coalesce(sum(actors) OVER (ORDER BY up_to), 0) AS actors,
       coalesce(sum(examples) OVER (ORDER BY up_to), 0) AS examples,
       coalesce(sum(labels) OVER (ORDER BY up_to), 0) AS labels
FROM steps ORDER BY plots"""


def labels() -> str:
    """Emo Pillars Figures 3 and 4: how often each emotion was asked for, and how often it is expressed."""
    return f"""
WITH asked AS (
  SELECT primary_label AS label, count(*) AS primary_labels FROM emo_pillars.examples GROUP BY primary_label
), expressed AS (
  SELECT one.label, count(*) AS labels, round(avg(one.level), 4) AS mean_level FROM {_LABELLED} GROUP BY one.label
)
SELECT polarities.label, polarity, coalesce(primary_labels, 0) AS primary_labels, coalesce(labels, 0) AS labels,
       mean_level
FROM {_polarities()} LEFT JOIN asked ON asked.label = polarities.label
LEFT JOIN expressed ON expressed.label = polarities.label
ORDER BY labels DESC, label"""


MAPPED = """
SELECT raw_label, label, count(*) AS rows, round(avg(level), 4) AS mean_level
FROM emo_pillars.soft_labels WHERE was_mapped GROUP BY raw_label, label ORDER BY rows DESC, raw_label"""

READING = """
WITH runs AS (
  SELECT stage, unit, rows_in, rows_out, rows_dropped,
         row_number() OVER (PARTITION BY stage ORDER BY started DESC) AS age
  FROM ops.stage_runs WHERE event = 'done' AND stage LIKE 'emo\\_pillars\\_%' AND stage NOT LIKE '%\\_ask\\_%'
), lines AS (
  SELECT stage, count(*) AS lines_left_out FROM ops.dropped WHERE unit = 'line' GROUP BY stage
)
SELECT runs.stage, unit, rows_in, rows_out, rows_dropped, round(try_divide(rows_out, rows_in), 4) AS share_read,
       coalesce(lines_left_out, 0) AS lines_left_out
FROM runs LEFT JOIN lines ON lines.stage = runs.stage WHERE age = 1 ORDER BY runs.stage"""


def emo_pillars_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.emo_pillars_scale": ("Emo Pillars 4, 7: the data set's size, the paper's beside ours.", scale()),
        "analysis.emo_pillars_yield": ("Emo Pillars C: examples from the first so many plots.", yields()),
        "analysis.emo_pillars_labels": ("Emo Pillars Figures 3 and 4: emotions asked for and expressed.", labels()),
        "analysis.emo_pillars_mapped_labels": ("Emotions out of the taxonomy, and what they count as.", MAPPED),
        "analysis.emo_pillars_reading": ("How many of each step's answers could be read (not in the paper).", READING),
    }
