"""The family of trainings on one speaker's utterances."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pyspark.sql import DataFrame

from etl.augesc.settings import DialogueModelSettings
from etl.pipeline.outcome import Trained
from etl.pipeline.signatures import At, receiver_of
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, Model, Stage, stage
from etl.pipeline.tables import Table


def speaker_stage(
    model: str, role: Literal["seeker", "supporter"], drawn: Table, sessions: Table, enabled_if: str | None = None
) -> Declare:
    """Declare the tuning of a language model on one speaker's utterances in sessions.

    Args:
        model: key under ``models`` and ``training``.
        drawn: the table of the sessions that are never held out.
        enabled_if: see ``stage``.
    """

    def tuned(
        drawn: DataFrame,
        sessions: DataFrame,
        options: Annotated[DialogueModelSettings, At(f"training.{model}")],
        base: Annotated[str, At("models.dialogue_base")],
        run: StageRun,
    ) -> Trained:
        from etl.augesc.training.language_models import train_and_register_speaker

        return train_and_register_speaker(role, drawn, sessions, run, options, base)

    def declare(described: Callable[..., Any]) -> Stage:
        return stage(
            reads=(drawn, sessions),
            writes=Model(model),
            manual=True,
            units="sessions",
            enabled_if=enabled_if,
        )(receiver_of(tuned).named_by(described))

    return declare
