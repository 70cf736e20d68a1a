"""The framework: stages as values, their planning, running, resuming and accounting. It knows no data set."""

from etl.pipeline.signatures import UNCOUNTED, At, While
from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import Declare, FromFiles, Incremental, Model, RowAccounting, Stage, Units, stage

__all__ = [
    "UNCOUNTED",
    "At",
    "Declare",
    "FromFiles",
    "Incremental",
    "Model",
    "RowAccounting",
    "Stage",
    "StageRun",
    "Units",
    "While",
    "stage",
]
