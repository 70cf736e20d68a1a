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


def outside(default: Any, later: bool = False, **about: Any) -> Any:
    """Return a field that names files or folders outside the lakehouse, whose content counts.

    Args:
        default: names none.
        later: whether a later version added the field, as `added` does.
    """
    return Field(default, json_schema_extra={"counts": Counts.FILES, "added": later}, **about)


def speed(default: Any, **about: Any) -> Any:
    """Return a field that changes how work is done, never its result."""
    return Field(default, json_schema_extra={"counts": Counts.NOTHING}, **about)


def added(default: Any, **about: Any) -> Any:
    """Return a field that a later version added, whose default is what versions without it did.

    At its default it counts as if it were not there: the tables and models of a lakehouse made without it are not made
    again.
    """
    return Field(default, json_schema_extra={"added": True}, **about)


def fixed(default: Any, elsewhere: str | None = None, **about: Any) -> Any:
    """Return a field that is no setting: it has its default, or the value of a setting elsewhere.

    Args:
        elsewhere: ``section.key`` of the setting whose value a stage receives in its place; None: the default.
    """
    return Field(default, json_schema_extra={"fixed": True, "elsewhere": elsewhere}, **about)


def is_fixed(field: FieldInfo) -> bool:
    """Return whether a field is no setting."""
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get("fixed"))


def setting_fields(section: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a section that are settings or sections, by name."""
    return {name: field for name, field in section.model_fields.items() if not is_fixed(field)}


def places_elsewhere(section: type[Section]) -> dict[str, str]:
    """Return the fields that have the value of a setting elsewhere, each with that one's ``section.key``."""
    extras = ((name, field.json_schema_extra) for name, field in section.model_fields.items())
    return {
        name: str(extra["elsewhere"]) for name, extra in extras if isinstance(extra, dict) and extra.get("elsewhere")
    }


def at_added_default(field: FieldInfo, value: Any) -> bool:
    """Return whether a later version added a field, and the value is its default."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("added")) and value == field.default


def counted_values(section: Section) -> dict[str, Any]:
    """Return a section's values as JSON has them, without fixed ones and those at the default of an added field."""
    values = section.model_dump(mode="json")
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if is_fixed(field) or at_added_default(field, value):
            del values[name]
        elif isinstance(value, Section):
            values[name] = counted_values(value)
    return values


def counts_of(field: FieldInfo) -> Counts:
    """Return what of a field counts."""
    extra = field.json_schema_extra
    return Counts(str(extra["counts"])) if isinstance(extra, dict) and "counts" in extra else Counts.VALUE
