"""Tables of the AugESC path: recorded sessions, queries, generated texts, conversations, ratings, faults."""

from etl.annotation.tables import FILE
from etl.llm.tables import generations
from etl.pipeline.tables.model import Table

TURNS = "turns array<struct<role: string, text: string>> COMMENT 'role: seeker or supporter'"

STRATEGIES = "strategies array<string> COMMENT 'support strategy of each turn, as it was named; null: none'"

_REQUEST = """request_id string COMMENT 'of the answer in llm.generations; null: of none here',
    prompt_hash string COMMENT 'of its prompt'"""

SESSIONS = Table(
    "augesc.sessions",
    "One support conversation between two people (ESConv), each once.",
    f"""
    session_id string COMMENT 'of roles and texts', source string COMMENT 'file', place string COMMENT 'in it',
    form string COMMENT 'of the file: esconv, lines or rolling', problem string, emotion string, situation string,
    {TURNS}, contrast boolean COMMENT 'failed its makers\\' checks', {STRATEGIES}
    """,
    ("session_id",),
)

TRAINING_SESSIONS = Table(
    "augesc.training_sessions",
    "One session that a model is tuned on, drawn evenly over the problem types, without greetings (AugESC 4.1).",
    f"""
    session_id string, place int COMMENT 'in the draw, from 1', problem string,
    available int COMMENT 'sessions of the problem type', {TURNS}, {STRATEGIES}
    """,
    ("session_id",),
)

QUERIES = Table(
    "augesc.queries",
    "One post that begins a conversation (AugESC 4.2, A).",
    """
    query_id string COMMENT 'source and the post\\'s id', source string COMMENT 'ed or reddit', forum string,
    emotion string COMMENT 'label of EmpatheticDialogues', text string, tokens int COMMENT 'NLTK word tokens',
    emotions string COMMENT 'label of the first classifier of emotions; null: not judged by it',
    goemotions string COMMENT 'of the second', toxicity string COMMENT 'of the classifier of toxicity',
    judged_by array<string> COMMENT 'judges that were asked, each with its model; none: as people labelled it'
    """,
    ("query_id",),
    {"source_is_known": "source IN ('ed', 'reddit')"},
)

MEASURED_TURNS = """turns array<struct<role: string, text: string, tokens: int>>
    COMMENT 'role: seeker or supporter; tokens: NLTK words'"""

MEASURED_TEXTS = Table(
    "augesc.measured_texts",
    "One text read as a conversation, a model's or a session of people, with all lengths (AugESC 4.3).",
    f"""
    text_id string, method string COMMENT 'augmenter, untuned, role_models; people', source string COMMENT
    'ed or reddit, where the query came from; esconv, failed_esconv', origin_id string COMMENT 'of query or session',
    sample int, model string, tokens int COMMENT 'of the whole text, prompt included',
    counted_by string COMMENT 'tokens of the model, or nltk where it gave none',
    faulty_lines int COMMENT 'lines without a speaker', first_faulty string, {MEASURED_TURNS}, {_REQUEST},
    {STRATEGIES}
    """,
    ("text_id",),
)

_VIOLATED = """
    text_id string, method string, source string, format boolean, session_length boolean, utterances boolean,
    continuous boolean, balance boolean, role_words boolean, seeker_length boolean, supporter_length boolean,
    violated array<string>, kept boolean
    """
VIOLATIONS = Table(
    "augesc.violations",
    "One text and which of the eight requirements it violates: true where it does (AugESC 4.3).",
    _VIOLATED,
    ("text_id",),
)
PAPER_READING = Table(
    "augesc.paper_reading",
    "As augesc.violations, where each line of a text is one utterance: augesc.reading=paper (AugESC 4.3).",
    _VIOLATED,
    ("text_id",),
)

CONVERSATIONS = Table(
    "augesc.conversations",
    "One generated conversation that meets all requirements: the AugESC data set (AugESC 5).",
    f"""
    conversation_id string, source string COMMENT 'of the query: ed or reddit', query_id string, sample int,
    model string, tokens int, {MEASURED_TURNS}, {_REQUEST}, {STRATEGIES},
    repaired int COMMENT 'of rows of earlier versions: the turn, from 0, from which on it was continued again'
    """,
    ("conversation_id",),
)


STATISTICS = Table(
    "augesc.statistics",
    "One figure of a set of conversations: sizes, lengths, distinct words, by role (AugESC Table 2).",
    """
    data_set string COMMENT 'esconv, failed_esconv; ed, reddit, total of both', role string
    COMMENT 'seeker, supporter or both', measure string, value double
    """,
    ("data_set", "role", "measure"),
)

