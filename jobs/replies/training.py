"""Pre-train response generators on OpenSubtitles, and tune them on EDOS or EmpatheticDialogues (EDOS 5, E)."""

from collections.abc import Callable

from pyspark.sql import DataFrame

from etl.common.labelled_files import local_rows, with_dropped
from etl.pipeline import Declare, Incremental, StageRun, manual_stage
from etl.replies.conversations import COLUMNS, all_conversations
from etl.replies.pairs import reply_examples
from etl.replies.regimes import CAUSAL, COMPARED, ON_EDOS, ON_EMPATHETIC, PRETRAINED
from etl.subtitles.transcript_files import training_utterances
from etl.tables import Table, subtitles
from etl.tables.edos import DIALOGUES
from etl.tables.outcome import LocalRows, Outcome, Trained
from etl.tables.replies import EXAMPLES, TRAININGS
from etl.training.stages import trained_generator, training_stage

GENERATORS = tuple(regime.model for regime in COMPARED)
TUNING = ("training.processes", "replies.network.dropout", "edos.taxonomy")
UNSTEERED = ("reply_empathetic", "reply_causal")
TALKS = "edos.empathetic_dialogues"
TRANSCRIPTS = "replies.pretraining.transcripts"


def generator_stage(
    writes: Table, requests: Callable[..., DataFrame], per_minute: float, models: tuple[str, ...], *settings: str
) -> Declare:
    """Declare a stage that sends requests on test examples to response generators."""
    return manual_stage(
        reads=(EXAMPLES,),
        writes=writes,
        models=models,
        settings=settings,
        units="replies",
        options=("replies.evaluation.batch_size",),
        incremental=Incremental("request_id", cost_per_minute=per_minute, prepare=requests, content_keyed=True),
    )


@manual_stage(
    reads=(subtitles.CLEAN_DIALOGUES, subtitles.DIALOGUES, DIALOGUES),
    writes=EXAMPLES,
    settings=("replies.rows", "replies.pretraining.dialogues", "replies.network.max_tokens", "edos.taxonomy"),
    inputs=(TALKS, TRANSCRIPTS),
    units="replies",
    version=3,
)
def replies_gather(clean: DataFrame, raw: DataFrame, edos: DataFrame, run: StageRun) -> Outcome:
    """Gather replies with the turns before: OpenSubtitles without EDOS, EDOS, EmpatheticDialogues (EDOS 5)."""
    path = run.settings.edos.empathetic_dialogues
    replies = run.settings.replies
    read = local_rows([path], COLUMNS, TALKS) if path else LocalRows()
    dialogues = raw if replies.pretraining.dialogues == "raw" else clean
    transcripts = training_utterances(replies.pretraining.transcripts, TRANSCRIPTS)
    talks = all_conversations(dialogues, edos, transcripts, read.rows, run.settings.edos.taxonomy.names)
    outcome = reply_examples(talks, max_tokens=replies.network.max_tokens, **replies.rows.model_dump())
    return with_dropped(outcome, read.notes(run.spark))


@training_stage(
    "reply_pretrained",
    "training.processes",
    "replies.tokens",
    "replies.network",
    "edos.taxonomy",
    units="replies",
    reads=(EXAMPLES,),
)
def replies_pretrain(examples: DataFrame, run: StageRun) -> Trained:
    """Pre-train a response generator on OpenSubtitles without EDOS (EDOS 5)."""
    return trained_generator(examples, run, PRETRAINED)


@training_stage("reply_edos", *TUNING, units="replies", reads=(EXAMPLES,), models=("reply_pretrained",))
def train_response_generator(examples: DataFrame, run: StageRun) -> Trained:
    """Fine-tune the pre-trained response generator on EDOS (EDOS 5)."""
    return trained_generator(examples, run, ON_EDOS)


@training_stage("reply_empathetic", *TUNING, units="replies", reads=(EXAMPLES,), models=("reply_pretrained",))
def replies_tune_empathetic(examples: DataFrame, run: StageRun) -> Trained:
    """Fine-tune the pre-trained response generator on EmpatheticDialogues (EDOS 5)."""
    return trained_generator(examples, run, ON_EMPATHETIC)


@training_stage(
    "reply_causal",
    "training.processes",
    "models.reply_base",
    "replies.network.max_tokens",
    "edos.taxonomy",
    units="replies",
    reads=(EXAMPLES,),
)
def replies_tune_causal(examples: DataFrame, run: StageRun) -> Trained:
    """Tune a pre-trained causal language model on EDOS and EmpatheticDialogues (ours)."""
    return trained_generator(examples, run, CAUSAL)


@manual_stage(writes=TRAININGS, models=GENERATORS, units="generators")
def replies_list_trainings(run: StageRun) -> Outcome:
    """List how each response generator was trained: parameters, epochs, time, validation perplexity (EDOS Table 10)."""
    from etl.training.recipes.replies import listed_trainings

    return listed_trainings(run)
