"""Tables of the response generators: training examples, replies, evaluation (EDOS 5)."""

from etl.pipeline.tables.model import Table

EXAMPLES = Table(
    "replies.examples",
    "One turn with the turns before it, as a reply to them (EDOS 5).",
    """
    example_id string COMMENT '<source>/<dialogue_id>/<turn>',
    source string COMMENT 'os: cleaned subtitles out of EDOS; edos; empathetic: EmpatheticDialogues',
    split string COMMENT 'of the film, or the conversation', context array<string> COMMENT 'oldest first',
    reply string, intent string COMMENT 'label of the reply; null without one'
    """,
    ("example_id",),
    {
        "source_is_known": "source IN ('os', 'edos', 'empathetic')",
        "split_is_known": "split IN ('train', 'validation', 'test')",
    },
)

_REQUEST = """
    request_id string COMMENT 'hash of all that the row depends on',
    example_id string, source string, generator string COMMENT 'pretrained, edos, empathetic or steered',
    model string COMMENT 'identity of the generator'
    """

LIKELIHOODS = Table(
    "replies.likelihoods",
    "How likely one generator finds one held-out reply.",
    f"""{_REQUEST}, nats double COMMENT 'negative log-likelihood of the reply, its end among it',
    tokens int COMMENT 'of the generator, the end among them', words int COMMENT 'parted by blanks', error string
    """,
    ("request_id",),
)

_REPLY = f"""{_REQUEST}, intent string COMMENT 'requested; null without', context array<string>,
    expected string COMMENT 'the reply in the data', reply string, tokens int, error string
    """

GENERATED = Table(
    "replies.generated", "One reply that a generator wrote to a held-out history (EDOS 5).", _REPLY, ("request_id",)
)

STEERED = Table(
    "replies.steered",
    "One reply to a held-out history generated with a requested intent or, for comparison, without.",
    f"{_REPLY}, history_hash string COMMENT 'of the history and the reply'",
    ("request_id",),
)

BASELINES = Table(
    "replies.baselines",
    "One reply of a floor or of the ceiling to a held-out history, which generators are read against (ours).",
    """
    reply_id string COMMENT '<generator>/<example_id>', example_id string, source string,
    generator string COMMENT 'constant, random, echo, retrieval: floors; human: the reply in the data',
    context array<string>, expected string COMMENT 'the reply in the data', reply string,
    error string COMMENT 'where the source has no training replies'
    """,
    ("reply_id",),
)

EMBEDDINGS = Table(
    "replies.embeddings",
    "The sentence encoder's embedding of one distinct reply, once per model (EDOS 5: SES).",
    """
    text_hash string COMMENT 'sha256 of the text', model string COMMENT 'identity of the sentence encoder',
    embedding array<float> COMMENT 'as the model gives it; null with an error', error string
    """,
    ("text_hash", "model"),
)

EVALUATION = Table(
    "replies.evaluation",
    "One generator, floor or ceiling on one test set: a cell of EDOS Table 7.",
    """
    generator string, source string COMMENT 'of the test replies', model string COMMENT 'null: a floor or the ceiling',
    examples bigint, failed bigint,
    perplexity double COMMENT 'of a token', word_perplexity double COMMENT 'of a word parted by blanks',
    distinct_1 double COMMENT 'of distinct_replies replies', distinct_2 double COMMENT 'of distinct_replies replies',
    similarity double COMMENT 'mean cosine of reply and expected reply',
    mean_words double COMMENT 'of the replies', held_out boolean COMMENT 'the set of its last training; else zero-shot',
    kind string COMMENT 'model, floor or ceiling',
    distinct_replies bigint COMMENT 'replies that distinct-n is of, as many in all cells: it falls with their number'
    """,
    ("generator", "source"),
)

INTENT_READINGS = Table(
    "replies.intent_readings",
    "The emotion classifier's answer to one written reply with its history, once per model.",
    """
    history_hash string COMMENT 'sha256 of the history and the reply', model string, label string, confidence float,
    error string
    """,
    ("history_hash", "model"),
)

TRAININGS = Table(
    "replies.trainings",
    "One generator as it was trained: a row of EDOS Table 10.",
    """
    generator string, model string, parameters bigint COMMENT 'those that layers share count once',
    tokens int COMMENT 'the vocabulary, those of turns and intents among them', epochs int,
    best_epoch int COMMENT 'of the lowest validation loss: the one kept', seconds double,
    validation_perplexity double COMMENT 'of a token', validation_word_perplexity double,
    history array<struct<epoch: int, train_loss: double, validation_loss: double, validation_perplexity: double,
                         seconds: double>>
    """,
    ("generator",),
)

OF_SETS = ("replies",)
"""Schemas of which each set has its own."""
