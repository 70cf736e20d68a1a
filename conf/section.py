"""The base classes of every group of settings, and what a field says about a change of its value."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


class Section(BaseModel):
    """A frozen group of settings; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(Section):
    """Some settings of a section, which inherits them from here, so that a stage can receive them alone."""


class Counts(StrEnum):
    """What of a setting counts as a change: a stage that receives it has work again.

    Attributes:
        VALUE: its value, as of most settings.
        FILES: the content of the files or folders outside the lakehouse that it names.
        NOTHING: it changes how work is done, never its result.
    """

    VALUE = "value"
    FILES = "files"
    NOTHING = "nothing"


def outside(default: Any, **about: Any) -> Any:
    """Return a field that names files or folders outside the lakehouse, whose content counts."""
    return Field(default, json_schema_extra={"counts": Counts.FILES}, **about)


def speed(default: Any, **about: Any) -> Any:
    """Return a field that changes how work is done, never its result."""
    return Field(default, json_schema_extra={"counts": Counts.NOTHING}, **about)


def counts_of(field: FieldInfo) -> Counts:
    """Return what of a field counts."""
    extra = field.json_schema_extra
    return Counts(str(extra["counts"])) if isinstance(extra, dict) and "counts" in extra else Counts.VALUE
