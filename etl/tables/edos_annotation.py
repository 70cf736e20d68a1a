"""Tables of the crowd's annotation and of the audit: HITs, files, answers and votes (EDOS 3.2, 4)."""

from etl.tables.edos import LABELLED_HISTORY
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

AUDIT_TASKS = Table(
    "edos.audit_tasks",
    "One finished turn drawn for the audit, as an item of a HIT.",
    f"{_TASK}, stratum_turns bigint COMMENT 'finished turns of its label and band'",
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

AUDIT_FILES = Table("edos.audit_files", "One file of the batch that was written for the audit.", FILE, ("path",))

ANSWERS = Table(
    "edos.answers",
    "One worker's answer to one item of a HIT, as the annotation page gave it.",
    """
    hit_id string, item_id string, worker_id string, batch_id string, purpose string COMMENT 'crowd or audit',
    dialogue_id string, turn int, turns array<string>, answer string COMMENT 'as given',
    label string COMMENT 'of the answer, in the taxonomy; else null', specified boolean COMMENT 'Other, and named',
    quiz_label string COMMENT 'the right answer of a quiz item', model_label string, confidence float, band string,
    stratum_turns bigint, whole_hit boolean COMMENT 'the worker answered every item of it',
    seconds double COMMENT 'by the page\\'s clock, a claim', submitted string COMMENT 'a claim',
    signed boolean COMMENT 'it came by a signed link; null: worker_id is a claim'
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

LLM_ANNOTATOR_TURNS = Table(
    "edos.llm_annotator_turns",
    "One held-out turn of the crowd that a language model is asked about (ours).",
    """
    dialogue_id string, turn int, turns array<string>, label string COMMENT 'of the crowd: the majority',
    votes array<string> COMMENT 'labels as voted, in order of worker_id',
    history_hash string COMMENT 'sha256 of the turns',
    weak_label string COMMENT 'the most probable one to the weak labeler',
    offered array<string> COMMENT 'the three most probable labels to the weak labeler, shuffled (EDOS 3.2)'
    """,
    ("dialogue_id", "turn"),
)

LLM_ANNOTATIONS = Table(
    "edos.llm_annotations",
    "A language model's label of one turn, asked in one way (ours).",
    """
    dialogue_id string, turn int,
    way string COMMENT 'offered: three labels were proposed beside all the others; all: none was',
    model string COMMENT 'identity of the language model', label string,
    request struct<request_id: string, prompt_hash: string, model: string>
      COMMENT 'of its answer in llm.edos_llm_annotator'
    """,
    ("dialogue_id", "turn", "way"),
    {"way_is_known": "way IN ('offered', 'all')"},
)

LLM_ANNOTATOR_SCORES = Table(
    "edos.llm_annotator_scores",
    "The dialogue classifier's answer to one turn that a language model is asked about, once per model.",
    LABELLED_HISTORY,
    ("history_hash", "model"),
)

LLM_ANNOTATOR_AGREEMENT = Table(
    "edos.llm_annotator_agreement",
    "How well one rater agrees with the crowd on the turns that a language model was asked about (ours).",
    """
    rater string COMMENT 'language model, classifier, weak labeler, crowd worker, or a floor',
    way string COMMENT 'how it was asked: offered or all; empty: there is one way',
    model string COMMENT 'identity of the model; empty: it is none',
    answers bigint COMMENT 'answers that are compared with a label; of the crowd: votes where the others agree',
    unread bigint COMMENT 'of them, without a label that could be read: they count as wrong',
    accuracy double COMMENT 'share equal to the majority; of a vote: to the label of the others',
    accuracy_low double COMMENT 'lower end of the interval at 95 % (Wilson)',
    accuracy_high double COMMENT 'its upper end',
    macro_f1 double COMMENT 'mean F1 of the labels that occur in the truth',
    macro_f1_low double COMMENT 'lower end of the interval at 95 % (bootstrap over turns)',
    macro_f1_high double COMMENT 'its upper end',
    kappa double COMMENT 'of Cohen',
    vote_agreement double COMMENT 'share of single votes that the answer equals; of the crowd: of the other votes'
    """,
    ("rater", "way", "model"),
)
