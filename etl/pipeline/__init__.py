"""The framework: stages as values, their planning, running, resuming and accounting. It knows no data set."""

from etl.pipeline.stage_run import StageRun
from etl.pipeline.stages import ByKind, Declare, Incremental, Model, RowAccounting, Stage, manual_stage, stage, under

__all__ = [
    "ByKind",
    "Declare",
    "Incremental",
    "Model",
    "RowAccounting",
    "Stage",
    "StageRun",
    "manual_stage",
    "stage",
    "under",
]
