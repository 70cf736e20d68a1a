"""Continue a text that fails one requirement at one place from its last good turn (ours).

The paper throws such a text away (AugESC 4.3). What lies nowhere cannot be repaired: a balance or an average of the
whole text. The continued text is judged by the same eight requirements.
"""

from collections.abc import Callable, Sequence

import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from conf.augesc_settings import Augmenting, FilterSettings
from etl.augesc.conversation_texts import Turn, instruction, next_prompt, parse, without_thoughts
from etl.augesc.generation import generated_texts
from etl.augesc.measures import GENERATED, measured_texts
from etl.augesc.requirements import violations
from etl.llm.requests import with_requests
from etl.pipeline.outcome import Outcome
from udfs.words import word_tokens

LEAST_TURNS = 2
"""Good turns that are continued; the query alone would be a new text."""
NEXT = {"seeker": "supporter", "supporter": "seeker"}


def good_turns(text: str, violated: str, limits: FilterSettings, task: str) -> list[Turn]:
    """Return the turns before the place at which a text violates a requirement; none where it has no such place.

    Format: the first line without a speaker. Continuous Utterance Number: the first utterance too many. Role Words: the
    first utterance with one. Utterance Length: the first utterance that is too long by itself. Utterance Number: the
    end of a text that is too short.

    Args:
        text: prompt and answer.
        violated: the requirement.
        limits: ``augesc.filters``.
        task: result of ``etl.augesc.conversation_texts.instruction``.
    """
    parsed = parse(without_thoughts(text), task)
    turns = list(parsed.turns)
    place = {
        "format": parsed.before_fault,
        "continuous": _too_many_at(turns, limits.continuous),
        "role_words": _first(turns, lambda turn: bool({*word_tokens(turn.text)} & {*limits.role_words})),
        "seeker_length": _first(turns, lambda turn: _too_long(turn, "seeker", limits.seeker.longest)),
        "supporter_length": _first(turns, lambda turn: _too_long(turn, "supporter", limits.supporter.longest)),
        "utterances": len(turns) if len(turns) < limits.least_utterances else None,
    }.get(violated)
    return [] if place is None or place < LEAST_TURNS else turns[:place]


def _first(turns: Sequence[Turn], is_faulty: Callable[[Turn], bool]) -> int | None:
    return next((place for place, turn in enumerate(turns) if is_faulty(turn)), None)


def _too_long(turn: Turn, role: str, longest: int) -> bool:
    return turn.role == role and len(word_tokens(turn.text)) > longest


def _too_many_at(turns: Sequence[Turn], most: int) -> int | None:
    """Return the place of the first utterance of one speaker that follows ``most`` others of theirs."""
    run = 0
    for place, turn in enumerate(turns):
        run = run + 1 if place and turns[place - 1].role == turn.role else 1
        if run > most:
            return place
    return None


def repair_prompt(turns: Sequence[Turn], task: str) -> str:
    """Return the prompt that continues a text: the task, the good turns with their strategies, the next speaker."""
    said = [turn if turn.strategy is None else Turn(turn.role, f"[{turn.strategy}] {turn.text}") for turn in turns]
    return f"{task}\n{next_prompt(said, NEXT[turns[-1].role])}"


def repair_requests(
    texts: DataFrame, judged: DataFrame, generation: Augmenting, limits: FilterSettings, attempts: int, own: str = ""
) -> DataFrame:
    """Return the requests that continue texts with one fault from their last good turn.

    Of several texts with one beginning, the first by id is continued, so that no conversation is there twice.

    Args:
        texts: rows of ``etl.augesc.generation.generated_texts`` of the tuned model.
        judged: ``augesc.violations``.
        generation: how answers are decoded; always as text, as the beginning is.
        limits: ``augesc.filters``.
        attempts: continuations of each text.
        own: ``augesc.prompt.text``.

    Returns:
        Rows of ``with_requests`` with query_id, source, repaired_id, violated, from_turn (the first new one, from 0).
    """
    task = instruction(own)
    one_fault = judged.where((F.col("method") == GENERATED) & (F.size("violated") == 1))
    faulty = texts.join(one_fault.select("text_id", F.col("violated")[0].alias("violated")), "text_id")

    def begun(said: pd.Series, violated: pd.Series) -> pd.DataFrame:
        rows: list[tuple[str | None, int | None]] = []
        for text, requirement in zip(said, violated, strict=True):
            turns = good_turns(text, requirement, limits, task)
            rows.append((repair_prompt(turns, task), len(turns)) if turns else (None, None))
        return pd.DataFrame(rows, columns=["begun", "from_turn"]).astype({"from_turn": "Int32"})

    start = F.pandas_udf(begun, "begun string, from_turn int")("text", "violated")  # type: ignore[call-overload]
    located = faulty.withColumn("start", start).where(F.col("start.begun").isNotNull())
    order = Window.partitionBy("start.begun").orderBy("text_id")
    first = located.withColumn("nth", F.row_number().over(order)).where(F.col("nth") == 1)
    units = first.select(
        F.col("origin_id").alias("query_id"),
        "source",
        F.col("text_id").alias("repaired_id"),
        "violated",
        "start.begun",
        "start.from_turn",
    )
    decoding = generation.decoding.model_copy(update={"response_format": None})
    return with_requests(units, F.col("begun"), decoding, samples=attempts, template=task).drop("begun")


def checked_repairs(
    asked: DataFrame, generations: DataFrame, model: str, limits: FilterSettings, own: str = ""
) -> Outcome:
    """Return ``augesc.repairs``: each continued text, measured and judged by the eight requirements.

    Args:
        asked: rows of ``repair_requests``.
        generations: ``llm.augesc_repairs``.
        model: identity of the tuned model.
        limits: ``augesc.filters``.
        own: ``augesc.prompt.text``.
    """
    texts = generated_texts(asked, generations, model, GENERATED)
    measured = measured_texts(texts.rows, instruction(own)).persist()
    judged = violations(measured, limits).select("text_id", F.col("violated").alias("violates"), "kept")
    known = asked.select("request_id", "repaired_id", "violated", "from_turn")
    rows = measured.join(judged, "text_id").join(known, "request_id")
    return Outcome(
        rows.select(
            F.col("repaired_id").alias("text_id"),
            F.col("sample").alias("attempt"),
            "source",
            "violated",
            "from_turn",
            "violates",
            "kept",
            "model",
            "tokens",
            "turns",
            "request_id",
            "prompt_hash",
            "strategies",
        ),
        texts.dropped,
        rows_in=texts.rows_in,
    )


def first_kept(repairs: DataFrame) -> DataFrame:
    """Return each text's first attempt that meets all requirements."""
    order = Window.partitionBy("text_id").orderBy("attempt")
    kept = repairs.where("kept").withColumn("nth", F.row_number().over(order))
    return kept.where(F.col("nth") == 1).drop("nth")
