"""Tables of the EDOS path: weak labels, crowd labels, training rows, the finished data set."""

from etl.lakehouse.tables.model import Table

WEAK_SCORES = Table(
    "edos.weak_scores",
    "The weak labeler's answer to one distinct turn text, computed once per model.",
    """
    text_hash string COMMENT 'sha256 of the text',
    model string COMMENT 'identity of the weak labeler',
    top3 array<struct<label: string, confidence: float>>,
    error string COMMENT 'why the model gave no answer; null when it did'
    """,
    ("text_hash", "model"),
)

WEAK_LABELS = Table(
    "edos.weak_labels",
    "One turn's weak label (EDOS 3.1).",
    """
    dialogue_id string, turn int COMMENT 'from 0', text_hash string, model string,
    label string, confidence float, top3 array<struct<label: string, confidence: float>>
    """,
    ("dialogue_id", "turn"),
    {"confidence_is_a_share": "confidence BETWEEN 0 AND 1"},
)

INITIAL = Table(
    "edos.initial",
    "One dialogue chosen as emotional: EDOS (initial), the top N by weak confidence (EDOS 3.1).",
    """
    dialogue_id string, movie_id string, rank int COMMENT '1 is the most confident',
    confidence float COMMENT 'the dialogue\\'s, from those of its turns by edos.dialogue_confidence',
    turns array<string>
    """,
    ("dialogue_id",),
    {"confidence_is_a_share": "confidence BETWEEN 0 AND 1"},
)

ANNOTATIONS = Table(
    "edos.annotations",
    "One worker's answer for one turn with its history.",
    """
    dialogue_id string, turn int, worker_id string,
    turns array<string> COMMENT 'the dialogue up to and with the labelled turn',
    answer string COMMENT 'as the worker gave it', label string COMMENT 'in the taxonomy; else null',
    specified boolean COMMENT 'the worker chose Other and named it',
    band string COMMENT 'weak confidence band of the item', source string
    """,
    ("dialogue_id", "turn", "worker_id"),
)

CROWD_LABELS = Table(
    "edos.crowd_labels",
    "One annotated turn with its history, and what its workers agreed on (EDOS 3.2).",
    """
    dialogue_id string, turn int, turns array<string>,
    label string COMMENT 'the majority\\'s, null without one',
    votes array<string> COMMENT 'labels as voted, in order of worker_id', source string
    """,
    ("dialogue_id", "turn"),
)

TRAINING_DIALOGUES = Table(
    "edos.training_dialogues",
    "One labelled turn with its history, for training or held out.",
    """
    dialogue_id string, turn int, turns array<string>, label string,
    origin string COMMENT 'crowd, similar, self or similar_self',
    score float COMMENT 'cosine or confidence; null for crowd', matched_id string,
    split string COMMENT 'train, validation or test'
    """,
    ("dialogue_id", "turn"),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

DIALOGUE_SCORES = Table(
    "edos.dialogue_scores",
    "The dialogue classifier's answer to one distinct turn with its history, once per model.",
    """
    history_hash string COMMENT 'sha256 of the turns up to and with the labelled one',
    model string, label string, confidence float, error string
    """,
    ("history_hash", "model"),
)

DIALOGUES = Table(
    "edos.dialogues",
    "One finished EDOS dialogue, each turn with label and confidence.",
    """
    dialogue_id string, movie_id string, model string,
    turns array<struct<text: string, label: string, confidence: float>>
    """,
    ("dialogue_id",),
)
