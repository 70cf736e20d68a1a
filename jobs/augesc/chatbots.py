"""Tune a chatbot on ESConv and another one further on AugESC, and compare them (AugESC 7)."""

from typing import Annotated

from pyspark.sql import DataFrame

from etl.annotation.form_stages import form_answers_stage, form_stage
from etl.augesc import comparisons
from etl.augesc.comparisons import COMPARISON_FORM, QUESTIONS
from etl.augesc.settings import AugmentedChatbotSettings, ChatbotSettings
from etl.augesc.tables import (
    CHATBOTS,
    COMPARISON_FILES,
    COMPARISON_SCORES,
    COMPARISON_TASKS,
    COMPARISONS,
    CONVERSATIONS,
    SESSIONS,
    TRAINING_SESSIONS,
)
from etl.augesc.training.stages import speaker_stage
from etl.common.labelled_files import files_under
from etl.pipeline import At, Model, RowAccounting, StageRun, stage
from etl.pipeline.outcome import Outcome, Trained

SECTION = "augesc.evaluation.comparisons"


@speaker_stage("chatbot", "supporter", TRAINING_SESSIONS, SESSIONS)
def augesc_train_chatbot() -> None:
    """Tune a chatbot on the supporters' utterances of ESConv (AugESC 7.1)."""


@stage(
    writes=Model("augmented_chatbot"),
    manual=True,
    units="sessions",
    reads=(CONVERSATIONS, TRAINING_SESSIONS, SESSIONS),
    models=("chatbot",),
)
def augesc_train_augmented_chatbot(
    conversations: DataFrame,
    drawn: DataFrame,
    sessions: DataFrame,
    options: AugmentedChatbotSettings,
    run: StageRun,
) -> Trained:
    """Tune the chatbot further on the supporters' utterances of AugESC (AugESC 7.1)."""
    from etl.augesc.training.language_models import train_and_register_augmented_chatbot

    return train_and_register_augmented_chatbot(conversations, drawn, sessions, run, options)


@stage(
    manual=True,
    reads=(TRAINING_SESSIONS, SESSIONS),
    writes=CHATBOTS,
    models=("chatbot", "augmented_chatbot"),
    units="chatbots",
)
def augesc_compare_chatbots(drawn: DataFrame, sessions: DataFrame, options: ChatbotSettings, run: StageRun) -> Outcome:
    """Compare the chatbots' perplexity on the supporters' utterances of ESConv's held-out sessions (AugESC 7.1)."""
    from etl.augesc.training.language_models import compared_chatbots

    return compared_chatbots(drawn, sessions, run, options)


@stage(
    manual=True,
    writes=COMPARISON_TASKS,
    units=RowAccounting("talks", rows_out="2 * count(*)"),
)
def augesc_prepare_comparisons(
    chats: Annotated[tuple[str, ...], At(f"{SECTION}.chats")],
    least: Annotated[int, At(f"{SECTION}.least_utterances")],
    seed: Annotated[int, At(f"{SECTION}.seed")],
    run: StageRun,
) -> Outcome:
    """Pair each participant's talks with the two bots, for comparison (AugESC 7.2)."""
    files = files_under(chats, (".jsonl", ".jsonl.gz"), f"{SECTION}.chats")
    paired = comparisons.paired_chats(run.spark, files, least=least, seed=seed)
    return files.with_skipped(paired, run.spark)


@form_stage(COMPARISON_FORM, SECTION, COMPARISON_TASKS, COMPARISON_FILES)
def augesc_export_comparisons() -> None:
    """Write the questionnaire on talks with two bots as a page with a key (AugESC 7.2)."""


@form_answers_stage(COMPARISON_FORM, SECTION, QUESTIONS, len(QUESTIONS), COMPARISONS)
def augesc_collect_comparisons(counted: Outcome) -> Outcome:
    """Collect the participants' valid answers on the two bots (AugESC 7.2)."""
    return comparisons.comparisons(counted)


@stage(
    manual=True,
    reads=(COMPARISONS,),
    writes=COMPARISON_SCORES,
    units=RowAccounting("answers", rows_out="coalesce(sum(wins + losses + ties), 0)"),
)
def augesc_score_comparisons(compared: DataFrame, run: StageRun) -> DataFrame:
    """Count wins, losses and ties of the bot tuned on AugESC, with the sign test (AugESC Table 4)."""
    rows = (row.asDict() for row in compared.select("aspect", "outcome").toLocalIterator())
    return run.spark.createDataFrame(comparisons.comparison_scores(rows), COMPARISON_SCORES.schema)
