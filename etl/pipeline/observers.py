"""Tell observers what the stages of a run do: modules outside the core, found by ``pipeline.observers``."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Protocol

from conf.errors import InputError, reason_of
from conf.redaction import without_user_info
from etl.pipeline.lineage import StageEvent, StageLog
from etl.pipeline.planner import PipelineContext, StagePlan
from etl.pipeline.stages import REGISTRY, Stage


class Observer(Protocol):
    """An observer of a run, as a module's ``observer(place, context)`` returns it. It cannot change the run.

    The arguments are the value of ``pipeline.observers`` under the module's name, and the run's `PipelineContext`. The
    function raises an InputError where it cannot use the place.
    """

    def started(self, stage: Stage, plan: StagePlan) -> None:
        """Note that a stage starts."""

    def finished(self, stage: Stage, plan: StagePlan | None, result: StageEvent | BaseException) -> None:
        """Note how a stage ended: by its event, or by an error. A stage without a plan failed before its start."""

    def closed(self, logs: Mapping[str, StageLog]) -> None:
        """Note that the run is over, also after an error, with the log of each stage by the stage's name."""


class Observers:
    """The observers of a run. An observer's error is reported once, and does not stop the run.

    Args:
        context: of the run, whose settings name the modules.

    Raises:
        InputError: a module, or what it imports, is not installed.
    """

    def __init__(self, context: PipelineContext, say: Callable[[str], None]) -> None:
        self._say = say
        self._places = context.settings.pipeline.observers
        self._all = {name: _made(name, place, context) for name, place in self._places.items()}
        self._reported: set[str] = set()

    def watched(self, stage: Stage, plan: StagePlan, work: Callable[[], StageEvent]) -> StageEvent:
        """Do a stage's work, between its start and its end; return the event of its end."""
        self._notify(lambda one: one.started(stage, plan))
        try:
            event = work()
        except BaseException as error:
            self.finished(stage, plan, error)
            raise
        self.finished(stage, plan, event)
        return event

    def finished(self, stage: Stage, plan: StagePlan | None, result: StageEvent | BaseException) -> None:
        """Tell how a stage ended."""
        self._notify(lambda one: one.finished(stage, plan, result))

    def closed(self, context: PipelineContext) -> None:
        """Tell that the run is over, whose last context this is."""
        if self._all:
            logs = {stage.name: context.of(stage).log for stage in REGISTRY.values()}
            self._notify(lambda one: one.closed(logs))

    def _notify(self, call: Callable[[Observer], None]) -> None:
        for name, one in self._all.items():
            try:
                call(one)
            except Exception as error:  # of a file system, of the network, or of the module
                if name not in self._reported:
                    self._reported.add(name)
                    self._say(f"{name} missed events: {without_user_info(self._places[name])}: {reason_of(error)}")


def _made(name: str, place: str, context: PipelineContext) -> Observer:
    try:
        made: Observer = import_module(name).observer(place, context)
    except ModuleNotFoundError as error:
        raise InputError(f"pipeline.observers: {name} needs the module {error.name}, which is not installed") from None
    return made
