"""Read GoEmotions, ISEAR and EmoContext, and tune and measure models on each (Emo Pillars 5)."""

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS as GOEMOTIONS_LABELS
from etl.emo_pillars import transfer_sets
from etl.emo_pillars.transfer_files import one_file, parts_of
from etl.pipeline import StageRun, manual_stage, under
from etl.tables import emo_pillars as tables
from etl.tables.outcome import Outcome, Trained
from etl.training.stages import training_stage, transfer_stage
from jobs.emo_pillars.encoders import CONTEXTLESS, CONTEXTLESS_REWRITTEN, CONTEXTUAL, CONTEXTUAL_REWRITTEN

EMOCONTEXT_TUNED = "emo_pillars_emocontext"
SHARES = under("emo_pillars.transfer", "validation_share", "held_out_share")


@manual_stage(
    writes=tables.GOEMOTIONS,
    inputs=("emo_pillars.goemotions",),
    settings=SHARES[:1],
    units="comments",
    resources=(GOEMOTIONS_LABELS,),
)
def emo_pillars_read_goemotions(run: StageRun) -> Outcome:
    """Read GoEmotions' comments with their labels and original splits (Emo Pillars 5.1.2)."""
    settings = run.settings.emo_pillars
    parts = parts_of(
        settings.goemotions, (".tsv",), ("train", "dev"), ("test",), unit="comment", setting="emo_pillars.goemotions"
    )
    comments = transfer_sets.goemotions_comments(parts.lines, settings.transfer.validation_share)
    return comments.plus(parts.unread).to_outcome(run.spark, transfer_sets.GOEMOTIONS)


@manual_stage(
    writes=tables.ISEAR, inputs=("emo_pillars.isear",), settings=("emo_pillars.transfer.folds",), units="reports"
)
def emo_pillars_read_isear(run: StageRun) -> Outcome:
    """Read ISEAR's reports with their emotions, in folds, without empty reports (Emo Pillars 5.1.3)."""
    settings = run.settings.emo_pillars
    read = one_file(settings.isear, ("isear.csv", "isear.csv.gz"), unit="report", setting="emo_pillars.isear")
    reports = transfer_sets.isear_reports(read.lines[""], settings.transfer.folds)
    return reports.plus(read.unread).to_outcome(run.spark, transfer_sets.ISEAR)


@manual_stage(writes=tables.EMOCONTEXT, inputs=("emo_pillars.emocontext",), settings=SHARES, units="dialogues")
def emo_pillars_read_emocontext(run: StageRun) -> Outcome:
    """Read EmoContext's dialogues of three turns with the last one's emotion (Emo Pillars 5.2.2)."""
    settings = run.settings.emo_pillars
    parts = parts_of(
        settings.emocontext, (".txt",), ("train",), ("dev",), unit="dialogue", setting="emo_pillars.emocontext"
    )
    shares = (settings.transfer.validation_share, settings.transfer.held_out_share)
    dialogues = transfer_sets.emocontext_dialogues(parts.lines, *shares)
    return dialogues.plus(parts.unread).to_outcome(run.spark, transfer_sets.EMOCONTEXT)


@transfer_stage("goemotions", tables.GOEMOTIONS, tables.GOEMOTIONS_RESULTS, CONTEXTLESS, CONTEXTLESS_REWRITTEN)
def emo_pillars_transfer_goemotions() -> None:
    """Measure models on GoEmotions, tuned (by seed) and untuned; only when named (Emo Pillars 5.1.2)."""


@transfer_stage(CONTEXTLESS, tables.EXAMPLES, tables.ENCODER_RESULTS)
def emo_pillars_compare_encoders() -> None:
    """Train each encoder of a list on the synthetic data, and score it; only when named (Emo Pillars Table 1)."""


@transfer_stage("isear", tables.ISEAR, tables.ISEAR_RESULTS, CONTEXTLESS, CONTEXTLESS_REWRITTEN)
def emo_pillars_transfer_isear() -> None:
    """Measure models on ISEAR, tuned (by fold) and untuned; only when named (Emo Pillars 5.1.3)."""


@training_stage(
    EMOCONTEXT_TUNED,
    "emo_pillars.transfer.least_probability",
    units="dialogues",
    reads=(tables.EMOCONTEXT,),
    models=(CONTEXTUAL,),
    resources=(GOEMOTIONS_LABELS,),
)
def emo_pillars_train_emocontext(dialogues: DataFrame, run: StageRun) -> Trained:
    """Tune the context-aware model on EmoContext, with others relabelled (Emo Pillars 5.2.2)."""
    from etl.training.recipes.predictions import train_and_register_emocontext

    return train_and_register_emocontext(dialogues, run, EMOCONTEXT_TUNED)


@manual_stage(
    reads=(tables.EMOCONTEXT,),
    writes=tables.PREDICTIONS,
    models=(CONTEXTLESS, CONTEXTUAL, EMOCONTEXT_TUNED),
    settings=under("emo_pillars.analysis", "comment", "comment_context"),
    resources=(GOEMOTIONS_LABELS,),
    units="answers",
)
def emo_pillars_compare_predictions(dialogues: DataFrame, run: StageRun) -> Outcome:
    """Apply three models to a comment and to EmoContext's test dialogues (Emo Pillars Figure 6, Table 8)."""
    from etl.training.recipes.predictions import predictions

    analysis = run.settings.emo_pillars.analysis
    return predictions(dialogues, run, analysis.comment, analysis.comment_context)


@transfer_stage("emocontext", tables.EMOCONTEXT, tables.EMOCONTEXT_RESULTS, CONTEXTUAL, CONTEXTUAL_REWRITTEN)
def emo_pillars_transfer_emocontext() -> None:
    """Tune context-aware models on EmoContext, with others relabelled or not; only when named (Emo Pillars 5.2.2)."""
