"""``python -m jobs read``: print dialogues as a person reads them."""

import textwrap
from collections.abc import Iterator

from conf.errors import InputError
from conf.settings import Settings
from etl.cli.printed_dialogues import ReadDialogue, ReadTurn, read_dialogues
from etl.pipeline.lakehouse import Lakehouse
from etl.pipeline.session import close_session, spark_session
from etl.publishing.screen_tables import printable, terminal_width

LEGEND = (
    "each turn: what decided its border (start of the film, a silence, a mark, one carried from another upload, the "
    "model, the rule in its place), how certain that is, its speaker where a label names one, its text, its labels, "
    "one that is not accepted in brackets; x: dropped, and why; >: a clean dialogue begins, with the probability that "
    "all its borders are right"
)


def open_read(settings: Settings, film: str | None, number: int, seed: int = 0) -> int:
    """Print dialogues of a film, or drawn from all films, with what was decided about them; return the exit status.

    The arguments are those of ``read_dialogues``.

    Raises:
        InputError: ``number`` is below 1, or the film has no dialogues.
    """
    if number < 1:
        raise InputError(f"--n {number}: must be at least 1")
    spark = spark_session(settings, "edos-lakehouse read")
    try:
        lakehouse = Lakehouse(spark, settings.lakehouse)
        dialogues = read_dialogues(lakehouse.read, film, number, seed)
        print("\n".join([*textwrap.wrap(LEGEND, terminal_width() or len(LEGEND)), ""]))
        for dialogue in dialogues:
            print("\n".join(lines(dialogue)), end="\n\n")
        clean = sum(dialogue.clean for dialogue in dialogues)
        dropped = sum(not dialogue.is_clean for dialogue in dialogues)
        print(f"{clean} clean dialogues, and {dropped} dropped between them")
        return 0
    finally:
        close_session(spark, settings)


def lines(dialogue: ReadDialogue) -> Iterator[str]:
    """Yield the printed lines of a dialogue."""
    stays = sum(not turn.reason for turn in dialogue.turns)
    left = f"{stays} of {len(dialogue.turns)} turns" if dialogue.is_clean else "dropped"
    yield f"{dialogue.dialogue_id}  film {dialogue.film}  {_clock(dialogue.start_ms)}  {left}"
    for stage, reason, detail in dialogue.dropped:
        yield printable(f"  x {reason} in {stage}: {detail}")
    for turn in dialogue.turns:
        if turn.opens and (dialogue.clean > 1 or turn.opens[0] != dialogue.dialogue_id or turn.opens[1] is not None):
            name, certainty = turn.opens
            yield f"  > {name}" + ("" if certainty is None else f"  certain to {certainty:.2f}")
        yield _line(turn)


def _line(turn: ReadTurn) -> str:
    labels = "".join(f"  [{name}: {label}]" for name, label in turn.labels.items())
    reason = f"  ({turn.reason})" if turn.reason else ""
    certain = "    " if turn.certainty is None else f"{turn.certainty:.2f}"
    speaker = f"{turn.speaker}: " if turn.speaker and not turn.reason else ""
    mark = "x" if turn.reason else " "
    return printable(f"  {mark} {turn.border:8s}{certain} {speaker}{turn.text}{labels}{reason}")


def _clock(ms: int | None) -> str:
    if ms is None:
        return "-:--:--"
    seconds = ms // 1000
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
