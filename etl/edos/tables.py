"""Tables of the EDOS path: weak labels, HITs and votes, training rows, the finished data set."""

from etl.annotation.tables import FILE
from etl.pipeline.tables.model import Table

LABELLED_HISTORY = """
    history_hash string COMMENT 'sha256 of the turns up to and with the labelled one',
    model string, label string, confidence float, error string
"""
"""Columns of a classifier's answer to a turn with its history."""

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
    confidence float COMMENT 'the score that edos.choice ranks by',
    turns array<string>,
    emotion float COMMENT 'from the weak confidences of its turns, by edos.dialogue_confidence',
    certainty float COMMENT 'probability that all its borders are right',
    content float COMMENT 'how much it says, 0 to 1, by its content words; null where edos.choice is not worth',
    exchange float COMMENT 'share of its turns that take up the turn before, others counting 0.3; null likewise',
    formulas float COMMENT 'share of its turns that say next to nothing, such as greetings; null likewise',
    accepted float COMMENT 'mean of its turns: 1 with an accepted emotion, 0.5 with another accepted label, else 0.1'
    """,
    ("dialogue_id",),
    {"confidence_is_a_share": "confidence BETWEEN 0 AND 1"},
)

CROWD_LABELS = Table(
    "edos.crowd_labels",
    "One annotated turn with its history and the label that its workers agreed on (EDOS 3.2).",
    """
    dialogue_id string, turn int, turns array<string>,
    label string COMMENT 'the majority; null without one',
    votes array<string> COMMENT 'labels as voted, in order of worker_id', source string,
    probabilities array<struct<label: string, probability: double>>
      COMMENT 'of the labels, the most probable first: shares of the votes'
    """,
    ("dialogue_id", "turn"),
)

SEEDS = Table(
    "edos.seeds",
    "One turn labelled by the crowd, with its split: a seed of the expansion, the test fifth split off (EDOS 3.3).",
    """
    dialogue_id string, turn int, turns array<string>, label string,
    split string COMMENT 'train, validation or test; only train is expanded from'
    """,
    ("dialogue_id", "turn"),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

RELEASED_DIALOGUES = Table(
    "edos.released_dialogues",
    "One dialogue of the released files that a machine labelled: similar, self or similar_self.",
    """
    origin string, dialogue_id string, turn int, turns array<string>, label string,
    score double COMMENT 'cosine under the encoder of the authors, or confidence',
    matched_id string COMMENT 'the unit that the label came from, <dialogue_id>/<turn>; null for self',
    matched_turns array<string>
    """,
    ("origin", "dialogue_id", "turn"),
    {"origin_is_known": "origin IN ('similar', 'self', 'similar_self')"},
)

TURN_EMBEDDINGS = Table(
    "edos.turn_embeddings",
    "The sentence encoder's embedding of one distinct turn text, computed once per model (EDOS 3.3).",
    """
    text_hash string COMMENT 'sha256 of the text',
    model string COMMENT 'identity of the sentence encoder',
    embedding array<float> COMMENT 'as the model gives it; null with an error',
    error string COMMENT 'why the model gave no answer; null when it did'
    """,
    ("text_hash", "model"),
)

DIALOGUE_EMBEDDINGS = Table(
    "edos.dialogue_embeddings",
    "The embedding of one distinct dialogue: its turns' by half decay, once per model (EDOS 3.3).",
    """
    history_hash string COMMENT 'sha256 of the turns',
    model string COMMENT 'identity of the sentence encoder',
    embedding array<float> COMMENT 'of length 1, so that a product is a cosine; null with an error',
    error string
    """,
    ("history_hash", "model"),
)

_MATCHES = """
    dialogue_id string, turn int COMMENT 'the unlabelled turn', seed_id string COMMENT '<dialogue_id>/<turn>',
    seed_split string, label string COMMENT 'of the seed; null for a held-out one, which only keeps dialogues out',
    score double COMMENT 'cosine, 4 decimals', rank int COMMENT 'from 1 among the labelled, or the held-out'
    """

SIMILAR_MATCHES = Table(
    "edos.similar_matches",
    "One pair of an unlabelled dialogue and a crowd-labelled one, from a floor below the threshold on.",
    _MATCHES,
    ("dialogue_id", "turn", "seed_id"),
)

SIMILAR_SELF_MATCHES = Table(
    "edos.similar_self_matches",
    "One pair of an unlabelled dialogue and a self-labelled one, from the floor on.",
    _MATCHES,
    ("dialogue_id", "turn", "seed_id"),
)

_LABELLED = """
    dialogue_id string, turn int, turns array<string>, label string, origin string,
    score double COMMENT 'cosine or confidence', matched_id string COMMENT '<dialogue_id>/<turn> of the seed',
    source string COMMENT 'pool: found here; released: from the files of the authors'
    """

SIMILAR_DIALOGUES = Table(
    "edos.similar_dialogues",
    "One dialogue that took the label of a similar crowd-labelled one (EDOS 3.3).",
    _LABELLED,
    ("dialogue_id", "turn"),
)

SELF_LABEL_SCORES = Table(
    "edos.self_label_scores",
    "The self-labeler's answer to one distinct dialogue, once per model; confidences are calibrated.",
    """
    history_hash string COMMENT 'sha256 of the turns',
    model string, label string, confidence float, error string
    """,
    ("history_hash", "model"),
)

SELF_LABELLED = Table(
    "edos.self_labelled",
    "One dialogue that the first classifier was confident of (EDOS 3.3).",
    _LABELLED,
    ("dialogue_id", "turn"),
)

SIMILAR_SELF_DIALOGUES = Table(
    "edos.similar_self_dialogues",
    "One dialogue that took the label of a similar self-labelled one (EDOS 3.3).",
    _LABELLED,
    ("dialogue_id", "turn"),
)

TRAINING_DIALOGUES = Table(
    "edos.training_dialogues",
    "One labelled turn with its history, for training or held out.",
    """
    dialogue_id string, turn int, turns array<string>, label string,
    origin string COMMENT 'crowd, similar, self or similar_self',
    score float COMMENT 'cosine or confidence; null for crowd',
    matched_id string COMMENT '<dialogue_id>/<turn> of the dialogue that the label came from',
    split string COMMENT 'train, validation or test'
    """,
    ("dialogue_id", "turn"),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

CLASSIFIER_TRIALS = Table(
    "edos.classifier_trials",
    "One training of the comparison of classifiers, measured on the test fifth (EDOS 3.3.1, C).",
    """
    trial string COMMENT 'hash of all that the training depends on',
    weighted boolean COMMENT 'newer turns weigh more',
    origins array<string> COMMENT 'of the rows trained on', seed int,
    encoder string COMMENT 'identity of the initial encoder',
    train_rows bigint, validation_rows bigint, test_rows bigint,
    best_epoch int COMMENT 'of the lowest validation loss', epochs int, seconds double,
    macro_precision double, macro_recall double, macro_f1 double, accuracy double,
    cross_entropy double, calibration_error double,
    classes array<struct<label: string, precision: double, recall: double, f1: double, support: bigint>>,
    run_id string COMMENT 'of MLflow'
    """,
    ("trial",),
    empty_if_absent=True,
)

DIALOGUE_SCORES = Table(
    "edos.dialogue_scores",
    "The dialogue classifier's answer to one distinct turn with its history, once per model.",
    LABELLED_HISTORY,
    ("history_hash", "model"),
)

HELD_OUT_SCORES = Table(
    "edos.held_out_scores",
    "The dialogue classifier's answer to one held-out turn that people labelled, once per model.",
    LABELLED_HISTORY,
    ("history_hash", "model"),
)

_THRESHOLDS = """
    model string, label string,
    threshold float COMMENT 'least confidence of an accepted label; null: none is',
    predicted bigint COMMENT 'validation rows to which the classifier gives the label',
    accepted bigint COMMENT 'of them, with this confidence or more',
    correct bigint COMMENT 'of these, rows that people gave the label'
    """

LABEL_THRESHOLDS = Table(
    "edos.label_thresholds",
    "The least confidence at which a label of the dialogue classifier is accepted, chosen on validation rows (ours).",
    _THRESHOLDS,
    ("model", "label"),
)

WEAK_LABEL_THRESHOLDS = Table(
    "edos.weak_label_thresholds",
    "The least confidence at which a weak label is accepted, chosen on validation sentences (ours).",
    _THRESHOLDS,
    ("model", "label"),
)

DIALOGUES = Table(
    "edos.dialogues",
    "One finished EDOS dialogue, each turn with label and confidence.",
    """
    dialogue_id string, movie_id string, model string,
    turns array<struct<text: string, label: string, confidence: float>>,
    accepted array<boolean> COMMENT 'whether the confidence of each turn reaches the threshold of its label'
    """,
    ("dialogue_id",),
)

EMPATHETIC_TURNS = Table(
    "edos.empathetic_turns",
    "One utterance of EmpatheticDialogues with its label, the set that EDOS is compared with (EDOS 4).",
    """
    dialogue_id string, turn int COMMENT 'from 0', speaker string COMMENT 'speaker or listener',
    label string COMMENT 'a 41-way classifier\\'s, no human\\'s'
    """,
    ("dialogue_id", "turn"),
    empty_if_absent=True,
)


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

OF_SETS = ("edos",)
"""Schemas of which each set has its own."""
VIEWS = ("edos.turns",)
