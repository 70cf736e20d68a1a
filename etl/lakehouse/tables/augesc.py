"""Tables of the AugESC path: sessions of people, queries, generated texts, what they violate, conversations."""

from etl.lakehouse.tables.model import Table

TURNS = "turns array<struct<role: string, text: string>> COMMENT 'role: seeker or supporter'"

SESSIONS = Table(
    "augesc.sessions",
    "One support conversation between two people (ESConv), each talk once.",
    f"""
    session_id string COMMENT 'of roles and texts', source string COMMENT 'file', place string COMMENT 'in it',
    form string COMMENT 'of the file: esconv, lines or rolling', problem string, emotion string, situation string,
    {TURNS}, contrast boolean COMMENT 'failed its makers\\' checks'
    """,
    ("session_id",),
)

TRAINING_SESSIONS = Table(
    "augesc.training_sessions",
    "One session that a model is tuned on, drawn evenly over the problem types, without greetings (AugESC 4.1).",
    f"""
    session_id string, place int COMMENT 'in the draw, from 1', problem string,
    available int COMMENT 'sessions of the problem type', {TURNS}
    """,
    ("session_id",),
)

QUERIES = Table(
    "augesc.queries",
    "One post that begins a conversation (AugESC 4.2, A).",
    """
    query_id string COMMENT 'source and the post\\'s own id', source string COMMENT 'ed or reddit', forum string,
    emotion string COMMENT 'label of EmpatheticDialogues', text string, tokens int COMMENT 'NLTK word tokens'
    """,
    ("query_id",),
    {"source_is_known": "source IN ('ed', 'reddit')"},
)