BIGRAM_GROWTH = Table(
    "augesc.bigram_growth",
    "The number of distinct bigrams in the first n conversations of a set (AugESC Figure 5).",
    "data_set string, sessions int, unique_bigrams bigint",
    ("data_set", "sessions"),
)

TYPICAL_WORDS = Table(
    "augesc.typical_words",
    "One word that is typical of a set's seekers or supporters, by its log-odds against the other sets (AugESC 5.3).",
    """
    data_set string, role string, rank int COMMENT 'by z, from 1', word string, number bigint COMMENT 'in the set',
    others bigint COMMENT 'in the other sets', log_odds double, z double COMMENT 'above 3: highly significant'
    """,
    ("data_set", "role", "word"),
)

ROLE_PLAYS = Table(
    "augesc.role_plays",
    "One conversation of two role models that begins with a query (AugESC 6.1).",
    f"""
    play_id string COMMENT 'of the query, both models and how they are decoded', query_id string, source string,
    seeker_model string, supporter_model string, {TURNS},
    ended string COMMENT 'bye, length, or silence: an utterance without words', error string
    """,
    ("play_id",),
)

CHATBOTS = Table(
    "augesc.chatbots",
    "One support chatbot and its perplexity on the supporters' utterances of held-out sessions of ESConv (AugESC 7.1).",
    """
    chatbot string COMMENT 'key under models', tuned_on string, model string, sessions int, tokens int COMMENT
    'of the model, predicted', loss double COMMENT 'of a token, in nats', perplexity double COMMENT 'of a token',
    word_perplexity double COMMENT 'of a word, which models of other tokens share'
    """,
    ("chatbot",),
)


_TURNS = "array<struct<role: string, text: string>>"


_ANSWER = "hit_id string, item_id string, worker_id string, batch_id string"


RATING_TASKS = Table(
    "augesc.rating_tasks",
    "One conversation to be rated, as an item of a task (AugESC 6.3).",
    f"""
    hit_id string, position int, item_id string, method string, source string, text_id string, turns {_TURNS}
    """,
    ("hit_id", "position"),
)


RATING_FILES = Table(
    "augesc.rating_files", "One file of the questionnaire on quality that was written.", FILE, ("path",)
)


RATINGS = Table(
    "augesc.ratings",
    "One rater's answer on one aspect of a conversation (AugESC 6.2, Figure 6).",
    f"""
    {_ANSWER}, method string, source string, text_id string, aspect string, option int COMMENT 'from 1 to 4',
    score int COMMENT 'from 3 to 0; of ethical_risk 3 is the worst', seconds double, submitted string
    """,
    ("hit_id", "item_id", "worker_id", "aspect"),
    {"score_is_of_the_option": "score = 4 - option AND option BETWEEN 1 AND 4"},
)


RATING_SCORES = Table(
    "augesc.rating_scores",
    "The mean score of one set on one aspect, and whether it is below the best set's (AugESC Table 3).",
    """
    aspect string, method string, source string, place int COMMENT 'of the set in the table', sessions int,
    ratings int, mean double, deviation double, is_best boolean,
    p_best double COMMENT 'Student\\'s t-test against the best set', below_best boolean COMMENT 'significantly',
    p_tuned double COMMENT 'against the tuned model on ed', below_tuned boolean
    """,
    ("aspect", "method", "source"),
)


COMPARISON_TASKS = Table(
    "augesc.comparison_tasks",
    "One participant's conversations with two bots, to be compared; a hash draws the left one (AugESC 7.2).",
    f"""
    hit_id string, position int, item_id string, pair_id string, left_bot string COMMENT 'augesc or esconv',
    left_turns {_TURNS}, right_turns {_TURNS}
    """,
    ("hit_id", "position"),
)


COMPARISON_FILES = Table(
    "augesc.comparison_files", "One file of the questionnaire that compares two bots.", FILE, ("path",)
)


COMPARISONS = Table(
    "augesc.comparisons",
    "One participant's answer on one aspect: did the bot tuned on AugESC win? (AugESC 7.2).",
    f"{_ANSWER}, pair_id string, aspect string, outcome string, seconds double, submitted string",
    ("pair_id", "aspect"),
    {"outcome_is_known": "outcome IN ('win', 'lose', 'tie')"},
)


COMPARISON_SCORES = Table(
    "augesc.comparison_scores",
    "Wins, losses and ties on one aspect, with the sign test (AugESC Table 4).",
    """
    aspect string, place int COMMENT 'in the table', pairs int, wins int, losses int, ties int,
    p double COMMENT 'of the sign test, ties left out'
    """,
    ("aspect",),
)


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

AUGMENTED = generations("augesc_augmenter", "a conversation continued from a query by the tuned model (AugESC 4.2)")
UNTUNED = generations("augesc_untuned", "a conversation continued by the model before tuning (AugESC 4.3)")
