"""Tables of AugESC's human evaluations: tasks, answers and results (AugESC 6 and 7)."""

from etl.tables.edos_annotation import FILE
from etl.tables.model import Table

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
