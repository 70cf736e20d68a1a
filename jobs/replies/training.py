"""Pre-train response generators on OpenSubtitles, and tune them on EDOS or EmpatheticDialogues (EDOS 5, E)."""

from collections.abc import Callable
from typing import Annotated

from pyspark.sql import DataFrame

from conf.taxonomy import Taxonomy
from etl.common.labelled_files import local_rows, with_dropped
from etl.edos.tables import DIALOGUES
from etl.pipeline import At, Declare, Incremental, Model, StageRun, Units, stage
from etl.pipeline.outcome import LocalOutcome, Outcome, Trained
from etl.pipeline.tables import Table
from etl.replies.conversations import COLUMNS, all_conversations
from etl.replies.pairs import reply_examples
from etl.replies.regimes import CAUSAL, COMPARED, ON_EDOS, ON_EMPATHETIC, PRETRAINED, Regime
from etl.replies.settings import (
    CausalReplyTraining,
    EdosReplyTraining,
    EmpatheticReplyTraining,
    ReplyNetwork,
    ReplyRows,
    ReplyTokens,
    ReplyTraining,
)
from etl.replies.tables import EXAMPLES, TRAININGS
from etl.subtitles.tables import CLEAN_DIALOGUES

GENERATORS = tuple(regime.model for regime in COMPARED)
TUNING = ("training.processes", "edos.taxonomy")
"""Settings that count for a further training: it has the labels from the generator that it starts from."""
Dropout = Annotated[float, At("replies.network.dropout")]
MostTokens = Annotated[int, At("replies.network.max_tokens")]
UNSTEERED = ("reply_empathetic", "reply_causal")
TALKS = "edos.empathetic_dialogues"


def generator_stage(
    writes: Table, requests: Callable[..., DataFrame], per_minute: float, models: tuple[str, ...]
) -> Declare:
    """Declare a stage that sends requests on test examples to response generators."""
    return stage(
        manual=True,
        reads=(EXAMPLES,),
        writes=writes,
        models=models,
        units="replies",
        incremental=Incremental("request_id", cost_per_minute=per_minute, prepare=requests, units=Units.PLANNED),
    )


def tuned_generator(
    examples: DataFrame, run: StageRun, regime: Regime, options: ReplyTraining, dropout: float
) -> Trained:
    """Train a generator further, in another regime than the one that it starts from."""
    from etl.replies.training import tune_generator

    return tune_generator(examples, run, regime, options, dropout)


@stage(
    manual=True,
    reads=(CLEAN_DIALOGUES, DIALOGUES),
    writes=EXAMPLES,
    units="replies",
    version=3,
)
def replies_gather(
    clean: DataFrame,
    edos: DataFrame,
    rows: ReplyRows,
    max_tokens: MostTokens,
    labels: Taxonomy,
    path: Annotated[str | None, At(TALKS)],
    run: StageRun,
) -> Outcome:
    """Gather replies with the turns before: OpenSubtitles without EDOS, EDOS, EmpatheticDialogues (EDOS 5)."""
    read = local_rows([path], COLUMNS, TALKS) if path else LocalOutcome()
    talks = all_conversations(clean, edos, read.rows, labels.names)
    outcome = reply_examples(talks, max_tokens=max_tokens, **rows.model_dump())
    return with_dropped(outcome, read.notes(run.spark))


@stage(
    writes=Model("reply_pretrained"),
    manual=True,
    counts=("training.processes",),
    units="replies",
    reads=(EXAMPLES,),
)
def replies_pretrain(
    examples: DataFrame,
    options: ReplyTraining,
    tokens: ReplyTokens,
    network: ReplyNetwork,
    labels: Taxonomy,
    run: StageRun,
) -> Trained:
    """Pre-train a response generator on OpenSubtitles without EDOS (EDOS 5)."""
    from etl.replies import training as replies

    return replies.pretrain_generator(examples, run, PRETRAINED, options, tokens, network, labels)


@stage(
    writes=Model("reply_edos"),
    manual=True,
    counts=TUNING,
    units="replies",
    reads=(EXAMPLES,),
    models=("reply_pretrained",),
)
def train_response_generator(
    examples: DataFrame, options: EdosReplyTraining, dropout: Dropout, run: StageRun
) -> Trained:
    """Fine-tune the pre-trained response generator on EDOS (EDOS 5)."""
    return tuned_generator(examples, run, ON_EDOS, options, dropout)


@stage(
    writes=Model("reply_empathetic"),
    manual=True,
    counts=TUNING,
    units="replies",
    reads=(EXAMPLES,),
    models=("reply_pretrained",),
)
def replies_tune_empathetic(
    examples: DataFrame, options: EmpatheticReplyTraining, dropout: Dropout, run: StageRun
) -> Trained:
    """Fine-tune the pre-trained response generator on EmpatheticDialogues (EDOS 5)."""
    return tuned_generator(examples, run, ON_EMPATHETIC, options, dropout)


@stage(
    writes=Model("reply_causal"),
    manual=True,
    counts=("training.processes",),
    units="replies",
    reads=(EXAMPLES,),
)
def replies_tune_causal(
    examples: DataFrame,
    options: CausalReplyTraining,
    base: Annotated[str, At("models.reply_base")],
    max_tokens: MostTokens,
    labels: Taxonomy,
    run: StageRun,
) -> Trained:
    """Tune a pre-trained causal language model on EDOS and EmpatheticDialogues (ours)."""
    from etl.replies import training as replies

    return replies.tune_causal_generator(examples, run, CAUSAL, options, base, max_tokens, labels)


@stage(manual=True, writes=TRAININGS, models=GENERATORS, units="generators")
def replies_list_trainings(run: StageRun) -> Outcome:
    """List how each response generator was trained: parameters, epochs, time, validation perplexity (EDOS Table 10)."""
    from etl.replies.training import listed_trainings

    return listed_trainings(run)
