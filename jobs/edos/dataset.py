"""Describe, audit, report on and export the finished data set (EDOS 4)."""

from typing import Annotated

from pyspark.sql import DataFrame

from conf.model_settings import ModelSettings
from conf.settings import TrainSections
from conf.taxonomy import Taxonomy
from etl.common.labelled_files import local_rows
from etl.edos.empathetic import COLUMNS, labelled_utterances
from etl.edos.settings import EdosSettings, PublishingSettings, ReportSettings
from etl.edos.tables import DIALOGUES, EMPATHETIC_TURNS
from etl.pipeline import UNCOUNTED, At, StageRun, stage
from etl.pipeline.outcome import LocalOutcome
from etl.subtitles.settings import SubtitleSettings
from etl.subtitles.tables import CLEAN_DIALOGUES, GAPS

TALKS = "edos.empathetic_dialogues"
AllSubtitles = Annotated[SubtitleSettings, UNCOUNTED]
AllEdos = Annotated[EdosSettings, UNCOUNTED]
AllModels = Annotated[ModelSettings, UNCOUNTED]
AllTrainings = Annotated[TrainSections, UNCOUNTED]
"""Reports and exports print all settings; they run each time that they are asked for."""


@stage(
    reads=(DIALOGUES,),
    writes=None,
)
def describe_dataset(
    dialogues: DataFrame, edos: AllEdos, publishing: Annotated[PublishingSettings, UNCOUNTED], run: StageRun
) -> None:
    """Show what was made in 24 lines: turns and what cleaning cost, splits, labels, examples, next steps."""
    from etl.edos.description import describe

    print("\n".join(["", *describe(run.spark, run.lakehouse, edos, publishing)]))


@stage(manual=True, writes=EMPATHETIC_TURNS, units="utterances")
def read_empathetic_dialogues(path: Annotated[str | None, At(TALKS)], labels: Taxonomy) -> LocalOutcome:
    """Read EmpatheticDialogues with its labels, for comparison (EDOS 4); no rows if no file is set."""
    read = local_rows([path], COLUMNS, TALKS, "utterance") if path else LocalOutcome()
    return labelled_utterances(read.rows, labels.names).plus(read)


@stage(
    manual=True,
    reads=(DIALOGUES, EMPATHETIC_TURNS, GAPS),
    optional=(GAPS,),
    writes=None,
    shows="a page under `edos.report.folder`",
)
def report_dataset(
    dialogues: DataFrame,
    empathetic: DataFrame,
    gaps: DataFrame,
    report: ReportSettings,
    subtitles: AllSubtitles,
    edos: AllEdos,
    run: StageRun,
) -> None:
    """Report on the finished data set: one HTML page with labels, flow, silences, examples, limits (EDOS 4)."""
    from etl.edos.report import write_edos_report

    write_edos_report(run, report, subtitles, edos)


@stage(
    manual=True,
    reads=(DIALOGUES, CLEAN_DIALOGUES),
    writes=None,
    shows="files under `publishing.folder`",
)
def export_dataset(
    dialogues: DataFrame,
    clean: DataFrame,
    publishing: PublishingSettings,
    subtitles: AllSubtitles,
    edos: AllEdos,
    models: AllModels,
    training: AllTrainings,
    run: StageRun,
) -> None:
    """Export the data set: Parquet and JSON Lines split by film, with a card, and texts or references to OPUS."""
    from etl.edos.export import MadeWith, publish

    publish(run, MadeWith(publishing, subtitles, edos, models, training))
