"""The AugESC path as SQL views: the paper's tables beside ours."""

from etl.augesc.requirements import REQUIREMENTS

# Table 1 as printed, in percent: what wrote the texts, where the queries came from, the eight requirements, retention.
PAPER_TABLE_1 = (
    ("untuned", "ed", "GPT-3 (ED)", (24.8, 0.0, 8.9, 0.0, 0.2, 11.2, 36.7, 37.8), 17.2),
    ("augmenter", "ed", "GPT-J (ED)", (0.3, 3.1, 17.8, 3.9, 5.2, 2.4, 25.3, 27.4), 49.1),
    ("augmenter", "reddit", "GPT-J (Reddit)", (0.7, 5.6, 18.8, 4.8, 5.3, 2.6, 22.7, 26.4), 48.7),
)
RETENTION = "final_retention"


def table_1() -> str:
    """AugESC Table 1: the share of texts that violate each requirement, and that violate none."""
    printed = [
        f"('{method}', '{source}', '{name}', '{requirement}', {value}D)"
        for method, source, name, shares, kept in PAPER_TABLE_1
        for requirement, value in (*zip(REQUIREMENTS, shares, strict=True), (RETENTION, kept))
    ]
    names = (*REQUIREMENTS, RETENTION)
    places = ", ".join(f"({place}, '{name}')" for place, name in enumerate(names, 1))
    counts = ", ".join(f"'{name}', count_if({name if name != RETENTION else 'kept'})" for name in names)
    return f"""
WITH requirements AS (SELECT * FROM VALUES {places} AS named(place, requirement)
), paper AS (
  SELECT * FROM VALUES {", ".join(printed)} AS printed(method, source, paper_name, requirement, paper_percent)
), sizes AS (
  SELECT method, source, count(*) AS texts, map({counts}) AS counted FROM augesc.violations GROUP BY method, source
), ours AS (
  SELECT method, source, texts, requirement, number FROM sizes LATERAL VIEW explode(counted) AS requirement, number
)
SELECT coalesce(ours.method, paper.method) AS method, coalesce(ours.source, paper.source) AS source,
       requirements.place, requirements.requirement, ours.texts, ours.number,
       round(100 * ours.number / ours.texts, 1) AS percent, paper.paper_percent, paper.paper_name
FROM ours FULL JOIN paper
  ON ours.method = paper.method AND ours.source = paper.source AND ours.requirement = paper.requirement
JOIN requirements ON requirements.requirement = coalesce(ours.requirement, paper.requirement)
ORDER BY method, source, place"""


# Table 2 as printed: data set, sessions, tokens of a session, distinct words; then for seekers and supporters:
# utterances, utterances a session, tokens of an utterance, distinct words.
PAPER_TABLE_2 = (
    ("esconv", (1_300, 543.7, 15_000), (20_000, 15.4, 16.8, 11_000), (18_000, 13.6, 21.0, 11_000)),
    ("ed", (53_000, 528.4, 55_000), (656_000, 12.4, 19.8, 37_000), (657_000, 12.5, 22.7, 44_000)),
    ("reddit", (49_000, 599.0, 60_000), (586_000, 11.9, 25.1, 42_000), (590_000, 11.9, 25.2, 41_000)),
    ("total", (102_000, 562.5, 84_000), (1_240_000, 12.2, 22.3, 56_000), (1_250_000, 12.2, 23.9, 61_000)),
)
BOTH = ("sessions", "session_length", "unique_words")
OF_ROLE = ("utterances", "utterances_per_session", "utterance_length", "unique_words")


def table_2() -> str:
    """AugESC Table 2: sizes and lengths, by set and role; lengths in NLTK tokens, greetings of supporters removed."""
    printed = [
        f"({place}, '{name}', '{role}', '{measure}', {value}D)"
        for place, (name, *figures) in enumerate(PAPER_TABLE_2)
        for role, measures, values in zip(
            ("both", "seeker", "supporter"), (BOTH, OF_ROLE, OF_ROLE), figures, strict=True
        )
        for measure, value in zip(measures, values, strict=True)
    ]
    return f"""
WITH paper AS (
  SELECT * FROM VALUES {", ".join(printed)} AS printed(place, data_set, role, measure, paper)
)
SELECT coalesce(ours.data_set, paper.data_set) AS data_set, coalesce(ours.role, paper.role) AS role,
       coalesce(ours.measure, paper.measure) AS measure, round(ours.value, 1) AS value, paper.paper
FROM augesc.statistics AS ours FULL JOIN paper
  ON ours.data_set = paper.data_set AND ours.role = paper.role AND ours.measure = paper.measure
ORDER BY coalesce(paper.place, 99), data_set, role, measure"""


