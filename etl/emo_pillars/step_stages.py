"""The two stages of each step of Emo Pillars: one asks, the other reads the answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from conf.settings import Settings
from conf.taxonomy import GOEMOTIONS, GOEMOTIONS_MAPPING
from etl.emo_pillars.step import FOLDER, Step
from etl.llm.model_stages import answer_stage, prompt_stage
from etl.pipeline import Stage, StageRun
from etl.pipeline.outcome import Outcome
from etl.pipeline.signatures import Received, Receiver, receiver_of

NAMES = (GOEMOTIONS, GOEMOTIONS_MAPPING)
"""Files of ``conf`` that parsers of emotions use."""


def step_stages(step: Step, module: str) -> tuple[Stage, Stage]:
    """Declare the stage that asks a step's prompts and the stage that reads the answers, and return them.

    Args:
        module: the chapter that the stages belong to, as ``jobs.DATASET.CHAPTER``.
    """
    own = receiver_of(step.ask)
    decoding = Received(f"{FOLDER}.steps.{step.name}")
    wording = {"files": Received(f"{FOLDER}.prompts.{step.name}")}
    if step.form_setting is not None:
        wording["form"] = Received(step.form_setting)
    judging = {name: Received(f"{FOLDER}.{name}") for name in step.rules_from}

    def ask(frames: Sequence[DataFrame], settings: Settings, run: StageRun | None) -> DataFrame:
        asked = own.call(frames, settings, run)
        return step.requests(asked, decoding.value(settings), **_values(wording, settings))

    def read(frames: Sequence[DataFrame], settings: Settings, run: StageRun | None) -> Outcome:
        return step.rows(frames[0], step.rules(**_values({**wording, **judging}, settings)))

    asks = _named(f"{FOLDER}_ask_{step.name}", step.ask, module)
    reads = _named(f"{FOLDER}_{step.name}", step.read, module)
    asking = prompt_stage(step.reads, step.answers, step.model, resources=step.prompt_files)(
        Receiver(asks, (decoding, *own.received, *wording.values()), ask)
    )
    reading = answer_stage(
        asking, step.table, step.accounting, resources=NAMES if step.rules_from else (), version=step.version
    )(Receiver(reads, (*judging.values(), *wording.values()), read))
    return asking, reading


def _values(received: Mapping[str, Received], settings: Settings) -> dict[str, Any]:
    return {name: one.value(settings) for name, one in received.items()}


def _named(name: str, described: Callable[..., Any], module: str) -> Callable[..., Any]:
    """Return a function that gives a stage its name, its module, and the docstring of another function."""

    def named() -> None:
        """Do nothing: the stage calls its receiver."""

    named.__name__ = named.__qualname__ = name
    named.__doc__ = described.__doc__
    named.__module__ = module
    return named
