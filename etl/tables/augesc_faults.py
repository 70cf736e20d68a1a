"""Tables of the faults of conversations: classifiers' scores of utterances, and the faults (AugESC 6.4)."""

from etl.tables.model import Table

UTTERANCE_EMBEDDINGS = Table(
    "augesc.utterance_embeddings",
    "The sentence encoder's embedding of one distinct utterance, computed once per model (AugESC 6.4).",
    "text_hash string, model string COMMENT 'identity', embedding array<float>, error string",
    ("text_hash", "model"),
)

TOPIC_SCORES = Table(
    "augesc.topic_scores",
    "The similarity of one utterance to the utterances before it (AugESC 6.4, topic transition).",
    """
    text_id string, turn int COMMENT 'from 0', neighbour_similarity double COMMENT 'cosine with the utterance before',
    before_similarity double COMMENT 'with the mean of all before', other_similarity double
    COMMENT 'with the mean of another conversation of the set, for comparison'
    """,
    ("text_id", "turn"),
)

TOXICITY_SCORES = Table(
    "augesc.toxicity_scores",
    "How toxic one distinct utterance is, by a classifier, or by a list of words where model is none (ours).",
    "text_hash string, model string COMMENT 'identity; none: the list', score float, error string",
    ("text_hash", "model"),
)

CONTRADICTION_SCORES = Table(
    "augesc.contradiction_scores",
    "How much two statements of one speaker contradict each other, by a model of entailment (AugESC 6.4).",
    "text_hash string COMMENT 'of both statements', model string COMMENT 'identity', score float, error string",
    ("text_hash", "model"),
)

STATEMENT_PAIRS = Table(
    "augesc.statement_pairs",
    "Two statements of one speaker that speak of one thing, the earlier one first (AugESC 6.4).",
    "text_id string, role string, text_hash string COMMENT 'of both', first string, second string, similarity double",
    ("text_id", "role", "text_hash"),
)

FAULTS = Table(
    "augesc.faults",
    "One text and how often each fault was found in it: inconsistency, topic shifts, toxicity (AugESC 6.4).",
    """
    text_id string, method string, source string, utterances int,
    confused int COMMENT 'utterances as the other role speaks',
    confusion string COMMENT 'the first', statement_pairs int COMMENT 'that the classifier scored',
    contradictory_pairs int, topical int COMMENT 'utterances long enough to be about something',
    shifted int COMMENT 'of these far from all before', shifted_supporter int, other_shifted int
    COMMENT 'as many would be if they stood in another conversation', mean_similarity double,
    mean_other_similarity double, toxic int COMMENT 'utterances', toxic_by string
    """,
    ("text_id",),
)
