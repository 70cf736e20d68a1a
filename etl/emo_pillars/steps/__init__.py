"""The steps of Emo Pillars, one a module: those that make the data set, and those that name topics (Emo Pillars 3, H).

Each template of ``conf/prompts/emo_pillars`` has a module of its name here.
"""

from importlib import import_module

from etl.emo_pillars.settings import StepSettings
from etl.emo_pillars.step import GENERATOR, NAMER, Step

STEPS: tuple[Step, ...] = tuple(import_module(f"{__name__}.{name}").STEP for name in StepSettings.model_fields)
"""All steps, in the order of the paper."""
SYNTHESIS = tuple(step for step in STEPS if step.model == GENERATOR)
"""The steps from plots to contextual examples."""
NAMING = tuple(step for step in STEPS if step.model == NAMER)
"""The steps that name topics."""
IN_EVERY_EXAMPLE = ("actors", "utterances", "soft_labels")
"""The steps that each example comes from; the rest of ``SYNTHESIS`` are of examples with a context."""
TABLES = tuple(table for step in STEPS for table in (step.table, step.answers))
