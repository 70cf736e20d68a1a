"""Tables of Emo Pillars: stories, utterances of their characters, emotions, results of models, analysis, evaluation."""

from etl.annotation.tables import FILE
from etl.pipeline.tables.model import Table

_LABELS = "labels array<struct<label: string, level: double>> COMMENT 'the strongest first'"

PLOTS = Table(
    "emo_pillars.plots",
    "One story's plot, as prompts hold it (Emo Pillars 4).",
    """
    plot_id string COMMENT 'title and content hash', title string,
    source string COMMENT 'file, and which story of it', plot string,
    words int COMMENT 'words and marks of the whole plot', kept_words int COMMENT 'fewer where it was cut',
    english_share float, tokens int COMMENT 'NLTK word tokens of the whole plot, as of utterances and contexts'
    """,
    ("plot_id",),
)

DISTINCT_UTTERANCES = Table(
    "emo_pillars.distinct_utterances",
    "One utterance that is not nearly an earlier one.",
    "utterance_id string, plot_id string, actor_id string, actor string, utterance string, label string",
    ("utterance_id",),
)

EXAMPLES = Table(
    "emo_pillars.examples",
    "One utterance with all labels expressed strongly enough: the context-less data set (Emo Pillars 4).",
    f"""
    utterance_id string, plot_id string, actor_id string, actor string, utterance string,
    primary_label string COMMENT 'the one it was made for', {_LABELS},
    needs_context boolean COMMENT 'drawn to get a context', split string
    """,
    ("utterance_id",),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

CONTEXTUAL_EXAMPLES = Table(
    "emo_pillars.contextual_examples",
    "One example with its context, original and rewritten: the context-full data set (Emo Pillars 4).",
    f"""
    utterance_id string, plot_id string, actor_id string, actor string, context string,
    utterance string COMMENT 'the original', rewritten string, primary_label string, {_LABELS}, split string
    """,
    ("utterance_id",),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

GOEMOTIONS = Table(
    "emo_pillars.goemotions",
    "One comment of GoEmotions with its labels (Emo Pillars 5.1.2).",
    """
    text_id string, text string, labels array<string>, part string COMMENT 'the file: train, dev or test',
    split string COMMENT 'dev is the test, and a share of train the validation, where no test part is at hand'
    """,
    ("text_id",),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

ISEAR = Table(
    "emo_pillars.isear",
    "One report of ISEAR with its emotion (Emo Pillars 5.1.3).",
    """
    report_id string, text string, emotion string COMMENT 'one of seven', label string COMMENT 'that it counts as',
    fold int COMMENT 'from 0, by the text'
    """,
    ("report_id",),
)

EMOCONTEXT = Table(
    "emo_pillars.emocontext",
    "One dialogue of EmoContext: three turns, the last with an emotion (Emo Pillars 5.2.2).",
    """
    dialogue_id string, turns array<string>, emotion string COMMENT 'happy, sad, angry or others',
    part string COMMENT 'the file: train or dev', split string COMMENT 'a share of train is the test without dev'
    """,
    ("dialogue_id",),
    {"split_is_known": "split IN ('train', 'validation', 'test')"},
)

_RESULTS = """
trial string COMMENT 'hash of all that it depends on',
model string COMMENT 'the key under models that it starts from, or an encoder\\'s URI',
tuned boolean COMMENT 'on the task, or as it is',
variant string COMMENT 'treatment of the class others: kept, relabelled, typed; of EmoContext', seed int,
fold int COMMENT 'that is measured on', scored string COMMENT 'the classes, and the rule that makes one a prediction',
class string COMMENT 'macro, micro, or a class', precision double, recall double, f1 double,
support bigint COMMENT 'rows that have it', predicted bigint COMMENT 'rows given it', threshold double,
train_rows int, validation_rows int, test_rows int, epochs int, seconds double,
starts_from string COMMENT 'identity of the model', run_id string COMMENT 'in MLflow'
"""
_RESULT_KEY = ("trial", "scored", "class")

ENCODER_RESULTS = Table(
    "emo_pillars.encoder_results",
    "One class's scores on the synthetic data's test set, of one encoder trained on it (Emo Pillars Table 1).",
    _RESULTS,
    _RESULT_KEY,
    empty_if_absent=True,
)

GOEMOTIONS_RESULTS = Table(
    "emo_pillars.goemotions_results",
    "One class's scores on GoEmotions of one model (Emo Pillars Tables 2 and 10).",
    _RESULTS,
    _RESULT_KEY,
    empty_if_absent=True,
)

ISEAR_RESULTS = Table(
    "emo_pillars.isear_results",
    "One class's scores on a fold of ISEAR, or on all of it, of one model (Emo Pillars Table 3).",
    _RESULTS,
    _RESULT_KEY,
    empty_if_absent=True,
)

EMOCONTEXT_RESULTS = Table(
    "emo_pillars.emocontext_results",
    "One class's scores on EmoContext of one model (Emo Pillars Tables 6 and 7).",
    _RESULTS,
    _RESULT_KEY,
    empty_if_absent=True,
)

TEST_ANSWERS = Table(
    "emo_pillars.test_answers",
    "One model's answer to one passage of a test set of the synthetic data (Emo Pillars 5.1.1, 5.2.1).",
    """
    learner string COMMENT 'the key under models', tested_on string, passage_id string, model string,
    labels array<string> COMMENT 'true', given array<string> COMMENT 'from the threshold on',
    probabilities array<float> COMMENT 'in the taxonomy\\'s order', threshold double,
    label_thresholds array<double> COMMENT 'each label\\'s; null: one for all',
    f1 double COMMENT 'of this passage', error string
    """,
    ("learner", "tested_on", "passage_id"),
)

PREDICTIONS = Table(
    "emo_pillars.predictions",
    "One model's answer to a comment or to the last turn of a dialogue (Emo Pillars Figure 6, Table 8).",
    """
    learner string COMMENT 'the key under models', kind string COMMENT 'comment, or dialogue: of EmoContext',
    text_id string, context string, utterance string, truth string COMMENT 'of EmoContext',
    true_label string COMMENT 'of the 28; null for others', model string, probabilities array<float>
    COMMENT 'in the taxonomy\\'s order', threshold double,
    label_thresholds array<double> COMMENT 'each label\\'s; null: one for all',
    given array<string> COMMENT 'labels from the threshold on, the strongest first', error string
    """,
    ("learner", "kind", "text_id"),
)

INTRA_DATASET = Table(
    "emo_pillars.intra_dataset",
    "The scores of one class or of all, of a model on a test set of the synthetic data (Emo Pillars Tables 1 and 5).",
    """
    learner string COMMENT 'the key under models', tested_on string, class string COMMENT 'macro, micro, or a label',
    precision double, recall double, f1 double, support bigint, predicted bigint, passages bigint,
    against string COMMENT 'the context-less model of the same utterances; beside macro',
    pairs bigint COMMENT 'passages that both answered', gain double COMMENT 'over it, of the passages\\' mean F1',
    t_test double COMMENT 'p; Welch, of independent samples', mann_whitney double COMMENT 'p; of independent samples',
    paired_t_test double COMMENT 'p; of the same passages',
    wilcoxon double COMMENT 'p; signed ranks, of the same passages'
    """,
    ("learner", "tested_on", "class"),
    empty_if_absent=True,
)


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
