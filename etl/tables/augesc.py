"""Tables of the AugESC path: recorded sessions, queries, generated texts, their violations, conversations."""

from etl.tables.model import Table

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

VIOLATIONS = Table(
    "augesc.violations",
    "One text and which of the eight requirements it violates: true where it does (AugESC 4.3).",
    """
    text_id string, method string, source string, format boolean, session_length boolean, utterances boolean,
    continuous boolean, balance boolean, role_words boolean, seeker_length boolean, supporter_length boolean,
    violated array<string>, kept boolean
    """,
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
