"""Where a cleaning rule comes from, and its values in the presets: said at its field in ``etl.subtitles.settings``."""

from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import Field

from conf.section import Section


class Mark(StrEnum):
    """Where a cleaning rule comes from.

    Attributes:
        PAPER: a sentence of EDOS.
        RELEASED: the rows that the authors of EDOS released show it, no sentence does.
        OURS: neither. It is off in the preset ``paper``.
    """

    PAPER = "paper"
    RELEASED = "released"
    OURS = "ours"


PRESETS = ("paper", "trusted")
"""The presets beside ``released``: the paper's words; and a data set to use rather than to compare."""


class CleaningRule(NamedTuple):
    """A setting under ``subtitles.cleaning``: where its rule comes from, and its values in presets."""

    setting: str
    mark: Mark
    values: dict[str, Any]


def rule(default: Any, mark: Mark, *, added: bool = False, **about: Any) -> Any:
    """Return the field of a setting of the cleaning rules.

    Args:
        default: its value in the preset ``released``.
        mark: where the rule comes from.
        added: whether a later version added the rule, off by default (`conf.section.added`).
        about: ``paper`` and ``trusted``, its values in those presets where they differ; description and limits.
    """
    values = {name: about.pop(name) for name in PRESETS if name in about}
    extra: dict[str, Any] = {"mark": mark, "presets": values, "added": added}
    return Field(default, json_schema_extra=extra, **about)


def rules_of(section: type[Section]) -> list[CleaningRule]:
    """Return the rules of a section."""
    extras: dict[str, Any] = {name: field.json_schema_extra for name, field in section.model_fields.items()}
    marked = {name: extra for name, extra in extras.items() if isinstance(extra, dict) and "mark" in extra}
    return [CleaningRule(name, Mark(extra["mark"]), extra["presets"]) for name, extra in marked.items()]


def preset_of(section: type[Section], preset: str) -> dict[str, Any]:
    """Return the values of a preset where they differ from the defaults."""
    return {one.setting: one.values[preset] for one in rules_of(section) if preset in one.values}