FIGURE_3 = """
WITH answered AS (
  SELECT text_id, method, source, turns[0].tokens AS query_tokens,
         aggregate(slice(turns, 2, size(turns)), 0, (total, turn) -> total + turn.tokens) / (size(turns) - 1)
           AS mean_utterance_tokens,
         row_number() OVER (PARTITION BY method, source ORDER BY sha2(text_id, 256)) AS nth
  FROM augesc.measured_texts WHERE method != 'people' AND size(turns) > 1
)
SELECT text_id, method, source, query_tokens, round(mean_utterance_tokens, 2) AS mean_utterance_tokens,
       round(avg(mean_utterance_tokens) OVER (PARTITION BY method, source), 2) AS mean_of_all
FROM answered WHERE nth <= 2000 ORDER BY method, source, query_tokens, text_id"""

FIGURE_4 = """
SELECT data_set, role, rank, word, round(z) AS z, z > 3 AS highly_significant, number, others
FROM augesc.typical_words WHERE rank <= 10 ORDER BY role, data_set, rank"""

FIGURE_5 = "SELECT data_set, sessions, unique_bigrams FROM augesc.bigram_growth ORDER BY data_set, sessions"

DISTRIBUTIONS = """
WITH said AS (
  SELECT source AS data_set, text_id AS session_id, turns FROM augesc.measured_texts WHERE method = 'people'
  UNION ALL SELECT source, conversation_id, turns FROM augesc.conversations
), lines AS (SELECT data_set, session_id, inline(turns) FROM said
), numbers AS (
  SELECT data_set, role, 'utterances_per_session' AS measure, count(*) AS value FROM lines
  GROUP BY data_set, role, session_id
  UNION ALL SELECT data_set, role, 'utterance_length', CAST(floor(tokens / 5) * 5 AS bigint) FROM lines
)
SELECT data_set, role, measure, value AS from_value, count(*) AS number,
       round(count(*) / sum(count(*)) OVER (PARTITION BY data_set, role, measure), 4) AS share
FROM numbers GROUP BY data_set, role, measure, value ORDER BY data_set, role, measure, from_value"""

EMOTIONS = """
WITH kept AS (
  SELECT query_id, count(*) AS conversations FROM augesc.conversations GROUP BY query_id
)
SELECT source AS data_set, 'emotion' AS kind, coalesce(emotion, '(none)') AS name, count(*) AS queries,
       coalesce(sum(kept.conversations), 0) AS conversations
FROM augesc.queries AS asked LEFT JOIN kept ON kept.query_id = asked.query_id GROUP BY 1, 2, 3
UNION ALL
SELECT CASE WHEN contrast THEN 'failed_esconv' ELSE 'esconv' END, kind, name, CAST(NULL AS bigint), count(*)
FROM augesc.sessions LATERAL VIEW stack(2, 'emotion', emotion, 'problem', problem) AS kind, name
WHERE name IS NOT NULL GROUP BY 1, 2, 3
ORDER BY data_set, kind, conversations DESC, name"""

TRAINING_DRAW = """
SELECT problem, max(available) AS available, count(*) AS drawn
FROM augesc.training_sessions GROUP BY problem ORDER BY available DESC, problem"""


def augesc_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.augesc_training_draw": (
            "Sessions drawn to tune on, by problem type, and how many there were (AugESC 4.1).", TRAINING_DRAW,
        ),
        "analysis.augesc_table_1": (
            "AugESC Table 1: texts that violate each requirement, and that are kept; the paper's percent beside ours.",
            table_1(),
        ),
        "analysis.augesc_table_2": (
            "AugESC Table 2: sizes, lengths and distinct words by set and role; the paper's beside ours.", table_2(),
        ),
        "analysis.augesc_distributions": (
            "The figures under AugESC Table 2: conversations by utterances, utterances by length.", DISTRIBUTIONS,
        ),
        "analysis.augesc_emotions": (
            "Queries and conversations by the query's emotion; people's sessions by emotion and problem.", EMOTIONS,
        ),
        "analysis.augesc_figure_3": (
            "AugESC Figure 3: a query's length and that of the utterances after it, in 2,000 unfiltered texts each.",
            FIGURE_3,
        ),
        "analysis.augesc_figure_4": (
            "AugESC Figure 4: the ten words most typical of each set's seekers and supporters.", FIGURE_4,
        ),
        "analysis.augesc_figure_5": ("AugESC Figure 5: different bigrams by number of conversations.", FIGURE_5),
    }  # fmt: skip
