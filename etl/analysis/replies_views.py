"""The response generators as SQL views: EDOS Tables 7 and 10 beside ours, and whether asked intents are read."""

SOURCES = ("os", "edos", "empathetic")
# Table 7 as printed: perplexity, distinct-1, distinct-2, sentence embedding similarity on each of SOURCES.
PAPER_TABLE_7 = (
    ("pretrained", ((24.8, 0.046, 0.159, 0.172), (37.8, 0.046, 0.154, 0.126), (564.6, 0.044, 0.167, 0.178))),
    ("edos", ((26.9, 0.044, 0.139, 0.162), (32.3, 0.056, 0.165, 0.137), (452.6, 0.031, 0.107, 0.176))),
    ("empathetic", ((88.9, 0.030, 0.109, 0.174), (140.8, 0.028, 0.096, 0.130), (19.3, 0.026, 0.091, 0.316))),
)
# Table 10 as printed: parameters, epochs, seconds, validation perplexity.
PAPER_TABLE_10 = (
    ("pretrained", 121_000_000, 50, 615_600, 24.51),
    ("edos", 121_000_000, 5, 15_228, 31.78),
    ("empathetic", 121_000_000, 9, 1_170, 21.04),
)


def table_7() -> str:
    """EDOS Table 7: each generator on each test set."""
    printed = ", ".join(
        f"({place}, '{generator}', '{source}', {ppl}D, {d1}D, {d2}D, {ses}D)"
        for place, (generator, cells) in enumerate(PAPER_TABLE_7, 1)
        for source, (ppl, d1, d2, ses) in zip(SOURCES, cells, strict=True)
    )
    return f"""
WITH paper AS (
  SELECT * FROM VALUES {printed} AS printed(place, generator, source, perplexity, distinct_1, distinct_2, similarity)
)
SELECT paper.generator, paper.source, IF(paper.generator = IF(paper.source = 'os', 'pretrained', paper.source),
       'held-out', 'zero-shot') AS setting, ours.examples, ours.perplexity, ours.word_perplexity,
       round(ours.distinct_1, 3) AS distinct_1, round(ours.distinct_2, 3) AS distinct_2,
       round(ours.similarity, 3) AS similarity,
       ours.perplexity = min(ours.perplexity) OVER (PARTITION BY paper.source) AS likeliest,
       paper.perplexity AS paper_perplexity, paper.distinct_1 AS paper_distinct_1,
       paper.distinct_2 AS paper_distinct_2, paper.similarity AS paper_similarity
FROM paper LEFT JOIN replies.evaluation AS ours ON ours.generator = paper.generator AND ours.source = paper.source
ORDER BY place, array_position(array({", ".join(f"'{source}'" for source in SOURCES)}), paper.source)"""


def table_10() -> str:
    """EDOS Table 10: how each generator was trained."""
    printed = ", ".join(
        f"({place}, '{generator}', {parameters}L, {epochs}, {seconds}D, {perplexity}D)"
        for place, (generator, parameters, epochs, seconds, perplexity) in enumerate(PAPER_TABLE_10, 1)
    )
    return f"""
WITH paper AS (
  SELECT * FROM VALUES {printed} AS printed(place, generator, parameters, epochs, seconds, perplexity)
)
SELECT paper.generator, ours.parameters, ours.best_epoch AS epochs, ours.epochs AS epochs_run,
       round(ours.seconds / 3600, 2) AS hours, round(ours.validation_perplexity, 2) AS validation_perplexity,
       round(ours.validation_word_perplexity, 1) AS validation_word_perplexity,
       paper.parameters AS paper_parameters, paper.epochs AS paper_epochs,
       round(paper.seconds / 3600, 2) AS paper_hours,
       paper.perplexity AS paper_validation_perplexity
FROM paper LEFT JOIN replies.trainings AS ours ON ours.generator = paper.generator ORDER BY place"""


STEERING = """
WITH answers AS (
  SELECT steered.generator, steered.intent, readings.model AS reader, readings.label
  FROM replies.steered AS steered JOIN replies.intent_readings AS readings USING (history_hash)
  WHERE steered.error IS NULL AND readings.error IS NULL
), asked AS (
  SELECT reader, intent, count(*) AS replies, count_if(label = intent) AS read_as
  FROM answers WHERE intent IS NOT NULL GROUP BY reader, intent
), unasked AS (
  SELECT reader, generator, label, count(*) AS n, sum(count(*)) OVER (PARTITION BY reader, generator) AS total
  FROM answers WHERE intent IS NULL GROUP BY reader, generator, label
), totals AS (SELECT reader, generator, max(total) AS total FROM unasked GROUP BY reader, generator
), rates AS (
  SELECT asked.reader, asked.intent, asked.replies, asked.read_as / asked.replies AS asked_rate,
         IF(same.total > 0, coalesce(own.n, 0) / same.total, NULL) AS unasked_rate,
         IF(plain.total > 0, coalesce(other.n, 0) / plain.total, NULL) AS plain_rate
  FROM asked
  LEFT JOIN totals AS same ON same.reader = asked.reader AND same.generator = 'steered'
  LEFT JOIN totals AS plain ON plain.reader = asked.reader AND plain.generator = 'empathetic'
  LEFT JOIN unasked AS own
    ON own.reader = asked.reader AND own.generator = 'steered' AND own.label = asked.intent
  LEFT JOIN unasked AS other
    ON other.reader = asked.reader AND other.generator = 'empathetic' AND other.label = asked.intent
), shown AS (
  SELECT 1 AS place, * FROM rates
  UNION ALL
  SELECT 0, reader, 'all', sum(replies), avg(asked_rate), avg(unasked_rate), avg(plain_rate)
  FROM rates GROUP BY reader
)
SELECT reader, intent, replies, round(asked_rate, 4) AS asked_rate, round(unasked_rate, 4) AS unasked_rate,
       round(plain_rate, 4) AS plain_rate, round(try_divide(asked_rate, plain_rate), 2) AS times_plain
FROM shown ORDER BY reader, place, asked_rate DESC, intent"""


def replies_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.edos_table_7": (
            "EDOS Table 7: response generators by perplexity, distinct-1, -2 and similarity, the paper's beside ours.",
            table_7(),
        ),
        "analysis.edos_table_10": (
            "EDOS Table 10: parameters, epochs, time and validation perplexity of each generator, the paper's beside.",
            table_10(),
        ),
        "analysis.reply_intents": (
            "How often each asked intent is read in the reply: asked, unasked, and by the generator that takes none.",
            STEERING,
        ),
    }
