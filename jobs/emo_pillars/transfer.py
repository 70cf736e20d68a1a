"""Read GoEmotions, ISEAR and EmoContext, and tune and measure models on each (Emo Pillars 5)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.taxonomy import GOEMOTIONS as GOEMOTIONS_LABELS
from conf.taxonomy import EmotionTaxonomy, require_goemotions
from etl.common.goemotions import goemotions_comments
from etl.common.line_files import one_file, parts_of
from etl.emo_pillars import tables, transfer_sets
from etl.emo_pillars.settings import TunedEmocontextSettings
from etl.emo_pillars.training.stages import transfer_stage
from etl.pipeline import At, Model, StageRun, stage
from etl.pipeline.outcome import LocalOutcome, Outcome, Trained
from jobs.emo_pillars.encoders import CONTEXTLESS, CONTEXTLESS_REWRITTEN, CONTEXTUAL, CONTEXTUAL_REWRITTEN

EMOCONTEXT_TUNED = "emo_pillars_emocontext"
ValidationShare = Annotated[float, At("emo_pillars.transfer.validation_share")]


@stage(
    manual=True,
    writes=tables.GOEMOTIONS,
    units="comments",
    resources=(GOEMOTIONS_LABELS,),
)
def emo_pillars_read_goemotions(
    path: Annotated[str | None, At("emo_pillars.goemotions")], validation_share: ValidationShare
) -> LocalOutcome:
    """Read GoEmotions' comments with their labels and original splits (Emo Pillars 5.1.2)."""
    parts = parts_of(path, (".tsv",), ("train", "dev"), ("test",), unit="comment", setting="emo_pillars.goemotions")
    comments = goemotions_comments(parts.lines, validation_share)
    return comments.plus(parts.unread)


@stage(manual=True, writes=tables.ISEAR, units="reports")
def emo_pillars_read_isear(
    path: Annotated[str | None, At("emo_pillars.isear")],
    folds: Annotated[int, At("emo_pillars.transfer.folds")],
) -> LocalOutcome:
    """Read ISEAR's reports with their emotions, in folds, without empty reports (Emo Pillars 5.1.3)."""
    read = one_file(path, ("isear.csv", "isear.csv.gz"), unit="report", setting="emo_pillars.isear")
    reports = transfer_sets.isear_reports(read.lines[""], folds)
    return reports.plus(read.unread)


@stage(manual=True, writes=tables.EMOCONTEXT, units="dialogues")
def emo_pillars_read_emocontext(
    path: Annotated[str | None, At("emo_pillars.emocontext")],
    validation_share: ValidationShare,
    held_out_share: Annotated[float, At("emo_pillars.transfer.held_out_share")],
) -> LocalOutcome:
    """Read EmoContext's dialogues of three turns with the last one's emotion (Emo Pillars 5.2.2)."""
    parts = parts_of(path, (".txt",), ("train",), ("dev",), unit="dialogue", setting="emo_pillars.emocontext")
    dialogues = transfer_sets.emocontext_dialogues(parts.lines, validation_share, held_out_share)
    return dialogues.plus(parts.unread)


@transfer_stage("goemotions", tables.GOEMOTIONS, tables.GOEMOTIONS_RESULTS, CONTEXTLESS, CONTEXTLESS_REWRITTEN)
def emo_pillars_transfer_goemotions() -> None:
    """Measure models on GoEmotions, tuned (by seed) and untuned; only when named (Emo Pillars 5.1.2)."""


@transfer_stage(CONTEXTLESS, tables.EXAMPLES, tables.ENCODER_RESULTS)
def emo_pillars_compare_encoders() -> None:
    """Train each encoder of a list on the synthetic data, and score it; only when named (Emo Pillars Table 1)."""


@transfer_stage("isear", tables.ISEAR, tables.ISEAR_RESULTS, CONTEXTLESS, CONTEXTLESS_REWRITTEN)
def emo_pillars_transfer_isear() -> None:
    """Measure models on ISEAR, tuned (by fold) and untuned; only when named (Emo Pillars 5.1.3)."""


@stage(
    writes=Model(EMOCONTEXT_TUNED),
    manual=True,
    units="dialogues",
    reads=(tables.EMOCONTEXT,),
    models=(CONTEXTUAL,),
    resources=(GOEMOTIONS_LABELS,),
)
def emo_pillars_train_emocontext(
    dialogues: DataFrame,
    options: TunedEmocontextSettings,
    least_probability: Annotated[float, At("emo_pillars.transfer.least_probability")],
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> Trained:
    """Tune the context-aware model on EmoContext, with others relabelled (Emo Pillars 5.2.2)."""
    from etl.emo_pillars.training.predictions import train_and_register_emocontext

    require_goemotions(taxonomy, "a model tuned on EmoContext")
    return train_and_register_emocontext(dialogues, run, EMOCONTEXT_TUNED, options, least_probability)


@stage(
    manual=True,
    reads=(tables.EMOCONTEXT,),
    writes=tables.PREDICTIONS,
    models=(CONTEXTLESS, CONTEXTUAL, EMOCONTEXT_TUNED),
    resources=(GOEMOTIONS_LABELS,),
    units="answers",
)
def emo_pillars_compare_predictions(
    dialogues: DataFrame,
    comment: Annotated[str, At("emo_pillars.analysis.comment")],
    context: Annotated[str, At("emo_pillars.analysis.comment_context")],
    taxonomy: EmotionTaxonomy,
    run: StageRun,
) -> Outcome:
    """Apply three models to a comment and to EmoContext's test dialogues (Emo Pillars Figure 6, Table 8)."""
    from etl.emo_pillars.training.predictions import predictions

    require_goemotions(taxonomy, "emo_pillars_compare_predictions")
    return predictions(dialogues, run, comment, context)


@transfer_stage("emocontext", tables.EMOCONTEXT, tables.EMOCONTEXT_RESULTS, CONTEXTUAL, CONTEXTUAL_REWRITTEN)
def emo_pillars_transfer_emocontext() -> None:
    """Tune context-aware models on EmoContext, with others relabelled or not; only when named (Emo Pillars 5.2.2)."""
