"""Tables of Emo Pillars' analysis and human evaluation (Emo Pillars 7, 8, G, H, I)."""

from etl.tables.edos_annotation import FILE
from etl.tables.model import Table

TEXT_EMBEDDINGS = Table(
    "emo_pillars.text_embeddings",
    "The analysis encoder's embedding of one distinct text, computed once per model (Emo Pillars 7).",
    "text_hash string, model string COMMENT 'identity', embedding array<float>, error string",
    ("text_hash", "model"),
)


SIMILARITIES = Table(
    "emo_pillars.similarities",
    "How alike the texts of one sample are, pair by pair (Emo Pillars 7, Table 12).",
    """
    kind string COMMENT 'texts compared', label string COMMENT 'emotion, empty for all', pairs bigint, mean double,
    deviation double, percentile_99 double COMMENT 'to 0.001', model string
    """,
    ("kind", "label"),
)

CHANGES = Table(
    "emo_pillars.changes",
    "What cleaning and rewriting changed in one example (Emo Pillars 7).",
    """
    utterance_id string, utterance_tokens int, rewritten_tokens int,
    partial_ratio int COMMENT 'percent of the shorter utterance found in the longer', context_tokens int
    COMMENT 'as it was made', clean_context_tokens int, utterance_similarity double, context_similarity double
    """,
    ("utterance_id",),
)

TOPICS = Table(
    "emo_pillars.topics",
    "One topic among the utterances of an emotion: a community of their similarity graph (Emo Pillars 7, H).",
    """
    emotion string, topic int COMMENT 'the largest is 1', utterances int, keywords array<string>,
    examples array<string> COMMENT 'the first by id, at most 20'
    """,
    ("emotion", "topic"),
)

TOPIC_NAMES = Table(
    "emo_pillars.topic_names",
    "A language model's name of a large topic; no row without a language model (Emo Pillars H).",
    "emotion string, topic int, name string COMMENT 'ten words at most'",
    ("emotion", "topic"),
)

TOPIC_CATEGORIES = Table(
    "emo_pillars.topic_categories",
    "The broad category of a named topic; no row without a language model (Emo Pillars H).",
    "emotion string, topic int, category string COMMENT 'two words at most'",
    ("emotion", "topic"),
)

QUERY_EXAMPLES = Table(
    "emo_pillars.query_examples",
    "One example that is near a query, the nearest first: a topic whose emotions are counted (Emo Pillars 7).",
    "rank int, utterance_id string, similarity double, utterance string, labels array<string>",
    ("rank",),
)

MARKERS = Table(
    "emo_pillars.markers",
    "An adverb that rewriting removes, and an emotion that it occurs with (Emo Pillars G, Table 9).",
    """
    word string, label string, occurrences bigint COMMENT 'in original utterances', left_in bigint
    COMMENT 'in rewritten ones', removed_share double, with_label bigint COMMENT 'occurrences beside the label',
    share double COMMENT 'of its occurrences beside any label', label_share double COMMENT 'of the label at large'
    """,
    ("word", "label"),
)

MARKER_GROUPS = Table(
    "emo_pillars.marker_groups",
    "A marker of a group of emotions that share markers (Emo Pillars G, Table 9).",
    """
    place int COMMENT 'of the group, the largest is 1', emotions array<string> COMMENT 'of the group', word string,
    shared_by array<string> COMMENT 'emotions of the group that it marks, two at least',
    ratio double COMMENT 'of its occurrences beside the group to those beside all emotions that it marks'
    """,
    ("place", "word"),
)

EVALUATION_TASKS = Table(
    "emo_pillars.evaluation_tasks",
    "One example whose label annotators check, as an item of a questionnaire (Emo Pillars I.1).",
    """
    hit_id string, position int, item_id string, utterance_id string, shown string COMMENT 'the utterance as shown',
    rewritten boolean, context string, options array<string> COMMENT 'A to F, emotions joined by an ampersand',
    answer string COMMENT 'letter of the right one; G (none) where it is neutral', ranked boolean
    COMMENT 'its emotions, in the order of their levels', neutral string COMMENT 'alone, beside or none'
    """,
    ("hit_id", "position"),
)

EVALUATION_FILES = Table(
    "emo_pillars.evaluation_files", "One file of the questionnaire on labels that was written.", FILE, ("path",)
)

EVALUATION_ANSWERS = Table(
    "emo_pillars.evaluation_answers",
    "One rater's answer to one question on an example (Emo Pillars I.1).",
    """
    hit_id string, item_id string, worker_id string, batch_id string, utterance_id string, rewritten boolean,
    answer string COMMENT 'of the data set', ranked boolean, neutral string, question string, value string,
    seconds double, submitted string
    """,
    ("hit_id", "item_id", "worker_id", "question"),
)


EVALUATION_SCORES = Table(
    "emo_pillars.evaluation_scores",
    "One figure of the human evaluation (Emo Pillars 8, I.2, Table 14).",
    """
    place int, measure string, rater string COMMENT 'empty: of all', value double,
    number int COMMENT 'of examples or answers that it is of', paper double
    """,
    ("measure", "rater"),
)
