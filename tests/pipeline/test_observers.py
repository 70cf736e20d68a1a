"""Observers of a run: told of each stage, whatever they do."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conf.errors import InputError
from conf.settings import load_settings
from etl.pipeline.observers import Observers
from jobs import all_stages

STAGE: Any = SimpleNamespace(name="count")
PLAN: Any = SimpleNamespace(why="first run")
EVENT: Any = SimpleNamespace(event="done")


class Told:
    """Keeps what it is told; on a disk named ``full`` it fails."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.calls: list[tuple[str, object]] = []

    def started(self, stage: Any, plan: Any) -> None:
        self._note("started", stage.name)

    def finished(self, stage: Any, plan: Any, result: object) -> None:
        self._note("finished", result)

    def closed(self, logs: Any) -> None:
        self._note("closed", set(logs) >= {"ingest_subtitles"})

    def _note(self, what: str, about: object) -> None:
        if self.place == "full":
            raise OSError("no space left")
        self.calls.append((what, about))


@pytest.fixture()
def made(monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    found: list[Told] = []

    def observer(place: str, context: Any) -> Told:
        found.append(Told(place))
        return found[-1]

    module = ModuleType("noted_events")
    module.observer = observer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "noted_events", module)
    return found


def context(observers: dict[str, str]) -> Any:
    settings = load_settings("local", [], {"pipeline.observers": observers})
    found = SimpleNamespace(settings=settings, log=None)
    found.of = lambda stage: found
    return found


def test_start_end_failure_and_close_are_told(made: list[Told]) -> None:
    all_stages()
    run = context({"noted_events": "events"})
    observers = Observers(run, print)
    assert observers.watched(STAGE, PLAN, lambda: EVENT) is EVENT
    error = ValueError("bad")

    def fail() -> Any:
        raise error

    with pytest.raises(ValueError, match="bad"):
        observers.watched(STAGE, PLAN, fail)
    observers.closed(run)
    assert made[0].calls == [
        ("started", "count"),
        ("finished", EVENT),
        ("started", "count"),
        ("finished", error),
        ("closed", True),
    ]


def test_an_observer_that_fails_is_said_once_and_stops_nothing(made: list[Told]) -> None:
    said: list[str] = []
    observers = Observers(context({"noted_events": "full"}), said.append)
    assert observers.watched(STAGE, PLAN, lambda: EVENT) is EVENT
    assert said == ["noted_events missed events: full: no space left"]


def test_a_module_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(InputError, match="no_such needs the module no_such, which is not installed"):
        Observers(context({"no_such": "x"}), print)
