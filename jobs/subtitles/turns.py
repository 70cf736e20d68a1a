"""Decide whether two adjacent sentences have one speaker, by a trained model (EDOS 3.1)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.pipeline import At, Incremental, Model, StageRun, Units, While, stage
from etl.pipeline.outcome import Trained
from etl.pipeline.rows_among import rows_among
from etl.subtitles import carried_marks, turn_scoring, turn_segmenter
from etl.subtitles.settings import SegmenterOptions, TurnPairSettings
from etl.subtitles.tables import CHOSEN_UPLOADS, FILES, LEMMAS, TURN_SCORES

KIND = "training.turn_segmenter.kind"
BY_ENCODER = While(KIND, "encoder", "both")


@stage(
    reads=(FILES,),
    writes=Model("turn_segmenter"),
    units="pairs",
    version=8,
)
def train_turn_segmenter(
    files: DataFrame,
    options: SegmenterOptions,
    lengths: Annotated[bool, At("training.turn_segmenter.lengths"), While(KIND, "svm", "both")],
    pairs: Annotated[TurnPairSettings, BY_ENCODER],
    encoder: Annotated[str, At("models.turn_encoder"), BY_ENCODER],
    language: Annotated[str, At("subtitles.lemma_language")],
    examples: Annotated[tuple[str, ...], At("subtitles.turn_examples")],
    run: StageRun,
) -> Trained:
    """Train the model that decides whether two adjacent sentences are one turn (EDOS 3.1)."""
    from etl.subtitles.training.turn_segmenter import SegmenterKinds, train_and_register_turn_segmenter

    kinds = SegmenterKinds(lengths, pairs, encoder)
    return train_and_register_turn_segmenter(files, run, options, kinds, examples, language)


def _chosen_files(chosen: DataFrame, files: DataFrame, lemmas: DataFrame, run: StageRun) -> DataFrame:
    return turn_scoring.with_film_version(chosen, files, run.model("turn_segmenter").identity)


@stage(
    reads=(CHOSEN_UPLOADS, FILES, LEMMAS),
    writes=TURN_SCORES,
    models=("turn_segmenter",),
    incremental=Incremental(
        "source_path", "sum(sentence_count)", 1_000_000, prepare=_chosen_files, units=Units.VERSIONED
    ),
    units="files",
    version=7,
)
def score_turns(chosen: DataFrame, files: DataFrame, lemmas: DataFrame, run: StageRun) -> DataFrame:
    """Score whether the second of two adjacent sentences starts a new turn (EDOS 3.1), with other uploads' marks."""
    from etl.subtitles.turn_scorers import turn_scorer

    model = run.model("turn_segmenter")
    compute = run.compute
    table = turn_segmenter.lemma_table(lemmas)
    path = run.worker_path(model)
    scorer = turn_scorer(model.path, table, compute.batch_size, compute.threads, path)
    marks = carried_marks.marks_of_other_uploads(chosen, rows_among(files, "movie_id", chosen))
    return turn_scoring.score_turns(rows_among(files, "source_path", chosen), scorer, model.identity, marks)


@stage(manual=True, reads=(FILES,), writes=None, shows="how often the segmenter is right, by kind of border")
def measure_turn_segmenter(
    files: DataFrame,
    options: SegmenterOptions,
    language: Annotated[str, At("subtitles.lemma_language")],
    examples: Annotated[tuple[str, ...], At("subtitles.turn_examples")],
    run: StageRun,
) -> None:
    """Print how often the linear segmenter is right at borders of series and films that it has not seen (EDOS 3.1)."""
    from etl.subtitles.training.turn_measures import measure_turn_segmenter

    measure_turn_segmenter(files, run, options, examples, language)
