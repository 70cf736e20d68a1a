"""Expansion as SQL views: origins beside the paper's, Table 8 at any threshold, our encoder on the released pairs."""

PAPER_ORIGINS = (("crowd", 8_913), ("similar", 3_196), ("self", 4_100), ("similar_self", 2_118))
"""EDOS 3.2 and 3.3; the paper sums them up as about 14 K, they are 18,327."""

STEP = 0.01
SAMPLES = 3


def origins() -> str:
    """Training rows by origin, and the paper's."""
    paper = ", ".join(f"({place}, '{origin}', {rows})" for place, (origin, rows) in enumerate(PAPER_ORIGINS, 1))
    return f"""
WITH paper AS (SELECT * FROM VALUES {paper} AS origins(place, origin, paper)),
ours AS (
  SELECT origin, count(*) AS rows, count_if(split = 'train') AS train, count_if(split = 'validation') AS validation,
         count_if(split = 'test') AS test, count(DISTINCT label) AS labels, round(min(score), 4) AS least_score
  FROM edos.training_dialogues GROUP BY origin
), both AS (
  SELECT paper.place, paper.origin, coalesce(rows, 0) AS rows, coalesce(train, 0) AS train,
         coalesce(validation, 0) AS validation, coalesce(test, 0) AS test, coalesce(labels, 0) AS labels,
         least_score, paper.paper
  FROM paper LEFT JOIN ours ON ours.origin = paper.origin
)
SELECT * FROM both
UNION ALL
SELECT 5, 'total', sum(rows), sum(train), sum(validation), sum(test), NULL, NULL, sum(paper) FROM both
ORDER BY place"""


def similarity_thresholds() -> str:
    """EDOS Table 8 for every threshold from the floor on: how many dialogues it takes, and pairs just above it."""
    return f"""
WITH matches AS (
  SELECT 'similar' AS origin, * FROM edos.similar_matches WHERE label IS NOT NULL
  UNION ALL SELECT 'similar_self' AS origin, * FROM edos.similar_self_matches
), best AS (
  SELECT origin, dialogue_id, turn, max(score) AS score, min_by(label, rank) AS label, min_by(seed_id, rank) AS seed_id,
         CAST(floor(round(max(score) / {STEP}, 2)) AS int) AS band, count(DISTINCT label) > 1 AS rivals
  FROM matches GROUP BY origin, dialogue_id, turn
), counted AS (
  SELECT origin, band, count(*) AS dialogues, count_if(rivals) AS with_rival FROM best GROUP BY origin, band
), texts AS (
  SELECT 'similar' AS origin, concat_ws('/', dialogue_id, turn) AS seed_id, turns FROM edos.seeds
  UNION ALL SELECT 'similar_self', concat_ws('/', dialogue_id, turn), turns FROM edos.self_labelled
), told AS (
  SELECT best.origin, best.band, best.score, best.label, texts.turns AS labelled,
         transform(dialogues.turns, turn -> turn.text) AS similar,
         row_number() OVER (PARTITION BY best.origin, best.band ORDER BY xxhash64(best.dialogue_id)) AS place
  FROM best JOIN texts ON texts.seed_id = best.seed_id AND texts.origin = best.origin
  JOIN subtitles.clean_dialogues AS dialogues ON dialogues.dialogue_id = best.dialogue_id
), samples AS (
  SELECT origin, band, collect_list(named_struct('score', score, 'label', label,
         'labelled', array_join(labelled, ' | '), 'similar', array_join(similar, ' | '))) AS samples
  FROM told WHERE place <= {SAMPLES} GROUP BY origin, band
)
SELECT counted.origin, CAST(round(counted.band * {STEP}, 2) AS double) AS threshold,
       sum(counted.dialogues) OVER above AS dialogues, sum(counted.with_rival) OVER above AS with_rival_label,
       samples.samples
FROM counted LEFT JOIN samples ON samples.origin = counted.origin AND samples.band = counted.band
WINDOW above AS (PARTITION BY counted.origin ORDER BY counted.band DESC)
ORDER BY origin, threshold DESC"""


RELEASED_PAIRS = """
WITH hashed AS (
  SELECT origin, dialogue_id, label, score AS released_score, matched_id, turns, matched_turns,
         sha2(concat_ws('', transform(turns, turn -> sha2(turn, 256))), 256) AS history_hash,
         sha2(concat_ws('', transform(matched_turns, turn -> sha2(turn, 256))), 256) AS matched_hash
  FROM edos.released_dialogues WHERE matched_turns IS NOT NULL
)
SELECT hashed.origin, hashed.dialogue_id, hashed.matched_id, hashed.label, hashed.released_score,
       round(aggregate(zip_with(ours.embedding, theirs.embedding, (x, y) -> CAST(x AS double) * y), 0D,
                       (total, product) -> total + product), 4) AS our_score,
       ours.model, array_join(hashed.matched_turns, ' | ') AS labelled, array_join(hashed.turns, ' | ') AS similar
FROM hashed JOIN edos.dialogue_embeddings AS ours ON ours.history_hash = hashed.history_hash
JOIN edos.dialogue_embeddings AS theirs ON theirs.history_hash = hashed.matched_hash AND theirs.model = ours.model
ORDER BY origin, our_score DESC, dialogue_id"""


THRESHOLD_AGREEMENT = """
WITH nearest AS (
  SELECT dialogue_id, turn, max(score) AS score, min_by(label, rank) AS label
  FROM edos.similar_matches WHERE label IS NOT NULL GROUP BY dialogue_id, turn
), judged AS (
  SELECT CAST(floor(round(nearest.score / 0.05, 4)) AS int) AS band, nearest.label = released.label AS agrees
  FROM nearest JOIN edos.released_dialogues AS released
    ON released.dialogue_id = nearest.dialogue_id AND released.turn = nearest.turn
  WHERE released.origin IN ('self', 'similar_self')
), banded AS (
  SELECT band, count(*) AS dialogues, count_if(agrees) AS agreeing FROM judged GROUP BY band
)
SELECT CAST(round(band * 0.05, 2) AS double) AS threshold, sum(dialogues) OVER above AS dialogues,
       round(100.0 * sum(agreeing) OVER above / sum(dialogues) OVER above, 1) AS percent_of_one_label
FROM banded WINDOW above AS (ORDER BY band DESC)
ORDER BY threshold DESC"""


def expansion_views() -> dict[str, tuple[str, str]]:
    """View name to (comment, SQL)."""
    return {
        "analysis.edos_origins": (
            "Labelled turns by origin, the paper's counts (EDOS 3.2, 3.3) beside ours.", origins(),
        ),
        "analysis.edos_similarity_thresholds": (
            "EDOS Table 8 at every threshold: how many dialogues it labels, and sample pairs just above it.",
            similarity_thresholds(),
        ),
        "analysis.edos_threshold_agreement": (
            "By threshold: released self-labelled dialogues whose nearest crowd-labelled one has their label (ours).",
            THRESHOLD_AGREEMENT,
        ),
        "analysis.edos_released_pairs": (
            "Each released pair of similar dialogues: the authors' cosine and ours.", RELEASED_PAIRS,
        ),
    }  # fmt: skip
