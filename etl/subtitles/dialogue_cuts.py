"""Cut dialogues where some of their turns are removed (EDOS 3.1)."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from etl.common.columns import with_columns_once
from etl.subtitles.dialogues import opens_dialogue, sentence_id

AFTER_REMOVED = "after_removed_turn"


def with_followers(verdicts: Column, places: Column) -> Column:
    """Return the verdicts, where all turns after the first removed one are removed as ``after_removed_turn``.

    Args:
        verdicts: array<struct<reason, detail>>, null for a turn that stays.
        places: of the turns in the raw dialogue.
    """
    first = F.array_position(F.transform(verdicts, lambda verdict: verdict.isNotNull()), True).cast("int") - 1
    because = F.concat(
        F.lit("turn "), F.get(places, first).cast("string"), F.lit(" went: "), F.get(verdicts, first)["reason"]
    )
    after = F.struct(F.lit(AFTER_REMOVED).alias("reason"), because.alias("detail"))
    return F.transform(verdicts, lambda verdict, i: F.when((first >= 0) & (i > first), after).otherwise(verdict))


def cut_at_removed_turns(judged: DataFrame, *, keep_after: bool, silence_seconds: float | None = None) -> DataFrame:
    """Take the removed turns out of each dialogue, and return what is left of it as one row or several.

    The turns after the first removed one are removed with it, as EDOS 3.1 says, or (``keep_after``) each run of turns
    between removed ones becomes a row. A row that does not begin with its dialogue's first turn gets the id
    ``<subtitle_id>-<its first sentence>``. A dialogue of which nothing is left is a row without turns.

    Args:
        judged: dialogue_id, subtitle_id; turns, places (of the turns in the raw dialogue) and verdicts
            (array<struct<reason, detail>>, null for a turn that stays), one of each for a turn; removed.
        keep_after: whether the turns after a removed one stay.
        silence_seconds: a longer silence between two neighbouring turns parts them, too; None: no silence does.

    Returns:
        The same columns without verdicts. Each removed turn is in column removed of one row.
    """
    turns = F.col("turns")
    verdicts = F.col("verdicts")
    step = judged
    if not keep_after:
        step = with_columns_once(step, verdicts=with_followers(verdicts, F.col("places")))
    gone = F.transform(
        verdicts,
        lambda verdict, i: F.when(
            verdict.isNotNull(),
            F.struct(
                F.get("places", i).alias("turn"), verdict["reason"].alias("reason"), verdict["detail"].alias("detail")
            ),
        ),
    )
    states = F.transform(
        turns,
        lambda turn, i: (
            F.when(F.get(verdicts, i).isNotNull(), "removed")
            .when(_begins(turn, i, turns, verdicts, silence_seconds), "first")
            .otherwise("further")
        ),
    )
    step = with_columns_once(
        step, removed=F.concat("removed", F.filter(gone, lambda one: one.isNotNull())), states=states
    )
    # A run begins at "first" and ends before the next turn that is not "further".
    numbers = F.sequence(F.lit(0), F.size("states"))
    run_limits = F.filter(numbers, lambda i: (i == F.size("states")) | (F.get("states", i) != "further"))
    step = with_columns_once(step, run_limits=run_limits)
    runs = F.filter(
        F.transform(
            "run_limits",
            lambda begin, n: F.struct(begin.alias("begin"), F.get("run_limits", n + 1).alias("end")),
        ),
        lambda run: F.get("states", run["begin"]) == "first",
    )
    nothing = F.array(F.struct(F.lit(0).alias("begin"), F.lit(0).alias("end")))
    step = with_columns_once(step, runs=runs)
    step = with_columns_once(step, runs=F.when(F.size("runs") == 0, nothing).otherwise(F.col("runs")))
    numbered = F.transform(
        "runs", lambda run, n: F.struct(n.alias("run"), run["begin"].alias("begin"), run["end"].alias("end"))
    )
    kept = [name for name in judged.columns if name != "verdicts"]
    rows = step.select(*kept, F.inline(numbered))
    begin = F.col("begin")
    size = F.col("end") - begin
    own_id = sentence_id(F.get(turns, begin)["sentence_first"])
    return with_columns_once(
        rows,
        dialogue_id=F.when(begin == 0, F.col("dialogue_id")).otherwise(own_id),
        turns=F.slice(turns, begin + 1, size),
        places=F.slice("places", begin + 1, size),
        removed=F.when(F.col("run") == 0, F.col("removed")).otherwise(F.slice("removed", 1, 0)),
    ).select(*kept)


def _begins(turn: Column, i: Column, turns: Column, verdicts: Column, silence_seconds: float | None) -> Column:
    begins = (i == 0) | F.get(verdicts, i - 1).isNotNull()
    if silence_seconds is None:
        return begins
    return begins | opens_dialogue(turn, F.get(turns, i - 1), silence_seconds)
