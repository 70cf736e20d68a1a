"""Tables of the crowd's annotation: HITs, files, answers and votes (EDOS 3.2)."""

from etl.tables.model import Table

READABILITY = Table(
    "edos.readability",
    "How easily a confidently labelled turn reads with its history (EDOS A).",
    """
    dialogue_id string, turn int, label string COMMENT 'weak label', confidence float,
    band string COMMENT 'of the weak confidence: its lower edge', history_hash string,
    tokens bigint, distinct_tokens bigint,
    count_sum bigint COMMENT 'sum over its tokens of their counts in all clean dialogues', corpus_tokens bigint,
    f double COMMENT 'how frequent its words are', d double COMMENT 'how many of its words differ',
    readability double COMMENT 'f + 0.04 d'
    """,
    ("dialogue_id", "turn"),
)

_TASK = """
    hit_id string, position int COMMENT 'from 1', item_id string COMMENT 'tells nothing of the item',
    dialogue_id string, turn int, turns array<string> COMMENT 'the dialogue up to and with the labelled turn',
    options array<string> COMMENT 'the labels offered, in the order shown',
    quiz_label string COMMENT 'the right answer; null where it is not known',
    label string COMMENT 'of the weak labeler', confidence float, band string
    """

ANNOTATION_TASKS = Table(
    "edos.annotation_tasks",
    "One item of a HIT for the crowd: a turn with its history, or a quiz item (EDOS 3.2).",
    f"{_TASK}, rank int COMMENT 'in its class, by band and readability', readability double",
    ("hit_id", "position"),
)

FILE = """
    batch_id string, name string, path string, bytes bigint, sha256 string, hits int, items int
    """

ANNOTATION_FILES = Table(
    "edos.annotation_files",
    "One file of the batch of HITs that was written for the crowd.",
    FILE,
    ("path",),
)

ANSWERS = Table(
    "edos.answers",
    "One worker's answer to one item of a HIT, as the annotation page gave it.",
    """
    hit_id string, item_id string, worker_id string, batch_id string, purpose string COMMENT 'crowd',
    dialogue_id string, turn int, turns array<string>, answer string COMMENT 'as given',
    label string COMMENT 'of the answer, in the taxonomy; else null', specified boolean COMMENT 'Other, and named',
    quiz_label string COMMENT 'the right answer of a quiz item', model_label string, confidence float, band string,
    whole_hit boolean COMMENT 'the worker answered every item of it',
    seconds double COMMENT 'by the page\\'s clock, a claim', submitted string COMMENT 'a claim'
    """,
    ("hit_id", "item_id", "worker_id"),
    {"purpose_is_known": "purpose IN ('crowd', 'audit')"},
)

ASSIGNMENTS = Table(
    "edos.assignments",
    "One HIT as one worker did it: quiz, time and pay (EDOS 3.2, 7).",
    """
    hit_id string, worker_id string, batch_id string, purpose string, answers int,
    quiz int COMMENT 'quiz items answered', quiz_right int, passed boolean COMMENT 'null without a quiz',
    seconds double, unusually_long boolean COMMENT 'above the third quartile by 1.5 interquartile ranges',
    reward decimal(9, 2), bonus decimal(9, 2)
    """,
    ("hit_id", "worker_id"),
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
