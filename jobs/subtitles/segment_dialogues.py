"""Cut each film's turns into dialogues where the screen is silent for more than 5 s (EDOS 3.1)."""

from pyspark.sql import DataFrame

from etl.lakehouse.outcome import Outcome
from etl.lakehouse.stage import Sliced, StageRun, Units, stage
from etl.lakehouse.tables.subtitles import CHOSEN_UPLOADS, DIALOGUES, FILES, TURN_SCORES
from etl.subtitles.dialogues import dialogues_between_silences
from etl.subtitles.turns import turns_of


def scored_files(chosen: DataFrame, files: DataFrame, turn_scores: DataFrame, run: StageRun) -> DataFrame:
    """The chosen uploads with sentences and scores."""
    scores = turn_scores.select("source_path", "scores")
    return files.join(chosen.select("source_path"), "source_path", "left_semi").join(scores, "source_path")


@stage(
    reads=(CHOSEN_UPLOADS, FILES, TURN_SCORES),
    writes=DIALOGUES,
    settings=("subtitles.silence_seconds", "subtitles.silence_ends_turn", "subtitles.explicit_marks"),
    sliced=Sliced("source_path", "sum(sentence_count)", 300_000, prepare=scored_files),
    units=Units("sentences", "sum(sentence_count)",
                "sum(aggregate(turns, 0L, (n, t) -> n + t.sentence_last - t.sentence_first + 1))"),
)  # fmt: skip
def segment_dialogues(scored: DataFrame, files: DataFrame, turn_scores: DataFrame, run: StageRun) -> Outcome:
    subtitles = run.settings.subtitles
    silence_ms = round(subtitles.silence_seconds * 1000) if subtitles.silence_ends_turn else None
    turns = turns_of(scored, explicit_marks=subtitles.explicit_marks, silence_ends_turn_ms=silence_ms)
    return dialogues_between_silences(turns, subtitles.silence_seconds)


if __name__ == "__main__":
    segment_dialogues.main()
