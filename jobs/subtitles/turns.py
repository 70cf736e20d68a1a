"""Decide whether two adjacent sentences have one speaker: a trained model (EDOS 3.1), and an arbiter (ours)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.errors import InputError
from conf.llm_settings import DecodingSettings
from conf.subtitle_settings import TurnRules
from conf.training_settings import SegmenterOptions, SvmOptions, TurnPairSettings
from etl.llm.model_stages import answer_stage, prompt_stage
from etl.pipeline import At, Incremental, Model, StageRun, Units, While, stage
from etl.pipeline.outcome import Outcome, Trained
from etl.pipeline.rows_among import rows_among
from etl.subtitles import arbiter, carried_marks, turn_scoring, turn_segmenter
from etl.tables import llm
from etl.tables.subtitles import ARBITRATED_BORDERS, CHOSEN_UPLOADS, FILES, LEMMAS, TURN_SCORES

KIND = "training.turn_segmenter.kind"
ARBITER_BELOW = "subtitles.arbiter.below"
BY_ENCODER = While(KIND, "encoder", "cascade", "both")


@stage(
    reads=(FILES,),
    writes=Model("turn_segmenter"),
    units="pairs",
    version=7,
)
def train_turn_segmenter(
    files: DataFrame,
    options: SegmenterOptions,
    svm: Annotated[SvmOptions, While(KIND, "svm", "cascade", "both")],
    sure_margin: Annotated[float, At("training.turn_segmenter.sure_margin"), While(KIND, "cascade")],
    pairs: Annotated[TurnPairSettings, BY_ENCODER],
    encoder: Annotated[str, At("models.turn_encoder"), BY_ENCODER],
    language: Annotated[str, At("subtitles.lemma_language")],
    examples: Annotated[tuple[str, ...], At("subtitles.turn_examples")],
    run: StageRun,
) -> Trained:
    """Train the model that decides whether two adjacent sentences are one turn (EDOS 3.1: an SVM)."""
    from etl.training.recipes.turn_segmenter import SegmenterKinds, train_and_register_turn_segmenter

    kinds = SegmenterKinds(svm, sure_margin, pairs, encoder)
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
    version=5,
)
def score_turns(chosen: DataFrame, files: DataFrame, lemmas: DataFrame, run: StageRun) -> DataFrame:
    """Score whether the second of two adjacent sentences starts a new turn (EDOS 3.1), with other uploads' marks."""
    from etl.subtitles.turn_scorers import turn_scorer

    model = run.model("turn_segmenter")
    compute = run.compute
    table = turn_segmenter.lemma_table(lemmas)
    path = run.worker_path(model)
    scorer = turn_scorer(model.path, table, compute.batch_size, compute.threads, path)
    marks = carried_marks.carried_marks(chosen, rows_among(files, "movie_id", chosen))
    return turn_scoring.score_turns(rows_among(files, "source_path", chosen), scorer, model.identity, marks)


@prompt_stage(
    (CHOSEN_UPLOADS, FILES, TURN_SCORES),
    llm.TURN_ARBITER,
    "turn_arbiter",
    manual=False,
    resources=(arbiter.TEMPLATE_FILE,),
    enabled_if=ARBITER_BELOW,
)
def ask_turn_arbiter(
    chosen: DataFrame,
    files: DataFrame,
    turn_scores: DataFrame,
    rules: TurnRules,
    below: Annotated[float | None, At(ARBITER_BELOW)],
    decoding: Annotated[DecodingSettings, At("subtitles.arbiter.decoding")],
    run: StageRun,
) -> DataFrame:
    """Ask a language model who speaks at the borders that the segmenter is unsure of (ours)."""
    scored = turn_scoring.scored_files(chosen, files, turn_scores)
    if below is None:
        return arbiter.requests(arbiter.asked_borders(scored, rules, 1.0), decoding).limit(0)
    if not run.model("turn_arbiter").given:
        raise InputError(
            f"{ARBITER_BELOW}={below} needs a language model: set models.turn_arbiter, or {ARBITER_BELOW}=null"
        )
    return arbiter.requests(arbiter.asked_borders(scored, rules, below), decoding)


@answer_stage(ask_turn_arbiter, ARBITRATED_BORDERS, "borders")
def arbitrate_borders(answers: DataFrame) -> Outcome:
    """Read which borders open a turn by the language model's answers (ours)."""
    return arbiter.arbitrated(answers)
