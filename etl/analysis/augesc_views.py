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
    }  # fmt: skip
