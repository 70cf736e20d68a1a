"""Check the eight requirements for generated conversations, and keep the valid ones (AugESC 4.3).

Each requirement is a Column of ``turns``, an array of (role, text, tokens). All are checked for every text that
is a conversation.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.augesc.measures import GENERATED
from etl.augesc.settings import FilterSettings, UtteranceLengths
from etl.pipeline.outcome import Outcome, dropped_columns

REQUIREMENTS = (
    "format",
    "session_length",
    "utterances",
    "continuous",
    "balance",
    "role_words",
    "seeker_length",
    "supporter_length",
)
"""In the order of Table 1."""


def too_many_in_a_row(turns: Column, most: int) -> Column:
    """Return whether one speaker has too many utterances in a row (Continuous Utterance Number)."""
    roles = F.array_join(F.transform(turns, lambda turn: F.left(turn["role"], F.lit(2))), ",")
    return F.concat(roles, F.lit(",")).rlike(rf"(\w\w,)\1{{{most}}}")


def unbalanced(turns: Column, most: float) -> Column:
    """Return whether one speaker has over ``most`` times the other's utterances (Balanced Utterance Number)."""
    seeker, supporter = (F.size(_of(turns, role)) for role in ("seeker", "supporter"))
    return F.greatest(seeker, supporter) > most * F.least(seeker, supporter)


def has_role_words(turns: Column, words: Sequence[str]) -> Column:
    """Return whether an utterance contains the speakers' names (Role Words), by case: "only human" has none."""
    if not words:
        return F.lit(False)
    named = "|".join(rf"\Q{word}\E" for word in words)
    pattern = rf"(?<![\p{{L}}\p{{Nd}}])(?:{named})(?![\p{{L}}\p{{Nd}}])"
    return F.exists(turns, lambda turn: turn["text"].rlike(pattern))


def wrong_utterance_lengths(turns: Column, role: str, lengths: UtteranceLengths) -> Column:
    """Return whether a role's utterances break Utterance Length: by average, short ones, the longest, or none."""
    tokens = F.transform(_of(turns, role), lambda turn: turn["tokens"])
    number = F.size(tokens)
    total = F.aggregate(tokens, F.lit(0), lambda total, one: total + one)
    short = F.size(F.filter(tokens, lambda one: one < lengths.least_average))
    average = (total < lengths.least_average * number) | (total > lengths.most_average * number)
    return (number == 0) | average | (short > lengths.most_short * number) | (F.array_max(tokens) > lengths.longest)


def violations(measured: DataFrame, limits: FilterSettings) -> DataFrame:
    """Return the requirements that each text violates, as rows of ``augesc.violations``.

    A text that fails Format "cannot be processed as a conversation" (AugESC 4.3), so it is not judged further: in
    Table 1, 24.8% of the untuned model's texts fail Format, and none has too many utterances in a row.

    Args:
        measured: ``augesc.measured_texts``.
        limits: ``augesc.filters``.
    """
    turns = F.col("turns")
    found = {
        "format": (F.col("faulty_lines") > 0) | (F.size(turns) == 0),
        # Longer texts may have been cut off at the end of generation.
        "session_length": F.col("tokens") > limits.session_tokens,
        "utterances": ~F.size(turns).between(limits.least_utterances, limits.most_utterances),
        "continuous": too_many_in_a_row(turns, limits.continuous),
        "balance": unbalanced(turns, limits.balance),
        "role_words": has_role_words(turns, limits.role_words),
        "seeker_length": wrong_utterance_lengths(turns, "seeker", limits.seeker),
        "supporter_length": wrong_utterance_lengths(turns, "supporter", limits.supporter),
    }
    judged = {name: violated if name == "format" else violated & ~found["format"] for name, violated in found.items()}
    rows = measured.select("text_id", "method", "source", *(judged[name].alias(name) for name in REQUIREMENTS))
    named = F.array_compact(F.array(*(F.when(F.col(name), name) for name in REQUIREMENTS)))
    return rows.withColumn("violated", named).withColumn("kept", F.size("violated") == 0)


def kept_conversations(measured: DataFrame, violations: DataFrame) -> Outcome:
    """Keep the tuned model's valid texts, and drop the others with the first requirement they violate.

    Texts of people and of baselines are ignored.

    Args:
        measured: ``augesc.measured_texts``.
        violations: ``augesc.violations``.

    Returns:
        Outcome of ``augesc.conversations``. The unit is the generated text.
    """
    judged = measured.where(F.col("method") == GENERATED).join(violations.select("text_id", "violated"), "text_id")
    kept = judged.where(F.size("violated") == 0).select(
        F.col("text_id").alias("conversation_id"),
        "source",
        F.col("origin_id").alias("query_id"),
        "sample",
        "model",
        "tokens",
        "turns",
        "request_id",
        "prompt_hash",
        "strategies",
        F.lit(None).cast("int").alias("repaired"),
    )
    invalid = judged.where(F.size("violated") > 0)
    detail = F.concat_ws(", ", F.array_join("violated", ", "), "first_faulty")
    columns = dropped_columns("text", "text_id", F.col("violated")[0], 1, detail)
    return Outcome(kept, invalid.select(*columns))


def _of(turns: Column, role: str) -> Column:
    return F.filter(turns, lambda turn: turn["role"] == role)
