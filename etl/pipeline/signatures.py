"""Find what the functions of a stage receive: tables, the settings that they name, and the run.

A parameter of type ``DataFrame`` is the next input table, one of type ``StageRun`` the run. Any other parameter is
settings, found by its type: a section, or a part of one. ``Annotated[TYPE, At("section.key")]`` names the place, of a
single setting or where several sections have the type. Of the run it sees ``compute`` and
``tracking``, which change no result; it can reach no other settings.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo
from pyspark.sql import DataFrame

from conf.section import Counts, Part, Section, at_added_default, counts_of, places_elsewhere
from conf.settings import Settings
from etl.pipeline.stage_run import StageRun


@dataclass(frozen=True)
class At:
    """The place of a parameter's settings, as ``section.key``."""

    key: str


class While:
    """Settings that count while another setting has one of these values."""

    def __init__(self, key: str, *values: str) -> None:
        self.key = key
        self.values = values

    def holds(self, settings: Settings) -> bool:
        return setting(settings, self.key) in self.values


UNCOUNTED = "uncounted"
"""Mark of a parameter that the function sees, though a change of it makes no work."""


@dataclass(frozen=True)
class Received:
    """The settings that one parameter receives.

    Attributes:
        key: of the section or of the single setting.
        part: the part of the section that is received; None: all of it, or the single setting.
        counted: whether a change makes work.
        condition: when it counts; None: always.
    """

    key: str
    part: type[Part] | None = None
    counted: bool = True
    condition: While | None = None

    def value(self, settings: Settings) -> Any:
        """Return the section, the setting, or a part with its own fields alone."""
        found = setting(settings, self.key)
        if self.part is not None:
            found = self.part.model_construct(**{name: getattr(found, name) for name in self.part.model_fields})
        elsewhere = {name: setting(settings, place) for name, place in self._elsewhere.items()}
        return found.model_copy(update=elsewhere) if elsewhere else found

    @property
    def _elsewhere(self) -> dict[str, str]:
        """The fields that have the value of a setting elsewhere, each with that one's key."""
        received = self.part or _field(self.key).annotation
        return places_elsewhere(received) if isinstance(received, type) and issubclass(received, Section) else {}

    @property
    def keys(self) -> dict[str, Counts]:
        """The settings by key, each with what of it counts."""
        if self.part is None:
            fields = {self.key: _field(self.key)}
        else:
            fields = {f"{self.key}.{name}": field for name, field in self.part.model_fields.items()}
        fields |= {key: _field(key) for key in self._elsewhere.values()}
        return {key: counts_of(field) if self.counted else Counts.NOTHING for key, field in fields.items()}


@dataclass(frozen=True)
class Receiver:
    """A function, and how it is called with what it receives.

    Attributes:
        function: the function that somebody wrote; its name and docstring are the stage's.
        call: from the input tables, all settings and the run to its result.
        base: the receiver whose result this one passes on; None for others.
    """

    function: Callable[..., Any]
    received: tuple[Received, ...]
    call: Callable[[Sequence[DataFrame], Settings, StageRun | None], Any]
    base: "Receiver | None" = None

    def named_by(self, described: Callable[..., Any]) -> "Receiver":
        """Return it with the name and the docstring of another function, which a family of stages shares."""
        return replace(self, function=described)

    def then(self, follow: Callable[[Any], Any]) -> "Receiver":
        """Return a receiver that passes the result on to another function."""

        def call(frames: Sequence[DataFrame], settings: Settings, run: StageRun | None) -> Any:
            return follow(self.call(frames, settings, run))

        return replace(self, call=call, base=self)


def receiver_of(function: Callable[..., Any] | Receiver) -> Receiver:
    """Return the receiver of a function, from its signature; one that is a receiver already as it is.

    Raises:
        TypeError: a parameter's type names no settings, or settings at several places.
    """
    if isinstance(function, Receiver):
        return function
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    frames = sum(hints.get(one.name) is DataFrame and one.kind is not one.VAR_POSITIONAL for one in parameters)
    every = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    runs = [one.name for one in parameters if hints.get(one.name) is StageRun]
    named = {}
    for one in parameters:
        hint = hints.get(one.name)
        if hint is not DataFrame and hint is not StageRun and one.kind is not one.VAR_POSITIONAL:
            named[one.name] = received(hint, f"{function.__name__}({one.name})")

    def call(given: Sequence[DataFrame], settings: Settings, run: StageRun | None) -> Any:
        values = {name: one.value(settings) for name, one in named.items()}
        return function(*(given if every else given[:frames]), **values, **dict.fromkeys(runs, run))

    return Receiver(function, tuple(named.values()), call)


def received(hint: Any, of: str) -> Received:
    """Return the settings that a parameter's type names.

    Args:
        hint: the type, perhaps with ``At``, ``While`` and ``UNCOUNTED``.

    Raises:
        TypeError: the type names no settings, or settings at several places.
    """
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    places = [mark.key for mark in marks if isinstance(mark, At)]
    if not places:
        places = _places(kind)
    if len(places) != 1:
        found = f"at {', '.join(places)}: add At" if places else "nowhere"
        raise TypeError(f"{of} is of type {getattr(kind, '__name__', kind)}, which the settings have {found}")
    (key,) = places
    there = _field(key).annotation
    section = isinstance(kind, type) and issubclass(kind, Section)
    fits = isinstance(there, type) and issubclass(there, kind) if section else there == kind
    if not fits:
        raise TypeError(f"{of} is of type {kind}, but {key} is of type {there}")
    conditions = [mark for mark in marks if isinstance(mark, While)]
    part = kind if section and issubclass(kind, Part) and kind is not there else None
    return Received(key, part, UNCOUNTED not in marks, conditions[0] if conditions else None)


def setting(settings: Any, key: str) -> Any:
    """Return the value at ``section.key``."""
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def is_added_default(settings: Settings, key: str) -> bool:
    """Return whether the setting at ``section.key`` is one of a later version, at its default."""
    return at_added_default(_field(key), setting(settings, key))


@cache
def _sections() -> dict[str, type[Section]]:
    """Return the sections of the settings by key."""

    def under(section: type[Section], prefix: str) -> Iterator[tuple[str, type[Section]]]:
        for name, field in section.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
                yield prefix + name, field.annotation
                yield from under(field.annotation, f"{prefix}{name}.")

    return dict(under(Settings, ""))


def _places(kind: Any) -> list[str]:
    """Return the keys of the sections of a type, or else of those that a part of this type belongs to."""
    if not isinstance(kind, type) or not issubclass(kind, Section):
        return []
    exact = [key for key, section in _sections().items() if section is kind]
    if exact or not issubclass(kind, Part):
        return exact
    return [key for key, section in _sections().items() if issubclass(section, kind)]


def _field(key: str) -> FieldInfo:
    """Return the field at ``section.key``.

    Raises:
        TypeError: no setting has this key.
    """
    *path, last = key.split(".")
    section: Any = Settings
    for name in path:
        field = section.model_fields.get(name)
        section = None if field is None else field.annotation
        if not (isinstance(section, type) and issubclass(section, Section)):
            raise TypeError(f"there is no setting {key}")
    if last not in section.model_fields:
        raise TypeError(f"there is no setting {key}")
    found: FieldInfo = section.model_fields[last]
    return found
